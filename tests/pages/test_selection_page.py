"""Choosing documents and names of types on the front page, and reading again with a mapping that is suggested."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.api.load_options import LoadOptions
from nereval_core.conventions import conventions
from nereval_core.pairing.selection import document_ids
from nereval_core.pairing.type_names import type_names
from nereval_core.problems import FormatError
from nereval_core.readers import Source
from nereval_core.readers.shared.offset_units import Offsets
from nereval_core.store import Store
from pages.shared.data.convention_results import apply_convention
from pages.shared.data.kept_corpora import Keeper, loaded_of
from pages.shared.data.loading import load
from pages.shared.data.reading_orders import Again, Opened
from tests.readers.test_readers import zipped
from tests.support.pages import (
    account,
    at_start,
    drop,
    give_role,
    opened,
    problems,
    read,
    roles,
    settled,
    sound,
    title,
    unmarked,
    upload,
)

TEXT = "Ann saw Bob in Rome"
SPANS = [(0, 3, "PER"), (8, 11, "PER"), (15, 19, "LOC")]
NAMES = {"PER": "person", "LOC": "place"}
EXPORTED = json.dumps({"id": "b", "text": TEXT, "label": [list(span) for span in SPANS]}) + "\n"
MAPPING = "Read again with this mapping"


def lines(names: dict[str, str] | None = None, *ids: str) -> str:
    spans = [{"start": start, "end": end, "label": (names or {}).get(kind, kind)} for start, end, kind in SPANS]
    return "".join(json.dumps({"id": name, "text": TEXT, "spans": spans}) + "\n" for name in ids or ("d", "e"))


def suggested(app: AppTest) -> list[str]:
    return [area.value for area in app.text_area if area.key and area.key.startswith("types_lines_")]


def read_again(app: AppTest) -> AppTest:
    return at_start(settled(next(button for button in app.button if button.label == MAPPING).click().run()))


def marks(app: AppTest) -> str:
    app = sound(app.switch_page("pages/10_Overview.py").run())
    return " ".join(str(shown.value) for shown in (*app.caption, *app.code, *app.markdown))


def test_types_that_do_not_meet_are_read_again_with_a_mapping() -> None:
    app = upload(opened("Start"), lines(), lines(NAMES), lines({"LOC": "place"}))
    assert [warning.value for warning in app.warning] == [
        "No type of system0 is one of gold's: person, place there, LOC, PER in gold."
    ]
    assert suggested(app) == ["person = PER\nplace = LOC"]
    table = next(frame.value for frame in app.dataframe if "type of gold" in frame.value)
    assert table[["type", "spans", "type of gold", "sure"]].values.tolist() == [
        ["person", 4, "PER", "yes"],
        ["place", 4, "LOC", "yes"],
    ]
    app = read_again(app)
    # The predictions are those of gold under other names.
    assert [warning.value.partition("\\")[0] for warning in app.warning] == ["system0", "system1"]
    assert all("identical to gold in content" in warning.value for warning in app.warning)
    assert not suggested(app)
    assert set(account(app)["types"]) == {"LOC, PER"}
    assert "pred types mapped: place=LOC;person=PER" in marks(app)


def test_other_names_for_types_of_gold_are_read_as_golds_by_one_click() -> None:
    app = upload(opened("Start"), lines(), lines({"PER": "person"}))
    assert not app.warning
    told = "Other names for types of gold: person may be PER."
    assert told in [shown.value for shown in app.markdown]
    app = at_start(settled(next(button for button in app.button if button.key == "types_read_sure").click().run()))
    assert set(account(app)["types"]) == {"LOC, PER"}
    assert told not in [shown.value for shown in app.markdown] and not suggested(app)
    assert "pred types mapped: person=PER" in marks(app)


def test_spellings_of_one_side_are_joined_on_both_by_one_click() -> None:
    spelt = lines().replace('"start": 8, "end": 11, "label": "PER"', '"start": 8, "end": 11, "label": "Per"', 1)
    app = upload(opened("Start"), spelt, spelt)
    told = "One side spells the same type in several ways: Per and PER."
    assert told in [shown.value for shown in app.markdown]
    app = at_start(settled(next(button for button in app.button if button.key == "spellings_join").click().run()))
    assert set(account(app)["types"]) == {"LOC, PER"}
    assert told not in [shown.value for shown in app.markdown]
    assert "types mapped: Per=PER" in marks(app)


def test_lines_may_be_edited_and_wrong_ones_are_told() -> None:
    app = upload(opened("Start"), lines(), lines(NAMES))
    area = next(area for area in app.text_area if area.key and area.key.startswith("types_lines_"))
    area.set_value("person PER")
    app = read_again(app)
    assert problems(app)[0].startswith("mapping: 'person PER' is not a mapping, line 1")
    assert stands_beside_the_mapping(app)
    area = next(area for area in app.text_area if area.key and area.key.startswith("types_lines_"))
    area.set_value("person = PER")
    app = read_again(app)
    # One type is still another: what is mapped already stays so.
    assert not app.warning and suggested(app) == ["place = LOC"]
    app = read_again(app)
    assert not suggested(app) and "pred types mapped: place=LOC;person=PER" in marks(app)


def stands_beside_the_mapping(app: AppTest) -> bool:
    """Tell whether problems stand right behind the button that reads by the mapping."""
    kinds = [element.type for element in app.main]
    button = next(at for at, element in enumerate(app.main) if getattr(element, "key", "") == "types_read")
    return "error" not in kinds[:button] and kinds[button + 1] == "error"


def test_what_cannot_be_read_by_the_mapping_is_told_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(order: Again) -> Opened:
        raise FormatError.single("system0.jsonl", None, "the stored file is gone", "read the files again")

    app = upload(opened("Start"), lines(), lines(NAMES))
    monkeypatch.setattr(Again, "opened", refuse)
    app = read_again(app)
    assert stands_beside_the_mapping(app) and "the stored file is gone" in problems(app)[0]


def test_nothing_is_said_where_types_meet() -> None:
    app = upload(opened("Start"), lines(), lines())
    assert ["identical to gold in content" in warning.value for warning in app.warning] == [True]
    assert not suggested(app)
    app = sound(app.switch_page("pages/10_Overview.py").run())
    assert ["identical to gold in content" in warning.value for warning in app.warning] == [True]
    for page in ("40_Systems", "50_Criteria"):
        app = sound(app.switch_page(f"pages/{page}.py").run())
        assert ["identical to gold in content" in warning.value for warning in app.warning] == [True]


def test_types_that_gold_does_not_have_are_named_beside_the_scores() -> None:
    app = upload(opened("Start"), lines(), lines({"LOC": "Vehicle", "PER": "Colour"}))
    app = sound(app.switch_page("pages/40_Systems.py").run())
    named = [caption.value for caption in app.caption if "no type is one of gold's" in unmarked(caption.value)]
    assert len(named) == 1 and "Vehicle" in named[0] and not app.warning
    assert named[0].endswith("; Start suggests a mapping\\.")


@pytest.mark.parametrize(
    ("names", "beginning"),
    [
        ({"LOC": "Loc"}, "Other names for types of gold: Loc may be LOC."),
        ({"LOC": "loc", "PER": "per"}, "**F1 is 0.000 because types have other names than in gold**: loc may be LOC, "),
    ],
)
def test_overview_says_that_names_of_types_cost_f1_and_mends_it_by_one_click(
    names: dict[str, str], beginning: str
) -> None:
    app = upload(opened("Start"), lines(), lines(names))
    app = sound(app.switch_page("pages/10_Overview.py").run())
    assert [shown.value for shown in app.markdown if shown.value.startswith(beginning)]
    app = settled(next(button for button in app.button if button.key == "types_read_sure").click().run())
    assert title(app) == "Overview"
    assert ["identical to gold in content" in warning.value for warning in app.warning] == [True]
    assert "types_read_sure" not in [button.key for button in app.button]


def test_fields_choose_documents_and_map_names() -> None:
    app = opened("Start")
    app.text_area(key="upload_documents").set_value("e\n")
    app.text_area(key="upload_types").set_value("PER = who\nLOC = where")
    app = upload(app, lines(), lines(NAMES))
    assert list(account(app)["documents"]) == [1, 1]
    assert list(account(app)["types"]) == ["LOC, PER", "person, place"]
    app = opened("Start")
    app.text_area(key="upload_documents").set_value("e\n")
    app.text_area(key="upload_types").set_value("PER = who\nLOC = where")
    app.segmented_control(key="upload_types_side").set_value("both sides").run()
    app = upload(app, lines(), lines(NAMES))
    assert list(account(app)["types"]) == ["where, who", "person, place"]
    assert "restricted to 1 of 2 documents" in marks(app)


def test_published_scorers_score_what_was_chosen() -> None:
    gold, run = (Source.of_uploads([(f"{name}.jsonl", lines().encode())]) for name in ("gold", "run"))
    options = LoadOptions(documents=document_ids("d"))
    loaded = load("both", gold, {"run": run}, options)
    outcome = apply_convention(loaded, "run", conventions()["nervaluate-1.2.1"])
    assert "| documents 1 | " in outcome.signature and "restricted to 1 of 2 documents" in outcome.signature
    tags = "Ann\tB-PER\n\nBob\tB-PER\n\n"
    gold, run = (Source.of_uploads([(f"{name}.tsv", tags.encode())]) for name in ("gold", "run"))
    names = type_names({"PER": "who"})
    loaded = load("tags", gold, {"run": run}, LoadOptions(gold_types=names, pred_types=names))
    found = apply_convention(loaded, "run", conventions()["conlleval"])
    assert "types mapped: PER=who" in found.signature
    assert "who" in set(found.figures["scope"])


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("upload_documents", "x\n", "Documents scored:1: no document is called 'x'; write ids as in the files, as 'd'"),
        ("upload_types", "PER", "Names of types:1: 'PER' is not a mapping; "),
    ],
)
def test_what_the_fields_hold_is_checked(field: str, text: str, said: str) -> None:
    app = opened("Start")
    app.text_area(key=field).set_value(text)
    app = upload(app, lines(), lines())
    source, line, rest = said.split(":", 2)
    finding, _, remedy = rest.strip().rstrip(";").partition("; ")
    assert app.error and any(
        told.startswith(f"{source}: {finding}, line {line};") and remedy in told for told in problems(app)
    )


def test_files_of_several_formats_are_read_each_by_itself() -> None:
    app = opened("Start")
    parts = {"a.jsonl": lines(None, "a").encode(), "b.json": EXPORTED.encode()}
    run = {"run.jsonl": lines(None, "a", "b").encode()}
    app = drop(app, parts | run)
    assert roles(app) == {"a.jsonl": "Gold", "b.json": "System", "run.jsonl": "System"}
    app = read(give_role(app, "b.json", "Gold"))
    assert list(account(app)["format"]) == ["doccano + jsonl", "jsonl"]
    assert list(account(app)["spans"]) == [6, 6]
    app = drop(opened("Start"), {"gold.zip": zipped(*parts.items())} | run)
    box = next(box for box in app.checkbox if "Read each file by itself" in box.label)
    assert box.label.endswith("there are doccano and jsonl")
    app = read(sound(box.check().run()))
    assert list(account(app)["format"]) == ["doccano + jsonl", "jsonl"]


def test_what_is_read_again_is_opened_from_the_store(tmp_path: Path) -> None:
    keeper = Keeper(Store(tmp_path))
    gold, run = (Source.of_uploads([(name, lines().encode())]) for name in ("gold.jsonl", "run.jsonl"))
    loaded = keeper.read("both", gold, {"run": run})
    order = Again("both", loaded.key, keeper.store, loaded.sources, LoadOptions())
    assert order.small
    there: Again = pickle.loads(pickle.dumps(order))
    assert there.sources is None
    title, ours, systems = there.opened()
    assert (title, list(systems)) == ("both", ["run"]) and isinstance(ours, Source)
    assert ours.files[0].text() == lines()
    Store(tmp_path).clear()
    with pytest.raises(FormatError, match="no longer stored"):
        there.opened()


def test_the_store_knows_parts_and_what_was_chosen(tmp_path: Path) -> None:
    parts = [Source.of_uploads([(f"{name}.jsonl", lines(None, name).encode())]) for name in ("d", "e")]
    whole = Source.of_parts(parts)
    names = type_names({"PER": "who"}, source="map.txt")
    options = LoadOptions(
        documents=document_ids("d"),
        gold_types=names,
        pred_types=names,
        offsets=Offsets(inclusive=True),
        labels=("O", "B-PER"),
    )
    keeper = Keeper(Store(tmp_path))
    loaded = keeper.read("parts", whole, {"run": whole}, options)
    kept = Store(tmp_path).of_input(loaded.key)
    assert kept is not None
    again = loaded_of(kept)
    assert again.options == options == loaded.options
    for source in again.sources.values():
        assert [(part.name, part.label, part.files[0].text()) for part in source.parts] == [
            (part.name, part.label, part.files[0].text()) for part in parts
        ]
    assert keeper.read("parts", replace(whole, parts=parts[::-1]), {"run": whole}, options) is not loaded
