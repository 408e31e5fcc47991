### What the analysis of a study says: of its primary question, of differences between conditions, of who took part.
### $condition, $control and $reference are names of conditions; $names is a list of them and $names_many how many there
### are. $size, $interval, $p and the like are numbers as they are printed. $corrected is "yes" where a p-value is corrected
### for all conditions.

## The primary analysis between people: accuracy before and after explanations

# $way is "rose" or "fell".
change-clear =
    With { $condition } accuracy { $way ->
        [rose] rose
       *[fell] fell
    } by { $size } points (95% interval { $interval }; { $p }{ $corrected ->
        [yes] , corrected for all conditions
       *[no] { "" }
    }).
# $side is "higher" or "lower".
gain-clear =
    With { $condition } the change of accuracy was { $size } points { $side ->
        [higher] higher
       *[lower] lower
    } than with { $control } (95% interval { $interval }; { $p }{ $corrected ->
        [yes] , corrected for all conditions
       *[no] { "" }
    }).
# $parts is a list of effect-part; $missed is "yes" where 0 is outside one of their intervals; $detectable is how large an
# effect is found in 80% of cases; $place is "first" where nothing is said before.
change-unclear =
    { $place ->
        [first] No clear change with
       *[later] No clear change was found with
    } { $parts }, in points with 95% intervals{ $missed ->
        [yes] { " " }(0 is outside one, but not once all conditions are counted)
       *[no] { "" }
    }. { no-evidence-of-none }
gain-unclear =
    { $place ->
        [first] No clear effect of
       *[later] No clear effect was found of
    } { $parts } against { $control }, in points with 95% intervals{ $missed ->
        [yes] { " " }(0 is outside one, but not once all conditions are counted)
       *[no] { "" }
    }. { no-evidence-of-none }
effect-part = { $condition } ({ $size }, { $interval })
no-evidence-of-none = This is no evidence of no effect: a study like this finds a true effect of about { $detectable } points in 80% of cases, so smaller ones stay open.
range = { $low } to { $high }
# $sizes is a list of size-part or size-nothing.
too-little-data = Of { $names } there is too little data for a claim: { $sizes }.
no-interval = Of { $names } no interval can be given: { $sizes }.
size-part = { $condition } { $size } points
size-nothing = { $condition } nothing
nothing-to-estimate = There is nothing to estimate.
practice = Change alone includes practice: without a condition that shows no explanation, it cannot be told what the explanations did.
measure-change = change of accuracy, practice included
measure-gain = accuracy gained over no explanation

## What answers cannot say

nobody-in =
    Nobody in { $names_many ->
        [one] the condition { $names } is analysed: nothing is estimated of it.
       *[other] the conditions { $names } is analysed: nothing is estimated of them.
    }
only-control = Only the condition '{ $control }' is analysed: there is nothing to compare with it.
empty-control = The condition '{ $control }' is empty, so Change is reported in place of the contrast with it. { practice }
# $why is whole sentences.
no-interval-no-test = { $name }: no interval and no test. { $why }
no-interval-of-mean = { $name }: no interval of the mean score. { $why }
against = { $condition } against { $reference }
warning-of = { $names }: { $warning }
# $said is what would be said otherwise.
nothing-claimed = Nothing is claimed: the answers are too few for a test, or do not vary.
nothing-claimed-of = { $said } Nothing is claimed of { $names }: the answers are too few for a test, or do not vary.
cannot-be-estimated = { $what } cannot be estimated: { $why }

## People in several studies

both-parts = Both parts of a user test are by the same people: each is one unit of all intervals and resampling.
nobody-linked = Nobody is linked over studies: whoever took part in two of them is counted as two people.
linked =
    { $linked ->
        [one] { $linked } person is linked over studies
       *[other] { $linked } people are linked over studies
    }; { $twice ->
        [one] { $twice } person
       *[other] { $twice } people
    } took part in several of these, each as one unit of all intervals and resampling. Whoever is not linked is counted in every study.

## Figures

# $nothing is what an interval that crosses 0 does not exclude.
interval-caption = Points are estimates, lines 95% intervals; one that crosses 0 does not exclude that { $nothing }.
what-explanations-add = What explanations add

## Differences within people

# $what is what is higher or lower, such as "accuracy"; $way is "raised" or "lowered".
difference-clear =
    { $condition } { $way ->
        [raised] raised
       *[lowered] lowered
    } { $what } by { $size } against { $reference } (95% interval { $interval }; { $p }{ $corrected ->
        [yes] , corrected for all comparisons
       *[no] { "" }
    }).
# $parts is a list of difference-part.
difference-unclear = No clear difference from { $reference }: { $parts }. This is no evidence of no effect: a study like this finds a true difference of about { $detectable } in 80% of cases, so smaller ones stay open.
difference-part = { $condition } { $size } ({ $interval })
difference-bare = { $condition } { $size }
difference-uneven = Nothing is claimed against { $reference }, since rows of the design are filled unequally and practice can pass for an effect: { $parts }. Fill the rows of the design equally, or account for sessions (--session-term).
difference-small =
    Too little data for a claim against { $reference } (it needs { $people ->
        [one] { $people } person
       *[other] { $people } people
    } and { $items ->
        [one] { $items } item
       *[other] { $items } items
    }): { $parts }.
difference-no-interval = No interval can be given against { $reference }: { $parts }.
difference-mixed = What { $names } and { $reference } do cannot be told from the sessions in which they were met.
# $others is a list that ends with "or".
difference-nobody = Nobody met both { $reference } and { $others }: there is no difference to tell.
nothing-to-compare = There is nothing to compare.
models-agree = Other models agree with the differences from { $reference }.
models-no-data = There is too little data for a claim by any model.
models-differ = The models do not agree on { $names }: one finds a difference, one does not.

## What is compared within people. $task is "score" (graded answers) or "imitation" (answers like the model's); $sort is
## what a reference is: "none" (no explanation), "training" (none yet), or "control" (a random one).

within-measure =
    { $task ->
        [score] mean score
       *[imitation] agreement with the model
    }
within-what =
    { $task ->
        [score] the mean score
       *[imitation] people's agreement with the model
    }
within-reference =
    { $sort ->
        [training] no training
        [none] no explanation
       *[control] a random control
    }
within-against = { within-measure }, against { within-reference }
within-minus = { within-measure }, minus that with '{ $reference }'
within-title =
    { $task ->
        [score] Mean score against { $reference }
       *[imitation] Agreement with the model against { within-reference }
    }
equivalence-from = from { $reference }
equivalence-with = Equivalence with { $reference }
difference-from = Difference from { $reference }
linear-model = Linear mixed model
logistic-model = Logistic mixed model
the-linear-model = The linear mixed model
the-logistic-model = The logistic mixed model

## Mean scores of graded answers

scores-nobody-under = Nobody who is analysed answered under { $names }: nothing is estimated there.
nobody-answered =
    Nobody who is analysed answered { $task ->
        [score] a question
       *[imitation] an item of a test session
    }: there is no primary analysis.
nobody-answered-others =
    { nobody-answered } ({ $people ->
        [one] { $people } participant
       *[other] { $people } participants
    } who did not finish or are excluded answered some.)
only-condition = Only the condition '{ $condition }' has answers: there is nothing to compare it with.
# $side is "above" or "below".
score-clear =
    The mean score with { $condition } is { $side ->
        [above] above
       *[below] below
    } 0: { $size } ({ $interval }; { $p }{ $corrected ->
        [yes] , corrected for all conditions
       *[no] { "" }
    }).
scores-unclear = Mean scores that cannot be told from 0: { $parts }.
no-control = There is no control to compare with.
measure-score = mean score, from -1 to 1
# $meaning is what a score above 0 means.
scores = Mean scores (above 0, { $meaning }): { $parts }.
none-ruled-out = None can be ruled out as the best.
may-be-best =
    { $names } may be the best; { $lower } { $lower_many ->
        [one] is
       *[other] are
    } shown to be lower than another.

## Who took part. $who is "bot" or "participant".

# $others is how many of the other sort came.
nobody-came =
    No { $who ->
        [bot] bot has come yet{ $others ->
            [0] { "" }
            [one] { " " }({ $others } person did: leave --bots out)
           *[other] { " " }({ $others } people did: leave --bots out)
        }
       *[participant] participant has come yet{ $others ->
            [0] { "" }
            [one] { " " }({ $others } bot did: use --bots)
           *[other] { " " }({ $others } bots did: use --bots)
        }
    }: nothing can be estimated.
nobody-answered-of =
    No { $who ->
        [bot] bot
       *[participant] participant
    } of { $arrived } answered anything in a test: nothing can be estimated.
under-way =
    { $who ->
        [bot] { $count ->
            [one] { $count } bot
           *[other] { $count } bots
        } still under way: the numbers will change.
       *[participant] { $count ->
            [one] { $count } participant
           *[other] { $count } participants
        } still under way: the numbers will change. Looking at results and then deciding whether to go on makes every p-value too small.
    }
# $complete is how many completed the study.
nobody-complete =
    { $who ->
        [bot] { $complete ->
            [0] No bot has completed the study
            [one] The only bot that completed the study is excluded
           *[other] All { $complete } bots who completed the study are excluded
        }. So that a rehearsal shows something, all numbers here are of every bot that answered.
       *[participant] { $complete ->
            [0] No participant has completed the study
            [one] The only participant who completed the study is excluded
           *[other] All { $complete } participants who completed the study are excluded
        }: the analysis per protocol is empty, and only the analysis of everybody who answered (intention to treat) is reported.
    }
bots-do-not-wait = Bots do not wait; with --pace human they do.

## Losses by condition

lost-nobody = Nobody who got a place left or withdrew.
# $parts is a list of lost-part; $total is how many were lost.
lost-part = { $share } in { $condition }
lost-no-conditions = { $total } left or withdrew ({ $parts }); there are no conditions to compare.
lost-differ = Conditions lost different shares of their participants ({ $parts }; { $test }, { $p }): those who stayed may differ between conditions, so compare with the analyses of everybody.
lost-alike = Losses by condition: { $parts }; no sign that they differ ({ $test }, { $p }).
lost-under-way =
    { $count } still under way { $count ->
        [one] is
       *[other] are
    } in no share.

## The screening test

screening-same =
    The screening test was the same for all and came before anybody was given a condition, so that it could not make conditions differ; { $out ->
        [0] nobody failed it.
        [one] { $out } person failed it.
       *[other] { $out } people failed it.
    }
screening-all-conditions =
    { $out ->
        [0] Nobody
        [one] { $out } person
       *[other] { $out } people
    } failed the screening test; everybody meets every condition, so that it cannot make conditions differ.
# $parts is a list of screening-share.
screening-shares = Of those who finished the screening test it excluded { $parts }, with 95% intervals.
screening-share = { $share }% in { $condition } ({ $low } to { $high })
screening-points = { $size } points, 95% interval { $low } to { $high }
# $points is screening-points.
screening-largest = The largest difference is that of { $more } and { $fewer }: { $points }. The test was asked after a condition was given, and is not the same for all.
screening-more = More people were screened out in { $more } than in { $fewer } ({ $points }): whoever is left may differ, so that every claim that compares { $more } with { $fewer } is weakened, whatever its p-value.
screening-unclear = No difference is clearly above zero, but { $size } points cannot be ruled out: claims that compare { $more } with { $fewer } rest on the assumption that those who were kept are alike.

## The balance of the design

# $empty rows of $rows have nobody; else $fewest and $most people are in a row.
unequal =
    The design is filled unequally: { $empty ->
        [0] rows of the design have from { $fewest } to { $most ->
            [one] { $most } person
           *[other] { $most } people
        }
        [one] { $empty } of { $rows } rows of the design has nobody
       *[other] { $empty } of { $rows } rows of the design have nobody
    }. Where two conditions are then not met equally early and late, practice or tiredness can pass for an effect, and nothing is claimed of them. Fill the rows of the design equally, or account for sessions (--session-term).
all-rows-reached = Every row of the design has as many participants as wanted.
rows-short =
    { $missing ->
        [one] { $missing } participant
       *[other] { $missing } participants
    } fewer than wanted, in { $short } of { $rows ->
        [one] { $rows } row
       *[other] { $rows } rows
    }.
# $fewest and $most are how many scored answers an item has; $spread is "none" where they are the same.
answers-per-item =
    Each item has { $spread ->
        [none] { $most ->
            [one] { $most } scored answer
           *[other] { $most } scored answers
        }
       *[some] { $fewest } to { $most } scored answers
    } in each condition where it was shown.

## Change and contrasts

# $parts is a list of changed-part.
rounds-changed = Between the two rounds accuracy changed by { $parts }.
changed-part = { $size } in { $condition }
rounds-unchanged = In no condition did accuracy clearly change between the two rounds.
practice-in-control = Change includes practice, also in { $control }, where nothing was explained: what explanations add is in the contrasts.
practice-compare = Change includes practice: compare with { $control }.
# $parts is a list of contrast-part; $side is "higher" or "lower".
contrast-clear = Compared with { $control }, where only practice could help, the change of accuracy was { $parts }.
contrast-part =
    { $size } points { $side ->
        [higher] higher
       *[lower] lower
    } in { $condition }
contrast-unclear = No condition's accuracy clearly changed more, or less, than that of { $control }; the last column says how large an effect would have been found.
# $parts is a list of pair-part.
pairs-clear = The change of accuracy was { $parts }.
pair-part = higher in { $more } than in { $fewer }
pairs-unclear = No two conditions clearly differ from each other.
# $planned pairs are a family, and the $others another.
families-apart =
    The { $planned ->
        [one] { $planned } planned pair
       *[other] { $planned } planned pairs
    } and the other { $others } are corrected separately, by Holm.
families-together = Corrected by Holm for all pairs.
mixed-disagrees = The linear mixed model does not agree with the primary analysis on { $parts }.
mixed-disagrees-part = { $condition } ({ $why })

## Ratings

rated-one = Explanations of { $condition } were rated { $mean } on average.
# $parts is a list of difference-bare.
rated-several = Mean ratings, highest first: { $parts }. A rating says what people think of an explanation, not what it does.
rated-not-both = No participant rated explanations of right and of wrong predictions: they cannot be compared.
rated-no-interval = Rated { $size } where the model was right against wrong; no interval can be given.
# $difference is rated-difference; $side is "right" or "wrong".
rated-difference = { $size } points of the scale, 95% interval { $interval }
rated-too-few = Too few participants for a claim on ratings where the model was right and wrong ({ $difference }).
rated-higher =
    Explanations were rated higher where the model was { $side ->
        [right] right
       *[wrong] wrong
    } ({ $difference }): not only reasons are rated.
rated-alike = Ratings do not clearly depend on whether the model was right ({ $difference }).
slope-none = Right and wrong answers do not overlap in their ratings, or are all alike: there is no slope.
# $way is "right", "wrong" or "unclear"; $step is "raw" where ratings are as given, from $steps such as "4 to 5".
slope =
    { $way ->
        [right] Higher ratings go with right answers
        [wrong] Higher ratings go with wrong answers
       *[unclear] Ratings do not clearly predict right answers
    }: a rating higher by { $step ->
        [raw] one ({ $steps })
       *[normalised] one deviation
    } goes with { $interval } points of accuracy, 95% interval.
gain-too-few = Too few people gave ratings and answered 15 items twice, or all gained alike: nothing can be said.
gain-by-rating =
    Participants who rate explanations higher gain { $way ->
        [more] more
       *[less] less
    }: { $size } points for one point of the scale.
gain-by-rating-unclear = Participants who rate explanations higher do not clearly gain more, or less.
regression-none = Too few participants have 10 items answered twice and some right before, or all were alike before, or gained alike: nothing can be said of regression to the mean.
regression = Who scored 10 points higher before explanations gained { $size } points less. Chance alone gives such a slope, because Pre is in both numbers: it says nothing about explanations, and touches a comparison of conditions only if they differed before.
# $case is "below" or "not-below".
before-of-highest =
    As the paper compares it: the highest mean Change is that of { $condition }, with { $own }% right before explanations, { $case ->
        [below] { $away } points below the mean of all ({ $overall }%), so that part of it may be regression to the mean.
       *[not-below] not below the mean of all ({ $overall }%), so that regression to the mean does not explain it.
    }
regression-unclear = Whether a participant gained does not clearly depend on the accuracy before explanations.

## How long people took

# $parts is a list of session-part.
sessions-took = A test session took { $parts } on average.
session-part = { $length } with { $condition }
answers-took = The median answer took { $parts }.
no-times = There are no times.
times-alike = No clear difference in time per answer from { $reference }.
# $way is "faster" or "slower".
times-differ =
    Answers were { $way ->
        [faster] faster
       *[slower] slower
    } with { $condition }: { $ratio } times the time with { $reference } ({ $p }).
# $length is a number with a decimal, or above 9.
length-minutes = { $length } minutes
length-seconds = { $length } seconds
# $parts is a list of ranks-part.
ranks-differ = By the published test sessions differ from { $reference } for { $parts }.
ranks-part = { $condition } ({ $measure })
ranks-alike = By the published test no session value differs from { $reference }.

## The best condition

all-scores-same = All mean scores are the same.
highest-score = { $condition } has the highest mean score.
best-none-out = No condition can be ruled out as the best.
best-left = Not ruled out as the best: { $names }.
best-all-out = Every condition is shown to be lower than some other one, which chance alone must have done.
best-published = By the published rule (each against { $best } alone) { $names } would not differ from it.

## Confidence

confidence-nobody = Nobody decided for an answer: how confidence relates to being right cannot be told.
# $parts is a list of confidence-part; $level is "sure" or "not sure".
confidence-shares = People were { $parts }.
confidence-part = { $share }% right when { $level }
# $size is a difference within people.
confidence-no-claim = The difference is { $size } within people; there is too little data for a claim.
# $verdict is "tells", "worse" or "open".
confidence-difference =
    The difference is { $size } within people ({ $interval }; { $p }): { $verdict ->
        [tells] confidence tells something
        [worse] sure answers were worse
       *[open] this does not show that confidence tells anything
    }.

## Equivalence, and what conclusions rest on

# $against is what the difference is from, such as "from none"; $size the margin with its unit.
equivalent = The difference { $against } is shown to be smaller than { $size } for { $names }.
not-equivalent = No condition is shown to differ { $against } by less than { $size }.

nobody-per-protocol = Nobody is analysed per protocol: there is nothing that these estimates could be compared with.
# $parts is a list of turns-with or turns-without.
turns = Some conclusions turn { $parts }: they rest on little.
turns-with = with { $variant } ({ $names })
# $what is "item" or "participant".
turns-without =
    when one { $what ->
        [item] item
       *[participant] participant
    } is left out ({ $names })
turns-nothing-claimed = Nothing is claimed, so no conclusion can turn.
turns-none = No conclusion turns when one item or participant is left out, or when everybody who answered is counted.
without-change =
    { $people ->
        [one] { $people } participant answered no item in both rounds and has no change
       *[other] { $people } participants answered no item in both rounds and have no change
    }: counted only where missing second answers are no change.
each-left-out =
    each { $what ->
        [item] item
       *[participant] participant
    } left out in turn: lowest and highest estimate
turned-by = without { $names }

## Notes on the analysis as a whole

session-term-left-out = A session term was asked for, but here everybody meets one condition only: it was left out.
frozen-late =
    The study was frozen when { $people ->
        [one] { $people } person
       *[other] { $people } people
    } had already agreed to take part: what is called planned may have been chosen after their answers were seen.
file-changed = { $file } was changed after { $source } was written: what stands here is of the changed file, which may lack answers that were given.
no-analysis = There is no analysis of the protocol '{ $protocol }': only the flow of participants is reported.
no-times-at-all = No answer has a time: how long people took is left out.
no-ratings = There is no rating of an explanation: the tables of ratings are left out.
no-pairs = Nobody who is analysed answered an item both before and after explanations: there is no primary analysis.

## The Reverse Turing Test: answers like the model's

imitation-no-training = There is no answer of a training session: the training curve is left out.
imitation-no-reference = There is no condition without explanations and no random control with answers: accuracy is reported, and what explanations add cannot be told.
# $parts is a list of difference-bare with shares in per cent.
imitation-alone = Answers like the model's: { $parts }. Nothing is compared.
# $parts is a list of imitation-part.
imitation-shares = People answered like the model in { $parts }.
imitation-part = { $share }% with { $condition }
# $parts is a list of effect-part; $towards is "truth" or "model".
imitation-bias =
    They answered more like { $towards ->
        [truth] the true label than like the model
       *[model] the model than like the true label
    } with { $parts }.

## Scales among one's own questions

# $part is the part after which it was asked.
scale-after = { $scale }, after { $part }
scales-described =
    { $scales ->
        [one] One scale was asked; its scores are described by condition.
       *[other] { $scales } scales were asked; their scores are described by condition.
    }
scales-alike = No scale differs clearly between a condition and { $control }.
# $differences is a list of scale-differs.
scales-differ = Compared with { $control }: { $differences }.
scale-differs = { $scale } differs in { $condition } by { $size } ({ $interval })
# $score is "mean", "sum" or "percent"; $source is "none" for one's own scale.
scale-made =
    { $scale }: the { $score ->
        [sum] sum of { $items ->
            [one] one item
           *[other] { $items } items
        }
        [percent] mean of { $items ->
            [one] one item
           *[other] { $items } items
        } from { $low } to { $high }, as 0 to 100
       *[mean] mean of { $items ->
            [one] one item
           *[other] { $items } items
        }, from { $low } to { $high }
    }, of people who answered all of them.{ $source ->
        [none] { "" }
       *[other] { " " }Source: { $source }.
    }
scale-contrasts = Differences are from { $control }: Welch's test between people, the paired t test where the same people answered in both; p by Holm within each scale. From fewer than six people there is no p.
reliability-weak = Alpha is below 0.7 for { $scales }: the items may measure more than one thing.
reliability-fine =
    { $scales ->
        [one] The items of the scale go together: alpha is 0.7 or more.
       *[other] The items of each scale go together: alpha is 0.7 or more.
    }
reliability-how = Alpha with Feldt's interval; omega of one factor by minimum residuals, with a percentile interval over people drawn again. Items that count the other way round are turned first.

## Pages that show nothing

# Pages on which both robots are highlighted alike, or one fragment speaks for two answers.
uninformative =
    In { $condition }, { $pages } of { $of } pages carry no information: both sides of them show the same, so that answers to them can only be guesses. They are analysed like all others.

## Machines that take part: the gain of what there was to gain

normalised-title = What machines gained, of what there was to gain
normalised-sentence =
    { $some ->
        [yes] With explanations the machines predicted the model better: { $conditions }.
       *[other] No condition is known to have helped the machines.
    }
# $matched: whether a condition without explanations was among those that took part.
normalised-how =
    { $matched ->
        [yes] Without explanations: the last answers to the same items in the condition that shows none.
       *[other] Without explanations: the same condition's first answers. The study has no condition that shows nothing, so that practice counts as a gain; add one (explainer = "none").
    } The normalised gain is the gain over what was left to 100%.
normalised-unit = Intervals and p are over items: machines that are asked alike answer alike, and more of them are no more evidence. These are machines; nothing here is said of people.
normalised-ceiling = In { $conditions } the machines predicted { $ceiling } and more without any explanation: they know the task, and little was left to gain. Mask the labels, or plant a reason that nobody can know.

## The verdict of a study's report. $people is "people" or "bots"; $reference is "none-named" where answers before
## explanations are what others are compared with.

verdict-no-answer = The primary question cannot be answered with these data; what could not be estimated is below.
verdict-better =
    { $people } did better with { $names } { $reference ->
        [none-named] after explanations than before
       *[other] than with { $reference }
    }
verdict-worse =
    { $people } did worse with { $names } { $reference ->
        [none-named] after explanations than before
       *[other] than with { $reference }
    }
verdict-size = { $name } ({ $size })
verdict-unclear-too = no clear difference with { $names }
verdict-unclear =
    there is no clear evidence that explanations changed how well { $people } did: no clear { $reference ->
        [none-named] change with { $names }
       *[other] difference from { $reference } with { $names }
    }
verdict-uneven = of { $names } nothing is claimed, since rows of the design are filled unequally and practice can pass for an effect
verdict-too-little = of { $names } nothing is claimed, there is too little data
# What is said of each condition.
judged-mean =
    { $participants ->
        [one] 1 person
       *[other] { $participants } people
    }
judged-no-interval = no interval
judged-yes = higher
judged-no = lower
judged-nothing-given = no interval can be given
judged-unclear = no clear difference
judged-uneven = rows of the design filled unequally, nothing claimed
judged-too-little = too little data for a claim
no-difference = no difference
# $each is "comparison" or "condition"; $people and $items are numbers, or from one to another.
verdict-rests-on =
    Each { $each ->
        [comparison] comparison
       *[condition] condition
    } is based on { $people ->
        [one] 1 person
       *[other] { $people } people
    } and { $items ->
        [one] 1 item
       *[other] { $items } items
    }.
verdict-span = { $low } to { $high }
verdict-detectable = Not clear is not equal: the minimum detectable effect is about { $effect } (a true effect of that size would be found in 80% of such studies), so smaller ones stay open.
verdict-needs = A claim needs { $needed } people in each of the conditions that are compared.
# $model is "none" where it has no name; $accuracy is "none" where it is not known; $analysed is how many, with what they are.
study-asked =
    A { $protocol } study on { $dataset }{ $model ->
        [none] { "" }
       *[other] { " " }with the model { $model }{ $accuracy ->
            [none] { "" }
           *[other] , right on { $accuracy } of its test inputs
        }
    }; { $analysed } analysed.

## The table of the primary analysis

column-primary-condition = Condition
column-primary-estimate = Estimate
column-primary-interval = 95% interval
column-primary-p-adjusted = p, corrected
column-primary-p = p, alone
column-primary-detectable = Minimum detectable effect
column-primary-participants = Participants
column-primary-items = Items
column-primary-planned = Planned
primary-corrected = Corrected for all lines together: { $how }.
primary-figure = Points are estimates, lines their 95% intervals.
flow-title = Flow of participants

## In which order answers stood. $orders is how many orders there are; $apart by how much they differ in number, and
## $where is "within" conditions or "over" all people; it is "none" where nobody is analysed.

same-order = Answers stood in the same order on everybody's pages.
counterbalanced =
    The order of answers was counterbalanced between participants ({ $orders ->
        [2] classes in the one order or its reverse
       *[other] { $orders } orders of the classes
    }, scales from the one end or the other){ $where ->
        [none] .
       *[other] ; among those analysed { $apart ->
            [0] they are as often
           *[other] the orders differ by at most { $apart } in number
        } { $where ->
            [within] within each condition
           *[over] over all of them
        }.
    }

## What a plan names and no analysis is called, and margins in words

plan-unknown = The plan names { $names }, which no analysis here is called; the names are: { $known }.
# $example is a line of TOML.
plan-margin =
    The plan's { $name } is a text{ $margin ->
        [none] { " " }with no margin above 0 in it, or with several numbers: equivalence was not tested; write a number with its unit, such as { $example }.
       *[other] ; { $margin } was taken from it as the margin. Write a number with its unit instead: { $example }.
    }
