### The report on benchmarks and studies together: which explainers pass, whom people gain from, and whether benchmarks
### predict what helps people. An evaluation is a benchmark or a study. $names is a list of explainers and $names_many
### how many there are; "yes" and "no" are the answers to the question in a slot's name.

title = Benchmarks and studies: do benchmarks predict what helps people?

## The headline, clause by clause; clauses are joined with "; " and end with a full stop

headline-nothing = No explainer was evaluated in any of these folders.
# Where nothing was tested.
headline-no-claim = What the evaluations measured is below

# $benchmark is its name where there are several benchmarks, else "the-only-one".
headline-pass =
    { $names } { $names_many ->
        [one] passes
       *[other] pass
    } the benchmark{ $benchmark ->
        [the-only-one] { "" }
       *[other] { " " }“{ $benchmark }”
    }
headline-pass-none =
    { $first ->
        [yes] No
       *[no] no
    } explainer is shown to pass the benchmark{ $benchmark ->
        [the-only-one] { "" }
       *[other] { " " }“{ $benchmark }”
    }

# $bots: whether all people were simulated. $gains is a list such as "lime (+7.3 points)".
headline-better =
    { $bots ->
        [yes] { $first ->
            [yes] Bots
           *[no] bots
        }
       *[no] { $first ->
            [yes] People
           *[no] people
        }
    } did better with { $gains }
headline-worse =
    { $bots ->
        [yes] { $first ->
            [yes] Bots
           *[no] bots
        }
       *[no] { $first ->
            [yes] People
           *[no] people
        }
    } did worse with { $gains }
headline-no-effect =
    { $first ->
        [yes] No explainer
       *[no] none
    } is shown to help { $bots ->
        [yes] bots
       *[no] people
    } or to harm them
gain = { $name } ({ $gain })

## Beside each explainer's number, in a few words

judged-benchmark-yes = passes the benchmark
judged-benchmark-no = fails the benchmark
judged-benchmark-open = benchmark undecided
judged-study-yes = helps
judged-study-no = harms
judged-study-open = no clear effect
# Several evaluations that differ: $yes of $many show one thing, $no the other.
judged-benchmarks-differ =
    { $yes ->
        [0] fails { $no }
       *[other] { $no ->
            [0] passes { $yes }
           *[other] passes { $yes } and fails { $no }
        }
    } of { $many } benchmarks
judged-studies-differ =
    { $yes ->
        [0] harms in { $no }
       *[other] { $no ->
            [0] helps in { $yes }
           *[other] helps in { $yes } and harms in { $no }
        }
    } of { $many } studies

# The number that is drawn; $unit is "none" where it has none.
measure =
    { $measure }{ $unit ->
        [none] { "" }
       *[other] { " " }in { $unit }
    } ({ $evaluation })
random = random
no-difference = no difference

## Whether benchmarks predict what helps people

question = Do benchmarks predict what helps people? { $answer }
# Only benchmarks, or only studies, were given.
one-kind-only =
    Whether benchmarks predict what helps people cannot be said: there is no { $lacking ->
        [study] study with people
       *[benchmark] benchmark
    } here. It takes a benchmark and a study with at least { $needed } explainers in both.

# $names are the methods in both; there may be none.
too-few-methods =
    Nothing can be said yet: { $names_many ->
        [0] no method was
        [one] only { $names } was
       *[other] only { $names } were
    } evaluated in both ({ $benchmark }; { $study }).
no-order =
    Nothing can be said: over { $methods ->
        [one] 1 method
       *[other] { $methods } methods
    } ({ $names }) one of the two evaluations tells no method from another.
# $verdict, $interval and $p are below; $bots: whether the study's people were simulated.
order =
    { $verdict }: over { $methods ->
        [one] 1 method
       *[other] { $methods } methods
    } ({ $names }) the benchmark's order and that of what helped { $bots ->
        [yes] bots
       *[no] people
    } have a rank correlation of { $rho } ({ $interval }; { $p }).
order-open = Neither shown nor excluded
order-alike = Yes, among methods like these
order-reverse = The reverse, among methods like these
interval = 95% interval { $low } to { $high }
interval-none = no interval
p =
    { $exact ->
        [yes] exact p
       *[no] p
    } { $small ->
        [yes] <
       *[no] =
    } { $p }
# Why there is no interval.
no-interval-few =
    { $methods ->
        [3] Three
        [4] Four
       *[other] So few
    } methods cannot show agreement: the smallest possible p is { $p }.
no-interval-errors = One of the two gives its scores without intervals, so that their errors cannot be reckoned with.

# How many methods it would take: $at_best with scores without any error, or "more than 500" (below).
needs-methods = A rank correlation needs { $needed } methods in both evaluations to exist, { $to_test } before any p can fall to 0.05, and { $at_best } to see a true correlation of { $worth } with { $power } power, if no score had any error.
# $more is how many it takes with $studies such studies, or "no-fewer".
needs =
    To see a true correlation of { $worth } with { $power } power takes { $now } methods that are measured as roughly as here{ $more ->
        [no-fewer] { "" }
       *[other] ; { $more } with { $studies } such studies
    }; { $at_best } if no score had any error.
many-methods = more than { $many }

## Two benchmarks: whether they order explainers alike

agree-too-few =
    Whether { $first } and { $second } order explainers alike cannot be said: { $names_many ->
        [0] no method was
        [one] only { $names } was
       *[other] only { $names } were
    } evaluated in both.
agree-no-order = Whether { $first } and { $second } order explainers alike cannot be said: one of them tells none from another.
agree =
    Do { $first } and { $second } order explainers alike? { $verdict }: over { $methods ->
        [one] 1 method
       *[other] { $methods } methods
    } ({ $names }) their orders have a rank correlation of { $rho } ({ $interval }; { $p }).

## Automatic measures beside the evaluations: do they order explainers as people do? $bots: simulated people.

measures-no-study = Whether an automatic measure predicts what helps people cannot be said: there is no study with people here.
measures-too-few =
    Whether an automatic measure predicts what helped { $bots ->
        [yes] bots
       *[no] people
    } in { $study } cannot be said: { $names_many ->
        [0] no method was
        [one] only { $names } was
       *[other] only { $names } were
    } in both, and it takes { $needed }.
# $possible: whether so many methods could show anything of so many measures.
measures-not-shown =
    { $many ->
        [one] The automatic measure is not shown
       *[other] None of { $many } automatic measures is shown
    } to order { $methods ->
        [one] 1 method
       *[other] { $methods } methods
    } as they helped { $bots ->
        [yes] bots
       *[no] people
    } in { $study }{ $possible ->
        [yes] .
       *[no] ; so few methods cannot show it.
    }
# $names is a list of the next; $many is how many were compared.
measures-shown =
    Automatic measures shown to order { $methods ->
        [one] 1 method
       *[other] { $methods } methods
    } as they helped { $bots ->
        [yes] bots
       *[no] people
    } in { $study }, or against it: { $names }; { $many ->
        [one] 1 was
       *[other] { $many } were
    } compared.
measure-rho = { $name } (rho { $rho })

average-benchmarks = average over { $many } benchmarks
average-studies = average over { $many } studies
average-of-benchmarks = { $many } benchmarks
average-of-studies = { $many } studies
mean-rank = mean rank, 1 is best

## What was left out

# $study: whether it is a study, or else the run of a benchmark.
note-no-estimate =
    The { $study ->
        [yes] study
       *[no] run
    } in { $folder } has no estimate of any explainer and is left out.
note-missing =
    No estimate in the { $study ->
        [yes] study
       *[no] run
    } in { $folder } for { $names }.
note-twice =
    { $name } was evaluated more than once in the { $study ->
        [yes] study
       *[no] run
    } in { $folder }, so it is not matched with other evaluations.
note-places =
    { $left_out } of { $places } pairs of dataset and model of the { $study ->
        [yes] study
       *[no] run
    } in { $folder } are left out: not every explainer was scored there.
note-changed = The numbers of { $folder } are not those that were computed: { $problems }.

## On the page

# $evaluations is a list of the next three, or "none".
asked =
    { $evaluations ->
        [none] no evaluation
       *[other] { $evaluations }
    }; { $explainers ->
        [one] 1 explainer
       *[other] { $explainers } explainers
    } in all.
asked-benchmarks =
    { $many ->
        [one] 1 benchmark
       *[other] { $many } benchmarks
    }
asked-people =
    { $many ->
        [one] 1 study with people
       *[other] { $many } studies with people
    }
asked-bots =
    { $many ->
        [one] 1 study with simulated people
       *[other] { $many } studies with simulated people
    }
banner =
    { $all ->
        [yes] All answers in the studies were
       *[no] The answers of some studies were
    } given by bots, programs that were told how much explanations help them. They show that study and analysis work; they say nothing about people.
heading-every = Every explainer in every evaluation
heading-agree = Do the benchmarks agree?
heading-measures = Do automatic measures predict what helps people?
heading-order = Benchmarks against studies
table-every = Every explainer in every evaluation, with 95% intervals
# $floor: whether random was evaluated.
figure-every =
    Large marks are estimates, bars their 95% intervals{ $floor ->
        [yes] , the dotted line is random
       *[no] { "" }
    }. Small dots are the models and datasets that a benchmark's estimate is the mean of.
# What an evaluation measured; $unit is "none" where it has none, $higher: whether more is better.
evaluation =
    { $measure }{ $unit ->
        [none] { "" }
       *[other] , in { $unit }
    }; { $higher ->
        [yes] more is better
       *[no] less is better
    }; { $rests_on }; from
evaluation-name =
    { $evaluation }{ $bots ->
        [yes] { " " }(simulated people)
       *[no] { "" }
    }
every-how = How it was computed: a benchmark's estimate is the mean over its models and datasets; since models of one dataset share their stains, their errors are taken as dependent, which makes the interval rather too wide than too narrow. A study's estimate is the one of its own report. Explainers are matched by name, without parameters. The ceiling (ground-truth) and the condition without explanations (none) are not explainers and are left out; random is kept, in both. Automatic measures stand at the end of the table: they rest on no known reason and no person, and claim nothing.
column-measure = Measure
column-known = Order of what is known (tau)
# $rho with its interval; $methods is over how many methods.
measure-cell =
    { $rho } over { $methods ->
        [one] 1 method
       *[other] { $methods } methods
    }
table-measures = Rank correlation of each measure's order of explainers with that of every evaluation
measures-how = The first number is Kendall's tau between the measure's order of explanations of known quality and the truth's, with its 95% interval. The others are Spearman's rho over the explainers of both; a measure of which less is better is turned round. What the sentences claim is corrected by Holm over the measures.
pair = { $benchmark } against { $study }
pair-bots = { $benchmark } against { $study } (simulated people)
column-evaluation = Evaluation
column-better = Better is
# $higher: whether more of what an evaluation measures is better.
better =
    { $higher ->
        [yes] more
       *[no] less
    }
column-pair = Evaluations
column-methods = Methods
column-rho = Spearman's rho
column-p = p
column-tau = Kendall's tau
column-needed = Methods needed, as rough as here
column-needed-more = … with { $studies } such studies
column-needed-best = … without any error
table-correlations = Rank correlations over methods, and how many methods they would need

## In the figures

panel = { $evaluation }: { $measure } of each explainer with 95% intervals; the numbers are in the table.
panel-absent = not evaluated here
panel-axis =
    { $measure }{ $unit ->
        [none] { "" }
       *[other] { " " }({ $unit })
    }
panel-pair = { $benchmark } against { $study }. { $sentence }
panel-point = { $name }: benchmark { $x }, people { $y }
panel-across = { $benchmark } →
panel-up =
    { $bots ->
        [yes] bots
       *[no] people
    } helped →
