### Which automatic measures of explanations can be believed: whether a measure orders explanations of known quality as
### the truth does. $names is a list of measures and $names_many how many there are.

title = Which automatic measures of explanations can be believed?

# What the run did, below the title. $explainers is a list, or "none" where only explanations of known quality are
# compared.
asked =
    { $measures ->
        [one] 1 measure
       *[other] { $measures } measures
    } on { $cells ->
        [one] 1 model
       *[other] { $cells } models
    } with { $stains ->
        [one] 1 planted reason
       *[other] { $stains } planted reasons
    } ({ $models }), explanations of known quality{ $explainers ->
        [none] .
       *[other] { " " }and { $explainers }.
    }

## The answer, one sentence after the other

believable =
    { $names_many ->
        [one] This measure orders
       *[other] These measures order
    } explanations as the truth does: { $names }.
believable-none = No measure is shown to order explanations as the truth does.
backwards = Do not use { $names }: the order is backwards.
says-nothing = Of { $names } nothing shows that the order has to do with the truth.
weak = The order of { $names } goes with the truth, but weakly.
not-shown = There are too few stains to say anything of { $names }.
# Where one model differs from all of them together.
worse-on =
    { $verdict ->
        [backwards] On { $model }, do not use { $names }: there the order is backwards.
        [says-nothing] On { $model }, nothing shows that the order of { $names } has to do with the truth.
       *[weak] On { $model }, the order of { $names } goes with the truth only weakly.
    }
# A real explainer is preferred to itself with the true reasons put first.
prefers-untrue =
    On { $model }, { $names } { $names_many ->
        [one] prefers
       *[other] prefer
    } { $explainer } even to the same explanation with the true reasons put first: there a better value is no proof of a truer explanation.
# $share is a share in per cent, with its interval.
equals = Of two explanations that are equally true, tests over inputs say in { $share } of cases that one is better, over all measures; 5% are allowed.

# $explainers and $measures are lists; $why is a whole sentence.
not-taken = Of { $explainers } { $measures_many ->
        [one] this measure has no value
       *[other] these measures have no values
    }: { $measures }. { $why }

## The same in a word, in tables

verdict-believable = believable
verdict-backwards = backwards
verdict-says-nothing = says nothing
verdict-weak = weak
verdict-not-shown = not shown
number-with-verdict = { $number } { $verdict }

## Tables

column-measure = measure
column-verdict = verdict
column-tau = tau
column-interval = 95% interval
column-p = p, corrected
column-prefers = prefers the truer
column-equals = claims between equals
column-fooled = prefers the adversary
column-stains = stains
column-rows = rows asked of the model
column-ms = milliseconds

table-measures = Does a measure order explanations as the truth does?
table-measures-means = Tau is 1 if a measure orders explanations of known quality as the truth does, and -1 if it does so backwards. Beside it: how often it prefers the truer of two explanations of one input (chance is 50%), how often a test says that one of two equals is better (5% are allowed), and how often it prefers the adversary to the oracle.
table-models = By model: tau with the truth's order
table-models-means = Where a number is marked with a word, that is what may be said of the measure on this model alone.
table-reasons = By sort of reason: tau with the truth's order
table-reasons-means = and: both words are needed. or: either is enough. negated: one word, without another. counts: each twice. rationale: the words that a model selects, which reads nothing else.
table-tail = How often { $explainer } is preferred to the same explanation with the true reasons put first
table-tail-means = Of the inputs on which { $explainer } does not name the reasons first. The two differ in nothing else, so that a measure above 50% prefers what is less true. Empty where there is no such input.
table-above = How often { $explainer } scores above the oracle
table-above-means = The share of stains on which the mean value of { $explainer } is better than that of the oracle. Where a model's reasons cannot be read, the oracle's other features tie, and a real explainer may win by those.
table-sizes = By how much truer one explanation is: how often it is preferred
table-sizes-means = Pairs of explanations of one input, which is what a user compares; chance is 50%.
table-replaced = With something else in the place of absent features: tau with the usual order
table-replaced-means = Usually absent words are left out, and columns take values of other rows. resampled: words of other texts; masked: a network's mask; mean: a column's mean.
table-cost = Cost of one explanation's value
table-cost-means = Means over models. What measures share (the best order of an input) is counted once for all explanations.

how = Reasons are planted: words (or values) that decide a model's prediction; those of a rationale model are the words that it selects, on inputs where it selects the same whichever others go. Explanations of known quality name them all, or change each with a chance of 25, 50 or 75% for a word that is no reason, or are random; where a model's own reasons can be read (logistic regression, trees) the oracle is what it reads, elsewhere all others tie, and ties are broken at random and averaged. How true an explanation is, is the area under the recall of the reasons among its first ten features. Tau is Kendall's, between a measure's order of the five by their means over inputs and the order of their truth. Values of a stain's models are averaged; intervals (95%) and tests by flipped signs are over stains, p is corrected by Holm over measures. Equals are two explanations corrupted alike, or two random ones; a claim is p up to 5% over the inputs of one model. The adversary names words that are no reason and whose removal moves the model most.

## What a measure declares, in lists. $low and $high are numbers, or "none" where there is no such end.

declared =
    { $better ->
        [higher] Higher
       *[lower] Lower
    } is better, { $low ->
        [none] { $high ->
            [none] without ends
           *[other] up to { $high }
        }
       *[other] { $high ->
            [none] from { $low } on
           *[other] from { $low } to { $high }
        }
    }; it { $costs ->
        [nothing] asks nothing of the model
        [explanations] explains again
        [fits] fits the model again
       *[rows] asks the model
    }.

## What was left out

# $share is the part of the inputs that the reason can flip and does.
not-learnt = The model did not learn the reason { $reason } (it decides { $share } of the inputs that it can flip).
# Of a rationale model; $label is a class. It stands where else a planted reason is written.
selected = words that the model selects for { $label }
# $tried is on how many inputs it was tried.
none-strict = The model selects the same words, whichever others go, in none of the { $tried ->
        [one] 1 input
       *[other] { $tried } inputs
    } that were tried, so that no word is known to do nothing.
