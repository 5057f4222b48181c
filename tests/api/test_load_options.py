"""Settings of reading are declared once: the command line, the app and the library have every one of them."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import nereval_core
from nereval_core.api.load_options import LoadOptions
from nereval_core.cli import VERBS, verb_parser
from nereval_core.cli.options import load_options, settings_of_one
from nereval_core.options import Offer, offers
from nereval_core.pairing.selection import DocumentIds
from nereval_core.readers.read_settings import ReadOptions, ReadSettings
from nereval_core.readers.shared.label_list import label_list
from nereval_core.readers.shared.offset_units import Offsets
from tests.support.pages import account, drop, opened, read

READING_VERBS = ("agreement", "check", "compare", "consistency", "errors", "link", "report", "score", "slices", "types")
OFFERS = offers(LoadOptions)
ONE_SIDED = {"documents", "types", "format", "progress"}
"""Parameters of `read` that are no settings of a reader."""


def flags(settings: dict[str, Offer]) -> set[str]:
    return {one.flag for offer in settings.values() for one in (offer, offer.both) if one is not None and one.flag}


def test_every_setting_is_offered() -> None:
    assert set(OFFERS) == {field.name for field in fields(LoadOptions)}
    # Documents that all have are asked for by a value of another option.
    assert [name for name, offer in OFFERS.items() if offer.flag is None] == ["common"]
    assert all(bool(offer.form) != bool(offer.elsewhere) for offer in OFFERS.values())


@pytest.mark.parametrize("verb", READING_VERBS)
def test_every_setting_is_an_option_of_a_verb_that_reads(verb: str) -> None:
    known = set(verb_parser(verb)._option_string_actions)
    assert flags(dict(OFFERS)) <= known
    assert all(flag in verb_parser(verb).format_help() for flag in flags(dict(OFFERS)))


def test_every_setting_of_one_layer_is_an_option_of_convert() -> None:
    assert verb_parser("convert").format_help().count("\n  --") > 10
    assert flags(dict(offers(ReadSettings))) <= set(verb_parser("convert")._option_string_actions)


def test_every_setting_of_one_layer_is_a_parameter_of_the_library() -> None:
    parameters = inspect.signature(nereval_core.read).parameters
    # The types of gold come with `texts`.
    assert {field.name for field in fields(ReadOptions)} - {"gold_types"} == set(parameters) - ONE_SIDED - {"path"} | {
        "progress"
    }
    for field in fields(ReadSettings):
        assert parameters[field.name].default == field.default


# Words on the command line, and the settings that differ from the defaults.
GIVEN: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("--format conll --pred-format jsonl", {"gold_format": "conll", "pred_format": "jsonl"}),
    ("--column 2 --pred-column NE", {"gold_column": 2, "pred_column": "NE"}),
    ("--scheme BILOU --repair discard --core-type Core", {"scheme": "BILOU", "repair": "discard", "core_type": "Core"}),
    ("--outside - --type gene", {"outside": "-", "type": "gene"}),
    ("--offsets utf-8,from-1", {"offsets": Offsets("UTF-8 bytes", 1)}),
    ("--span-columns start=2,end=b", {"columns": {"start": 2, "end": "b"}}),
    ("--labels O,B-X", {"labels": label_list("O,B-X")}),
    ("--keys text=a,spans=b.c", {"keys": {"text": "a", "spans": "b.c"}}),
    (
        "--missing empty --token-text gold --pair-by order --align-text",
        {"missing": "empty", "token_text": "gold", "pair_by": "order", "align_text": True},
    ),
    ("--documents a,b", {"documents": DocumentIds(("a", "b"), "--documents")}),
    ("--documents shared", {"common": True}),
]


@pytest.mark.parametrize(("words", "settings"), GIVEN)
def test_words_of_the_command_line_become_settings(words: str, settings: dict[str, Any]) -> None:
    options = verb_parser("score").parse_args(["gold", "pred", *words.split()])
    assert load_options(options) == LoadOptions(**settings)


def test_every_verb_that_reads_gold_was_asked() -> None:
    # `index` reads codes of documents too, and has few of the settings; the others read verdicts, need more options, or
    # serve pages.
    others = {"app", "index", "sensitivity", "review adjudicate", "review apply", "review what-if"}
    reading = {verb for verb in VERBS if "--gold-format" in verb_parser(verb)._option_string_actions}
    assert reading - others - set(READING_VERBS) == set()


def test_convert_gives_read_what_it_takes(tmp_path: Path) -> None:
    words = "in.conll out.jsonl --to jsonl --column 2 --scheme IO --offsets utf-16 --documents a"
    given = settings_of_one(verb_parser("convert").parse_args(words.split()))
    assert set(given) <= set(inspect.signature(nereval_core.read).parameters)
    assert {name: value for name, value in given.items() if value is not None} == {
        "column": 2,
        "scheme": "IO",
        "offsets": Offsets("UTF-16 units"),
        "documents": DocumentIds(("a",), "--documents"),
    }


def test_every_setting_with_a_field_is_in_the_form_of_the_app() -> None:
    app = opened("Start")
    drawn = (*app.selectbox, *app.text_input, *app.checkbox, *app.text_area)
    labels = {widget.label for widget in drawn}
    assert {offer.form.label for offer in OFFERS.values() if offer.form} <= labels
    # Those of lines have a field that fits neither a box nor a list.
    assert {"Documents scored", "Names of types"} <= labels


def spans(app: AppTest) -> list[int]:
    return list(account(app)["spans"])


def test_fields_of_the_form_become_settings() -> None:
    gold = json.dumps({"id": "d", "text": "a b", "spans": [{"start": 0, "end": 1, "label": "X"}]})
    app = opened("Start")
    drop(app, {"gold.tsv": b"a\tB-X\tO\nb\tO\tI-Y\n", "system.jsonl": gold.replace('"d"', '"1"').encode()})
    app.text_input(key="upload_gold_column").set_value("3")
    app.selectbox(key="upload_repair").set_value("conlleval")
    app.selectbox(key="upload_pair_by").set_value("order")
    app = read(app)
    assert not app.error
    assert spans(app) == [1, 1]
    assert [set(types.split(", ")) for types in account(app)["types"]] == [{"Y"}, {"X"}]


def test_keys_that_the_form_names_make_a_file_known() -> None:
    own = json.dumps({"content": "a b", "marks": [{"from": 0, "to": 1, "kind": "X"}]}).encode()
    app = opened("Start")
    drop(app, {"gold.json": own, "system.json": own})
    app.text_input(key="upload_keys").set_value("text=content,spans=marks,start=from,end=to,label=kind").run()
    assert any("✓] records" in markdown.value for markdown in app.markdown)
    app = read(app)
    assert not app.error and spans(app) == [1, 1]
