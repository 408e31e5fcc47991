### What several areas share.

# How a list ends: "a, b and c".
list-end = { $first } and { $last }
list-between = { $first }, { $second }

# At the end of a list that names only some: "a, b and 3 more".
more = { $many } more
