### The choice between two models, which are called Robot S and Robot H.
### $kind is "text" or "table"; $items is how many inputs a participant gets.

## The instructions

# $classes are the answers that the programs may give, such as "positive or negative".
programs = A computer program reads a { input } and answers: { $classes }.
task =
    Here are two such programs, Robot S and Robot H. For each { input } both give the same answer. Sometimes it is wrong.
    For each robot, the { features } that supported its answer most are highlighted.
    One of the two is the better program. Your task is to say which robot is more reasonable, judging by what is highlighted.
    For every { input } it is drawn anew which of the two is called Robot S, and which Robot H.
    { $items ->
        [one] There is one { input }.
       *[other] There are { $items } { inputs }.
    }

## Questions on the instructions: the question, and its answers in their order.

# The second answer is right.
what-to-say =
    What should you say about each { input }?
    - Whether the robots' answer is right
    - Which robot looks at the more reasonable { features }
    - Which robot answered first
# The first answer is right.
what-a-mark-means =
    What does it mean that a { feature } is highlighted?
    - It supported this robot's answer more than other { features }
    - The robot made a mistake there
    - It is the most frequent { feature }
# The third answer is right.
same-program =
    Is Robot S the same program for every { input }?
    - Yes
    - Yes, and it is always the better one
    - No, the names are drawn anew each time
# The second answer is right.
same-answer =
    Do both robots give the same answer to a { input }?
    - Never
    - Always
    - Only if it is right

## The part, and an input in it

part = Two robots
heading = Which robot is more reasonable?
text = For each robot, the { features } that supported this answer most are highlighted.
both-answer = Both robots' answer
robot-s = Robot S
robot-h = Robot H
# From Robot S to Robot H.
answers =
    Robot S seems clearly more reasonable than Robot H.
    Robot S seems slightly more reasonable than Robot H.
    I can't say which robot is more reasonable.
    Robot H seems slightly more reasonable than Robot S.
    Robot H seems clearly more reasonable than Robot S.
