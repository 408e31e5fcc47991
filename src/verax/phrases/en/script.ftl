### What the script of participants' pages says. The page holds it ready: numbers stand where $count, $number and
### $questions are.

copied = Copied.
selected = Selected: copy it with Ctrl-C.
next-question = Next question
question-of = Question { $number } of { $questions }
back = Back
read-on = Read on
more-to-read = There is more to read.
all-read = That was all of the text.
answer-first = Please answer this question first.
read-first =
    Please read this page first: { $count ->
        [one] { $count } second
       *[other] { $count } seconds
    }.
under-a-minute = less than a minute left
minutes-left =
    about { $count ->
        [one] { $count } minute
       *[other] { $count } minutes
    } left
# $what is "part" or "page".
over-go-on =
    The time for this { $what ->
        [part] part
       *[page] page
    } is over. Press the button to go on.
over-answer =
    The time for this { $what ->
        [part] part
       *[page] page
    } is over. Please answer now.
clock-minutes =
    This { $what ->
        [part] part
       *[page] page
    }: about { $count ->
        [one] { $count } minute
       *[other] { $count } minutes
    } left
clock-seconds =
    This { $what ->
        [part] part
       *[page] page
    }: { $count ->
        [one] { $count } second
       *[other] { $count } seconds
    } left
seconds-left =
    { $count ->
        [one] { $count } second
       *[other] { $count } seconds
    } left for this { $what ->
        [part] part
       *[page] page
    }.
