### Several studies analysed together: titles, notes and sentences of their tables. $names is a list and $names_many how
### many there are; $kind is "known" or "masked"; $paper is a paper, with its year.

# A study in which nobody answered; $study is what it is called.
no-answers = Nobody who is analysed answered in { $study }: it is left out of the tables over all tasks.
study-of = the study of { $task }
column-condition = Condition
column-participants = Participants

## Simulation, as Hase and Bansal (2020) pool it. $by is "domain" (kind of data) or "test".

paper-table = The paper's Table { $number }
paper-change =
    Change of accuracy as { $paper } computed it, by { $by ->
        [domain] kind of data
       *[test] test
    }
paper-ratings = Ratings of the explanations as { $paper } counted them, by kind of data
paper-sides = Ratings by whether the model was right as { $paper } counted them
change =
    Change by { $by ->
        [domain] kind of data
       *[test] test
    }
change-title =
    Change of accuracy over { $studies ->
        [one] 1 study
       *[other] { $studies } studies
    }, by { $by ->
        [domain] kind of data
       *[test] test
    }: our own estimate
changed = Accuracy clearly changed with { $names }.
changed-none = No Change is clear.
changed-with = { $name } ({ $group })
change-note = Of people who completed the study. Over studies the mean of their Changes; p by Holm in each group.
ratings = Ratings by kind of data
rating-against-correctness = Rating against correctness in '{ $study }'
ratings-title = Ratings of the explanations, by kind of data
correctness = Ratings by the model's correctness and kind of data
correctness-title = Ratings by whether the model was right, by kind of data
column-data = Data
data-sentence = { $domain } data: { $sentence }

## Graded answers, as Lertvittayakumjorn and Toni (2019) print them

task = Task { $number }
task-on = { $task }, { $dataset }
column-method = Method
kappa = Fleiss' kappa
published-title = Mean scores of all tasks, as published
published-note =
    A cell is the mean over questions (an item in a condition) of the mean of their answers. The best of a column is bold; underlined is what does not differ from it at 5%, tested against it alone and within people. The paper does not say which test it used, and does not correct for picking the best.
published-kappa = The last row has Fleiss' kappa with confidence levels / without them, over all items.
estimates-title = Mean scores of all tasks, as we estimate them
estimates-sentence =
    The same cells as means over participants with 95% intervals, which take participants and items as samples.
estimates-note =
    Bold is the highest of a column, underlined what may be the best: it is not shown to be lower than any other, corrected for the number of methods. The truly best one is left unmarked in at most 5% of studies.
highest = Highest means over all items. { $best }
highest-alike = { $study }: { $name } { $mean }; not different from it: { $names }.
part-of-study =
    { $study }: { $part ->
        [right] model right
        [wrong] model wrong
       *[all] all
    }
highest-alone = { $study }: { $name } { $mean }; all others differ from it.

## Reverse Turing Tests, as { $paper } print them

kind-known = KNOWN TASKS
kind-masked = UNKNOWN TASKS
printed-title =
    { $tasks ->
        [one] 1 task
       *[other] { $tasks } tasks
    }, as { $paper } print them (their Table 1)
printed-sentence = The published table, with the published test: for claims see the table of tasks.
printed-note =
    As printed: accuracy against the model's answers, mean length of a test session (minutes:seconds), the model's accuracy on its test part, and people's accuracy against the true labels. Bold is the better of a group; a star is p < 0.05 by Mann-Whitney's U test of participants' sessions against those without explanations, uncorrected. The random control is left out, as in the paper.
printed-own = Our own estimates, with intervals and for all conditions, stand in the table of tasks.
# $names are kinds of tasks.
no-times = No study with times has a { $names } task: how long known and masked tasks take is not compared.
tasks-title =
    { $tasks ->
        [one] 1 task
       *[other] { $tasks } tasks
    }: answers like the model's, session times, and answers like the truth
tasks-note =
    The paper's Table 1 with all conditions. The reference is no explanation, or the random control; differences from it are within people, with Holm's correction in each study and none over studies. Mann-Whitney's tests are those of the paper, not corrected.
tasks-differ = That a method helps clearly in one study and not in another does not show that it helps more there.
column-task = Task
column-kind = Known or masked
column-model = Like the model
column-difference = Difference from the reference
column-p = p, corrected
column-p-ranks = p, Mann-Whitney
column-minutes = Mean session
column-f1 = F1 against the model
column-model-accuracy = Model right on these items
column-model-test-accuracy = Model right on its test part
column-truth = Like the true label
column-bias = Belief bias
nothing-tested = Nothing could be tested.
differs = Clear differences: { $names }.
differs-in = { $name } in { $task }, { $kind } ({ $points } points, { $p })
differs-nowhere = No condition differs clearly in any task.
times-title = Test sessions of known and masked tasks
column-minutes-of = Mean session, { $kind }
column-interval = 95% interval
times-note =
    The paper's Figure 3, without the random control. Over all conditions a participant counts once, with the mean of the sessions. Tasks also differ in their texts: what is longer takes longer.
times =
    Sessions of masked tasks were { $case ->
        [clearly-longer] clearly longer
        [clearly-shorter] clearly shorter
        [longer] longer, but not clearly
       *[shorter] shorter, but not clearly
    }: { $masked } on average, of known tasks { $known } ({ $p }).
times-bars = { $kind } tasks
times-figure = Mean length of a test session, with 95% intervals over participants.

## People against the model that they imitate: who is nearer to the true labels

ahead-title = People against the model that they imitate: who is nearer to the true labels
column-people-right = People right
column-model-right = Model right on the same items
column-ahead = Difference
column-p-alone = p
column-p-holm = p Holm
ahead = Clear differences: { $names }.
ahead-in = { $name } in { $task }
ahead-nowhere = No difference is clear.
ahead-note =
    Each participant's share of answers like the true label, less the model's on the same items; tested by the signs of participants' differences, corrected over all rows. Items are balanced between right and wrong answers of the model, so that its accuracy here is not that on its test part.

## Strategies that people wrote of

strategies-title = Strategies that people wrote of, by task and condition (the paper's Table 2)
column-asked = Asked
column-wrote = Wrote something
# $asked is how many were asked, $wrote how many wrote something, $coded how many of these have a code.
strategies =
    { $wrote ->
        [one] 1 answer
       *[other] { $wrote } answers
    } of { $asked } in people's own words; { $coded } coded.
strategies-note =
    The question may be left empty, so that who wrote is no sample of who did not. What was written stands in no report; --strategies FILE writes it to a file with a column for codes, and counts them from there.
