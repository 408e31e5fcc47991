### Which explainer to believe for a model: the answer, and what it rests on.
### $names is a list of explainers, and $names_many how many there are.

## Where nothing can be told

one-feature = There is one feature only, so that an explainer has nothing to choose, and none can be judged.

nothing-named =
    { $names } { $names_many ->
        [one] names
       *[other] name
    } no feature that speaks for the model's answer on { $inputs ->
        [1] this input
       *[other] { $inputs } inputs
    }.

nothing-matters =
    No feature matters here: whatever is taken away or left alone on { $inputs ->
        [1] this input
       *[other] { $inputs } inputs
    }, the model's answer stays the same, so that no explanation can be told from a random one.

# $features is how many features an input has, $kind is "table" or "text", $chance the chance of being right by luck in
# per cent, $needed how many inputs would do (0 where nobody knows).
too-few-inputs =
    { $inputs ->
        [1] One input
       *[other] { $inputs } inputs
    } with { $kind ->
        [table] { $features ->
            [one] 1 column
           *[other] { $features } columns
        }
       *[text] { $features ->
            [one] 1 word
           *[other] { $features } words
        }
    } cannot show which explainer to believe: a random choice of features would be as good as the best in { $chance }% of cases.{ $needed ->
        [0] { "" }
        [1] { " " }Give more inputs.
       *[other] { " " }Give { $needed } inputs or more.
    }

## The answer, clause by clause
## $range is how far explainers come, such as "87 to 100%"; $place is "first" in the first clause that has one.

believe =
    Believe { $names } for this model: the features that { $names_many ->
        [one] it names
       *[other] they name
    } first are what its answers rest on ({ $range } of the way from random features to the best possible, on { $inputs ->
        [1] this input
       *[other] { $inputs } inputs
    })

believe-none =
    No explainer here is shown to name all that the model's answers rest on, on { $inputs ->
        [1] this input
       *[other] { $inputs } inputs
    }

a-part =
    { $names } { $names_many ->
        [one] names
       *[other] name
    } only a part of { $place ->
        [first] what the answers rest on ({ $range } of the way from random features to the best possible)
       *[later] it ({ $range })
    }

no-better =
    { $names } { $names_many ->
        [one] is
       *[other] are
    } no better than random features ({ $range }{ $place ->
        [first] { " " }of the way from random features to the best possible
       *[later] { "" }
    })

not-shown =
    { $names } { $names_many ->
        [one] is
       *[other] are
    } not shown to be better than random features ({ $range }{ $place ->
        [first] { " " }of the way from random features to the best possible
       *[later] { "" }
    })

cannot-be-told = { $names } cannot be told from random features ({ $range }{ $place ->
        [first] { " " }of the way from random features to the best possible
       *[later] { "" }
    })

names-nothing =
    { $names } { $names_many ->
        [one] names
       *[other] name
    } no feature

no-difference = No difference between { $names } is shown.
ahead = { $name } is ahead of { $names }

## What the answer rests on

# $stains is how many planted reasons were scored, $inputs on how many inputs in all, $tried how many were tried, $most the largest possible score, $found a
# list such as "shap 95", $chance the score of a random order.
planted =
    { $stains ->
        [1] One reason was
       *[other] { $stains } reasons were
    } planted in copies of the model{ $all ->
        [yes] { "" }
       *[no] { " " }({ $tried } were tried)
    }. How well they are found on { $inputs ->
        [1] 1 input
       *[other] { $inputs } inputs
    }: { $found } (area under the recall curve, in per cent; at most { $most }, random features { $chance }).
planted-found = { $name } { $area }

several-reasons = A few features are enough for the answer, yet taking a few away hardly changes it: the model has several reasons that each do, and methods that take one feature away at a time cannot see these.

enough-not-needed =
    What { $names } { $names_many ->
        [one] names
       *[other] name
    } is enough for the answer but not needed: other features do the same.

# $shares is a list such as "lime 12%".
idle = Share of the named features that do nothing for the answer: { $shares }.
seeds = Share of the named features that other seeds name too: { $shares }.

removal =
    { $names } { $names_many ->
        [one] looks
       *[other] look
    } for what changes the answer when it is taken away, which is half of what is measured here. So to be called ahead of others takes a lead in the other half too: what the named features do alone.

# Which measures count, and why. $sort is the sort of model that the result is of, $kind "text" or "table", $taus a list of numbers, $stains how many planted reasons it rests on,
# $output is "number" where the model at hand predicts one.
known-reasons = { $sort ->
        [logistic] linear models
        [tree] decision trees
        [forest] forests
        [xgboost] boosted trees
        [mlp] networks
        [cnn] networks of word vectors
        [rationale] rationale models
       *[other] models of several sorts
    } of { $kind ->
        [table] tables
       *[other] texts
    } with { $stains } known reasons{ $output ->
        [number] { " " }(models of classes; none of numbers was tried)
       *[classes] { "" }
    }
measures-both = Counted are both, how far the answer falls without the named features and how far it rises with them alone: on { $models } either orders explanations as the truth does (tau { $taus }).
measures-needed = Counted is how far the answer falls without the named features, and not how far it rises with them alone: on { $models } only the first is shown to order explanations as the truth does (tau { $taus }).
measures-enough = Counted is how far the answer rises with the named features alone, and not how far it falls without them: on { $models } only the first is shown to order explanations as the truth does (tau { $taus }).
measures-unsure = Counted are both, how far the answer falls without the named features and how far it rises with them alone; on { $models } neither is shown to order explanations as the truth does well (tau { $taus }), so that planted reasons tell more.
measures-unknown = Counted are both, how far the answer falls without the named features and how far it rises with them alone; which of them is right on models of this sort was not tried.

# $kind is "table" or "text".
method =
    At most { $most } features of an input, and no more than half of them, were taken away, and left alone ({ $kind ->
        [table] columns take the values of reference rows
       *[text] words are left out
    }), beside as many random ones; such inputs may be unlike any that the model has seen. Whether people understand an explanation is another question.

## Beside each explainer's number, in a few words

judged-silent = names no feature
judged-nothing = nothing to name
judged-too-few = cannot be told with so few inputs
judged-yes = names what the answers rest on
judged-part = names a part of it
judged-little = names little of it
judged-no = no better than random features
judged-open = not shown to beat random features

## Notes

equal-inputs =
    { $again ->
        [one] 1 input of { $inputs } is
       *[other] { $again } inputs of { $inputs } are
    } equal to another; each is counted once.

# The time allowed was over before all inputs were done; $slowest is an explainer.
out-of-time =
    { $done ->
        [one] 1 input of { $inputs } was
       *[other] { $done } inputs of { $inputs } were
    } judged in the time allowed ({ $seconds } s in all); { $slowest } took the longest to explain. Give seconds= a larger number for all of them.

# $shares is a list of the next phrase; $name and $samples are those of its first.
fewer-samples = The model takes long to answer, so that fewer samples were drawn for an input than by default: { $shares }. Give seconds= a larger number, or name a number: "{ $name }(samples={ $samples })".
fewer-samples-of = { $name } { $fewer } of { $default }
seeds-stopped = Other seeds were not tried on all inputs, for lack of time.

# Explainers that give no score for each feature.
not-feature-by-feature =
    { $names } { $names_many ->
        [one] does not say what the prediction rests on feature by feature, so it is
       *[other] do not say what the prediction rests on feature by feature, so they are
    } not judged here.

predicts-number = The model predicts a number ({ $name }): a point is a hundredth of its spread, which is { $spread } from the 5th to the 95th percentile of predictions, and features are named that raise the number.

given-rows =
    The { $rows ->
        [one] row that was given stands
       *[other] { $rows } rows that were given stand
    } for what the model was trained on: their values take the place of columns that are taken away (reference= gives others).

## Several labels

labels-title = Explainers by label
labels-sentence = How far of the way from random features to the best possible each explainer comes, for one label at a time. Each label is a verdict of its own: among many labels some claims hold by chance, so look for what holds for most of them.

## Planted reasons

nothing-planted = No reasons were planted in copies of the model. { $reason }
nothing-planted-mixed =
    No reasons were planted: in records of texts that takes columns of texts alone, and this model reads { $columns } too.
offsets-need-rows =
    No reasons were planted: for a model of numbers that takes rows of a table with their numbers, (rows, numbers), and a regressor that reads them.
offsets-not-learnt =
    { $tried ->
        [one] The offset that was tried was not learnt
       *[other] None of the { $tried } offsets that were tried was learnt
    } well enough for explanations of it to be scored; more rows may help.
offsets-planted =
    The reasons are offsets: rows with both values have { $offset } added to their number, { $deviations } standard deviations of it.
few-planted =
    { $tried ->
        [one] 1 reason of { $wanted } was
       *[other] { $tried } reasons of { $wanted } were
    } planted: more would have taken longer than the { $time } that were allowed.
few-explained =
    { $explained ->
        [one] 1 input was
       *[other] { $explained } inputs were
    } explained for each, not { $wanted }, to keep to the time.
# Why no reason at all could be scored; advice is one of the two that follow.
more-data = More training data may help.
more-time = Planting may take { $time } here; give seconds= a larger number.
from-to = { $low } to { $high }
none-planted-for-lack-of-time =
    After { $fits ->
        [one] 1 quick fit
       *[other] { $fits } quick fits
    } to find out how reasons can be planted, no time was left to plant one and have it explained. { $advice }
none-planted-other-features =
    The model followed { $tried ->
        [one] the reason that was tried, but for other features than the planted ones
       *[other] the { $tried } reasons that were tried, but for other features than the planted ones
    }. { $advice }
none-planted-not-learnt =
    The model learnt none of the reasons that were tried well enough for its explanations to be scored (it followed them on { $share } of the inputs with them, after { $fits ->
        [one] 1 quick fit
       *[other] { $fits } quick fits
    } to find out how to plant). { $advice }
planted-other-features = The model follows the reason { $reason }, but for other features; it was left out.
planted-not-learnt = The model did not learn the reason { $reason } well enough (it followed it on { $followed } of the test inputs with it, and because of it on { $decided } of those that it flips); it was left out.
