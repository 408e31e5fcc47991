### What explanations say in words, as participants and readers of a report see it. $name is the name of an answer;
### $kind is "text" or "table"; numbers come as they are printed.

rule-conditions = Conditions for the model predicting '{ $name }':
rule-none-found = No condition was found for the model predicting '{ $name }'.
rule-nothing-to-change = Nothing in this input could be changed, so that no condition could be looked for.
rule-none-needed = No condition is needed: the model predicts '{ $name }' for nearly all changed versions.
# $named is "yes" where there are conditions; $often of 100 changed versions get this answer.
rule-how-often =
    { $named ->
        [yes] While these conditions hold
       *[no] Without conditions
    }, the model gives this answer in about { $often } of 100 changed versions.

path-margin = Original evidence margin: { $margin }
path-edits = Edits for changing the prediction to '{ $name }':
path-step = Step { $step }. Evidence margin: { $margin }
path-last = Of { $steps } steps, the last { $last } are shown.
path-none = No edits were found that change the prediction '{ $name }'.
path-not-predicted = The model does not predict '{ $name }' here: only what it predicts can be changed by edits.
before = before
after = after

exemplar = Most similar prototype with the label '{ $name }':
variable = Variable
prototype = Prototype
original = Original input
# $chosen is "yes" where some are listed below.
important =
    Important { features }:{ $chosen ->
        [yes] { "" }
       *[no] { " " }(none selected)
    }
similarity = Similarity score: { $score } out of { $most }

sum = Sum of { features }
baseline = Baseline
probability = Estimated probability of '{ $name }'

## In plain words, for participants

plain-rule =
    As long as { $kind ->
        [text] these words stay in the text
       *[table] these values stay as they are
    }, the model answers “{ $name }”:
plain-rule-none-found =
    No { $kind ->
        [text] words
       *[table] values
    } were found that alone keep the model's answer at “{ $name }”.
plain-rule-nothing-to-change = Nothing in this { input } could be changed, so nothing could be tried out.
plain-rule-none-needed = The model answers “{ $name }” for nearly all changed versions, whatever is changed.
plain-rule-how-often =
    { $named ->
        [yes] Then it gives this answer
       *[no] It gives this answer
    } in about { $often } of 100 changed versions.
plain-path =
    With { $edits ->
        [one] this change
       *[other] these changes
    } the model answers “{ $name }”:
plain-path-none = No changes were found after which the model gives another answer.
plain-exemplar = Of the examples with the label “{ $name }” that the model has learned from, this one is the most similar:
plain-alike = What makes the two alike: { $names }
plain-apart = What makes them different: { $names }
plain-similarity = Similarity: { $score } of { $most }
plain-for = For the model's answer: { $names }
plain-against = Against it: { $names }

## Values of a row

missing = missing
above = above { $low }
up-to = up to { $high }
between = above { $low }, up to { $high }
