import io
import tarfile

import pytest

from verax.data import load_dataset, reading
from verax.data.formats.probing import length_bin, parse_conllu, read_sentences, subject_number, tense
from verax.errors import VeraxError


def _sentence(*words, name="s1", text=None):
    """CoNLL-U of words written as "form/UPOS/head/relation/features"."""
    lines = [f"# sent_id = {name}"] + ([f"# text = {text}"] if text else [])
    for number, word in enumerate(words, start=1):
        form, upos, head, relation, features = word.split("/")
        lines.append(
            "\t".join([str(number), form, form, upos, "_", features or "_", head, relation, "_", "_"])
        )
    return "\n".join(lines) + "\n\n"


def _parse(conllu, source="x.conllu"):
    return list(parse_conllu(enumerate(conllu.split("\n"), start=1), source))


PAST = "Mood=Ind|Tense=Past|VerbForm=Fin"
PRES = "Mood=Ind|Tense=Pres|VerbForm=Fin"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["He/PRON/2/nsubj/", f"left/VERB/0/root/{PAST}"], "PAST"),
        (["He/PRON/2/nsubj/", f"leaves/VERB/0/root/{PRES}"], "PRES"),
        (["He/PRON/3/nsubj/", f"has/AUX/3/aux/{PRES}", "left/VERB/0/root/Tense=Past|VerbForm=Part"], "PRES"),
        (["He/PRON/3/nsubj/", f"was/AUX/3/cop/{PAST}", "tired/ADJ/0/root/"], "PAST"),
        (
            ["It/PRON/3/nsubj/", f"was/AUX/3/aux:pass/{PAST}", "seen/VERB/0/root/Tense=Past|VerbForm=Part"],
            "PAST",
        ),
        # The first finite verb counts: "did" carries the tense, not a later auxiliary.
        ([f"Did/AUX/3/aux/{PAST}", "he/PRON/3/nsubj/", "leave/VERB/0/root/VerbForm=Inf"], "PAST"),
        # Modals and imperatives have no tense, even if another verb follows.
        (["He/PRON/3/nsubj/", "will/AUX/3/aux/VerbForm=Fin", "leave/VERB/0/root/VerbForm=Inf"], None),
        (["Leave/VERB/0/root/Mood=Imp|VerbForm=Fin"], None),
        (["Nice/ADJ/2/amod/", "hotel/NOUN/0/root/Number=Sing"], None),
        # A subordinate verb is not the main clause's.
        (["Nice/ADJ/0/root/", "he/PRON/3/nsubj/", f"left/VERB/1/ccomp/{PAST}"], None),
    ],
)
def test_tense_is_that_of_the_main_clauses_finite_verb(words, expected):
    assert tense(_parse(_sentence(*words))[0]) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["Dogs/NOUN/2/nsubj/Number=Plur", f"bark/VERB/0/root/{PRES}"], "NNS"),
        (["Rain/NOUN/2/nsubj/Number=Sing", f"fell/VERB/0/root/{PAST}"], "NN"),
        (["Doors/NOUN/3/nsubj:pass/Number=Plur", f"were/AUX/3/aux:pass/{PAST}", "shut/VERB/0/root/"], "NNS"),
        (["Trousers/NOUN/2/nsubj/Number=Ptan", f"tear/VERB/0/root/{PRES}"], "NNS"),
        (["He/PRON/2/nsubj/Number=Sing", f"left/VERB/0/root/{PAST}"], None),
        (["Bush/PROPN/2/nsubj/Number=Sing", f"left/VERB/0/root/{PAST}"], None),
        ([f"See/VERB/0/root/{PRES}", "dogs/NOUN/1/obj/Number=Plur"], None),
    ],
)
def test_subject_number_is_that_of_the_main_clauses_common_noun(words, expected):
    assert subject_number(_parse(_sentence(*words))[0]) == expected


def test_lengths_fall_into_sentevals_six_bins():
    names = []
    for n in range(4, 30):
        words = ["w/X/0/root/"] + ["w/X/1/dep/"] * (n - 1)
        names.append(length_bin(_parse(_sentence(*words))[0]))
    bins = (
        [None]
        + ["5-8"] * 4
        + ["9-12"] * 4
        + ["13-16"] * 4
        + ["17-20"] * 4
        + ["21-25"] * 5
        + ["26-28"] * 3
        + [None]
    )
    assert names == [name and f"{name} tokens" for name in bins]


def test_tokens_are_syntactic_words_and_the_text_is_the_one_written():
    conllu = (
        "# text = I don't.\n1\tI\tI\tPRON\t_\t_\t3\tnsubj\t_\t_\n2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
        "2\tdo\tdo\tAUX\t_\t_\t0\troot\t_\t_\n3\tn't\tnot\tPART\t_\t_\t2\tadvmod\t_\tSpaceAfter=No\n"
        "3.1\tgo\tgo\tVERB\t_\t_\t_\t_\t_\t_\n4\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\n"
    )
    (sentence,) = _parse(conllu)
    assert [token.form for token in sentence.tokens] == ["I", "do", "n't", "."]
    assert sentence.text == "I don't."
    assert _parse(conllu.replace("# text = I don't.\n", ""))[0].text == "I do n't."


def _story(word, features, name):
    words = [f"{word}/NOUN/3/nsubj/Number=Sing", "now/ADV/3/advmod/", f"verb/VERB/0/root/{features}"]
    return _sentence(*words, "and/X/3/dep/", "more/X/3/dep/", name=name, text=f"{word} now verb and more")


def test_parts_come_from_the_file_names_and_the_archive_of_sources_fills_train(write):
    train = [_story(f"train{i}", PAST if i % 2 else PRES, f"t{i}") for i in range(20)]
    dev, test = _story("dev", PAST, "d"), _story("test", PRES, "e")
    write("ud/xx-ud-dev.conllu", dev)
    folder = write("ud/xx-ud-test.conllu", test).parent
    content = "".join([*train, dev, test]).encode()
    with tarfile.open(folder / "xx-sources.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("texts/all.conllu")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    data = load_dataset(folder, format="ud-tense")
    assert [len(part) for part in data.parts.values()] == [20, 1, 1]
    assert data.validation.inputs == ["dev now verb and more"]
    assert all(
        int(t.split()[0][5:]) % 2 == 1 - c for t, c in zip(data.train.inputs, data.train.labels, strict=True)
    )
    alone = load_dataset(folder / "xx-sources.tar.gz", format="ud-tense")
    assert [len(part) for part in alone.parts.values()] == [15, 3, 4]


def test_the_treebank_of_english(shared):
    folder = shared("ud-english-ewt")
    assert len(read_sentences(folder)) == 16_622
    dev = [s for s in read_sentences(folder / "en_ewt-ud-dev.conllu") if length_bin(s)]
    # Against the Penn tags of the same treebank, which the derivation does not look at.
    penn = {}
    for block in (folder / "en_ewt-ud-dev.conllu").read_text(encoding="utf-8").split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if "\t" in line]
        name = next((line[12:] for line in block.split("\n") if line.startswith("# sent_id = ")), None)
        penn[name] = [row for row in rows if row[0].isdigit()]
    labels = [tense(sentence) for sentence in dev]
    assert labels.count("PAST") > 200
    assert labels.count("PRES") > 500
    for sentence, label in zip(dev, labels, strict=True):
        rows = penn[sentence.identity]
        root = next(row for row in rows if row[6] == "0")
        clause = [r for r in rows if r is root or (r[6] == root[0] and r[7] in ("aux", "aux:pass", "cop"))]
        tags = [row[4] for row in clause if row[4] in ("VBD", "VBP", "VBZ", "MD")]
        if label is not None and tags:
            assert {"VBD": "PAST", "VBP": "PRES", "VBZ": "PRES"}[tags[0]] == label


def test_the_three_tasks_of_the_treebank_count_what_they_drop(shared):
    data = load_dataset(shared("ud-english-ewt") / "en_ewt-ud-dev.conllu", format="ud-subject-number")
    n_dropped = sum(int(note.split()[0].replace(",", "")) for note in data.notes if note.endswith("dropped"))
    assert len(data) + n_dropped == 2001
    assert data.class_names == ("NN", "NNS")


def test_files_that_are_not_conllu_are_named(write):
    with pytest.raises(VeraxError, match=r"Line 1 of .* has 1 cells, not the 10 of CoNLL-U"):
        load_dataset(write("a.conllu", "hello\n"), format="ud-tense")
    with pytest.raises(VeraxError, match="There are no CoNLL-U sentences in"):
        load_dataset(write("empty/x", "").parent, format="ud-length")
    unparsed = "1\tI\tI\tPRON\t_\t_\t_\t_\t_\t_\n"
    with pytest.raises(VeraxError, match=r"Line 1 of .* has the head '_', not a number"):
        load_dataset(write("b.conllu", unparsed), format="ud-length")


def test_the_source_of_a_sentence_is_kept(tmp_path):
    content = ""
    for number in range(40):
        verb = f"left/VERB/0/root/{(PAST, PRES)[number // 2 % 2]}"
        words = ["He/PRON/2/nsubj/", verb, "in/ADP/5/case/", "a/DET/5/det/", "rush/NOUN/2/obl/"]
        origin = ("email", "weblog")[number % 2]
        content += _sentence(*words, name=f"{origin}-x{number}", text=f"He left {number}")
    (tmp_path / "x.conllu").write_text(content)
    data = load_dataset(tmp_path / "x.conllu", format="ud-tense")
    for part in data.parts.values():
        for text, origin in zip(part.inputs, part.columns["source"], strict=True):
            assert origin == ("email", "weblog")[int(text.split()[-1]) % 2]


def test_an_archive_that_would_fill_the_memory_or_is_damaged_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_BYTES", 5_000_000)
    path = tmp_path / "xx.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for number in range(20):
            member = tarfile.TarInfo(f"{number}.conllu")
            member.size = 1_000_000
            archive.addfile(member, io.BytesIO(b"\n" * member.size))
    assert path.stat().st_size < 100_000
    with pytest.raises(VeraxError, match="unpacks to more than"):
        read_sentences(path)
    whole = path.read_bytes()
    for damaged in (whole[:200], b"no archive", b""):
        path.write_bytes(damaged)
        with pytest.raises(VeraxError, match="cannot be unpacked"):
            read_sentences(path)
