### What is said of findings where a benchmark says nothing of its own: a verdict, tables and a figure of each measure.
### $measure is what was measured, $against what methods are compared with; $names is a list, $names_many how many.

## The verdict

nothing-compared = No method was compared.
no-estimates = There is no estimate of { $measure } for any method.
not-tested = Nothing was tested; { $name } comes first by { $measure }, with { $best }.
none-better = No method is shown to be better than { $against } by { $measure }.
better =
    { $names } { $names_many ->
        [one] is
       *[other] are
    } shown to be better than { $against } by { $measure }.
# $what is "20 stains" or the like.
rests-on = It rests on { $what }.
judged-without-estimate = no estimate
judged-yes = better than { $against }
judged-part = better than { $against } in part
judged-no = not shown to be better than { $against }
judged-open = nothing shown
what-was-asked = what was asked
# Below a verdict in a terminal; $reference is "none" where there is nothing to compare with.
legend =
    { $measure }{ $intervals ->
        [yes] , with 95% intervals
       *[no] { "" }
    }{ $reference ->
        [none] { "" }
       *[other] ; { $reference }: { $value }
    }

## The table

column-method = Method
column-dataset = Dataset
column-model = Model
column-estimate = Estimate
column-interval = { $level } interval
column-p-adjusted = p, corrected
column-p = p, alone
column-against = Better than
column-sign = Shown
column-n = n
sign-yes = yes
sign-part = in part
sign-no = no
sign-open = open
better-higher = More is better.
better-lower = Less is better.
note-n = n counts { $what }.
note-family = Corrected over { $what }.
title-part = { $measure }, with each model and dataset

## The figure. $floor is "none", or the method that is drawn as a line.

figure =
    Points are estimates, lines their intervals.{ $floor ->
        [none] { "" }
       *[other] { " " }The upright line is { $floor }.
    }

## The way of a study's participants, in one line and in its figure; $many is how many

flow-arrived = { $many } arrived
flow-undecided = { $many } undecided
flow-did-not-decide = { $many } did not decide
flow-declined = { $many } declined
flow-no-place = { $many } found no place
flow-screened-out = { $many } screened out
flow-withdrew = { $many } withdrew
flow-left = { $many } left
flow-under-way = { $many } still under way
flow-began = { $many } began the study
flow-complete = { $many } complete
flow-completed = { $many } completed it
flow-deleted = { $many } deleted at the end of the retention time
flow-deleted-in-time = { $many } deleted in time
# $rules are "too-fast 1, failed-checks 2", or "none".
flow-excluded =
    { $many } excluded{ $rules ->
        [none] { "" }
       *[other] { " " }({ $rules })
    }
flow-offered-again = { $many } of their places offered again
flow-places-again =
    { $many ->
        [one] 1 place
       *[other] { $many } places
    } offered again
flow-analysed = { $many } analysed
