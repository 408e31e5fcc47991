### How explanations are read: instructions, the line below an explanation, and the question on the method.
### $kind is "text" or "table". The instructions hold for all explanations of a condition, whichever comes first.

# Above an explanation.
title = Explanation

## Highlights

# $direction is "yes" where colours say what a word or value spoke for.
marks =
    The { features } that mattered most for the model's answer are highlighted. The stronger the highlight, the more the { feature } mattered. { $direction ->
        [yes] Blue (+) spoke for the answer that the model gave, orange (−) against it.
       *[no] The highlight does not say which answer the { feature } spoke for.
    }
marks-line =
    The stronger the highlight, the more the { feature } mattered for the model's answer.{ $direction ->
        [yes] { " " }Blue (+): for it. Orange (−): against it.
       *[no] { "" }
    }

## Explanations in words

beside = The explanation of the model's answer stands next to the { input }.
line-below = A line below it says how to read it.
# $line_below is "yes" where such a line is there.
written-beside =
    The explanation of the model's answer is written next to the { input }.{ $line_below ->
        [yes] { " " }A line below it says how to read it.
       *[no] { "" }
    }
or-highlights = Or there are highlights instead.

## Rules

rules =
    You see conditions: { $kind ->
        [text] words that stay in the text
       *[table] what some values of the record have to be
    }. While they hold, the model gives this answer to nearly all changed versions of the { input }, whatever else is changed. Where it does so less often, the explanation says how often. Where no condition is needed, it does so for nearly all changed versions, whatever is changed.
rule-holds = While these conditions hold, the model gives this answer to nearly all changed versions of the { input }, whatever else is changed.
rule-weak = These conditions alone do not settle the model's answer.
no-condition-holds = The model gives this answer to nearly all changed versions of the { input }.
no-condition-weak = Whatever conditions were tried, changes of the rest often changed the answer.

## Paths

margin = The evidence margin says how strongly the model leans to one answer; where its sign changes, so does the answer.
step =
    Each step { $kind ->
        [text] shows the text with the words changed so far, between stars
       *[table] lists the values changed so far, before and after
    }. { margin }
paths = You see changes after which the model gives another answer. { step } Where no such changes were found, the explanation says so.
no-path = The model gave the same answer to all changed versions of the { input } that were tried. The evidence margin says how strongly it leans to one answer.
last-steps =
    Changes after which the model gives another answer ({ $kind ->
        [text] new words stand between stars
       *[table] each value before and after
    }). Where none were found, it says so.

## Examples

exemplars = Of a number of examples (prototypes) that the model has learned from, you see the most similar one whose label is the model's answer. A similarity score of 10 is as similar as can be; important { features } make the { input } more (+) or less (-) similar to the example.
decides-by-examples = The model finds its answers by comparing with such examples.

## Several explanations of one answer

several = Several explanations of the same answer, one below the other.
# A point of the list of them: $name of one, and how it is read.
several-point = - { $name }: { $line }

## Weights

weights-sum =
    Sum of { $kind ->
        [text] words
       *[table] values
    }
weights-baseline = Baseline
# $name is the name of an answer.
weights-probability = Estimated probability of { $name }
# $name is the name of an answer, and $other that of the other of two.
weights-of-two = The { features } that matter most, with their weights: above zero they speak for { $name }, below zero for { $other }. Their sum and the baseline make the estimated probability of { $name }, which may come out below 0 or above 1.
weights-of-one = The { features } that matter most, with their weights: above zero they speak for { $name }, below zero against it. Their sum and the baseline make the estimated probability of { $name }, which may come out below 0 or above 1.
weights-of-answer = The { features } that matter most, with their weights: above zero they speak for the model's answer, below zero against it. Their sum and the baseline make the estimated probability of the model's answer, which may come out below 0 or above 1.

## Questions on the method: the question, and its answers in their order. The second answer is always right.

question-marks =
    A { feature } is highlighted strongly. What does that mean?
    - The model is right
    - The { feature } mattered a lot for the model's answer
    - Somebody found the { feature } interesting
question-weights =
    What do the weights of the { features } tell you?
    - How likely it is that the model is right
    - How much each { feature } speaks for one answer or the other
    - How often each { feature } occurs
question-rule =
    An explanation gives conditions. What do they mean?
    - The model gives this answer only if they hold
    - While they hold, the model nearly always gives this answer, whatever else is changed
    - While they hold, the model's answer is right
question-path =
    An explanation shows steps. What are they?
    - The order in which the model reads the { features }
    - Changes that lead the model to another answer
    - Corrections of mistakes of the model
question-exemplar =
    An explanation shows an example. What is it?
    - A { input } that somebody chose because it is easy to understand
    - Of the { inputs } that the model has learned from, the most similar example with this answer
    - The { input } that the model finds hardest
question-composite =
    An explanation has several parts. What are they?
    - Explanations of several models
    - Different explanations of the same answer
    - Explanations of several answers, the last of which is right
question-written =
    What does an explanation show?
    - Whether the model is right
    - What mattered for the model's answer
    - What somebody finds interesting
