### What a rationale run found: which explainers rank words that a model provably ignores above words that it needs.
### A target is a model that selects words of a text and predicts from these alone. $names is a list of explainers and
### $names_many how many there are; "yes" and "no" are the answers to the question in a slot's name.

## The headline, clause by clause; clauses are joined with "; " and end with a full stop

# Said instead of everything else where no explainer has a score.
headline-nothing = No explainer could be scored, so none is judged.

# In brackets after the names: "3–5% of inputs; chance 93%". $chance is "none" in all brackets but the first, and where
# random was not run.
reached =
    { $range }{ $inputs ->
        [yes] { " " }of inputs
       *[no] { "" }
    }{ $chance ->
        [none] { "" }
       *[other] ; chance { $chance }%
    }

# By an exact test it errs on very few texts.
headline-hardly-ever =
    { $first ->
        [yes] For
       *[no] for
    } { $models }, { $names } hardly ever { $names_many ->
        [one] ranks
       *[other] rank
    } a word that the model ignores above one that it needs ({ $reached })

# No error was seen, and the inputs are too few to say more.
headline-none-seen =
    { $names } made no such error, on too few inputs to say that { $names_many ->
        [one] it hardly ever does
       *[other] they hardly ever do
    } ({ $reached })

headline-not-shown =
    { $names } { $names_many ->
        [one] is
       *[other] are
    } not shown to err less than chance ({ $reached })

# $first: whether no clause before has said what the error is.
headline-less =
    { $names } { $first ->
        [yes] { $names_many ->
            [one] ranks
           *[other] rank
        } a word that the model ignores above one that it needs
       *[no] { $names_many ->
            [one] errs
           *[other] err
        }
    }, but less often than chance on every target ({ $reached })

# The same on some targets only.
headline-less-on-some =
    { $names } { $first ->
        [yes] { $names_many ->
            [one] ranks
           *[other] rank
        } a word that the model ignores above one that it needs
       *[no] { $names_many ->
            [one] errs
           *[other] err
        }
    } less often than chance on { $better } of { $targets ->
        [one] 1 target
       *[other] { $targets } targets
    } ({ $reached })

these-models =
    { $models ->
        [1] this one model
        [2] these two models
        [3] these three models
        [4] these four models
        [5] these five models
        [6] these six models
        [7] these seven models
        [8] these eight models
        [9] these nine models
        [10] these ten models
        [11] these eleven models
        [12] these twelve models
       *[other] these { $models } models
    }

## Beside each explainer's number, in a few words

judged-hardly-ever = hardly ever errs
judged-none-seen = no error seen, on too few inputs to say hardly ever
judged-not-shown = not shown to err less than chance
judged-less = errs, but less than chance on every target
judged-less-on-some =
    errs less than chance on { $better } of { $targets ->
        [one] 1 target
       *[other] { $targets } targets
    }

# $inputs is one of the next three.
measure = inputs with a word that does nothing above a clearly relevant one, in per cent of { $inputs }
chance = chance, the explainer random
inputs-strict = strict inputs
inputs-published = all inputs that the paper keeps
inputs-too-few-strict = all inputs that the paper keeps (too few are strict)

## What it rests on, below the headline: one group of targets after the other

# A group of targets: $difficulty is "none" for targets that were given.
place =
    { $dataset } ({ $difficulty ->
        [none] given
       *[other] { $difficulty }
    } targets)
group-nothing = On { $place }, no explainer could be scored.
group-too-easy =
    On { $place }, { $names_many ->
        [one] { $names } misranks
       *[other] all of { $names } misrank
    } at the most { $share } of { $inputs }: these are too easy to tell { $names_many ->
        [one] explainers
       *[other] them
    } apart.
# $others is a list such as "lime 12.0%", or "none".
group-least =
    On { $place }, { $names } { $names_many ->
        [one] ranks
       *[other] rank
    } a word that does nothing above a clearly relevant one least often, in { $share } of { $inputs }{ $others ->
        [none] .
       *[other] ; { $others }.
    }
# Where strict inputs are too easy, the shares on all inputs.
group-on-all-inputs = Of { $inputs } the shares are: { $shares }.
share-of = { $name } { $share }
share-with-interval = { $share } (95% interval { $low } to { $high }%)
# Several targets, too few for an interval: the value of each.
share-with-values = { $share } ({ $values } on its { $targets } targets)
span = { $low } to { $high }

sure-one-target = One trained model is one observation: another may turn the order round.
sure-beats = Over targets it beats { $names } after Holm's correction.
sure-too-few =
    It is so in { $times } of { $targets ->
        [one] 1 target
       *[other] { $targets } targets
    }; a test over targets needs { $needed } of them, so no order is proven.
sure-no-difference =
    It is so in { $times } of { $targets ->
        [one] 1 target
       *[other] { $targets } targets
    }, and no difference survives Holm's correction.

# $few: whether there are too few targets of a kind for an interval; $rare: whether "hardly ever" is said, $share what
# it means.
of-whom =
    What is said of each explainer holds for { $models }, whose inputs are a sample: others, trained on the same data with other seeds, may differ{ $few ->
        [yes] , and fewer than { $needed } of a kind tell nothing of how much.
       *[no] .
    }{ $rare ->
        [yes] { " " }“Hardly ever” is said where it errs on fewer than { $share }% of texts by an exact test; a text counts as wrong if it is misranked with any of the models.
       *[no] { "" }
    } All claims on explainers together are false in at most 5% of runs.

# $strict is a share, or from the lowest to the highest; $single is a list of explainers that score a word by deleting
# it alone, or "none".
guarantee =
    On every input that is used, deleting all words that are not selected leaves the output as it is (the paper's condition). Of these inputs { $strict }, by target, are strict: there no single deletion of such words and no sampled subset of them changes the output either. On the others an explainer that deletes some words may see them matter, and be right; so the strict inputs come first.{ $single ->
        [none] { "" }
       *[other] { " " }But { $single } { $single_many ->
            [one] scores
           *[other] score
        } a word by deleting it alone, and strict inputs are those where that shows nothing for words that are not selected: there { $single_many ->
            [one] it can hardly err, whatever its worth. Judge it
           *[other] they can hardly err, whatever their worth. Judge them
        } by all inputs.
    }

## Questions and their answers

question-claim = Under which claim is a ranking judged?
question-targets = Are the targets good models?
question-cost = What does an explanation cost?
question-left-out = Was anything left out?

# $claims are the next four, joined with "; ".
claim = As selective: words that the model did not use on this input must rank below those it clearly did. { $claims }. An additive score may give weight to a word for what it does in other variants of the input; here that counts as an error, though it breaks no claim of such a method.
claim-additive =
    { $names } { $names_many ->
        [one] claims
       *[other] claim
    } contributions that sum to the output, on average around the input (additive)
claim-selective =
    { $names } { $names_many ->
        [one] claims
       *[other] claim
    } the words that the model used on this input (selective)
claim-none =
    { $names } { $names_many ->
        [one] claims
       *[other] claim
    } nothing (none)
claim-undeclared =
    { $names_many ->
        [one] the claim
       *[other] the claims
    } of { $names } { $names_many ->
        [one] is
       *[other] are
    } not declared (undeclared)

targets =
    { $targets ->
        [one] 1 target
       *[other] { $targets } targets
    }: right on { $accuracy } of the test texts, from { $share } of their words. The test needs no correct predictions, only known reasons.
# $costs is a list of the next phrase.
cost = In the middle: { $costs }.
cost-of = { $name } { $time }
left-out-nothing = No.
left-out-failed =
    { $jobs ->
        [one] 1 job
       *[other] { $jobs } jobs
    } failed, listed below.
left-out-errors =
    { $names } { $names_many ->
        [one] is not scored on targets where it
       *[other] are not scored on targets where they
    } failed.

## Above and below the tables

# What the run did, below the title of the page.
asked =
    { $targets ->
        [one] 1 target
       *[other] { $targets } targets
    } on { $datasets }, { $inputs ->
        [one] 1 input
       *[other] { $inputs } inputs
    } drawn at random among those that can serve, the { $names_many ->
        [one] explainer
       *[other] explainers
    } { $names }.
note-one-target = One target is one observation: its intervals are over inputs, and say nothing of another model, even one trained alike. Use { $needed } targets or more.
note-few-targets = Fewer than { $needed } targets of a kind have no interval for other targets, trained on the same data with other seeds: their values are shown one by one. Use { $needed } or more for one (--target-models).
# $places is a list of the next phrase.
note-few-strict = Fewer than { $needed } strict inputs could be found for { $places }.
few-strict = { $dataset }, { $target } ({ $inputs })

# $intervals: "yes", "few" (values instead) or "no".
error-table =
    { $place }, { $inputs }: mean over { $targets ->
        [one] 1 target
       *[other] { $targets } targets
    }{ $intervals ->
        [yes] { " " }with 95% intervals for others that are trained on the same data with other seeds
        [few] , in parentheses the value of each; { $targets } are too few for an interval of others that are trained on the same data with other seeds
       *[no] { "" }
    }
target-table = { $inputs } ({ $number }), 95% intervals over inputs, standard deviations in parentheses
tau-table = { $inputs }: misranked inputs (B) and such words above (C) by tau
tau-column =
    tau = { $tau } ({ $inputs ->
        [one] 1 input
       *[other] { $inputs } inputs
    })
test-set-table = The test sets, as in the paper's Table 2: means with standard deviations
difference-table =
    { $place }, { $inputs }: { $targets ->
        [one] 1 target is the unit
       *[other] { $targets } targets are the units
    }
cost-table = Cost per explanation
pair = { $first } and { $second }
column-explainer = explainer
column-claim = claim
column-first = first word does nothing (A)
column-misranked = some such word above a relevant one (B)
column-above = such words above (C)
column-area = area (AUC)
column-ties = inputs with ties
column-rows = rows asked
column-pair = pair
column-difference = inputs ranked right, first minus second, in points
column-p = p (Holm)
column-ahead = ahead
column-target = target
column-time = time
column-rows-of-model = rows asked of the model
# $absolute: whether words are ranked by the size of their scores.
errors-how =
    How it was computed: all words of a text are ranked by { $absolute ->
        [yes] the size of their scores, whatever their sign
       *[no] their signed scores, what speaks against the prediction last
    } (the paper does not say which; LIME's own list is by size). A method that scores distinct words gives every occurrence its score; words that a method leaves out score 0, and tie. Ties are broken at random by the seed.

## In the terminal

legend = A: the first word does nothing. B: some word that does nothing stands above a clearly relevant one. C: how many such words do. Lower is better.
explainer-failed = { $target }: { $name } failed and is not scored there ({ $error }).

## In the figures

panel-errors = Share of misranked inputs by explainer, { $place }, { $inputs }; the numbers are below.
panel-errors-axis = inputs with a word that does nothing above a relevant one, %
panel-tau = Misranked inputs as a function of tau, { $place }; the numbers are in the tables of the targets.
panel-tau-axis = misranked inputs, %
# $difficulty as above.
panel-title =
    { $dataset }, { $difficulty ->
        [none] { "" }
       *[other] { $difficulty } targets,{ " " }
    }{ $inputs }
panel-strict = strict inputs
panel-published = all kept inputs
title = Rationale models, { $datasets }
model = { $difficulty } targets

## The page: its title, its parts, and how their numbers were made

page-title = Which explainers rank words that provably do nothing?
page-window = Rationale models: which explainers rank words that do nothing?
page-asked = Rationale models: { $asked }
page-source = The method is that of “Can I Trust the Explainer? Verifying Post-hoc Explanatory Methods” (Camburu et al. 2020); the strict inputs are Verax's own.
part-rests-on = What it rests on
part-errors = Errors of the rankings
part-tau = As a function of tau
part-sets = The test sets
part-examples = Examples
part-targets = Target by target
part-cost = Cost
errors-figure = Small dots are targets, large marks their means, bars 95% intervals for other targets (same data, other seeds) where there are five or more. The floor is random; the oracle knows the answer.
differences-folded = Who is right more often than whom
tau-figure = The larger tau, the more a word must move the output to count as clearly relevant, and the fewer inputs have such a word. Means over targets.
one-target = A finding on one trained model is one observation; intervals here are over the inputs of that model.
# $epochs are "12%/85.0%", one for each epoch, joined with ", ".
target-training = Training, share of words selected and validation accuracy after each epoch: { $epochs }.
