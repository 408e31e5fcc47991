"""Whatever goes wrong is one sentence on standard error, never a traceback."""

import pytest

pytestmark = pytest.mark.usefixtures("folder")

EXPLAIN = ("explain", "--dataset", "reviews.csv", "--model", "own_models:known", "--explainers", "greedy")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--dataset", "reviws"), "There is no dataset called 'reviws'"),
        (("--dataset", "missing.csv"), "There is no file or folder 'missing.csv'"),
        (("--dataset", "people.csv"), "people.csv has no column 'label'; it has: age, job, rich."),
        (("--dataset", "people.csv", "--label-column", "rich", "--text", "x"), "--text does not fit"),
        (("--model", "logistics"), "There is no model called 'logistics'; did you mean 'logistic'?"),
        (("--model", "own_models:nothing"), "The module 'own_models' has no 'nothing'"),
        (("--explainers", "lme"), "There is no explainer called 'lme'; did you mean 'lime'?"),
        (("--explainers", ""), "No explainer was named"),
        (("--explainers", "lime(samples"), "The explainer 'lime(samples' cannot be read; write it like this"),
        (("--explainers", "lime(samples)"), "The option 'samples' of 'lime' cannot be read"),
        (("--explainers", "lime(depth=2)"), "The explainer 'lime' has no parameter 'depth'"),
        (
            ("--explainers", "lime", "--samples", "0"),
            "samples must be at least 2, not 0.",
        ),
        (("--text", ""), "Text 0 (counted from 0) is empty"),
        (("--text", "good", "--text", " \n"), "Text 1 (counted from 0) is empty"),
        (
            ("--target", "sideways"),
            "The target 'sideways' does not exist; the classes are 0 (down), 1 (up).",
        ),
        (("--target", "2"), "The target 2 does not exist"),
        (("--input", "999"), "There is no test input 999"),
        (("--input", "-1"), "There is no test input -1"),
        (("--n", "0"), "n must be at least 1, not 0."),
        (("--top", "0"), "--top 0 shows nothing"),
        (("--html", "reviews.csv/page.html"), "The page cannot be written to 'reviews.csv/page.html'"),
    ],
)
def test_what_the_user_can_mend_ends_with_status_2(verax, arguments, sentence):
    ended = verax(*EXPLAIN, *arguments)
    assert ended.status == 2
    assert sentence in ended.err
    assert ended.err.startswith("Error: ")
    assert ended.err.count("\n") == 1
    assert ended.out == ""


def test_a_sentence_names_options_not_arguments(verax):
    ended = verax("explain", "--dataset", "people.csv")
    assert "--label-column" in ended.err
    assert "label=" not in ended.err


def test_an_unknown_option_is_a_usage_error(verax):
    ended = verax("explain", "--nonsense")
    assert ended.status == 2
    assert "--nonsense" in ended.err
    assert "Traceback" not in ended.err


def test_an_unexpected_error_is_one_line_and_says_how_to_see_more(verax):
    ended = verax(*EXPLAIN, "--explainers", "own_models:Broken")
    assert ended.status == 1
    assert ended.err == (
        "Error: The explainer 'own_models:Broken' raised RuntimeError (out of cheese) on 3 inputs; "
        "run the command again with -v to see where.\n"
    )


def test_verbose_shows_where_an_unexpected_error_arose(verax):
    ended = verax(*EXPLAIN, "--explainers", "own_models:Broken", "-v")
    assert "own_models.py" in ended.err
    assert ended.err.splitlines()[-1].endswith("the lines above say where.")


def test_what_data_say_does_nothing_to_a_terminal(capsys):
    """Titles, class names and answers are printed; codes among them are shown, not done."""
    from verax.cli.console import messages, output, plain_table, say

    code = "\x1b]0;owned\x07\x1b[2J\x9b31m"
    say(f"a {code} b")
    table = plain_table("head", code)
    table.add_row("cell", code)
    output().print(table)
    messages().print(f"Error: {code}", style="bold")
    printed = capsys.readouterr()
    assert "␛]0;owned␛[2J\ufffd31m" in printed.out
    assert "␛]0;owned" in printed.err
    assert not set(printed.out + printed.err) & set("\x1b\x07\x9b")
