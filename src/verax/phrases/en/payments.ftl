### Whom to pay on a platform: the reason for each decision, one for each state in which somebody may be.

reason-complete = Completed the study.
# $rules are the exclusion rules on checks that somebody failed.
reason-failed = Completed the study, but failed its attention checks ({ $rules }).
reason-screened-out = Did not pass the test on the instructions.
reason-over-quota = Enough people with the same answer had taken part before.
reason-declined = Did not agree to take part.
reason-full = Found no free place.
reason-withdrawn = Left the study.
reason-left = Began, and did not come back.
reason-invited = Opened the study, and did not begin.
reason-active = Is still taking part.
reason-unknown = Is not known in this study.

# $column is what the bonus is paid by, and $value how much of it somebody has.
bonus =
    { $column ->
        [right] right answers
        [answers] answers
        [points] points
        [score] mean score
        [minutes] minutes
       *[pages] pages
    }: { $value }
