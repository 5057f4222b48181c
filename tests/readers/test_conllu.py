"""CoNLL-U: texts that the words make, tags of every scheme, entities in brackets, what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.corpus import Layer
from nereval_core.problems import FormatError, Problem
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.readers.conllu import texts as conllu_texts
from tests.support.draws import draws
from tests.support.samples import CONLLU, COREFUD, words
from tests.support.shared_corpora import defect

Spans = list[tuple[str, str]]


def read_text(text: str, **options: object) -> Reading:
    source = Source.of_uploads([("x.conllu", text.encode())])
    return read(source, format="conllu", options=ReadOptions(**options))  # type: ignore[arg-type]


def spans(layer: Layer) -> Spans:
    return [(layer.text(span), layer.label(span)) for span in range(len(layer))]


def test_tags_are_read() -> None:
    reading = read_text(CONLLU)
    assert reading.documents.ids == ("d1", "d2")
    assert reading.documents.texts == ("Ann Lee, 😀 del Sol.", "Rome")
    assert spans(reading.layer) == [("Ann Lee", "Per"), ("del Sol", "Loc"), ("Rome", "Loc")]
    assert reading.notes == ("entities taken from NE in MISC, as tags", "tag scheme IOB2 (detected)")
    assert reading.scheme == "IOB2"
    assert reading.places == (("x.conllu", 1), ("x.conllu", 14))
    tokens = reading.documents.tokens
    assert tokens is not None
    assert tokens.of_document(0) == [(0, 3), (4, 7), (7, 8), (9, 10), (11, 14), (15, 18), (18, 19)]


def test_brackets_are_read() -> None:
    reading = read_text(COREFUD)
    layer = reading.layer
    assert reading.documents.texts == ("Ann and Bob Lee left\nRome",)
    assert spans(layer) == [("Ann", "person"), ("Ann and Lee", "person"), ("Bob Lee", "person"), ("Rome", "place")]
    assert dict(layer.fragments) == {1: ((0, 7), (12, 15))}
    assert dict(layer.links) == {1: ("Lees",), 3: ("Q-220",)}
    assert reading.notes == (
        "entities taken from Entity in MISC, in brackets",
        "entities of empty nodes, which are not in the text, left out: 1",
    )
    assert reading.documents.sentences is not None
    assert reading.documents.sentences.of_document(0) == [(0, 20), (21, 25)]


TEXTS = [
    # (what, sentences, text)
    ("blanks", words("1 a _", "2 b _"), "a b"),
    ("no blank", words("1 a SpaceAfter=No", "2 b _"), "ab"),
    ("SpacesAfter", words(r"1 a SpacesAfter=\s\n\t\p\\", r"2 b SpacesAfter=\n"), "a \n\t|\\b"),
    ("SpacesBefore", words(r"1 a SpacesBefore=\s\s", "2 b _"), "  a b"),
    ("as the text has it", "# text = a  b\n" + words("1 a _", "2 b _"), "a  b"),
    ("no-break space", "# text = a\u00a0b\n" + words("1 a _", "2 b _"), "a\u00a0b"),
    ("no blank in the text alone", "# text = ab\n" + words("1 a _", "2 b _"), "ab"),
    ("SpacesAfter before the text", "# text = a b\n" + words(r"1 a SpacesAfter=\n", "2 b _"), "a\nb"),
    ("a form with a blank", "# text = 10 000 b\n" + words("1 10|000 _", "2 b _").replace("|", " "), "10 000 b"),
    ("sentences", words("1 a _") + words("1 b _"), "a\nb"),
    ("sentences without a blank", words("1 a SpaceAfter=No") + words("1 b _"), "ab"),
    ("sentences with a blank", words(r"1 a SpacesAfter=\s") + words("1 b _"), "a b"),
    ("a paragraph", words("1 a SpaceAfter=No") + "# newpar id = p\n" + words("1 b _"), "a\nb"),
    ("multiword tokens", words("1-2 ab SpaceAfter=No", "1 x SpaceAfter=No", "2 y _", "3 c _"), "abc"),
    ("empty nodes", words("0.1 x _", "1 a _", "1.1 x _", "1.2 x _", "2 b _"), "a b"),
    ("CR LF", words("1 a _", "2 b _").replace("\n", "\r\n"), "a b"),
    ("a mark above a blank line", "# newdoc id = d\n\n# c\n" + words("1 a _"), "a"),
]


@pytest.mark.parametrize(("sentences", "text"), [row[1:] for row in TEXTS], ids=[row[0] for row in TEXTS])
def test_words_make_the_text(sentences: str, text: str) -> None:
    given = sentences if "newdoc" in sentences else "# newdoc id = d\n" + sentences
    assert read_text(given, column="NE").documents.texts == (text,)


ENTITIES = [
    # (what, fields declared, sentence, spans)
    ("GUM", "GRP-etype-x", "1 a Entity=(1-person-y(2-place-z)\n2 b Entity=1)", "a=place; a b=person"),
    ("the older GUM", "entity-GRP-x", "1 a Entity=(person-1-y\n2 b Entity=person-1)", "a b=person"),
    ("nothing declared", "", "1 a Entity=(e1-person\n2 b Entity=(place-2)e1)", "a b=person; b=place"),
    ("types alone", "", "1 a Entity=(person\n2 b Entity=person)", "a b=person"),
    ("ids alone", "", "1 a Entity=(1\n2 b Entity=1)", "a b=Entity"),
    ("no type", "eid-etype-head", "1 a Entity=(e1--1)\n2 b Entity=(e2)", "a=Entity; b=Entity"),
    ("crossing", "eid-etype", "1 a Entity=(e1-A\n2 b Entity=(e2-B\n3 c Entity=e1)\n4 d Entity=e2)", "a b c=A; b c d=B"),
    ("an id nested", "eid-etype", "1 a Entity=(e1-A(e1-B\n2 b Entity=e1)\n3 c Entity=e1)", "a b=B; a b c=A"),
    ("an escaped type", "eid-etype", "1 a Entity=(e1-x%2D%28y%7C)\n2 b _", "a=x-(y|"),
    (
        "three parts",
        "eid-etype",
        "1 a Entity=(e1[1/3]-A)\n2 b _\n3 c Entity=(e1[2/3])\n4 d _\n5 e Entity=(e1[3/3])",
        "a c e=A",
    ),
    ("over empty nodes", "eid-etype", "0.1 _ Entity=(e1-A\n1 a _\n2 b _\n2.1 _ Entity=e1)", "a b=A"),
    ("a part without words", "eid-etype", "1 a Entity=(e1[1/2]-A)\n2 b _\n2.1 _ Entity=(e1[2/2])", "a=A"),
    ("in a multiword token", "eid-etype", "1-2 ab _\n1 x _\n2 y Entity=(e1-A\n3 c Entity=e1)(e2-B)", "ab c=A; c=B"),
    (
        "parts of a multiword token",
        "eid-etype",
        "1-3 ab _\n1 x Entity=(e1[1/2]-A)\n2 y _\n3 z Entity=(e1[2/2])\n4 c _",
        "ab=A",
    ),
    ("tags on words", "", "1-2 ab _\n1 x NE=B-A\n2 y NE=I-A\n3 c NE=I-A", "ab c=A"),
    ("tags on the multiword token", "", "1-2 ab ner=S-A\n1 x _\n2 y _\n3 c ner=O", "ab=A"),
    ("tags left out", "", "1 a NE=B-A\n2 b _\n3 c NE=_", "a=A"),
    ("NorNE's name", "", "1 a name=B-A|NE=\n2 b name=O", "a=A"),
    ("a name that is none", "", "1 a name=Anna|NER=B-A\n2 b name=x", "a=A"),
    ("IOBES", "", "1 a NE=B-A\n2 b NE=E-A\n3 c NE=S-A", "a b=A; c=A"),
    ("tags under Entity", "", "1 a Entity=B-A\n2 b Entity=I-A", "a b=A"),
]


@pytest.mark.parametrize(
    ("fields", "rows", "expected"), [row[1:] for row in ENTITIES], ids=[row[0] for row in ENTITIES]
)
def test_takes(fields: str, rows: str, expected: str) -> None:
    declared = f"# global.Entity = {fields}\n" if fields else ""
    found = spans(read_text(f"# newdoc id = d\n{declared}" + words(*rows.split("\n"))).layer)
    assert "; ".join(f"{text}={label}" for text, label in found) == expected


def test_entities_that_cut_multiword_tokens_are_counted() -> None:
    rows = words("1-2 ab _", "1 x Entity=(e1-A)", "2 y Entity=(e2-A", "3 c Entity=e2)(e3-A)")
    notes = read_text("# global.Entity = eid-etype\n" + rows).notes
    assert "entities with an edge in a multiword token, taken to its edge: 2" in notes


def test_where_documents_are_not_marked_sentences_are_or_files() -> None:
    one, two = "# sent_id = s1\n" + words("1 a NE=B-A"), "# sent_id = s2\n" + words("1 b NE=B-B")
    reading = read_text(one + two)
    assert (reading.documents.ids, reading.documents.texts, reading.documents.named) == (("s1", "s2"), ("a", "b"), True)
    assert reading.notes[-1] == "no documents marked: each sentence is a unit (2, named by sent_id)"
    assert read_text(one + two.replace("s2", "s1")).notes[-1].endswith("(2, numbered)")
    source = Source.of_uploads([("f/one.conllu", one.encode()), ("f/two.conllu", (two + one).encode())])
    reading = read(source)
    assert (reading.documents.ids, reading.documents.texts) == (("f/one", "f/two"), ("a", "b\na"))
    over = words("1 a Entity=(e1-A") + words("1 b Entity=e1)")
    reading = read_text("# global.Entity = eid-etype\n" + over)
    assert (spans(reading.layer), reading.documents.named) == ([("a\nb", "A")], False)
    assert not read_text("# newdoc\n" + one + "# newdoc\n" + two).documents.named


def test_a_part_that_begins_inside_a_document_is_called_after_its_first_sentence() -> None:
    reading = read(Source.of_path(defect("et_mid.conllu")))
    assert reading.documents.ids == ("aja_ee199920_1969", "aja_epl20070812")
    assert len(reading.layer) == 12
    said = "sentences before the first '# newdoc' taken for a document, called after the first: 1 document"
    assert reading.notes[-1] == said
    # Of a file with nothing to call it after the beginning is refused, as before.
    with pytest.raises(FormatError, match=r"^x\.conllu:1: a document without an id where others have one"):
        read_text(words("1 a NE=B-A") + "# newdoc id = e\n" + words("1 b _"))


PLUS = """# global.columns = ID FORM UPOS MISC CONLL:NER
# newdoc id = d
# text = Ann Lee, du Sol
1\tAnn\tPROPN\t_\tB-PER
2\tLee\tPROPN\tSpaceAfter=No\tI-PER
3\t,\tPUNCT\t_\tO
4-5\tdu\t_\t_\t_
4\tde\tADP\t_\tO
5\tle\tDET\t_\tB-LOC
6\tSol\tPROPN\t_\tI-LOC
"""
PLUS_FILES = [
    ("as it is", PLUS, None),
    ("by name", PLUS, "CONLL:NER"),
    ("by number", PLUS, 5),
    ("called otherwise", PLUS.replace("CONLL:NER", "my:tags"), None),
    ("beside another column", PLUS.replace("UPOS", "A:SENSE"), None),
]


@pytest.mark.parametrize(("text", "column"), [row[1:] for row in PLUS_FILES], ids=[row[0] for row in PLUS_FILES])
def test_columns_that_a_file_names_are_read(text: str, column: int | str | None) -> None:
    for name in ("x.conllup", "x.txt"):
        reading = read(Source.of_uploads([(name, text.encode())]), options=ReadOptions(column=column))
        assert (reading.format, reading.documents.texts) == ("conllu", ("Ann Lee, du Sol",))
        assert spans(reading.layer) == [("Ann Lee", "PER"), ("du Sol", "LOC")]
        assert "entities taken from the column " in reading.notes[0]


def test_columns_without_numbers_are_counted() -> None:
    text = "# global.columns = FORM NER\n# newdoc id = d\nAnn\tB-PER\nmet\t*\n\nBob\tB-PER\n"
    reading = read_text(text)
    assert (reading.documents.texts, spans(reading.layer)) == (("Ann met\nBob",), [("Ann", "PER"), ("Bob", "PER")])
    with pytest.raises(FormatError, match=r"^x\.conllu:4: 1 column where # global\.columns has 2; write 2 with tabs"):
        read_text(text.replace("met\t*", "met"))
    two = "# global.columns = ID FORM A:X A:Y\n# newdoc id = d\n1\ta\tB-X\tB-Y\n"
    with pytest.raises(FormatError, match="entities under A:X and A:Y; name one: --column A:X or --column A:Y"):
        read_text(two)
    assert spans(read_text(two, column="A:Y").layer) == [("a", "Y")]


def test_one_of_several_keys_is_named() -> None:
    text = "# newdoc id = d\n" + words("1 a NE=B-A|Entity=(1-B)|My=B-C", "2 b NE=O|ENE=B-D")
    with pytest.raises(
        FormatError, match=r"^x\.conllu: entities under NE and Entity; name one: --column NE or --column Ent"
    ):
        read_text(text)
    for key, label in (("NE", "A"), ("Entity", "B"), ("My", "C"), ("ENE", "D")):
        assert [found for _, found in spans(read_text(text, column=key).layer)] == [label]
    with pytest.raises(
        FormatError, match="column 3 is asked for, and entities stand in MISC, the last; name their key"
    ):
        read_text(text, column=3)


def test_without_entities_a_key_has_to_be_named() -> None:
    text = "# newdoc id = d\n" + words("1 a SpaceAfter=No", "2 b _")
    with pytest.raises(FormatError) as caught:
        read(Source.of_uploads([("x.txt", text.encode())]))
    assert str(caught.value) == (
        "x.txt: no entities: no NE=, NER=, name= or Entity= in MISC, the last column; name the key that they stand "
        "under: --column KEY"
    )
    assert not len(read_text(text, column="NE").layer)
    assert not len(read_text(text.replace("_\n", "NE=O\n")).layer)


BROKEN = [
    # (what follows a line for the document, line, said)
    ("1\ta\n", 2, "2 columns where CoNLL-U has 10; write ten with tabs between, _ where there is nothing to say"),
    (words("x a _"), 2, "'x' for a number; write 1 for a word, 1-2 for a multiword token, 1.1 for an empty node"),
    (words("2-1 a _"), 2, "'2-1' for a number"),
    (words("1  NE=B-A"), 2, "a word without a form"),
    (words("1 a NE=B-A", "3 b _"), 3, "word 3 where 2 follows; number the words of a sentence from 1"),
    (words("1 a NE=B-A", "1 b _"), 3, "word 1 where 2 follows"),
    (words("1-3 a NE=B-A", "1 b _"), 3, "a multiword token up to word 3, and the last is 1; write its words"),
    ("# text = a c\n" + words("1 a NE=B-A", "2 b _"), 4, "'b' where # text goes on with 'c'; mend the form or # text"),
    ("# text = a\n" + words("1 a NE=B-A", "2 b _"), 4, "'b' where # text goes on with ''"),
    ("# text = a b c\n" + words("1 a NE=B-A", "2 b _"), 4, "# text goes on with 'c' behind the last word"),
    ("# text = a b\n" + words("1 a SpaceAfter=No|NE=B-A", "2 b _"), 4, "a blank before 'b' in # text, and Sp"),
    (words("1 a NE=x", "2 b NE=B-A"), 2, "'x' is not a tag"),
    (words("1 a NE=B-A", "2 b NE=E-A", "3 c NE=I-A"), 4, "'I-A' after"),
    ("# newdoc\n" + words("1 a NE=B-A") + "# newdoc id = e\n" + words("1 b _"), 1, "a document without an id where"),
    (words("1 a NE=B-A") + "# newdoc id = d\n" + words("1 b _"), 4, "document id 'd' stands at x.conllu:1 already"),
    (words("1 a Entity=(1-A"), 2, "'(1-A' is not closed in its document; close it at its last word: 1)"),
    (words("1 a Entity=(1-A)1)"), 2, "'1)' closes nothing; open it at its first word: (1-…"),
    (words("1 a Entity=(1-A)x"), 2, "'(1-A)x' is not a row of brackets; write (id-type, id) or (id-type)"),
    (words("1 a Entity=((1-A)"), 2, "'((1-A)' is not a row of brackets"),
    (words("1 a Entity=(A-B)"), 2, "'(A-B)', and nothing says which field is the type; say what its"),
    (words("1 a Entity=(1[1/2]-A)"), 2, "'1' has 1 of 2 parts; write all parts, [1/2] and [2/2]"),
    (words("1 a Entity=(1[2/2]-A)"), 2, "part 2 of 2 of '1' without the one before it; write all parts in their order"),
    (words("1 a Entity=(1[1/2]-A)", "2 b _", "3 c Entity=(1[2/3]-A)"), 4, "part 2 of 3 of '1' without the"),
]


@pytest.mark.parametrize(("text", "line", "said"), BROKEN, ids=[row[2][:40] for row in BROKEN])
def test_refuses_with_the_line(text: str, line: int, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(("" if text.startswith("# newdoc") else "# newdoc id = d\n") + text)
    found = [str(problem) for problem in caught.value.problems]
    assert any(one.startswith(f"x.conllu:{line}: ") and said in one for one in found), found


def test_malformed_tags_are_mended_where_that_is_asked_for() -> None:
    text = "# newdoc id = d\n" + words("1 a NE=B-A", "2 b NE=I-B", "3 c NE=E-B")
    reading = read_text(text, repair="conlleval", scheme="IOBES")
    assert spans(reading.layer) == [("a", "A"), ("b c", "B")]
    assert reading.mended == "2 malformed chunks cut as conlleval does"


@dataclass(frozen=True)
class Printed:
    """A file, the texts of its documents, and by document the spans that must be read from it."""

    file: str
    texts: tuple[str, ...]
    spans: list[tuple[int, str, tuple[tuple[int, int], ...]]]


FORMS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=4)
GAPS = ["", "", " ", " ", "  ", "\n", "\r\n", "\t", " | \\ "]
ESCAPES = {" ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n", "|": "\\p", "\\": "\\\\"}
TYPES = st.text("abc-()|%=é症_ 😀", min_size=1, max_size=4).filter(lambda label: label != "_")


@st.composite
def printed(draw: st.DrawFn) -> Printed:
    """Draw documents of sentences of tokens, and entities of any tokens, and print them in CorefUD's way."""
    file, texts, expected = "", [], []
    for number in range(draw(st.integers(1, 2))):
        sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
        forms = draw(st.lists(FORMS, min_size=sum(sizes), max_size=sum(sizes)))
        gaps = [draw(st.sampled_from(GAPS)) for _ in forms]
        places, text = [], ""
        for form, gap in zip(forms, gaps, strict=True):
            places.append((len(text), len(text) + len(form)))
            text += form + gap
        opens: list[list[str]] = [[] for _ in forms]
        closes: list[list[str]] = [[] for _ in forms]
        for eid in range(draw(st.integers(0, 4))):
            label = draw(TYPES)
            parts = _runs(draw(st.sets(st.integers(0, len(forms) - 1), min_size=1, max_size=5)))
            for which, (low, high) in enumerate(parts, start=1):
                name = f"e{eid}" + (f"[{which}/{len(parts)}]" if len(parts) > 1 else "")
                opens[low].append(
                    f"({name}-{quote(label, safe='').replace('-', '%2D')}-1" + (")" if low == high else "")
                )
                if low < high:
                    closes[high].append(f"{name})")
            expected.append((number, label, tuple((places[low][0], places[high][1]) for low, high in parts)))
        misc = ["".join(shut + opened) for shut, opened in zip(closes, opens, strict=True)]
        file += f"# newdoc id = d{number}\n# global.Entity = eid-etype-head\n"
        token = 0
        for size in sizes:
            file += _sentence(draw, forms, gaps, misc, range(token, token + size)) + "\n"
            token += size
        texts.append(text.removesuffix(gaps[-1]))
    return Printed(file, tuple(texts), sorted(expected))


def _runs(chosen: set[int]) -> list[tuple[int, int]]:
    """Return the runs of neighbours among tokens."""
    edges = (
        sorted(one for one in chosen if one - 1 not in chosen),
        sorted(one for one in chosen if one + 1 not in chosen),
    )
    return list(zip(*edges, strict=True))


def _sentence(draw: st.DrawFn, forms: Sequence[str], gaps: Sequence[str], misc: Sequence[str], tokens: range) -> str:
    rows = []
    if draw(st.booleans()):
        rows.append("# text = " + "".join(forms[at] + (" " if gaps[at] else "") for at in tokens))
    number = 1
    for at in tokens:
        told = [f"Entity={misc[at]}"] if misc[at] else []
        last = at == tokens[-1]
        if gaps[at] not in ("", "\n" if last else " "):
            spaces = ["SpacesAfter=" + "".join(ESCAPES[char] for char in gaps[at])]
        else:
            spaces = [] if gaps[at] else ["SpaceAfter=No"]
        if draw(st.integers(0, 4)) == 0:
            rows.append(_row(f"{number}-{number + 1}", forms[at], spaces))
            rows += [_row(str(number), "x", told), _row(str(number + 1), "y", [])]
            number += 2
        else:
            rows.append(_row(str(number), forms[at], told + spaces))
            number += 1
        if draw(st.integers(0, 5)) == 0:
            rows.append(_row(f"{number - 1}.1", "z", draw(st.sampled_from([[], ["Entity=(e99-A-1)"]]))))
    return "\n".join(rows) + "\n"


def _row(number: str, form: str, misc: Sequence[str]) -> str:
    return "\t".join([number, form, *("_" * 7), "|".join(misc) or "_"])


@draws(50)
@given(printed())
def test_what_is_printed_is_read(drawn: Printed) -> None:
    reading = read_text(drawn.file, column="Entity")
    layer = reading.layer
    assert reading.documents.texts == drawn.texts
    rows = []
    for span in range(len(layer)):
        whole = ((int(layer.start[span]), int(layer.end[span])),)
        rows.append((int(layer.doc[span]), layer.label(span), layer.fragments.get(span, whole)))
    assert sorted(rows) == drawn.spans


CELLS = st.sampled_from(["", "_", "1", "12", "007", "1-2", "1.1", "٣", "-1", "x", "A=b|C=d"])


@given(st.lists(CELLS, min_size=9, max_size=11))
def test_rows_of_plain_words_are_read_as_all_rows_are(cells: list[str]) -> None:
    found = []
    for digits in (conllu_texts.MOST_DIGITS, -1):
        problems: list[Problem] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(conllu_texts, "MOST_DIGITS", digits)
            row = conllu_texts._row("\t".join(cells), 1, "x.conllu", conllu_texts.ColumnNames(), 1, problems)
        found.append((row, problems))
    assert found[0] == found[1]


@pytest.mark.parametrize("key", ["PredNE", "NE_pred", "system"])
def test_a_key_of_predictions_is_asked_for(key: str) -> None:
    text = words(f"1 a NE=B-A|{key}=B-B", f"2 b NE=O|{key}=O")
    with pytest.raises(FormatError, match=f"entities under NE and {key}; name one: --column NE or --column {key}"):
        read_text(text)
    assert spans(read_text(text, column="NE").layer) == [("a", "A")]
    assert spans(read_text(text, column=key).layer) == [("a", "B")]
    # Keys of other things stay unread.
    assert spans(read_text(words("1 a NE=B-A|BunsetuBILabel=B|ENE=B-Actor|model=x", "2 b NE=O")).layer) == [("a", "A")]
