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
    In copies of the model with { $stains ->
        [1] 1 planted reason
       *[other] { $stains } planted reasons
    }{ $all ->
        [yes] { "" }
       *[no] , of { $tried } that were tried
    }, how well these are found on { $inputs ->
        [1] 1 input
       *[other] { $inputs } inputs
    }, with { $most } the most that is possible and { $chance } for random features: { $found } (area under the recall curve, in per cent).
planted-found = { $name } { $area }

several-reasons = A few features are enough for the answer, yet taking a few away hardly changes it: the model has several reasons that each do, and methods that take one feature away at a time cannot see these.

enough-not-needed =
    What { $names } { $names_many ->
        [one] names
       *[other] name
    } is enough for the answer but not needed: other features do the same.

# $shares is a list such as "lime 12%".
idle = Of the features that are named, so many do nothing for the answer: { $shares }.
seeds = The same features under other seeds: { $shares }.

removal =
    { $names } { $names_many ->
        [one] looks
       *[other] look
    } for what changes the answer when it is taken away, which is half of what is measured here; expect it to do well.

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

## Planted reasons

nothing-planted = No reasons were planted in copies of the model. { $reason }
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
planted-other-features = The model follows the reason { $reason }, but for other features; it was left out.
planted-not-learnt = The model did not learn the reason { $reason } well enough (it followed it on { $followed } of the test inputs with it, and because of it on { $decided } of those that it flips); it was left out.
