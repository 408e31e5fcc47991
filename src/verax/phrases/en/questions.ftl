### Questions of one's own, and ready-made scales in the words of those who published them. $about is what is judged: "the model";
### $subject is the same at the beginning of a sentence: "The model".

the-model = the model
may-leave-out = You may leave this out.
# Two words of a semantic differential.
from-to = From “{ $low }” to “{ $high }”
instructed-line = To show that you read each line, please choose “{ $answer }” here.

## Trust in automation (Jian, Bisantz and Drury 2000), and its short form (McGrath and others 2025)

trust-short-heading = What is your impression of { $about }?
trust-short-ends =
    not at all
    extremely
trust-short-items =
    I am confident in { $about }.
    { $subject } is reliable.
    I can trust { $about }.
trust-heading = What is your impression of { $about }?
trust-ends =
    not at all
    extremely
trust-items =
    { $subject } is deceptive.
    { $subject } behaves in an underhanded manner.
    I am suspicious of the intent, action, or outputs of { $about }.
    I am wary of { $about }.
    The actions of { $about } will have a harmful or injurious outcome.
    I am confident in { $about }.
    { $subject } provides security.
    { $subject } has integrity.
    { $subject } is dependable.
    { $subject } is reliable.
    I can trust { $about }.
    I am familiar with { $about }.

## Workload: NASA-TLX, raw (Hart and Staveland 1988)

nasa-tlx-heading = How was the task for you?
# Each line: the question | the low end | the high end.
nasa-tlx-items =
    How mentally demanding was the task? | very low | very high
    How physically demanding was the task? | very low | very high
    How hurried or rushed was the pace of the task? | very low | very high
    How successful were you in accomplishing what you were asked to do? | perfect | failure
    How hard did you have to work to accomplish your level of performance? | very low | very high
    How insecure, discouraged, irritated, stressed, and annoyed were you? | very low | very high

## System Usability Scale (Brooke 1996)

sus-heading = How much do you agree with each statement?
sus-ends =
    strongly disagree
    strongly agree
sus-items =
    I think that I would like to use { $about } frequently.
    I found { $about } unnecessarily complex.
    I thought { $about } was easy to use.
    I think that I would need the support of a technical person to be able to use { $about }.
    I found the various functions in { $about } were well integrated.
    I thought there was too much inconsistency in { $about }.
    I would imagine that most people would learn to use { $about } very quickly.
    I found { $about } very cumbersome to use.
    I felt very confident using { $about }.
    I needed to learn a lot of things before I could get going with { $about }.

## Explanation satisfaction (Hoffman, Mueller, Klein and Litman 2018)

explanation-satisfaction-heading = What do you think of the explanations that you saw?
explanation-satisfaction-answers =
    I disagree strongly
    I disagree somewhat
    I'm neutral about it
    I agree somewhat
    I agree strongly
explanation-satisfaction-items =
    From the explanation, I know how { $about } works.
    This explanation of how { $about } works is satisfying.
    This explanation of how { $about } works has sufficient detail.
    This explanation of how { $about } works seems complete.
    This explanation of how { $about } works tells me how to use it.
    This explanation of how { $about } works is useful to my goals.
    This explanation shows me how accurate { $about } is.
    This explanation lets me judge when I should trust and not trust { $about }.

## About people

demographics-heading = A little about you
demographics-age = How old are you, in years?
# The first line asks, the others are its answers.
demographics-gender =
    How do you describe yourself?
    Woman
    Man
    Non-binary
    In another way
    I would rather not say
demographics-education =
    What is the highest level of education that you have completed?
    Primary school or less
    Secondary school
    Vocational training
    Bachelor's degree
    Master's degree
    Doctorate
    I would rather not say

## Attention

attention-heading = One question about reading
# The last but one answer is the one that is asked for.
attention-check =
    It matters for this study that people read the questions. Whatever your favourite colour is, please choose “Purple” below.
    Blue
    Green
    Red
    Purple
    Yellow

## What is wrong with an answer

choose-some = Please choose at least one.
rank-all = Please give each one a number from 1 to { $places }, and use each number once.
# $range is "none", "least", "most" or "both".
write-number =
    Please write a { $whole ->
        [yes] whole number
       *[no] number
    }{ $range ->
        [least] { " " }that is at least { $lowest }
        [most] { " " }that is at most { $highest }
        [both] { " " }from { $lowest } to { $highest }
       *[none] { "" }
    }.
