### Which explanations help a learner (a student) predict the model. $names is a list of explanations with their gains and
### $names_many how many there are; $test is "forward" (new inputs) or "counterfactual" (changed inputs).

title = Which explanations help a learner predict the model?

# What a run is called beside others.
run =
    Students, { $test ->
        [forward] new
       *[counterfactual] changed
    } inputs of { $datasets }

# What the run did, below the title.
asked =
    { $students ->
        [one] 1 student
       *[other] { $students } students
    } on { $cells ->
        [one] 1 model
       *[other] { $cells } models
    } with { $stains ->
        [one] 1 planted reason
       *[other] { $stains } planted reasons
    } ({ $models }).

## The answer, one sentence after the other

gain = { $name } ({ $gain } points)
helping =
    Explanations that help students predict the model on { $test ->
        [forward] new
       *[counterfactual] changed
    } inputs: { $names }.
not-shown =
    Of { $names } it is not shown that { $names_many ->
        [one] it helps
       *[other] they help
    } on { $test ->
        [forward] new
       *[counterfactual] changed
    } inputs.
oracle =
    The planted reasons themselves are worth { $gain } points on { $test ->
        [forward] new
       *[counterfactual] changed
    } inputs.
agreement =
    Students agree on the order of methods with a mean tau of { $tau }; there are { $methods ->
        [one] 1 method
       *[other] { $methods } methods
    }, few for an order.
# Random explanations against other random ones: no difference is there to be found.
equals =
    Of { $tests ->
        [one] 1 comparison
       *[other] { $tests } comparisons
    } of random explanations with other random ones { $share } claim a difference; 5% are allowed.
# $sizes is a list of numbers of examples.
sizes-lacking = There are too few inputs that a planted reason decides for so many examples: { $sizes }.
too-little = There was too little to say anything.

## Tables

column-explanation = explanation
column-gain = gain
column-interval = 95% interval
column-p = p, corrected
column-shuffled = over shuffled
column-stains = stains
column-examples = n = { $examples }
accuracy-alone = { $method } (accuracy, %)

table-gain =
    { $test ->
        [forward] New
       *[counterfactual] Changed
    } inputs: what students gain from { $least } to { $largest } examples with explanations
table-gain-means = Accuracy with explanations less accuracy without, mean over students; and less that with shuffled ones.
# $by is "students" or "models".
table-by =
    { $test ->
        [forward] New
       *[counterfactual] Changed
    } inputs: the gain by { $by ->
        [students] student
       *[models] model
    }
table-by-means = From { $least } to { $largest } examples, in points.
table-curve =
    { $test ->
        [forward] New
       *[counterfactual] Changed
    } inputs: { $student }, by the number of examples
table-curve-means = The gain over no explanation, in points.

how = A student is given examples, what the model says of each, and an explanation of each; the names of the classes are hidden, and the reasons are planted words, so that nothing can be known beforehand. Explanations say which features matter: such features are stretched, or the others left out, as far as the student finds good on its own examples, not at all among the choices. All methods have the same examples. It is tested without explanations. Half of the inputs have the planted reason, and others a part of it. Changed inputs have lost the reason, or as many other features. The gain is the accuracy with explanations less that without, in points. Models and draws of a stain are averaged; intervals (95%) and tests by flipped signs are over stains, p is corrected by Holm over methods. The oracle names the features of the planted reason; shuffled explanations are the oracle's scores in random order.

## What was left out

too-few-inputs =
    { $inputs ->
        [0] No input is
        [one] Only 1 input is
       *[other] Only { $inputs } inputs are
    } decided by the reason { $reason }, too few to learn and be tested.
