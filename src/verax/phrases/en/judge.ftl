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
    } with { $features } { $kind ->
        [table] { $features ->
            [one] column
           *[other] columns
        }
       *[text] { $features ->
            [one] word
           *[other] words
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

# $stains is how many planted reasons were scored, $tried how many were tried, $most the largest possible score, $found a
# list such as "shap finds 95", $chance the score of a random order.
planted =
    In copies of the model with { $stains ->
        [1] 1 planted reason
       *[other] { $stains } planted reasons
    }{ $all ->
        [yes] { "" }
       *[no] , of { $tried } that were tried
    }, of at most { $most } per cent { $found }, random features { $chance } (area under the recall curve).
planted-found = { $name } finds { $area }

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
