### How explanations are read: instructions, the line below an explanation, and the question on the method.
### $kind is "text" or "table". The instructions hold for all explanations of a condition, whichever comes first.

# Above an explanation.
title = Explanation

## Highlights

# $direction is "yes" where colours say what a word or value supported.
marks =
    The { features } that mattered most for the model's answer are highlighted. The stronger the highlight, the more the { feature } mattered. { $direction ->
        [yes] Blue (+) supported the answer that the model gave, orange (−) counted against it.
       *[no] The highlight does not say which answer the { feature } supported.
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

exemplars = Of a number of examples (prototypes) that the model has learned from, you see the most similar one whose label is the model's answer. The highest similarity score is 10; important { features } make the { input } more (+) or less (-) similar to the example.
decides-by-examples = The model finds its answers by comparing with such examples.

## Several explanations of one answer

several = Several explanations of the same answer, one below the other.
# A point of the list of them: $name of one, and how it is read.
several-point = - { $name }: { $line }

## In plain words

# Above the parts of several explanations.
plain-part-marks = What mattered most
plain-part-rule = What is enough for this answer
plain-part-path = What would change the answer
plain-part-exemplar = A similar example
plain-scores = The { features } that mattered most for the model's answer, and those that counted against it.
plain-rules =
    You see { $kind ->
        [text] words of the text
       *[table] some values of the record
    }. As long as they stay as they are, the model gives this answer to nearly all changed versions of the { input }, whatever else is changed. Where it does so less often, the explanation says how often. Where none are needed, it says so.
plain-rule-holds = The rest of the { input } was changed in many ways, and the model nearly always gave this answer.
plain-rule-weak = These { features } alone do not settle the model's answer.
plain-paths =
    You see changes after which the model gives another answer{ $kind ->
        [text] ; new words stand in boxes
       *[table] , with each value before and after
    }. Where no such changes were found, the explanation says so.
plain-step =
    { $kind ->
        [text] New words stand in boxes.
       *[table] Each value before and after the change.
    }
plain-exemplars = Of the examples that the model has learned from, you see the most similar one whose label is the model's answer, and what makes the two alike or different. The highest similarity is 10.
plain-similarity-line = The highest similarity is 10.

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
question-plain-rule =
    An explanation shows some { features }. What do they mean?
    - The model gives this answer only if they are there
    - As long as they stay, the model nearly always gives this answer, whatever else is changed
    - As long as they stay, the model's answer is right
question-plain-path =
    An explanation shows changes. What are they?
    - Changes that make the { input } easier to understand
    - Changes after which the model gives another answer
    - Corrections of mistakes of the model
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

## The rating of an explanation, where a spec has no question of its own

rating-question = Does this explanation show me why the system thought what it did?
rating-low = not at all
rating-high = completely
