### Who took part, and how long it took.

title = Who took part
# $minutes is the median as it is printed, or "none".
sentence =
    { $people ->
        [one] 1 participant is
       *[other] { $people } participants are
    } analysed{ $minutes ->
        [none] .
       *[other] ; the median time was { $minutes } min.
    }
note = Answers that people gave where they were asked. The device is what the browser reported on the first page.
column-what = About
column-value = Answer
column-people = Participants
column-share = Share
column-condition = Condition
column-seconds = Mean time for an answer
column-interval = 95% interval
column-minutes = Mean time in the study
column-median = Median
what-age = Age
what-language = Knowledge of the study's language
what-course = Courses in computer science or statistics
what-pages-language = Language of the pages
what-pages-device = Device
not-answered = (not known)
# Of numbers that people gave, as they are printed.
number = median { $median }, from { $low } to { $high }
time-title = Time on task, by condition
time-sentence = How long people took for a scored answer and, where each person was in one condition only, for the whole study.
time-note = A participant is the unit: first the mean over somebody's answers, then the mean over people, with a t interval. Times are the server's, from the display of a page to its answer; breaks are included.

## On which page people stopped, and who may have taken part twice

stopped-title = Where people stopped, by page
column-page = Page
column-part = Part
column-left = Left
column-withdrew = Withdrew
column-screened-out = Screened out
stopped-most =
    Most people stopped on page { $page } ({ $part }): { $people ->
        [one] one person
       *[other] { $people } people
    }.
stopped-how = Pages are counted as each person met them, from the first after the consent. People who had all their answers deleted are not among these.
# $came are all with a suspicion, $analysed those of them whose answers are analysed.
retakes =
    { $came ->
        [one] One person
       *[other] { $came } people
    } may have taken part twice, since the same browser was used before ({ $analysed } of them analysed; the column retake_of of the export says who). It may also have been another person at the same computer.
