"""A page that would be the same again is not drawn again; one that would differ is."""

from verax.reporting.page import is_kept, marked, page_key


def test_a_page_is_kept_only_if_it_was_made_of_the_same(tmp_path):
    path = tmp_path / "report.html"
    key = page_key({"mean": 0.5}, [1, 2])
    assert not is_kept(path, key)
    path.write_text(marked("<html>" + "x" * 1000 + "</html>", key))
    assert is_kept(path, key)
    assert is_kept(path, page_key({"mean": 0.5}, [1, 2]))
    assert not is_kept(path, page_key({"mean": 0.25}, [1, 2]))
    path.write_text("cut off")
    assert not is_kept(path, key)
