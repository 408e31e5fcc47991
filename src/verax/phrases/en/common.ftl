### What several areas share.

# How a list ends: "a, b and c", and "a, b or c".
list-end = { $first } and { $last }
list-or = { $first } or { $last }
list-between = { $first }, { $second }

# Bands of a number, as classes.
band-below = below { $edge }
band-between = { $low } to { $high }
band-above = { $edge } or more

# At the end of a list that names only some: "a, b and 3 more".
more-names = { $many } more

# Below a table in a terminal that has no room for all of it.
more-columns =
    { $more ->
        [one] One more column is in the report.
       *[other] { $more } more columns are in the report.
    }

# Below the first figure of a report: what its numbers are, and what the line is that they are read against ("none"
# where there is none).
verdict-figure =
    { $measure }{ $intervals ->
        [yes] ; the lines are 95% intervals
       *[no] { "" }
    }{ $reference ->
        [none] .
       *[other] ; the upright line is { $reference } ({ $value }).
    }

# Jobs of a run that failed for the same reason; $jobs is how many, $names some of them, joined with "; ", $more how many
# others there are.
failed-jobs =
    { $jobs ->
        [one] 1 { $job ->
            [trial] trial
           *[job] job
        }
       *[other] { $jobs } { $job ->
            [trial] trials
           *[job] jobs
        }
    } failed ({ $names }{ $more ->
        [0] { "" }
       *[other] ; and { $more } more
    }): { $reason }.

# After the times of a run.
continued =
    continued { $times ->
        [one] 1 time
       *[other] { $times } times
    }

# Parts of the page of a run.
page-found = { $title }: what was found
part-found = What was found
part-numbers = The numbers
part-failed = What failed
part-left-out = What was left out
part-again = Run it again
part-again-how = How to run it again

# In a notebook, at the end of what a run found.
report-is = The report is { $path }.

## What participants call an input and its features. $kind is "text" or "table".

input = { $kind ->
        [text] text
       *[table] record
    }
inputs = { $kind ->
        [text] texts
       *[table] records
    }
feature = { $kind ->
        [text] word
       *[table] value
    }
features = { $kind ->
        [text] words
       *[table] values
    }
# Above an input.
input-title = { $kind ->
        [text] Text
       *[table] Record
    }
