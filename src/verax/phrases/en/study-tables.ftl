### Titles, columns and notes of the tables and figures of a study's analysis; what they find is said in analysis.ftl.

## Columns of several tables

column-analysed = Analysed
column-answers = Answers
column-belief-bias = Belief bias
column-change = Change
column-change-of-accuracy = Change of accuracy
column-ci = CI
column-cliffs-delta = Cliff's delta
column-complete = Complete
column-conclusion-turns = Conclusion turns
column-condition = Condition
column-confidence = Confidence
column-cronbachs-alpha = Cronbach's α
column-crossed = Crossed
column-crossed-within = Crossed, within people
column-detectable = Minimum detectable effect
column-difference = Difference
column-difference-from = Difference from { $reference }
column-differs = Differs, as published
column-equivalent = Equivalent
column-estimate = Estimate
column-excluded = Excluded
column-f1 = F1 against the model
column-first-half = First half
column-fleiss-kappa = Fleiss' kappa
column-gain = Gain
column-gained = Gained
column-got-a-place = Got a place
column-interval = 95% interval
column-interval-90 = 90% interval
column-interval-of-it = 95% interval of it
column-interval-of-omega = 95% interval of ω
column-interval-of-pre = 95% interval of Pre
column-interval-or-range = 95% interval, or range
column-items = Items
column-krippendorffs-alpha = Krippendorff's alpha
column-left = Left
column-left-out = Left out
column-like-the-model = Like the model
column-like-the-true-label = Like the true label
column-linear-mixed-model = Linear mixed model
column-lost = Lost
column-may-be-best = May be best
column-mcdonalds-omega = McDonald's ω
column-mean = Mean
column-mean-score = Mean score
column-mean-session = Mean session
column-measure = Measure
column-median-answer = Median answer
column-method = Method
column-model-accuracy = Model right on these items
column-model-correctness = Model correctness
column-model-is = The model is
column-model-test-accuracy = Model right on its test part
column-normalised-gain = Normalised gain
column-of-group = { $title }, { $group }
column-over-participants = 95% over participants
column-over-questions = 95% over questions
column-p-alone = p, alone
column-p-best = p against being the best
column-p-corrected = p, corrected
column-p-dunnett = p, Dunnett
column-p-holm = p, Holm
column-p-permutation = p, permutation
column-p-signs-flipped = p, signs flipped
column-participants = Participants
column-post = Post
column-pre = Pre
column-predictor = Predictor
column-questions = Questions
column-right = Right
column-row = Row
column-scale = Scale
column-screened-out = Screened out
column-second-half = Second half
column-sessions = Sessions
column-share = Of the condition's answers
column-shows = Shows
column-simultaneous = Simultaneous 95% interval
column-slope = Slope
column-standard-deviation = Standard deviation
column-step = Step
column-task = Task
column-times-that-of = Time per answer, times that of { $reference }
column-under-way = Under way
column-wanted = Wanted
column-with-explanations = With explanations
column-withdrew = Withdrew
column-without-explanations = Without explanations

## Who took part

attrition = Participants lost, by condition
balance = Participants analysed, by row of the design
figure-flow = Participants

## Accuracy before and after explanations

where =
    { $domain ->
        [table] tabular
       *[text] text
    } data, { $test } simulation
where-both = forward and counterfactual simulation, the mean of both
in-part = { $part } part: { $said }
change = Change of accuracy, { $where }
change-n =
    n counts items answered both before and after{ $lacking ->
        [0] { "" }
        [one] { " " }(1 of { $asked } is not)
       *[other] { " " }({ $lacking } of { $asked } are not)
    }; claims are about other people { $items ->
        [fixed] on these very items (fewer than 16 items allow no more)
       *[random] and other items like these
    }.
figure-change = Change of accuracy by condition
figure-change-axis = Change from Pre to Post (points)
figure-change-says = Change includes practice: compare with the condition that shows no explanation, if there is one.
group-reproduction = hase2020, a reproduction
figure-before-after = Accuracy before and after
figure-before-after-axis = right predictions of the model (%)
figure-before-after-says = Lines are 95% intervals of each bar alone; whether a change is clear is in the table of Change.
group-before = before explanations
group-after = after
highlighted = highlighted, with the strength of 4: { $pieces }
nothing-changed = nothing changed

## Conditions compared with each other

contrast = Change compared with { $control } (no explanation)
contrast-difference = A difference is Post − Pre of the condition minus Post − Pre of { $control }; participants are those of both.
contrast-corrected =
    Corrected by Dunnett's distribution for { $comparisons ->
        [one] 1 comparison
       *[other] { $comparisons } comparisons
    } with one control, those of the study's design. The permutation test exchanges the conditions of people (all ways if at most 5,000, else 9,999 draws) and takes the items as fixed.
pairs = Conditions compared with each other
against =
    { $control ->
        [none] between the rounds
       *[other] from { $control }
    }

## The primary analysis by two estimators

cross-check = The primary analysis by two estimators
mixed-agrees = The linear mixed model (REML, Satterthwaite) agrees with the primary analysis.
mixed-does-not = The linear mixed model does not agree with the primary analysis on { $parts }: be careful with such a claim.
differs-in-size = { $ours } against { $other } points
differs-in-p = p = { $ours } against { $other }
mixed-no-test = One of the two estimators has no test: they cannot be compared.
mixed-p = P-values are of each line alone, without correction.
mixed-variances = The mixed model supposes that people of all conditions vary alike; the crossed estimator gives every condition its own variance. That the two agree is no reassurance where variances differ.
mixed-items = The mixed model speaks about items in general, the crossed estimator here about these items only.

## Single people, items or decisions

sensitivity = Does the primary analysis depend on single people, items or decisions?
turning = A conclusion turns where the simultaneous interval, which counts all conditions, excludes 0 in one analysis and not in the other; the intervals shown are of one line alone.
turning-alone = A conclusion turns where the interval of one line alone excludes 0 in one analysis and not in the other.

## Equivalence

equivalence = Equivalence
equivalence-within = { $title } within { $size }
equivalence-how = Two one-sided tests at 5% each, not corrected for several conditions.
not-tested = not tested
not-shown = not shown

## Change as Hase and Bansal (2020) computed it

change-published = Change of accuracy as { $paper } computed it, { $where }
change-counted = Counted as published: every item answered both before and after explanations, also by people who left early; not people who were screened out or excluded. CI is half the width between the bootstrap's quantiles, as the paper prints it; bold is p < 0.05, uncorrected.
change-how =
    { $replicates } replicates of Change, { $of_average } of the average before explanations; { $singular } with a singular fit of Pre; { $case ->
        [all] all defects of the script kept
        [some] defects kept: { $kept }
       *[none] all defects mended
    }.
regression = Regression to the mean: Change against Pre
slope-left-out =
    Left out are participants with fewer than { $fewest ->
        [15] 15 items answered twice, or without ratings
       *[10] 10 items answered twice, or none right before
    }.

## Ratings of explanations

ratings = Ratings of the explanations
ratings-mean = The mean is over participants' means.
figure-ratings = Ratings by condition
figure-ratings-axis = rating
figure-ratings-says = Share of ratings at each point of the scale.
ratings-by-correctness = Ratings by whether the model was right
rating-and-correctness = Does a rating predict a right answer?
ratings-intervals = Intervals by resampling participants and items, which is cautious: they are rather too wide.
steps = { $first } to { $last }
predictor-published = { $predictor }, as published
predictor-normalised-published = { $predictor }, normalised, as published
ratings-reproduction = The published script normalises and resamples by method and item where it says participant: its lines are a reproduction, of { $replicates } replicates. They count every rating beside an item answered both before and after explanations, also by people who left early, and no random control.
figure-rating = Right answers by rating
figure-rating-x = rating of the explanation
figure-rating-y = right answers
figure-rating-says = Share of right answers that the logistic regression expects at each rating.
rating-and-change = A participant's Change against the mean rating
ratings-published = Ratings of the explanations as { $paper } counted them
ratings-by-correctness-published = Ratings by whether the model was right as { $paper } counted them
published-ratings = The published table: the plain mean of all ratings of a method's explanations: who rated more weighs more. Our own estimate stands beside it, over participants' means.
ratings-counted = Counted as published: every rating of everybody who was not screened out or excluded, also of people who left early; no random control. CI is half the width between the bootstrap's quantiles, of { $replicates } replicates.
right-minus-wrong = Correct minus incorrect: { $parts }.
right-minus-wrong-part =
    { $group ->
        [none] { "" }
       *[other] { $group }{ " " }
    }{ $size } ± { $half } ({ $p })

## Conditions that everybody meets

differences-how = Conditions are compared within each participant; items and participants are both taken as samples (crossed). Corrected: Holm over the lines. Signs flipped: exact, on these items only.
differences-sessions = Sessions are accounted for: the differences are those that would be left if every condition were met equally early and late. Means of single conditions are as they were met.
several-models = The differences from { $reference } by several models
several-models-how = Mixed models with participants and items as random effects; p-values are of each line alone.
expired =
    { $pages ->
        [one] 1 page expired without an answer and is
       *[other] { $pages } pages expired without an answer and are
    } left out.
nothing-differs = nothing differs
part-all = All
part-right = Model right
part-wrong = Model wrong

## Graded answers

scores = Mean scores
scores-worth = A sure answer is worth 1 or -1, an unsure one 0.5 or -0.5, and no preference 0. Intervals take participants and items as samples.
scores-means = Means are over participants, who count the same however many answers they gave: the mean of all items need not lie exactly between the other two, nor equal the mean of all answers that the paper prints.
scores-may-be-best = May be best: no other condition is shown to be higher (within people; the smallest p against one that came out higher, times the number of other conditions, is above 5%). The truly best one is then ruled out in at most 5% of studies.
figure-scores-axis = mean score
figure-scores-ends = from -1 to 1
best = Which conditions do not differ from the best
best-how = The difference, its interval and its p are within people and take { $best } as if it had been chosen before the study, as the published tables do. The last two columns do not: for each condition, the smallest p against a condition that came out higher is multiplied by the number of all others.
confidence = How often people are right when they are sure, and when they are not
confidence-how = Intervals take participants and items as samples. Who cannot say is neither right nor wrong.
figure-confidence-axis = right answers (%)
figure-confidence-says = Confidence is worth something where sure answers are right more often than unsure ones.
figure-distribution = How the scores are distributed
figure-distribution-says = From -1, sure and wrong, to 1, sure and right.
agreement = How far people agree
agreement-says = Agreement of different people on the same question, by Fleiss' kappa (1 is perfect, 0 is chance): { $parts }.
agreement-part = { $kappa } { $answers } levels
agreement-none = No question was answered by two people: agreement cannot be told.
agreement-all = Everybody gave the same answer to every question: kappa does not exist.
agreement-how = Both coefficients take answers as categories without an order. A choice between two models is counted as the better or the worse one, since their sides on the page are random.
agreement-intervals = Intervals are percentiles of { $replicates } bootstrap samples of questions, and of participants.
agreement-single =
    { $single ->
        [one] 1 question with a single answer says
       *[other] { $single } questions with a single answer say
    } nothing about agreement.

## Times, training and Mann-Whitney's test

times = How long people took
times-session = A session is the sum of the times of its pages, each from its first display to its answer; intervals of sessions are over participants. Ratios are of geometric means, participants and items crossed, Holm.
times-answer = From the first display of a page to its answer. Ratios are of geometric means, participants and items crossed, Holm.
figure-times = Length of the test sessions
figure-times-says = Mean length of a test session by condition, with 95% intervals over participants.
mann-whitney = Mann-Whitney's test against { $reference }, as published
mann-whitney-how = A reproduction of the paper's test. Its unit here is a participant's test session. It takes the sessions of one participant under two conditions as those of two people, and the items as the only ones of interest; p-values are not corrected. The contrasts above do none of this.
mann-whitney-delta = Cliff's delta: share of pairs of sessions in which the condition is higher, minus share in which it is lower.
like-the-model = like the model
like-the-true-label = like the true label
session-time = session time
two-counts = { $first } and { $second }
training = Accuracy during training
training-says = From the first to the second half of training people changed by: { $parts }.
training-part =
    { $condition } { $size }{ $interval ->
        [none] { "" }
       *[other] { " " }({ $interval })
    }
training-none = No participant has answers in both halves of a training session.
training-how = Guesses before the model's answer is shown. Intervals are over participants, each with a t distribution; items are shuffled for everybody, so that early and late items do not differ on average.
figure-training-x = item of the training session
figure-training-y = answers like the model's (%)
figure-training-says = Each point is the mean over participants of a few neighbouring items, with a 95% interval over participants.

## The Reverse Turing Test

accuracy = Answers like the model's and like the truth ({ $task } task)
task = { $kind } task
accuracy-bias = Belief bias is the share of answers like the true label minus that like the model: above 0 people follow what they believe rather than the model. It can be seen only on items that the model gets wrong.
accuracy-intervals = Intervals take participants and items as samples; that of F1 (the mean over classes, of each participant's session) participants only.
accuracy-half = Items were chosen half right and half wrong, so that the model's accuracy on them says nothing of the model: its accuracy on the test part does.
accuracy-only-wrong = Only items that the model gets wrong were shown, as in the paper's pre-experiment.
accuracy-two-classes = With two classes, an answer is then either like the model's or like the true label.
accuracy-no-training = There were no training sessions, as in one half of the paper's pre-experiment.
figure-accuracy-axis = answers (%)
figure-accuracy-says = Where answers are more like the true label than like the model, people follow their beliefs.

## Scales

scales = Scales
reliability = Reliability of the scales

## Several studies

poolable =
    Studies of the protocol { $first } can be pooled with each other{ $others_many ->
        [0] { "" }
       *[other] { " " }and with { $others } studies
    }; other studies go beside them in one report, with `verax report`.

## What could not be estimated

what-regression = Regression to the mean
what-mixed = The linear mixed model
what-published = Change as published (hase2020)
what-ratings = Ratings
what-correctness = Ratings by the model's correctness
what-rating-change = Rating against Change
what-ratings-published = Ratings as published
what-correctness-published = Ratings by the model's correctness as published
what-rating-correctness = Rating against correctness
what-agreement = Agreement
what-confidence = Confidence
what-times = Times
what-mann-whitney = Mann-Whitney's test
what-strategies = Strategies
what-training = Training
