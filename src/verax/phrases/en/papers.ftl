### The page of a paper that was run again: every published number beside ours.

# $bots: whether our numbers are answers of bots.
cells =
    { $citation }. Every cell: published · { $bots ->
        [yes] bots, which are no people
       *[no] ours
    }; { $nothing } where there is none.
# $page and $section are "none" where a table has none.
table =
    { $name }{ $page ->
        [none] { $section ->
            [none] { "" }
           *[other] , { $section }
        }
       *[other] , page { $page }
    }: { $title }
differences = What is not as published
rerun = Could be re-run by its authors: { $answer }

## Notes

no-file = { $run }: { $file } is not there (--data FOLDER), so it is left out.
no-folder = There is no folder { $folder }; --data is the folder with the files that the paper's README names.
nothing =
    None of the files of this paper are there, so nothing was run: put those that its README names into a folder and give it as
    --data, or leave out --full.
bots = Our numbers are those of bots, which were told how to answer: they say nothing about people.
# While it is done.
bots-answer =
    { $bots ->
        [one] 1 bot answers
       *[other] { $bots } bots answer
    } { $study }
