# An example of every public name, for the pages of the reference (scripts/reference_pages.py puts each below its name). The
# blocks run from top to bottom (tests/test_reference_examples.py does it); the first one is at the top of every page.
# %%
import numpy as np

import verax

data = verax.load_dataset("rotten-tomatoes", limit=600)
model = verax.fit_model("logistic", data)
texts = data.test.inputs[:3]
explanations = verax.explainer("lime", samples=200).explain(model, texts)

# %% verax.load_dataset, verax.Dataset, verax.data.Part
data = verax.load_dataset("rotten-tomatoes", limit=600)
print(data.summary(), data.class_names, data.test.inputs[0], data.test.labels[0])

# %% verax.fit_model
model = verax.fit_model("logistic", data, seed=0)

# %% verax.as_model, verax.Model
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

rows, labels = load_iris(as_frame=True, return_X_y=True)
tree = verax.as_model(DecisionTreeClassifier(random_state=0).fit(rows, labels), reference=rows)
print(tree.kind, tree.class_names, tree.predict_proba(rows[:2]))

# %% verax.explainer, verax.Explainer
lime = verax.explainer("lime", samples=200, seed=1)
print(lime, lime.explain(model, texts)[0].top(3))

# %% verax.Explanation, verax.Attribution, verax.explain.Cost
one = explanations[0]
print(one.target_name, one.top(3), sorted(one.details), one.cost.rows)
assert verax.Explanation.from_dict(one.to_dict()) == one

# %% verax.fragments, verax.Fragments, verax.explain.Fragment
found = verax.fragments(explanations[0], count=2, sizes=(1, 2))
print([fragment.text for fragment in found.evidence], [part.score for part in found.counter_evidence])

# %% verax.Written
said = verax.Written(("The word dull decides.",), target=0, target_name="negative", input="a dull film")
print(said.paragraphs)

# %% verax.judge
verdict = verax.judge(tree, rows[::30], ["shap", "greedy", "random"], seconds=20)
print(verdict.believe, verdict.to_frame().columns.tolist())

# %% verax.judge_labels
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

both = MultiOutputClassifier(LogisticRegression()).fit(rows, np.stack([labels == 0, labels > 1], axis=1))
print(verax.judge_labels(both, rows[::50], ["shap"], class_names=["first", "last"], seconds=10))

# %% verax.global_view
print(verax.global_view(explanations, texts))

# %% verax.measure, verax.Measure, verax.measures.Measured
sufficiency = verax.measure("sufficiency", k=3)
print(sufficiency.better, sufficiency(model, texts, explanations))
print(sufficiency.measured(model, texts, explanations).cost)

# %% verax.stain
run = verax.stain(data, ["tree"], ["greedy"], stains=1, inputs=2, learnt=0.0, out="runs/stain")
print(run.summary.pairs[0].explainers["greedy"].auc, run.report())

# %% verax.rationale
ran = verax.rationale(
    data,
    explainers=["greedy"],
    target_models=1,
    inputs=2,
    epochs=4,
    share=0.25,
    subsets=2,
    out="runs/rationale",
)
print(ran.results.explainer.unique())

# %% verax.bench_measures
ran = verax.bench_measures(
    data,
    ["logistic"],
    ["greedy"],
    measures=["deletion"],
    stains=1,
    inputs=2,
    replaced=False,
    learnt=0.0,
    out="runs/m",
)
print(ran.summary.sentences)

# %% verax.bench_students
ran = verax.bench_students(
    data, ["logistic"], ["greedy"], stains=1, sizes=[8], inputs=10, draws=1, learnt=0.0, out="runs/students"
)
print(ran.summary.sentences)

# %% verax.bench
ran = verax.bench(
    "sanity", models=["tree"], explainers=["greedy"], limit=300, inputs=2, repeats=1, out="runs/sanity"
)
print(ran.summary.verdict.sentence)

# %% verax.atlas, verax.add_to_atlas
some = dict(datasets=["breast-cancer"], models=["tree"], tests=["sanity"], inputs=2, samples=16)
print(verax.atlas(explainers=["greedy"], out="atlas", **some))
print(verax.add_to_atlas("random", out="atlas"))

# %% verax.build_study, verax.open_study
spec = {
    "title": "How does a computer read film reviews?",
    "dataset": "rotten-tomatoes",
    "source": {"limit": 600},
    "model": "logistic",
    "participants": 2,
    "protocol": {"name": "forward", "learning": 4, "test": 8},
    "conditions": [{"name": "none"}, {"name": "greedy", "explainer": "greedy"}],
    "texts": {"contact": "the person who invited you"},
}
verax.build_study(spec, out="studies/forward")
study = verax.open_study("studies/forward")
print(study)

# %% verax.report
print(verax.report([run], out="report.html").summary.answer)

# %% verax.save_model, verax.load_model
network = verax.fit_model("cnn(epochs=1,vectors=trained)", data)
verax.save_model(network, "models/cnn", test=data.test)
print(verax.load_model("models/cnn").predict_proba(["a warm film"]))

# %% verax.EndpointOptions
options = verax.EndpointOptions(record="answers", max_requests=10, dry_run=True)
far = verax.as_model(
    "openai:my-model",
    base_url="http://localhost:8000/v1",
    prompt="Review: {text}\nAnswer negative or positive:",
    labels=["negative", "positive"],
    endpoint=options,
)
verax.explainer("greedy").explain(far, ["a warm film"])
print(far.client.spent)  # what it would take; nothing was sent

# %% verax.VeraxError
try:
    verax.explainer("lyme")
except verax.VeraxError as error:
    print(error)

# %% verax.explain.explainers, verax.data.datasets, verax.data.dataset_formats, verax.models.models, verax.measures.measures
from verax.data import dataset_formats, datasets
from verax.explain import explainers
from verax.measures import measures
from verax.models import models

for registry in (explainers, datasets, dataset_formats, models, measures):
    print(registry.names()[:3])

# %% verax.explain.Lime
print(verax.explain.Lime(samples=200, seed=1).explain(model, texts)[0].top(3))
print(verax.explain.Lime(samples="exact").explain(verax.fit_model("tree", data), texts)[0].top(3))

# %% verax.explain.Shap
print(verax.explain.Shap().explain(tree, rows[:1])[0].details["route"])

# %% verax.explain.Greedy, verax.explain.GreedyPath
print(verax.explain.Greedy().explain(model, texts)[0].top(3))
print(verax.explain.GreedyPath(steps=3, until_flip=True).explain(model, texts)[0].details["removed"])

# %% verax.explain.Random, verax.explain.RandomFragments
print(verax.explain.Random(seed=1).explain(model, texts)[0].top(3))
print(verax.explain.RandomFragments(count=2).explain(model, texts)[0].evidence)

# %% verax.explain.Anchor, verax.explain.Rule, verax.explain.RuleStep
(rule,) = verax.explain.Anchor(words="removed", precision=0.8).explain(model, texts[:1])
print(rule.named, rule.precision, rule.reached, [step.precision for step in rule.steps])

# %% verax.explain.DecisionBoundary, verax.explain.Path, verax.explain.Edit
(path,) = verax.explain.DecisionBoundary(samples=300).explain(model, texts[:1])
print([(edit.before, edit.after) for edit in path.edits], path.flipped_to)

# %% verax.explain.Prototype, verax.explain.Exemplar
people = verax.load_dataset("adult", limit=600)
plain = verax.fit_model("mlp-2x50(epochs=20)", people)
(like,) = verax.explain.Prototype(prototypes=2).explain(plain, people.test.inputs[:1])
print(like.similarity, like.prototype_label, like.important)

# %% verax.explain.Together, verax.explain.Composite, verax.explain.Part
(together,) = verax.explain.Together(samples=300).explain(plain, people.test.inputs[:1])
print([(part.name, type(part.explanation).__name__) for part in together.parts])

# %% verax.explain.GradientXInput, verax.explain.IntegratedGradients, verax.explain.DeepLift, verax.explain.Lrp
from verax.explain import DeepLift, GradientXInput, IntegratedGradients, Lrp

for method in (GradientXInput(), IntegratedGradients(steps=8), DeepLift(), Lrp()):
    print(method, method.explain(network, ["not good, but the story is good"])[0].top(2))

# %% verax.explain.GradCamText, verax.explain.DecisionTrees
for method in (verax.explain.GradCamText(count=2), verax.explain.DecisionTrees(count=2)):
    print([fragment.text for fragment in method.explain(network, texts)[0].evidence])

# %% verax.explain.L2x, verax.explain.Invase
for method in (verax.explain.L2x(k=3, epochs=1), verax.explain.Invase(iterations=20)):
    print(method.explain(network, texts)[0].details["agreement"])

# %% verax.explain.Precomputed, verax.explain.Imported, verax.explain.from_captum
from verax.explain import Precomputed, from_captum

scores = [np.arange(len(text.split()), dtype=float) for text in texts]
theirs = from_captum(scores, model, texts, targets="positive", tokens=[text.split() for text in texts])
theirs.write("theirs.jsonl")
print(theirs.explain(model, texts, targets="positive")[0].top(2))
print(Precomputed("theirs.jsonl").explain(model, texts, targets="positive")[0].top(2))

# %% verax.explain.from_lime
from lime.lime_text import LimeTextExplainer

of_lime = LimeTextExplainer(class_names=data.class_names).explain_instance(
    texts[0], model.predict_proba, num_samples=50
)
print(verax.explain.from_lime([of_lime], model).explain(model, texts[:1], targets=1)[0].top(3))

# %% verax.explain.from_shap, verax.explain.to_shap
several = verax.explain.Shap().explain(tree, rows[:3], targets=0)
of_shap = verax.explain.to_shap(several, rows[:3])  # for the plots of the package
print(
    verax.explain.from_shap(of_shap, tree, rows[:3], targets=0).explain(tree, rows[:1], targets=0)[0].top(2)
)

# %% verax.explain.from_transformers_interpret
words = [[(word, 0.1) for word in text.split()] for text in texts]
theirs = verax.explain.from_transformers_interpret(words, model, texts, targets="positive")
print(theirs.explain(model, texts, targets="positive")[0].top(2))

# %% verax.explain.to_frame
print(verax.explain.to_frame(several, rows[:3]))

# %% verax.data.Words, verax.data.split_words
split = verax.data.split_words("Good, but not good")
print(split.words, split.distinct, split.keep(["not", "good"]))

# %% verax.data.Schema, verax.data.Column, verax.data.Bins
from verax.data import Bins, Column, Schema

schema = Schema((Column("age"), Column("job", categories=("clerk", "sailor"))))
encoded = schema.encode([[37, "sailor"], [41, "clerk"], [18, "clerk"]])
print(schema.describe(1, encoded[0, 1]), Bins.learn(schema, encoded).names[0])

# %% verax.data.Records, verax.data.text_records
records = verax.data.text_records(["a warm film", "a dull film"] * 5, [1, 0] * 5, ("negative", "positive"))
print(records.class_names, len(records.inputs))

# %% verax.data.read_rows
rows.to_csv("new.csv", index=False)
print(verax.data.read_rows("new.csv", 7))

# %% verax.models.TextPipeline, verax.models.fit_vectorizer, verax.models.fit_classifier
from verax.models import TextPipeline, fit_classifier, fit_vectorizer

vectorizer = fit_vectorizer(data.train.inputs)
counted = vectorizer.transform(data.train.inputs)
classifier = fit_classifier("logistic", counted, data.train.labels, seed=0)
print(TextPipeline(vectorizer, (), classifier, data.class_names).predict_proba(texts))

# %% verax.models.TableModel, verax.models.table_columns
from verax.models import TableModel, table_columns

table = verax.load_dataset("breast-cancer")
columns = table_columns(table.schema, scaled=True)
estimator = LogisticRegression(max_iter=5_000).fit(table.train.inputs, table.train.labels)
print(columns, TableModel(estimator, table.schema, table.class_names).predict_proba(table.test.inputs[:1]))

# %% verax.models.CallableModel, verax.models.check_probabilities
from verax.models import CallableModel, check_probabilities


def warm(batch):
    likely = np.array([0.9 if "warm" in text else 0.2 for text in batch])
    return check_probabilities(np.column_stack([1 - likely, likely]), len(batch))


print(CallableModel(warm, class_names=["cold", "warm"]).predict_proba(["a warm film"]))

# %% verax.models.KeptAnswers, verax.models.rows_to_ask
kept = verax.models.KeptAnswers(warm, most_rows=1_000)
slow = verax.as_model(kept, class_names=["cold", "warm"])
print(verax.models.rows_to_ask(verax.explainer("greedy"), slow, ["a warm film"]))
verax.explainer("greedy").explain(slow, ["a warm film"])
print(kept.asked, kept.kept)

# %% verax.models.resolve_model, verax.models.own_model
print(verax.models.resolve_model("tree", data).class_names)
print(verax.models.own_model("mine", tree, verax.load_dataset(rows.assign(label=labels))).class_names)

# %% verax.measures.defines, verax.measures.Definition, verax.measures.Case, verax.measures.check_measure, verax.measures.ABSENT
from verax.measures import ABSENT, Case, check_measure, defines, measures


@measures.register("speaking")
@defines(better="higher", low=0, high=1, costs="nothing")
def speaking(case: Case, *, above: float = 0.0):
    """The share of features that speak for the class."""
    return np.array([float(np.mean(own > above)) if len(own) else 0.0 for own in case.scores])


check_measure(verax.measure("speaking"))
print(speaking.better, ABSENT)

# %% verax.perturb.path_for, verax.perturb.Path, verax.perturb.Prepared, verax.perturb.Masks, verax.perturb.Answer
from verax.perturb import Masks, path_for

way = path_for(model)
prepared = way.prepare(texts[:1])
without_first = np.ones((1, len(prepared[0].features)), dtype=bool)
without_first[0, 0] = False
(answer,) = way.evaluate(prepared, [Masks.from_rows(without_first)])
print(way.name, answer.probabilities, answer.rows)

# %% verax.run.Job, verax.run.Store, verax.run.Outcome, verax.run.execute, verax.run.Progress, verax.run.terminal_progress
from verax.run import Job, Store, execute, terminal_progress

jobs = [Job(f"{text!r} as JSON", "json:dumps", {"obj": text}) for text in texts]
for outcome in execute(jobs, Store("runs/mine"), progress=terminal_progress("writing")):
    print(outcome.name, outcome.error or outcome.value, outcome.seconds)

# %% verax.run.start_manifest, verax.run.check_manifest, verax.run.finish_manifest, verax.run.library_versions
from verax.run import check_manifest, finish_manifest, library_versions, start_manifest

start_manifest("runs/mine", {"samples": 200})
print(check_manifest("runs/mine", {"samples": 200}) is not None, library_versions()["numpy"])
finish_manifest("runs/mine")

# %% verax.run.canonical, verax.run.write_json
verax.run.write_json("numbers.json", {"b": 0.1, "a": [1, 2]})
print(verax.run.canonical({"b": 0.1, "a": [1, 2]}))

# %% verax.stats.responses, verax.stats.Responses
from verax import stats

rng = np.random.default_rng(0)
people, items = np.divmod(np.arange(24 * 20), 20)  # 24 people answer 20 items
method = np.array(["none", "lime", "shap"])[people % 3]  # each person sees one method
pre, post = (rng.random((2, 480)) < [[0.6], [0.7]]).astype(float)  # right before and after explanations
answered = stats.responses(people, items, method, post, pre)

# %% verax.stats.changes, verax.stats.mean_change, verax.stats.Crossed
print([(one.name, one.estimate, one.low, one.high) for one in stats.changes(answered)])
print(stats.mean_change(answered).estimate)

# %% verax.stats.contrasts, verax.stats.contrasts_with
print([(one.name, one.estimate, one.p_family) for one in stats.contrasts_with(answered, "none")])
print(stats.contrasts(answered, [("lime", "shap")])[0])

# %% verax.stats.linear_changes, verax.stats.linear_contrasts, verax.stats.Effect
print(stats.linear_changes(answered)[0], stats.linear_contrasts(answered, [("lime", "none")])[0].p)

# %% verax.stats.met, verax.stats.ConditionResponses
condition = np.array(["a", "b"])[(people + items) % 2]  # each person meets every condition
met = stats.met(people, items, condition, post)

# %% verax.stats.condition_means, verax.stats.condition_differences
print(stats.condition_means(met)[0].estimate, stats.condition_differences(met)[0])

# %% verax.stats.linear_differences, verax.stats.logistic_differences, verax.stats.LogisticEffect
print(stats.linear_differences(met, [("b", "a")])[0].estimate)
print(stats.logistic_differences(met, [("b", "a")])[0].log_odds.estimate)

# %% verax.stats.Design, verax.stats.simulate, verax.stats.Simulated, verax.stats.Spreads
design = stats.Design(participants=(12, 12), items=20)
print(stats.simulate(design, effects=0.1, spreads=stats.Spreads(person=0.8), studies=3).post.shape)

# %% verax.stats.power, verax.stats.Power
print(stats.power(design, effect=0.1, studies=100).power)

# %% verax.stats.detectable_effect, verax.stats.Detectable, verax.stats.needed_participants
print(
    stats.detectable_effect(design, studies=20).effect,
    stats.needed_participants(design, effect=0.2, studies=20),
)

# %% verax.stats.methods_needed, verax.stats.Needed
print(stats.methods_needed(correlation=0.8, comparisons=500).methods)

# %% verax.stats.mean_interval, verax.stats.Estimate
print(stats.mean_interval([0.4, 0.6, 0.5]))

# %% verax.stats.binomial_share, verax.stats.any_share
print(stats.binomial_share([0, 0, 1, 0, 1]), stats.any_share([0.0, 0.01, 0.0, 0.02, 0.4]))

# %% verax.stats.sharing, verax.stats.Sharing, verax.stats.mean_share, verax.stats.spread_of_mean
shared = stats.sharing(["ab", "ac", "cd", "de", "ea"])  # units that are made of parts, and may share some
print(stats.mean_share([0.9, 1.0, 0.8, 1.0, 0.7], shared))
print(stats.spread_of_mean(np.array([0.9, 1.0, 0.8, 1.0, 0.7]), shared))

# %% verax.stats.paired_differences, verax.stats.joint_differences, verax.stats.Difference
recall = {"lime": {"stain 1": 0.4, "stain 2": 0.6}, "shap": {"stain 1": 0.5, "stain 2": 0.9}}
print(stats.paired_differences(recall)[0])
print(stats.joint_differences([recall, recall], {"stain 1": {"the", "not"}, "stain 2": {"but", "film"}}))

# %% verax.stats.equivalence, verax.stats.Equivalence, verax.stats.detectable
print(stats.equivalence(estimate=0.01, se=0.02, df=40, margin=0.05).p, stats.detectable(se=0.02, df=40))

# %% verax.stats.holm
print(stats.holm([0.01, 0.04, 0.03]))

# %% verax.stats.sign_flip, verax.stats.label_permutation, verax.stats.Permutation
print(stats.sign_flip([0.1, 0.3, -0.05, 0.2]).p)
print(stats.label_permutation([0.1, 0.3, -0.05, 0.2], [True, True, False, False]))

# %% verax.stats.mann_whitney, verax.stats.RankTest
print(stats.mann_whitney([1, 4, 5], [2, 2, 3, 1]).superiority)

# %% verax.stats.average_ranks, verax.stats.Ranking
print(stats.average_ranks({"lime": {"imdb": 0.4, "adult": 0.6}, "shap": {"imdb": 0.5, "adult": 0.7}}).ranks)

# %% verax.stats.rank_correlation, verax.stats.RankCorrelation
agreement = stats.rank_correlation([0.2, 0.5, 0.6, 0.9, 0.8], [0.1, 0.2, 0.4, 0.3, 0.6], draws=500)
print(agreement.spearman, agreement.p_spearman)

# %% verax.stats.logistic, verax.stats.Logistic, verax.stats.normalised
print(stats.logistic(rng.integers(1, 8, 200), rng.random(200) < 0.6).slope)
print(stats.normalised([3, 5, 4, 7, 7], ["al", "al", "al", "bo", "bo"]))

# %% verax.stats.fleiss_kappa, verax.stats.krippendorff_alpha, verax.stats.Agreement
raters = ["al", "bo"] * 3
print(stats.fleiss_kappa([1, 1, 2, 2, 3, 3], raters, ["x", "x", "y", "x", "y", "y"], replicates=200).value)
print(
    stats.krippendorff_alpha([1, 1, 2, 2, 3, 3], raters, [1, 2, 5, 4, 3, 3], "ordinal", replicates=200).value
)

# %% verax.stats.fit_linear, verax.stats.LinearMixed, verax.stats.fit_logistic, verax.stats.LogisticMixed, verax.stats.Term
ones = np.ones(480)
print(stats.fit_linear(post - pre, ones[:, None], [people, items]).sds)
print(
    stats.fit_logistic(post, ones[:, None], [stats.Term(people, ones), stats.Term(items, ones)]).coefficients
)
