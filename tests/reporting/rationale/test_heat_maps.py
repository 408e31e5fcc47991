from verax.benchmarks.rationale.run import ShownInput, ShownRanking
from verax.reporting.rationale.figures import heat_maps

TEXT = "A warm, funny film: it is long and slow, yet never, ever dull!"
# a warm funny film it is long and slow yet never ever dull: 13 words


def test_the_first_ten_words_are_coloured_ever_fainter_and_the_text_stays_whole():
    order = (2, 1, 12, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11)
    given = ShownInput("films", "target", TEXT, (1, 2), (2,), True, (ShownRanking("lime(samples=5)", order),))
    (example,) = heat_maps([given], {"lime(samples=5)": "lime"})
    (found,) = example.maps
    assert found.explainer == "lime"
    assert "".join(word.text for word in found.words) == TEXT
    words = {word.text: word for word in found.words}
    shown = ("funny", "warm", "dull", "A", "film", "it", "is", "long", "and", "slow", "yet", "never", "ever")
    assert [words[word].level for word in shown] == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]
    assert [word.text for word in found.words if word.first] == ["funny"]
    assert [word.text for word in found.words if word.selected] == ["warm", "funny"]
    assert [word.text for word in found.words if word.relevant] == ["funny"]
    assert [word.text for word in found.top] == ["funny", "warm", "dull", "A", "film"]
