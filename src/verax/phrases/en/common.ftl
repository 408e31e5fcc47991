### What several areas share.

# How a list ends: "a, b and c", and "a, b or c".
list-end = { $first } and { $last }
list-or = { $first } or { $last }
list-between = { $first }, { $second }

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
