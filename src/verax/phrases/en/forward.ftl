### Forward simulation: people learn from some inputs and predict the model on others, before and after explanations.
### $kind is "text" or "table"; $learning and $test are how many inputs are learned from and predicted.

## The instructions

# Each line is a paragraph or a point of a list; what the model does stands before them.
task = Your task is to predict what the model says, even if you think it is wrong. The model makes mistakes.
parts =
    You will do four things:
    - First look: { $learning ->
        [one] one { input }
       *[other] { $learning } { inputs }
    } with the right answer and the model's answer.
    - First predictions: { $test ->
        [one] one new { input }
       *[other] { $test } new { inputs }
    }. You predict the model's answer. You cannot look back at the others.
    - Second look: { $learning ->
        [one] the first { input }
       *[other] the first { $learning } { inputs }
    } again.
    - Second predictions: { $test ->
        [one] the { input } of the first predictions again
       *[other] the { $test } { inputs } of the first predictions again, in another order
    }.
second-look-plain = The second look shows the same as the first: the right answer and the model's answer.
second-look-explained = In the second look the model's answers are explained, and you rate each explanation.

## Questions on the instructions: the question, and its answers in their order.

# The third answer is right.
may-look-back =
    May you look back at the { inputs } of the first look while you predict?
    - Yes, at any time
    - Yes, but only once
    - No

# For people without explanations, who are not told that others see more. The second answer is right.
nothing-new =
    What do you see in the second look?
    - Other people's answers
    - The same { inputs } again, with the right answer and the model's answer
    - Only the { inputs }, without answers

## The parts

first-look = First look
first-predictions = First predictions
second-look = Second look
second-predictions = Second predictions

about-first-look =
    You will now see { $learning ->
        [one] one { input }
       *[other] { $learning } { inputs }, one at a time,
    } with the right answer and the model's answer.
no-way-back = Try to learn how the model decides. Take your time: you cannot go back.
way-back = Try to learn how the model decides. You can go back to earlier pages until this part is over.

about-first-predictions =
    You will now see { $test ->
        [one] one new { input }. Predict the model's answer
       *[other] { $test } new { inputs }. Predict the model's answer for each
    }, even if you think it is wrong. You cannot look back.

about-second-look-plain =
    You will now see { $learning ->
        [one] the { input }
       *[other] the { $learning } { inputs }
    } of the first look again, with the right answer and the model's answer as before.
    Try to learn more about how the model decides.
about-second-look-explained =
    You will now see { $learning ->
        [one] the { input } of the first look again, with an explanation. You rate the explanation.
       *[other] the { $learning } { inputs } of the first look again, with explanations. You rate each explanation.
    }

about-second-predictions =
    You will now see { $test ->
        [one] the { input } of the first predictions again. Predict the model's answer
       *[other] the { $test } { inputs } of the first predictions again, in another order. Predict the model's answer for each
    }, even if you think it is wrong. You cannot look back.
    Your answers may be the same as before, or different.

## An input

look-heading = How does the model answer?
look-text = Compare the two answers, and try to learn how the model decides.
explained-heading = Why did the model give this answer?
explained-text = Read the explanation and rate it. Try to learn how the model decides.
predict-question = What does the model say about this { input }?
