### What stands beside a claim about participants and items: what it rests on, and what the numbers do not allow.

## A condition, or conditions compared between people

without-score =
    { $participants ->
        [one] 1 participant
       *[other] { $participants } participants
    } of { $name } without a single score left out.
absent = No participant in { $strata }: the estimate is over the other strata.
partial =
    { $participants ->
        [one] 1 participant has no score in some stratum: it is taken as
       *[other] { $participants } participants have no score in some stratum: theirs is
    } the mean of the others.
# $case: few participants, or scores that do not vary.
no-interval =
    { $case ->
        [alike] The scores do not vary, or a stratum has one participant
       *[few] { $name } has { $participants ->
            [one] 1 participant
           *[other] { $participants } participants
        }
    }: no interval and no test.
few-participants =
    { $name } has { $participants ->
        [one] 1 participant
       *[other] { $participants } participants
    }: a claim needs { $needed } in each condition that is compared; read the interval as a description.
score-the-same = All participants of { $names } score the same: the interval rests on the others' spread alone.
suspect = Participants of { $name } have { $ratio } times the pooled variance: if they truly vary so much more than the others, this test claims falsely in up to 18% instead of 5%; variance="own" does not.

## Items

few-items =
    With { $items ->
        [one] 1 item
       *[other] { $items } items
    } nothing can be claimed about items in general (it needs { $needed }).
few-items-fixed =
    With { $items ->
        [one] 1 item
       *[other] { $items } items
    } nothing can be claimed about items in general (it needs { $needed }): claim about these items only (items="fixed").
# $people as it is printed: "1", "2.5".
few-per-item =
    Only { $people } { $people ->
        [1] participant
       *[other] participants
    } of a method per item: how much items matter is estimated roughly.

## Two conditions that the same people met

met-only-one =
    { $participants ->
        [one] 1 participant
       *[other] { $participants } participants
    } who met only one of { $first } and { $second } left out.
met-by-nobody = No participant has scores under both { $first } and { $second }: there is no difference.
no-interval-of-difference =
    { $case ->
        [alike] All participants differ by the same
       *[few] { $participants ->
            [one] 1 participant
           *[other] { $participants } participants
        }
    }: no interval and no test.
few-participants-of-difference =
    { $participants ->
        [one] 1 participant
       *[other] { $participants } participants
    }: a claim needs { $needed }; read the interval as a description.
uneven = { $first } and { $second } were not met equally early and late: practice or tiredness can pass for an effect, so nothing is claimed. Fill the rows of the design equally, or account for sessions (--session-term).
neither = { $first } and { $second } were met in such sessions that neither can be told from the other.
nobody-of = No participant of { $name } has a score.
no-stratum-of-both = No stratum has participants of both { $first } and { $second } with a score.
