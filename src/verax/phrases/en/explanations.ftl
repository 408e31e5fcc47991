### Explanations of one prediction side by side, on a page and in the terminal. $names is a list of explainers and
### $names_many how many there are.

# $truth is "unknown", "right" or "wrong"; $label is the true class; $target is the class that is explained, and
# $predicted: whether that is the predicted one.
model-says =
    The model says { $answer } ({ $probability }){ $truth ->
        [right] , rightly
        [wrong] ; in truth it is { $label }
       *[unknown] { "" }
    }{ $predicted ->
        [yes] .
       *[no] ; explained is { $target } ({ $target_probability }).
    }

# Which feature methods name first; clauses are joined with "; ".
first-feature =
    { $names } { $names_many ->
        [one] names
       *[other] name
    } “{ $feature }” first
no-words = There is no word in this text, so there is nothing to score.
no-feature = No feature changes the model's answer.

# $pairs is a list such as "age and years (0.98)", $more how many pairs are not in it.
dependent =
    Columns depend strongly on each other: { $pairs }{ $more ->
        [0] { "" }
        [one] ; and 1 more pair
       *[other] ; and { $more } more pairs
    }. Where one is taken away and the other stays, rows arise that never occur, and credit is shared among them; groups= makes them one feature, and resampling='conditional' keeps rows likely.

left-out = { $name } is left out. { $reason }
conditional = Absent columns take the values of the 20 training rows that are most like the input in the columns that are present. So rows stay likely, but a column that the model does not read can get credit for one that it depends on; lime and anchors draw their own rows, as always.
asked-row-by-row = The trees of this { $model } could not be read, so it is asked row by row, which gives the same answers and takes longer: { $reason }.

## In the terminal

heading = { $model } on { $dataset }
legend-marks = Marks:
legend-for = speaks for the explained class,
legend-against = against it; the two strongest
legend-strongest = have the sign twice. In brackets: a method's own rank of the feature.
column-for = for { $answer }
column-against = against { $answer }
row-fall = fall, points
row-rows = rows
row-ms = ms
row-how = how
explained-class = explained
more-classes = and { $more } more
# What an explanation cost; $how is the route that was taken, or "none".
cost =
    { $rows ->
        [one] 1 row
       *[other] { $rows } rows
    }, { $ms } ms{ $how ->
        [none] { "" }
       *[other] ; { $how }
    }
# In brackets at the end of a text that is cut.
text-cut =
    { $more ->
        [one] 1 character more
       *[other] { $more } characters more
    }; --html shows all

## On the page

more-features =
    { $more ->
        [one] 1 more feature
       *[other] { $more } more features
    }
# What happens to the explained class's probability without the features that are named first; $falls: whether it falls.
fall =
    Without the features that it names first, at most 3, the probability { $falls ->
        [yes] falls
       *[no] rises
    } by { $points } points.
# $how as above.
cost-on-page =
    { $rows ->
        [one] 1 row
       *[other] { $rows } rows
    } asked of the model, { $ms } ms{ $how ->
        [none] .
       *[other] ; route: { $how }.
    }
says-nothing-of-it = { $name } says nothing of it
# Over a score in the table; $rank is 0 where it has none.
score-of =
    { $name }, { $feature }: { $score }{ $rank ->
        [0] { "" }
       *[other] , rank { $rank } of { $features }
    }
