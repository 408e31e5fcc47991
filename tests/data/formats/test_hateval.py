import pytest

from verax.data import load_dataset
from verax.errors import VeraxError

HEADER = "id,text,HS,TR,AG\n"


def _write(write):
    write(
        "hate/hateval2019_en_train.csv", HEADER + '1,"hi, you",0,0,0\n2,go home,1,1,0\n3,get out @x,1,0,1\n'
    )
    write("hate/hateval2019_en_dev.csv", HEADER + "4,nice,0,0,0\n")
    return write("hate/hateval2019_en_test.csv", HEADER + "5,🙂 ok,0,0,0\n6,leave,1,0,1\n").parent


@pytest.mark.parametrize(
    ("label", "names", "of"),
    [
        (None, ("not hateful", "hateful"), {"hi, you": 0, "go home": 1, "get out @x": 1}),
        ("TR", ("generic target", "individual target"), {"hi, you": 0, "go home": 1, "get out @x": 0}),
        ("AG", ("not aggressive", "aggressive"), {"hi, you": 0, "go home": 0, "get out @x": 1}),
    ],
)
def test_each_of_the_three_labels_can_be_chosen(write, label, names, of):
    data = load_dataset(_write(write), format="hateval", label=label)
    assert data.class_names == names
    assert dict(zip(data.train.inputs, data.train.labels, strict=True)) == of
    assert data.validation.inputs == ["nice"]
    assert sorted(data.test.inputs) == ["leave", "🙂 ok"]


def test_bad_labels_and_columns_are_named(write):
    with pytest.raises(VeraxError, match=r"Line 3 of .* is not labelled 0 or 1 in HS"):
        load_dataset(write("a.csv", HEADER + "1,a,0,0,0\n2,b,x,0,0\n"), format="hateval")
    with pytest.raises(VeraxError, match="has no column 'HS'; it has: id, text"):
        load_dataset(write("b.csv", "id,text\n1,a\n"), format="hateval")


def test_two_languages_in_one_folder_are_refused(write):
    folder = _write(write)
    write("hate/hateval2019_es_train.csv", HEADER + "1,hola,0,0,0\n")
    with pytest.raises(
        VeraxError, match=r"two files of one part, hateval2019_en_train\.csv and hateval2019_es_train"
    ):
        load_dataset(folder, format="hateval")
