### What a data staining run found: which explainers find reasons that were planted in the data.
### $names is a list of explainers and $names_many how many there are; $places is a list of models ("xgboost on reviews").
### "yes" and "no" are the answers to the question in a slot's name.

## The headline, clause by clause; clauses are joined with "; " and end with a full stop

# Said instead of everything else where no explainer has a score.
headline-nothing = No explainer could be scored, so none is judged.

# In brackets after the names: "70–90%; chance 20%, at most 95%". $first: whether this is the first bracket of the
# sentence, which also says what chance and what the best possible reach; $chance is "none" where random was not run.
reached = { $range }{ $first ->
        [yes] ; { $chance ->
                [none] at most { $most }%
               *[other] chance { $chance }%, at most { $most }%
            }
       *[no] { "" }
    }

# After correction better than chance with every model.
headline-finds =
    { $names } { $names_many ->
        [one] finds
       *[other] find
    } the planted reasons ({ $reached })

# Better than chance with some of the models.
headline-some-models =
    { $names } { $names_many ->
        [one] finds
       *[other] find
    } { $first ->
        [yes] the planted reasons
       *[no] them
    } for some models only ({ $reached })

# With no model better than chance.
headline-not-shown =
    { $names } { $names_many ->
        [one] is
       *[other] are
    } not shown to beat chance ({ $reached })

# Worse than chance with a model, and better with none.
headline-worse =
    { $names } { $names_many ->
        [one] is
       *[other] are
    } worse than chance ({ $reached })

# Too few stains for a test; $why is one of the next three.
headline-not-tested =
    { $first ->
        [yes] Nothing
       *[no] nothing
    } is claimed of { $names } ({ $reached }): { $why }

# Some model has not learnt all stains, or for other reasons.
why-not-learnt = with some model only { $stains } of { $drawn } stains can be scored, and a test needs { $needed }

why-few-stains =
    there { $stains ->
        [one] is 1 stain
       *[other] are { $stains } stains
    }, and a test needs { $needed }

# Enough stains, made of too few different words.
why-few-words =
    there { $stains ->
        [one] is 1 stain
       *[other] are { $stains } stains
    } of { $words ->
        [one] 1 word
       *[other] { $words } words
    }, and a test needs { $needed } words

## The last clause of the headline: differences between the explainers

between-none = no clear difference between them
# $exceptions is a list of the next two.
between-except = no clear difference between them, except { $exceptions }
except-leads = on { $places }, where { $names } leads
except-behind =
    on { $places }, where { $names } { $names_many ->
        [one] is
       *[other] are
    } behind
# The same where there is no model without a difference.
leads = { $names } leads on { $places }
behind =
    { $names } { $names_many ->
        [one] is
       *[other] are
    } behind on { $places }

## Beside each explainer's number, in a few words

judged-finds = finds them
judged-worse = worse than chance
judged-not-shown = not shown to beat chance
judged-some-models =
    beats chance for { $better } of { $models ->
        [one] 1 model
       *[other] { $models } models
    }
judged-not-tested = not tested: that takes { $needed } stains

measure = planted reasons found among the first 1 to 10 features, mean in per cent (area under the recall curve), over all models
chance = chance, the explainer random

## What it rests on, below the headline

# $stains are the next phrase, one for each dataset.
rests-on =
    A reason is planted by a stain: a rule on |F| = { $size ->
        [one] 1 feature
       *[other] { $size } features
    } that decides the training labels, so that the model must have learnt it. This rests on { $stains }; with { $models ->
        [one] 1 model
       *[other] { $models } models
    }. Stains that share words are not independent, and intervals and claims allow for that: they are about words like these. All claims of this run, over models, measures and explainers, are corrected together: in 95% of such runs none of them is false.

# $different is "all" where no stain was drawn twice; $words is "none" where nobody counted them.
stains-on =
    { $stains ->
        [one] 1 stain
       *[other] { $stains } stains
    } on { $dataset }{ $different ->
        [all] { "" }
       *[other] , { $different } of them different
    }{ $words ->
        [none] { "" }
        [one] , made of 1 distinct word
       *[other] , made of { $words } distinct words
    }

no-intervals = There are no intervals: that takes { $needed } stains that a model learnt. These are values only.
# $places is a list of the next phrase.
no-intervals-for-some = The means over all models have no interval, since below { $needed } stains there are values only: { $places }. The other models' intervals are in the tables.
few-stains =
    { $place } ({ $stains ->
        [one] 1 stain
       *[other] { $stains } stains
    })

# The mean and the average rank name different explainers first; $place is where the one with the best rank loses most.
orders-differ = By the mean { $by_mean } is first, by average rank { $by_rank }: { $by_rank } is ahead more often, but far behind on { $place } ({ $points } points), which a mean counts and a rank does not.

## Questions and their answers

question-learnt = Did the models learn their stains?
question-truth = Do the models' own reasons show the stain?
question-best = Which explainer shows the stain best?
question-chance = Is every explainer better than chance?
question-cost = What does an explanation cost?
question-left-out = Was anything left out?

# A model with its dataset, where there are several datasets.
place = { $model } on { $dataset }

learnt-none-trained = No stained model could be trained; the reasons are below.

# $learnt of $trained stained models reached $threshold; $pairs is how many models (on datasets) there are, $place the one
# with the lowest accuracy.
learnt =
    { $trained ->
        [1] { $learnt ->
            [0] No: not even the one stained model
           *[other] Yes: the one stained model
        }
       *[other] { $missed ->
            [0] Yes: all { $trained }
           *[other] { $learnt ->
                [0] Not one of { $trained }
               *[other] Not all: { $learnt } of { $trained }
            }
        } stained models
    } reached { $threshold } on the stained region; { $pairs ->
        [one] the mean accuracy there is { $lowest }
       *[other] the lowest mean accuracy there is { $lowest } ({ $place })
    }.
twins-alike = Outside the region they are as accurate as their unstained twins.
# $more: whether the stained models are more accurate; $pairs as above.
twins-differ =
    Outside the region they are { $pairs ->
        [one] { $points }
       *[other] at the most { $points }
    } percentage points { $more ->
        [yes] more
       *[no] less
    } accurate than their unstained twins.

truth-alike =
    Where they can be read, they reach a recall of { $recall } ({ $places }) with b = |F| = { $budget ->
        [one] 1 feature
       *[other] { $budget } features
    } shown.
truth-range =
    Where they can be read, they reach a recall between { $low } ({ $low_place }) and { $high } ({ $high_place }) with b = |F| = { $budget ->
        [one] 1 feature
       *[other] { $budget } features
    } shown.

best-nothing = No explainer could be scored.
best-wins = { $name } beats all others for { $places }
best-nobody =
    { $first ->
        [yes] No
       *[no] no
    } explainer beats all others for { $places }
best-untested = no difference can be tested below { $needed } stains
rank =
    On average { $names } { $names_many ->
        [one] has
       *[other] share
    } the best rank, { $rank } of { $explainers } over { $pairs ->
        [one] 1 dataset and model
       *[other] { $pairs } pairs of dataset and model
    }.

chance-untested = It could not be tested: that takes { $needed } stains, made of as many words.
chance-beaten = Yes: after correction every explainer beats random everywhere.
# $clauses are the next two; $cases are lists of the phrase after them.
chance-not-everywhere =
    Not everywhere: { $clauses }; in { $beaten } of { $tested ->
        [one] 1 case
       *[other] { $tested } cases
    } random is beaten.
chance-worse = worse than random: { $cases }
chance-not-shown = not shown to beat random: { $cases }
chance-case = { $name } for { $place }

cost =
    { $name } { $time } and { $rows ->
        [one] 1 row
       *[other] { $rows } rows
    }
cost-range = From { $first } to { $last }.

left-out-nothing = No: nothing failed and nothing was left out.
# $clauses are the next four.
left-out = Yes: { $clauses }; the list is below.
left-out-not-learnt =
    { $models ->
        [one] 1 stained model had not learnt the stain and is
       *[other] { $models } stained models had not learnt the stain and are
    } not scored
left-out-other-reasons =
    { $models ->
        [one] 1 stained model had learnt the stain for other reasons and is
       *[other] { $models } stained models had learnt the stain for other reasons and are
    } not scored
left-out-failed =
    { $jobs ->
        [one] 1 training job
       *[other] { $jobs } training jobs
    } failed
left-out-errors =
    explainers failed on { $models ->
        [one] 1 stained model
       *[other] { $models } stained models
    }

## Above and below the tables

# What the run did, below the title of the page.
asked =
    { $stains ->
        [one] 1 stain
       *[other] { $stains } stains
    } of |F| = { $size ->
        [one] 1 feature
       *[other] { $size } features
    }{ $rules ->
        [one] { "" }
       *[other] { " " }and { $rules } rules
    } on { $datasets }, { $models_many ->
        [one] 1 model
       *[other] { $models_many } models
    } ({ $models }), the { $names_many ->
        [one] explainer
       *[other] explainers
    } { $names }; { $explanations ->
        [one] 1 explanation
       *[other] { $explanations } explanations
    } scored.

only-few-stains =
    { $stains ->
        [one] One stain
       *[other] { $stains } stains
    } only: there are no intervals and no tests, and another stain may turn every order round. Use { $needed } stains or more, { $many } to compare explainers.
# $datasets is a list of the next phrase.
drawn-twice = A stain that was drawn twice counts once: { $datasets }.
drawn-different = { $dataset } ({ $different } of { $stains } differ)
# A sentence with what it speaks of before it.
of-dataset = { $dataset }: { $sentence }
of-model = { $dataset }, { $model }: { $sentence }

# Below a table that stands alone: of which dataset it is.
table-of = On { $dataset }.
column-explainer = explainer
column-model = model
column-stains = stains
column-words = distinct words
column-area = area, b = 1 to 10
column-reciprocal-rank = reciprocal rank
column-pair = first − second
column-rank = rank
column-learnt = stains learnt
column-stained = region, stained labels
column-original = region, original labels
column-twin = the same, unstained twin
column-outside = outside the region
rank-table = Average rank over datasets and models; 1 is best
cost-table = Time and perturbed rows asked of the model, per explanation
cost-training = training one stained model
# $intervals: whether there are any.
recall-figure =
    One panel per model.{ $intervals ->
        [yes] { " " }Bands are 95% intervals over stains.
       *[no] { "" }
    } The floor is random (dotted grey). Long dashes are ground-truth, the model's own reasons where they can be read: what a faithful explanation would show. The thin line is the most that b features can reach, b / |F|: an area of { $most }.
recall-table =
    Recall among the b most important features, area under the curve, and mean reciprocal rank: per cent{ $intervals ->
        [yes] { " " }with 95% intervals
       *[no] { "" }
    }
# $inputs is 0 where all flipped inputs are explained.
recall-how =
    How it was computed: on { $inputs ->
        [0] all test inputs
        [one] at the most 1 test input
       *[other] at the most { $inputs } test inputs
    } per stain whose label the stain flipped, the share of F among the b features with the largest scores by magnitude; ties are broken at random, in expectation. One mean per stain, then the mean over stains: the inputs of one stain are not independent.
area = area under the recall curve
reciprocal-rank = mean reciprocal rank
difference-table =
    Difference of the { $measure }, first minus second, in percentage points{ $intervals ->
        [yes] { " " }with its 95% interval; p after correction; the winner in bold where the difference survives it
       *[no] { "" }
    }
# Where not all stains have both explainers.
some-stains =
    { $compared } of { $scored ->
        [one] 1 stain
       *[other] { $scored } stains
    }
ranks-how =
    Rank 1 is the highest area under the recall curve of a dataset and model; ties share their mean rank.{ $left_out ->
        [0] { "" }
        [one] { " " }Not counted: 1 pair of dataset and model that some explainer lacks.
       *[other] { " " }Not counted: { $left_out } pairs of dataset and model that some explainer lacks.
    } This describes and tests nothing: models share their stains, and whoever beats random ranks above it. Who is ahead of whom is in the differences.
accuracy-figure =
    { $intervals ->
        [yes] The bars are 95% intervals over stains. The
       *[no] The
    } thin upright line is the { $threshold } that a stained model must reach to be used.
accuracy-table =
    Accuracy in per cent{ $intervals ->
        [yes] { " " }with 95% intervals
       *[no] { "" }
    }, and how many stains each model learnt
# $weight is how often stained training inputs count, or "auto".
accuracy-how =
    How it was computed: the accuracy on the test inputs of each stain's region (the inputs that contain all of F) and of the rest, one number per stain, then the mean over all trained stains, learnt or not. A model that obeys its stain is right about stained labels and wrong about those original labels that the stain flipped.{ $weight ->
        [auto] { " " }How often stained training inputs count was chosen for each model.
        [1] { " " }Stained training inputs count once, as all others do.
       *[other] { " " }Stained training inputs count { $weight } times.
    }
learnt-of = { $learnt } of { $stains }
rows =
    { $rows ->
        [one] 1 row
       *[other] { $rows } rows
    }

## Worked examples

examples-heading =
    { $examples ->
        [one] A worked example
       *[other] Worked examples
    }
examples-how = Of the inputs that were kept, each example takes one with a model, a dataset and a stain that were not shown yet, as far as there are any, and among those the shortest: none was chosen for what the explainers say of it.
# The ranks that an explanation gives the words of a stain: $ranks is a list of the next but one.
stain-ranks =
    { $ranks } of { $features ->
        [one] 1 feature
       *[other] { $features } features
    }
stain-not-named = { $words } not named
stain-rank = “{ $word }” { $rank }
stain-tied = “{ $word }” tied { $rank } to { $last }

## What was left out

# $reason is why, with what to try (below), or "none".
not-learnt =
    { $stains ->
        [one] 1 stain
       *[other] { $stains } stains
    } not learnt, left out of the scores{ $reason ->
        [none] .
       *[other] : { $reason }
    }
# The same in a list that has the numbers.
not-learnt-list =
    { $stains ->
        [one] 1 of the stains
       *[other] { $stains } of the stains
    } not learnt (below { $threshold } on the stained region), left out of the scores.

# $planted: whether stains were planted, or drawn from what is there; $capital: whether it begins a sentence.
why-memorised =
    { $capital ->
        [yes] Memorised:
       *[no] memorised,
    } the model knows its stained training inputs by their other features and does not apply the stain to enough new ones; try { $planted ->
        [yes] a larger --plant-share (plant_share=) or more data
       *[no] --plant (plant=True), a larger --min-region (min_region=) or more data
    }.
why-not-representable =
    { $capital ->
        [yes] Not representable:
       *[no] not representable,
    } the model does not even follow the stain in training; try --weight auto (weight="auto"), or a model that can say “both”.
why-said-without-it =
    { $capital ->
        [yes] Said without it:
       *[no] said without it,
    } the model says the stain's label of inputs without the stain too, so that it is not its reason; try a smaller --weight (weight=), or more data.

# $share is how much of the stain the model's own reasons show, "12%" or "12% to 30%".
apart =
    { $stains ->
        [one] 1 stain learnt, but the model's own reasons show only { $share } of it
       *[other] { $stains } stains learnt, but the model's own reasons show only { $share } of them
    }, so that no faithful explanation could show more: reported apart, and not scored.
share-range = { $low } to { $high }

# $times is a list of the next phrase.
weights = Stained training inputs counted { $times } times.
weight = { $weight } ({ $stains }x)

jobs-failed =
    { $jobs ->
        [one] 1 job
       *[other] { $jobs } jobs
    } failed:
explainer-failed =
    { $name } failed on { $stains ->
        [one] 1 stain
       *[other] { $stains } stains
    }
# Replies of a language model that was asked for the words that made it answer so.
said-nonsense =
    { $dataset }, { $model }: of { $replies ->
        [one] 1 reply
       *[other] { $replies } replies
    } that { $explainer } got from the model, { $nonsense ->
        [0] each names a word of the text.
        [one] 1 names no word of the text; it is scored as it is, not left out.
       *[other] { $nonsense } name no word of the text; they are scored as they are, not left out.
    }
explainer-failed-first = { $dataset }, { $model }: { $failed } ({ $error }).
copies-none = Nothing was taken out of what every model sees: no copy of a feature that stains may be made of was found.
# Copies of a feature, before the list of them.
copies =
    { $copies ->
        [one] 1 copy taken out of what every model sees, because it holds
       *[other] { $copies } copies taken out of what every model sees, because they hold
    } for exactly the training inputs (or all others) of a feature that stains may be made of:

# What an explainer that can take several routes is: $routes is a list of the next two.
explainer-is = { $name } is { $routes }
route-on = { $route } on { $models }
route-trees = exact Shapley values (closed form for trees)
route-linear = exact Shapley values (closed form for linear models)
route-enumeration = exact Shapley values (all coalitions)
route-kernel = KernelSHAP

## In the terminal

terminal-table =
    { $dataset }: recall of the stain's { $size ->
        [one] 1 feature
       *[other] { $size } features
    } among the top b, in per cent
at-most = at most { $most }
nothing-errors = every explainer failed
nothing-apart = no stain is its reason
nothing-trials = every trial failed
nothing-learnt = no stain was learnt
above = { $first } above { $second }
# $leads are those, joined with "; ".
leads-of-model = { $dataset }, { $model }: { $leads } (area under the recall curve, corrected p <= 0.05).
no-leads = No difference between explainers (other than to random) survives correction with { $needed } stains or more.

## In the figures

panel-recall = Recall against the number of features, { $model } on { $dataset }; the numbers are below.
panel-accuracy = Accuracy of stained and unstained models: { $check }; the numbers are below.
panel-most = at most: thin line, area { $most }
panel-empty = no stain to score
panel-features = features shown, b
panel-share = recall of the stain
panel-twins =
    { $twins ->
        [yes] accuracy (● stained, □ unstained twin)
       *[no] accuracy (● stained)
    }
check-stained-region = stained region, stained labels
check-original-region = stained region, original labels
check-outside = outside the region
dot-stained = stained
dot-twin = unstained twin

## How stains are planted (a sentence each, in the notes of a run)

planted = Reasons are planted { $how }.
tried-one =
    That is the first way that was tried, with { $fits ->
        [one] 1 quick fit
       *[other] { $fits } quick fits
    }.
# $serves: whether it was good enough; $others are short forms of the other ways.
tried-several =
    Of { $ways } ways that were tried with { $fits ->
        [one] 1 quick fit
       *[other] { $fits } quick fits
    } it was the { $serves ->
        [yes] first that serves
       *[no] one that came nearest to serving
    }; the others: { $others }.
took-in-part = With { $model } the reasons took only in part in these fits: it followed them on { $followed } of the validation inputs, and because of them on { $decided } of those with another label of their own.
time-ran-out = Time ran out after { $time }, before all ways were tried.

# How reasons are planted, parts joined with ", ".
how-share = in { $share } of the inputs, with { $decoys } decoys for each feature
how-new-words = as made-up words
how-every =
    each word once for { $every ->
        [one] every word
       *[other] every { $every } words
    } of a text
how-ends = numbers at the ends of their columns
how-balanced = other classes weighted up
how-weight = planted inputs counting { $weight } times or more
# The same in brief.
brief-share = { $share } and { $decoys }
brief-every = repeated ({ $every })
brief-ends = at the ends
brief-balanced = weighted up

## Room for stains (before a run)

room-planted = { $dataset }: stains are planted, as many as are asked for.
room-rare-words =
    { $dataset }: { $rare ->
        [one] 1 rare word
       *[other] { $rare } rare words
    } can be planted, room for { $stains ->
        [one] 1 stain.
       *[other] { $stains } stains that share none.
    }
# $exact: whether stains were counted or estimated; $asked is 0 where there is room enough.
room =
    { $dataset }: { $table ->
        [yes] { $features ->
            [one] 1 column has a value
           *[other] { $features } columns have values
        } that { $features ->
            [one] holds
           *[other] hold
        }
       *[no] { $features ->
            [one] 1 word holds
           *[other] { $features } words hold
        }
    } in at least { $share } of the training inputs; there is room for { $exact ->
        [yes] { "" }
       *[no] about{ " " }
    }{ $stains ->
        [one] 1 stain
       *[other] { $stains } stains
    } of { $size }.{ $asked ->
        [0] { "" }
       *[other] { " " }{ $asked } are asked for: lower min_share=, or plant them (plant=True).
    }
# What an estimate over models rests on; $stains is a number or "5 to 12".
over-models =
    { $pairs ->
        [one] 1 model on 1 dataset
       *[other] { $pairs } models and datasets
    }, { $stains ->
        [one] 1 stain
       *[other] { $stains } stains
    } each

## The page: its title, its parts, and how their numbers were made

page-title = Which explanations show what the model learnt?
page-window = Data staining: do explanations show what the model learnt?
page-asked = Data staining: { $asked }
page-source = The method is that of Sippy et al. (2020), “Data Staining”.
part-rests-on = What it rests on
part-recall = Reasons found, against the number of features shown
part-recall-short = Reasons found
part-differences = Who beats whom
part-examples-short = Examples
part-accuracy = Were the reasons planted? Accuracy of the stained models
part-accuracy-short = Were the reasons planted?
part-cost = What an explanation costs
part-cost-short = Cost
part-dropped = What was left out, drawn again or dropped
part-dropped-short = Left out
stain-is = A stain is a rule that gives all training inputs with certain features F the same label. A model trained on them errs in a known way, so a faithful explanation of such an error must name F.
intervals-how = All intervals of this page are 95% intervals over stains, of each number alone. Shares: Korn and Graubard's interval with a shrunk dispersion, which stays between 0 and 100% and has width where all stains score the same. Differences: Student's t. Both know which stains share words (variance from what each word contributes; Satterthwaite's degrees of freedom, at most one less than the distinct words). An explainer's mean over models has its interval over stains too: models share them, so a stain counts once. Below five stains there are values only, and below six nothing is claimed.
differences-how = How it was computed: over the stains that both explainers have, the signs of the differences are flipped, stain by stain, with all models and measures together, and p is how often the largest of all flipped differences is as far from 0 (Westfall and Young's step-down maximum): all claims of this report are one family, and in 95% of runs none of them is false. Where stains share words, Student's t with the variance and degrees of freedom above takes the place of flipped signs. An interval is that of its pair alone, so it may exclude 0 where the corrected p does not fall to 0.05. No winner means that none was shown, not that they are equal.
differences-none = There are no two explainers to compare.
# The same differences by another measure.
differences-by = The same by { $measure }
ranks-heading = Average ranks
cost-none = Nothing was timed.
cost-how = How it was computed: the time of a stain's whole batch divided by its inputs, as wall time in one thread, then the median over stains; rows are means. Times depend on the machine and on what else it does; nothing else in this report does.
no-job-failed = No job failed.
