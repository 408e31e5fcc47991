### The atlas: which explainer for which sort of model. $names, $models are lists.

title = Atlas of explanations
heading = Which explainer for which sort of model?

## The answer. Each $answers is headline-lead, headline-lead-but, headline-tie, headline-open, headline-none or headline-few, with
## semicolons between; $models are phrases sort.

headline = Reasons known to be in a model are found best { $answers }.
headline-lead = in { $models } by { $names }
headline-lead-but = in { $models } by all explainers but { $names }
headline-tie = in { $models } by { $names }{ $names_many ->
        [one] {""}
       *[other] {", of which none is shown to be better than another"}
    }
headline-none = in { $models } by none: none is shown to do better than chance
headline-open = in { $models } by none so far: it takes more planted reasons to tell any from chance
headline-few = in { $models } by none so far: too few planted reasons were learnt to say anything
headline-nothing = Nothing was compared yet.
sort = { $name ->
    [logistic] logistic regression
    [tree] decision trees
    [forest] random forests
    [xgboost] XGBoost
    [hist-gradient-boosting] histogram gradient boosting
    [mlp] multilayer perceptrons
    [cnn] convolutional networks
    [bilstm] LSTM networks
    [transformer-mean] networks on a frozen transformer
    [transformer-lstm] LSTM networks on a frozen transformer
    [smollm2-tuned] a fine-tuned language model
    [smollm2] a prompted language model
    [rationale] rationale models
   *[other] { $name }
}

## A sentence on each sort of model. $tests are phrases test-*, or model-* with semicolons between.

model-sentence = { $model }: { $tests }.
model-all = by { $tests } all are better than chance ({ $names })
model-some = by { $tests } better than chance: { $names }
model-none = by { $tests } none is shown to be better than chance
model-sanity-all = all give explanations that depend on what the model learnt
model-sanity-some = explanations depend on what the model learnt: { $names }
model-sanity-none = no explanations are shown to depend on what the model learnt
rests = It rests on { $runs ->
        [one] 1 run
       *[other] { $runs } runs
    } of { $methods ->
        [one] 1 explainer
       *[other] { $methods } explainers
    } on { $situations ->
        [one] 1 situation (a dataset with a sort of model)
       *[other] { $situations } situations (a dataset with a sort of model)
    }; { $samples ->
        [one] every explainer may ask a model for 1 row for each explanation.
       *[other] every explainer may ask a model for { $samples } rows for each explanation.
    } What is said holds for the reasons that were planted in these datasets.

## Benchmarks

test-planted = planted reasons
test-drawn = drawn stains
test-rationale = rationale models
test-measures = automatic measures
test-students = learners
test-sanity = randomised weights
about-planted = Known reasons are planted in the training data. Shown: the share of them among the first features of an explanation, from one to ten features.
about-drawn = As before, with reasons drawn from words or values that the inputs have already.
about-rationale = Models that provably ignore some words. Shown: the share of inputs in which such a word ranks above a clearly relevant one; less is better.
about-measures = The automatic measure that agrees best with known reasons on this sort of model.
about-students = Learners predict the model from a few examples, with explanations and without. Shown: what explanations add to their accuracy.
about-sanity = The rank correlation of explanations with those of a model that knows nothing: random weights, or fitted on shuffled labels. It should be low; 0.5 is the limit.
measured-by = { $measure }, the measure that agrees best with known reasons here

## Families of corrections

family-headline = first sentence: all pairs of methods by planted reasons on all sorts of models, by the maximum over flipped signs
family-model = sentence on { $model }: all pairs of methods by all benchmarks, by the maximum over flipped signs
family-situation = column of { $model } on { $dataset }: all pairs of methods by all its benchmarks, by the maximum over flipped signs
family-sanity = { $methods ->
        [one] 1 method
       *[other] { $methods } methods
    } by Bonferroni; { $family }

## Signs of a cell

sign-yes = better than chance, and no other method is shown to be better
sign-part = better than chance, but another method is shown to be better
sign-no = no better than chance, or by less than 5 points
sign-open = not decided
sign-floor = the control: features in random order
sign-sanity-yes = depends on what the model learnt
sign-sanity-no = does not depend on what the model learnt
beaten = Shown to be better: { $names }.
needed = { $n } { $counted } would probably decide, if the difference is as large as it seems.

## The page

part-answer = The answer, by planted reasons
part-tests = Each benchmark
part-published = Published tables, made again
part-time = At equal time
part-models = In words, for each sort of model
part-open = What is open
part-findings = All findings
how-read = Colour and sign say what is shown, never who comes first: ✓ better than chance and none shown to be better; ~ better than chance, but another method is better; ✗ no better than chance; ? not decided. Numbers in brackets are 95% intervals. The number in a cell opens its evidence; the brackets lead to its row among all findings, with the command that makes just this cell again.
how-time = For each situation the time is that of the median explainer; explainers that sample stand with the largest budget that fits into it, or with their smallest. Seconds are of the machine below.
how-published = Tables of papers that need no people. Every cell: published · ours. Nothing is claimed about them: how the two differ stands in the run's own page.
how-pairs = Pairs of explainers that find planted reasons better than chance, and are not told apart: how far the first is ahead so far, and how many planted reasons in all would probably (80%) decide, if the difference is as large as it seems. Where the interval lies within 5 points it hardly matters which is better.
pair = { $ahead } before { $behind }
names = { $names }
pairs-same = the same on every reason
pairs-alike = hardly matters
pairs-never = no number would
how-open = Units in all with which a cell would probably be decided (80%), if the difference is as large as it seems. Where a method is not ahead of chance so far, more of the same promises nothing.
how-findings = One row for each method, benchmark and situation. The command makes just this row again; a row over all datasets rests on several runs.
how-families = Corrections for many claims. Each of these is one family:
again = The atlas goes on where it stopped, and computes nothing twice:
again-add = Your own method in it:
nothing-open = Nothing that is ahead of chance is open.
nothing-learnt = The model learnt no planted reason: there is nothing to find.
no-value = It gave no value here: the method ranks no features of these inputs.
above = Above random: { $number } { $interval }.
p-corrected = Corrected p { $p } ({ $family }).
rests-cell = Rests on { $n } { $counted }.
filter-model = Sort of model
filter-dataset = Dataset
filter-all = all
column-method = method
column-test = benchmark
column-model = sort of model
column-dataset = dataset
column-estimate = estimate
column-interval = 95% interval
column-above = above random
column-p = p, corrected
column-verdict = shown
column-n = n
column-evidence = evidence
column-command = make it again
column-situation = situation
# $less is "yes" where less is better.
column-measured =
    { $place }: { $measure }{ $less ->
        [yes] {" "}(less is better)
       *[other] { "" }
    }
column-seconds = seconds for one explanation
column-planted = planted reasons found (per cent)
column-needed = units that would decide
column-pair = pair
column-ahead = ahead by (points)
evidence = report
again-here = again
run = Run { $place } of { $runs }: { $name }
