"""Tables with a list of annotations in a cell are read as the same annotations in JSON are."""

from __future__ import annotations

from typing import Any

import pytest

from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, layers, read
from nereval_core.readers.shared.list_cells import first_record
from tests.support.samples import ENTITIES_CSV, LABELSTUDIO_CSV
from tests.support.shared_corpora import defect


def read_table(content: str, name: str = "x.csv", **options: Any) -> Reading:
    return read(Source.of_uploads([(name, content.encode())]), options=ReadOptions(**options))


def spans(reading: Reading) -> list[tuple[str, str]]:
    return [(reading.layer.text(span), reading.layer.label(span)) for span in range(len(reading.layer))]


def test_label_studios_csv() -> None:
    reading = read_table(LABELSTUDIO_CSV)
    assert (reading.documents.ids, spans(reading)) == (("12", "13"), [("Ann", "PER")])
    # Two annotators are layers, as in its JSON.
    both = LABELSTUDIO_CSV.replace("6,1,", "6,2,")
    source = Source.of_uploads([("x.csv", both.encode())])
    assert layers(source) == ("1", "2")
    assert spans(read(defect("ls-csv/export.csv"))) == [("Anna", "PER")]


@pytest.mark.parametrize(
    "cell",
    [
        "[(0, 3, 'PER')]",
        "[[0, 3, 'PER']]",
        "[('PER', 0, 3)]",
        "[{'start': 0, 'end': 3, 'label': 'PER'}]",
        "[{'start_offset': 0, 'end_offset': 3, 'label': 'PER'}]",
        "{'entities': [(0, 3, 'PER')]}",
        '[{""entity_group"": ""PER"", ""start"": 0, ""end"": 3, ""score"": 0.5}]',
    ],
)
def test_lists_of_entities_in_a_cell(cell: str) -> None:
    for name in ("entities", "spans", "annotations", "label"):
        reading = read_table(f'text,{name}\nAnn left Rome,"{cell}"\nNobody,[]\n')
        assert (reading.format, spans(reading), len(reading.documents)) == ("pipeline", [("Ann", "PER")], 2)
    tabs = cell.replace('""', '"')
    assert spans(read_table(f"text\tspans\nAnn left Rome\t{tabs}\n", "x.tsv")) == [("Ann", "PER")]


def test_texts_and_ids_are_known_by_their_usual_names() -> None:
    reading = read_table(ENTITIES_CSV)
    assert reading.documents.ids == ("a", "b", "c")
    assert spans(reading) == [("Ann", "PER"), ("Rome", "LOC"), ("Bob", "PER")]


@pytest.mark.parametrize(
    "header", ["source_text,privacy_mask", "unmasked_text,span_labels", "generated_text,pii_spans"]
)
@pytest.mark.parametrize("cell", ["[(0, 3, 'PER')]", "[{'value': 'Ann', 'start': 0, 'end': 3, 'label': 'PER'}]"])
def test_tables_of_data_sets_of_personal_data(header: str, cell: str) -> None:
    reading = read_table(f'{header}\nAnn left Rome,"{cell}"\nNobody,[]\n')
    assert (spans(reading), reading.documents.texts) == ([("Ann", "PER")], ("Ann left Rome", "Nobody"))


def test_a_list_that_is_cut_off_is_told_at_its_line() -> None:
    with pytest.raises(FormatError) as caught:
        read_table(ENTITIES_CSV + "d,Eve,\"[(0, 3, 'PER')\"\n")
    [problem] = caught.value.problems
    assert (problem.line, problem.found) == (5, "entities begins a list and is none, 14 characters")


def test_gold_beside_a_prediction_is_asked_for() -> None:
    table = "text,entities,predictions\nAnn left,\"[(0, 3, 'PER')]\",\"[(0, 3, 'LOC')]\"\n"
    with pytest.raises(FormatError, match=r"2 keys hold annotations: 'entities' .*'predictions'"):
        read_table(table)
    assert spans(read_table(table, column="predictions")) == [("Ann", "LOC")]


def test_an_empty_cell_among_lists_is_an_empty_list() -> None:
    for cell in ("", "nan", "[]"):
        reading = read_table(f"id,data,label\n1,Ann left,\"[(0, 3, 'PER')]\"\n2,Nobody,{cell}\n")
        assert (len(reading.documents), spans(reading)) == (2, [("Ann", "PER")])


def test_other_tables_are_none() -> None:
    for content in ("text,label\n[sic] is said,good\n", "a,b\n", "id,text\n1,[1]\n", '{"text": [[]]}\n', ""):
        assert first_record(Source.of_uploads([("x.csv", content.encode() or b" ")]).head()) is None


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("filename\tmark\tlabel\toff0\toff1\tspan", "d\tT1\tPER\t4\t7\tAnn"),
        ("filename\tlabel\tstart_span\tend_span\ttext\tcode", "d\tPER\t4\t7\tAnn\t7"),
        ("tweet_id\tbegin\tend\ttype\textraction", "d\t4\t7\tPER\tAnn"),
        ("File\tBegin Offset\tEnd Offset\tType", "d\t4\t7\tPER"),
    ],
)
def test_columns_of_shared_tasks_and_services(header: str, row: str) -> None:
    gold = read(Source.of_uploads([("g.jsonl", b'{"id": "d", "text": "Now Ann left", "spans": []}\n')]))
    reading = read_table(f"{header}\n{row}\n", "x.tsv", texts=gold.documents)
    assert (reading.format, spans(reading)) == ("csv", [("Ann", "PER")])
