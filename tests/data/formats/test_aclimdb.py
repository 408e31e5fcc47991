import pytest

from verax.data import load_dataset
from verax.errors import VeraxError


def test_folders_give_part_and_class(write):
    for i in range(20):
        write(
            f"aclImdb/train/{'pos' if i % 2 else 'neg'}/{i}_7.txt",
            f"train <br />{'good' if i % 2 else 'bad'} {i}",
        )
    write("aclImdb/train/unsup/0_0.txt", "unknown")
    write("aclImdb/test/neg/0_1.txt", "test bad é")
    folder = write("aclImdb/test/pos/0_9.txt", "test good").parents[2]
    data = load_dataset(folder, format="aclimdb")
    assert [len(part) for part in data.parts.values()] == [18, 2, 2]
    assert dict(zip(data.test.inputs, data.test.labels, strict=True)) == {"test bad é": 0, "test good": 1}
    assert all(("good" in t) == c for t, c in zip(data.train.inputs, data.train.labels, strict=True))
    assert data.notes == ("1 unlabelled review (unsup) not read",)


def test_a_folder_without_reviews_is_named(write):
    with pytest.raises(VeraxError, match="There is no train/neg/"):
        load_dataset(write("x/y", "").parent, format="aclimdb")
    path = write("bad/train/neg/1_1.txt", b"\xff\xfe")
    with pytest.raises(VeraxError, match=r"1_1\.txt is not UTF-8"):
        load_dataset(path.parents[2], format="aclimdb")
