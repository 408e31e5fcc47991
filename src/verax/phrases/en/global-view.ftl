### Explanations of many inputs taken together. $names is a list of explainers; $kind is "text" or "table".

title =
    What the explanations say over { $inputs ->
        [one] one { $kind ->
            [text] text
           *[table] row
        }
       *[other] { $inputs } { $kind ->
            [text] texts
           *[table] rows
        }
    }

# Which feature has the largest scores on average; clauses are joined with "; ".
first = { $names } { $names_many ->
        [one] gives
       *[other] give
    } “{ $feature }” the largest scores on average
agree = The rank correlation of { $one } and { $two } is { $rho }.
alike = The order of features is most alike for { $one } and { $two } ({ $rho }).
least-alike = It is least alike for { $one } and { $two } ({ $rho }).

importance-title = Mean size of the score, { $name }
importance-label = mean size of the score, { $name } (|score|)
importance-sentence =
    The mean of |score| over { $inputs ->
        [one] one { $kind ->
            [text] text
           *[table] row
        }
       *[other] { $inputs } { $kind ->
            [text] texts; where a word does not stand, its score counts as 0
           *[table] rows
        }
    }. Intervals (95%) are over { $kind ->
        [text] texts
       *[table] rows
    }: what others of the same sort would give, with this model.
scales = Scores of different methods are on different scales: compare the order, not the size.

swarm-title = Every score, { $name }
swarm-label = score, { $name }
swarm-sentence =
    A point for each { $kind ->
        [text] text that has the word
       *[table] row
    }: right of the line it speaks for the explained class.{ $coloured ->
        [yes] { " " }Colours say whether the column's value is among the lowest, the middle or the highest third; values without an order are black.
       *[no] { "" }
    }{ $drawn ->
        [all] { "" }
       *[other] { " " }{ $drawn } of { $inputs } are drawn, evenly taken from their order.
    }

dependence-title = Scores over the values of “{ $feature }”
dependence-label = score of { $feature }
dependence-sentence = How a score depends on the value: each point is a row, each sign a method.

agreement-title = How much the methods agree
agreement-sentence =
    Spearman's rank correlation of the scores that two methods give to the features of the same input, on average over
    inputs: 1 is the same order, 0 no relation.
shared-note =
    Shared: { $top ->
        [one] how often the first feature by |score| is the same.
       *[other] of the first { $top } features of either by |score|, how many are named by both.
    }

several-targets =
    The scores speak for different classes ({ $names }): each input's own. Give targets= to explain one class, and
    signs can be compared over inputs.
left-out = { $name } gives no scores of features and is left out.
silent =
    For { $pairs ->
        [one] one pair of explanations
       *[other] { $pairs } pairs of explanations
    } there is no rank correlation, since all scores are equal; they are left out of the agreement.

# The parts of the page.
part-importance = Which features matter
part-scores = Every score
part-dependence = Scores over values
part-agreement = Do the methods agree?
