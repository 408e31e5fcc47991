### What several areas share.

# How a list ends: "a, b and c".
list-end = { $first } and { $last }
list-between = { $first }, { $second }
