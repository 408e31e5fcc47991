### What people are asked about themselves: a question, and its answers in their order. Exports hold the English words.

age =
    How old are you?
    - 18 to 24
    - 25 to 34
    - 35 to 44
    - 45 to 54
    - 55 to 64
    - 65 or older
# The language in which the study is.
language =
    How well do you know English?
    - It is my first language
    - I speak it well
    - I speak it a little
course =
    Have you ever taken a course in computer science or statistics?
    - No
    - In computer science
    - In statistics
    - In both
words = Is there anything that you would like to tell us?
unsaid = I would rather not say
