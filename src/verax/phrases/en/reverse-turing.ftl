### The Reverse Turing Test: people imitate the model, on a task that is described or kept secret.
### $kind is "text" or "table"; $training and $evaluation are how many inputs a session of either sort has.

## The instructions

task = Your task is to guess the model's answers. Your own opinion does not count.
# $rounds is how many there are; the points of a list follow.
rounds =
    { $rounds ->
        [1] There is one round.
        [2] There are two rounds.
        [3] There are three rounds.
       *[other] There are { $rounds } rounds.
    } Each goes like this:
first-without-training = There are two rounds. The first is a test without training; the second goes like this:
training-point =
    - Training: { $training ->
        [one] one { input }
       *[other] { $training } { inputs }
    }. You guess the model's answer, and then you are told what it was.
test-point =
    - Test: { $evaluation ->
        [one] one { $new ->
            [yes] new { input }
           *[no] { input }
        }
       *[other] { $evaluation } { $new ->
            [yes] new { inputs }
           *[no] { inputs }
        }
    }. You guess the model's answer, and are not told what it was.
time = We measure how long you take. If you need a break, take it between two parts.
# $how_to_read says what the hints are and how they are read.
hints-sometimes = In some rounds you see hints. { $how_to_read } In other rounds no { features } are highlighted.

## Questions on the instructions: the question, and its answers in their order.

own-opinion = My own opinion
# The second answer is right.
is-time-measured =
    Do we measure how long you take?
    - No
    - Yes
    - Only if I take very long
# The third answer is right.
when-shown =
    When do you see the model's answer?
    - Before I guess
    - Never
    - In the training, after my guess

## The parts

training = Training
test = Test
round-training = Round { $round }: training
round-test = Round { $round }: test
round-question = Round { $round }: a question

about-training =
    You will now see { $training ->
        [one] one { input }. Guess the model's answer.
       *[other] { $training } { inputs }, one at a time. Guess the model's answer to each.
    } After each guess you see it.
about-test =
    You will now see { $evaluation ->
        [one] one { $new ->
            [yes] new { input }
           *[no] { input }
        }. Guess the model's answer.
       *[other] { $evaluation } { $new ->
            [yes] new { inputs }
           *[no] { inputs }
        }, one at a time. Guess the model's answer to each.
    } You will not see the model's answers in this part.
hints-explained = In this round you see hints. { $how_to_read }
hints-plain = In this round no { features } are highlighted.
time-from-next-page = Time is measured from the next page on.

## An input

question = What does the model say about this { input }?
guess-shown-after = Guess the model's answer. You will see it after your guess.
guess-not-shown = Guess the model's answer. You will not see it in this part.
answer-heading = The model's answer
answer-text = Look at the { input } again, and try to learn how the model decides.
