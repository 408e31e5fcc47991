"""What the terminal says of a staining run, worked by hand."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console

from verax.benchmarks.staining.findings import ExplainerScores, LeftOut, Pair, StainSummary
from verax.benchmarks.staining.spec import make_spec
from verax.reporting.run_page import in_terminal, view_of
from verax.reporting.staining.tables import findings
from verax.stats import Difference, Estimate

LEFT_OUT = LeftOut(0, "“the”: no", 0.9, 0.5, 0.7)


def estimate(mean: float, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(mean, low, high, 3, 0.1)


def difference(first: str, second: str, mean: float, p: float = 0.01) -> Difference:
    """The first is ahead where the mean is above 0, and the second below, if p is small enough."""
    return Difference(first, second, mean, None, None, 5, 0, p, p, 0, 0, 0)


def summary(**changes) -> StainSummary:
    recall = tuple(estimate(0.1 * b, 0.05, 0.1 * b + 0.005) for b in range(1, 11))
    lime = ExplainerScores(3, 30, recall, estimate(0.5), estimate(0.5), 100.0)
    base = Pair("d", "tree", 3, (), (), {"lime": lime}, {}, {"auc": ()})
    spec = make_spec({"datasets": ["d"], "models": ["tree"], "size": 2})
    return StainSummary(spec, ("lime", "random"), (), {}, (), pairs=(replace(base, **changes),))


def shown(found: StainSummary) -> str:
    console = Console(width=100, no_color=True)
    with console.capture() as captured:
        console.print(in_terminal(view_of(found).brief(found)))
    return " ".join(captured.get().split())


def test_recall_is_shown_with_its_interval():
    assert "lime 3 50.0 20.0 [5.0, 20.5] 50.0 [5.0, 50.5] 100.0 [5.0, 100.5]" in shown(summary())


def test_only_differences_that_survive_correction_are_named():
    auc = (
        difference("lime", "shap", -0.1),
        difference("lime", "greedy", 0.1, p=0.2),
        difference("random", "shap", -0.1),
    )
    assert findings(summary(differences={"auc": auc})) == [
        "d, tree: shap above lime (area under the recall curve, corrected p <= 0.05)."
    ]


def test_no_difference_is_said():
    assert findings(summary()) == [
        "No difference between explainers (other than to random) survives correction with 6 stains or more."
    ]


def test_what_was_left_out_and_what_failed_is_said():
    found = findings(
        summary(stains_left_out=(LEFT_OUT, LEFT_OUT), errors={"mine": ("stain 0: KeyError: x",)})
    )
    assert "d, tree: 2 stains not learnt, left out of the scores." in found
    assert "d, tree: mine failed on 1 stain (stain 0: KeyError: x)." in found


def test_a_cell_without_a_learnt_stain_is_shown():
    assert "no stain was learnt" in shown(summary(explainers={}, stains_left_out=(LEFT_OUT,)))
