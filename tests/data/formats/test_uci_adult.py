import numpy as np
import pytest

from verax.data import load_dataset
from verax.errors import VeraxError

ROW = "39, {job}, 77516, Bachelors, 13, Never-married, Sales, Wife, White, Male, 2174, 0, {hours}, Cuba, {income}\n"


def _write(write):
    rows = [ROW.format(job="?", hours=h, income=">50K" if h % 2 else "<=50K") for h in range(20)]
    write("adult/adult.data", "".join(rows) + "\n")
    test = [ROW.format(job="Private", hours=h, income=">50K." if h % 2 else "<=50K.") for h in range(4)]
    return write("adult/adult.test", "|1x3 Cross validator\n" + "".join(test)).parent


def test_the_test_file_with_its_comment_and_full_stops_is_the_test_part(write):
    data = load_dataset(_write(write), format="uci-adult")
    assert [len(part) for part in data.parts.values()] == [18, 2, 4]
    assert data.class_names == ("Less than $50,000", "More than $50,000")
    test = data.schema.decode(data.test.inputs)
    assert set(test["Workclass"]) == {"Private"}
    assert data.test.labels.tolist() == (test["Hours per week"] % 2).astype(int).tolist()
    assert set(data.schema.decode(data.train.inputs)["Workclass"]) == {"?"}


def test_the_published_sizes(shared):
    data = load_dataset(shared("adult"), format="uci-adult")
    assert len(data.train) + len(data.validation) == 32_561
    assert len(data.test) == 16_281 - 26
    assert data.notes == ("26 test inputs dropped, because equal ones are in an earlier part",)
    np.testing.assert_allclose(data.train.labels.mean(), 7841 / 32561, atol=1e-3)


def test_one_file_is_split_by_verax(write):
    folder = _write(write)
    assert [len(part) for part in load_dataset(folder / "adult.data", format="uci-adult").parts.values()] == [
        16,
        2,
        2,
    ]
    with pytest.raises(VeraxError, match=r"There is no adult\.data in"):
        load_dataset(write("empty/x", "").parent, format="uci-adult")
