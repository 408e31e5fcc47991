### A frozen study in the words of a preregistration: headings, entries and points of a plain text.

protocol = Protocol
data-and-model = Data and model
data = Data
data-without-model = { $dataset }; no model was made, the items hold the answers that are shown
items = Items
conditions = Conditions
# $rows of the design, and how many people are to complete them.
design =
    Design: { $rows ->
        [one] 1 row
       *[other] { $rows } rows
    }, { $people ->
        [one] 1 participant
       *[other] { $people } participants
    } to complete them
answer-order = Order of answers
order-counterbalanced = counterbalanced between participants, evenly within each row of the design
order-direction = from the one end or the other, counterbalanced between participants
order-fixed = the same for everybody
exclusion = Excluded from the analysis, by the program; nothing is deleted
exclusion-none = nobody: no rules are declared
# $who is the end of a sentence that the rule has, such as "who took less than 2 s for a page".
exclusion-rule = { $rule }: people { $who }
replaced-none = their places are not offered again
replaced = their places are offered again, up to { $share } of the places of each row of the design
planned = Planned analyses; whatever else is reported is exploratory
planned-none = none is declared
frozen = Frozen
frozen-at = { $at } with Verax { $version }
people-before = People before
people-not-counted = not counted, since there was no database of answers
people-agreed =
    { $people ->
        [0] nobody
       *[other] { $people }
    } had agreed to take part
hash = Hash
model-accuracy = { $model }, right on { $accuracy }
condition-control = { $name }: a control, the scores of { $method } shuffled
condition-none = { $name }: no explanation
# $model is that of the condition, "none" where it is the study's.
condition-method =
    { $name }: { $explainer }{ $model ->
        [none] { "" }
       *[other] , of the model { $model }
    }
row =
    row { $number }: { $people ->
        [one] 1 participant
       *[other] { $people } participants
    }{ $gives ->
        [none] { "" }
       *[other] ; { $gives }
    }
