### The class from the evidence: people tell the model's answer from the fragments that an explanation picks.
### $kind is "text" or "table"; $items is how many inputs a participant gets; $classes are the answers that the model may
### give, such as "positive or negative"; $asked is "model" where people are asked for the model's answer, and "input"
### where they are asked what the fragments come from.

## The instructions

task =
    You see a few fragments of a { input }: those that supported the model's answer most. You do not see the { input } itself.
    { $asked ->
        [model] Your task is to say what the model answered: { $classes }. Sometimes the model is wrong, but only its answer counts here.
       *[input] Your task is to say what kind of { input } they come from: { $classes }.
    } You also say whether you are certain. If the fragments tell you nothing, choose “I can't say”.
    { $items ->
        [one] There is one { input }.
       *[other] There are { $items } { inputs }.
    }

## Questions on the instructions: the question, and its answers in their order.

# The second answer is right.
what-is-shown =
    What do you see?
    - The whole { input }
    - A few fragments of a { input }
    - The model's answer
# The first answer is right.
how-chosen =
    How were the fragments chosen?
    - They supported the model's answer most
    - They are the beginning of the { input }
    - People chose them
# The third answer is right.
tell-nothing =
    What do you do when the fragments tell you nothing?
    - I choose any answer
    - I leave the question out
    - I choose “I can't say”
# The first answer is right.
your-task =
    What is your task?
    - { $asked ->
        [model] To say what the model answered, and whether I am certain
       *[input] To say what kind of { input } it is, and whether I am certain
    }
    - To say whether the model is right
    - To choose the most interesting fragment

## The part, and an input in it

part = Fragments
question =
    { $asked ->
        [model] What did the model answer about this { input }?
       *[input] What kind of { input } do these fragments come from?
    }
text = These fragments of a { input } supported the model's answer most. The { input } itself is not shown.
# $name is an answer; $noun is what an input is called, such as "review", where the published words are wanted.
certain =
    { $asked ->
        [model] I'm certain that the model answered: { $name }.
        [noun] I'm certain that they are from a { $name } { $noun }.
       *[input] I'm certain that it is: { $name }.
    }
likely =
    { $asked ->
        [model] I'm not certain, but the model probably answered: { $name }.
        [noun] I'm not certain but they are likely from a { $name } { $noun }.
       *[input] I'm not certain, but it is likely: { $name }.
    }
cannot-say = I can't say.
