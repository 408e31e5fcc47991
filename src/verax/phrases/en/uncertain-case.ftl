### The uncertain case: people find the true class of inputs that the model is not sure of, without the inputs.
### $kind is "text" or "table"; $items is how many inputs a participant gets; $classes are the answers that the model may
### give, such as "positive or negative".

## The instructions

shown = You get the { inputs } that the model is not sure about. You see its answer and how probable it finds each answer. You do not see the { input } itself.
# $often is "always" or "sometimes": whether there are fragments for every input.
fragments =
    { $often ->
        [sometimes] For some you
       *[always] You
    } also see fragments of the { input }: those that supported the model's answer most, and those that supported the other answers most.
task = Your task is to say what the { input } really is: { $classes }. You also say whether you are certain.
right-on-half = The { inputs } were chosen so that the model is right on half of them, although it finds its answers more probable than that.
sometimes-wrong = Sometimes the model is wrong.
count =
    { $items ->
        [one] There is one { input }.
       *[other] There are { $items } { inputs }.
    }

## Questions on the instructions: the question, and its answers in their order.

# The third answer is right.
what-to-say =
    What should you say about each { input }?
    - What the model says
    - What most people would say
    - What the { input } really is
# The second answer is right.
which-inputs =
    Which { inputs } do you get?
    - Those that the model is sure about
    - Those that the model is not sure about
    - Those that the model gets wrong
# The first answer is right.
is-input-shown =
    Do you see the { input } itself?
    - No
    - Yes, always
    - Yes, after my answer
# The second answer is right.
is-model-right =
    Is the model right?
    - Always
    - Sometimes
    - Never

## The part, and an input in it

part = Unsure answers
question = What is this { input } really?
probabilities-title = How probable the model finds each answer
unsure-half = The model is not sure. It is right on half of the { inputs } in this study.
unsure-sometimes = The model is not sure. Sometimes it is wrong.
# $name is an answer, or several in a list that ends with "or".
evidence-title = Evidence for: { $name }
certain =
    { $noun ->
        [none] I'm certain that it is: { $name }.
       *[other] I'm certain that it is a { $name } { $noun }.
    }
likely =
    { $noun ->
        [none] I'm not certain, but it is probably: { $name }.
       *[other] I'm not certain but it is probably a { $name } { $noun }.
    }
