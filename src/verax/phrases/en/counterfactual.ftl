### Counterfactual simulation: people predict the model on changed versions of inputs, before and after explanations.
### $kind is "text" or "table"; $test is how many inputs are asked about.

## The instructions

# Each line is a paragraph; what the model does stands before them.
task =
    { $test ->
        [one] For one { input }
       *[other] For each of { $test } { inputs }
    } you see the right answer, the model's answer, and a changed version of the { input } in which some { features } were replaced.
    Your task is to predict what the model says about the changed version, even if you think it is wrong. The model makes mistakes.
# $half_right says that the model is right on half of the inputs.
balance = { $half_right } In half of them, the change alters the model's answer.
parts =
    You will do two things:
    - First predictions: { $test ->
        [one] one { input }
       *[other] { $test } { inputs }
    }.
    - Second predictions: { $test ->
        [one] the same { input } again
       *[other] the same { inputs } in another order
    }.
second-plain = The second predictions show the same { inputs } and changes as the first.
second-explained = In the second predictions the model's answer to the original is explained.
# $what_to_rate says what a high rating is for.
also-rate = You also rate each explanation. { $what_to_rate }

## Questions on the instructions: the question, and its answers in their order.

# The third answer is right.
what-to-predict =
    What do you predict?
    - The right answer for the changed { input }
    - What the model says about the original { input }
    - What the model says about the changed { input }, even if it is wrong

# The second answer is right.
how-often-changed =
    How often does the change alter the model's answer?
    - Always
    - In half of the { inputs }
    - Never

# For people without explanations, who are not told that others see more. The second answer is right.
nothing-new =
    What do you see in the second predictions?
    - Other { inputs } than in the first
    - The same { inputs } and changes as in the first
    - Only the changed { inputs }

## The parts

first-predictions = First predictions
second-predictions = Second predictions

about-first =
    You will now see { $test ->
        [one] one { input } and a changed version of it
       *[other] { $test } { inputs } and a changed version of each
    }.
    Predict the model's answer to the changed version, even if you think it is wrong.
about-second-plain =
    You will now see the same { inputs } and changes again, in another order.
    Predict the model's answer to the changed version. Your answers may be the same as before, or different.
about-second-explained = You will now see the same { inputs } and changes again, in another order, with an explanation of the model's answer to the original. Rate the explanation, and predict the model's answer to the changed version.

## An input

question = What does the model say about the changed { input }?
# $even_if_wrong asks for the model's answer.
plain-text = Some { features } were changed. { $even_if_wrong }
explained-heading = Rate the explanation, then predict
explained-text = The explanation is for the original. Then some { features } were changed. { $even_if_wrong }
original-title = Original { input }
changed-title = Changed { input }
