"""Patterns, the front of Inspect: where it is, what it is sent, and what its keys do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from nereval_core.analysis.errors import group_query
from nereval_core.analysis.errors.error_groups import find_groups
from nereval_core.analysis.errors.group_words import group_sentence
from nereval_core.corpus.masking import masked_text
from nereval_core.review.store import ReviewStore
from nereval_core.scoring import score_layers
from pages.shared.data import verdict_store
from pages.shared.data.loading import load_demo
from pages.shared.inspect.patterns import KEY
from pages.shared.view import MASKED, View, keys
from pages.shared.view.queries import view_of
from tests.support.pages import GOLD, PREDICTION, address, opened, sound, upload
from tests.support.workbench import workbench

BIOLOGY = load_demo("biology").corpus
BARE = View(corpus=BIOLOGY.digest, system="perceptron")
SHOWN = replace(BARE, inspect_tab="patterns")
GROUPS = find_groups(score_layers(BIOLOGY.gold, BIOLOGY.system("perceptron")), "strict")
ANN = {keys.REVIEWER: "Ann"}


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReviewStore]:
    """A store that no other test writes to."""
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{tmp_path}/review.sqlite")
    verdict_store._kept.cache_clear()
    review = ReviewStore(tmp_path / "review.sqlite")
    yield review
    review.close()
    verdict_store._kept.cache_clear()


def components(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(one.proto.json) for one in app.get("bidi_component") if one.proto.WhichOneof("data") == "json"]


def patterns(app: AppTest) -> dict[str, Any]:
    """Return the data of the component."""
    return next(data for data in components(app) if "groups" in data)


def tell(app: AppTest, **event: Any) -> AppTest:
    """Send an event as the component does."""
    number = app.session_state[keys.EVENTS][KEY].last + 1
    app.session_state[KEY] = {"out": {"mount": "test", "events": [{"seq": number, **event}]}}
    return sound(app.run())


def bare(view: View) -> AppTest:
    """Open Inspect by a link without a tab."""
    app = opened("Overview", view)
    app.switch_page("pages/30_Inspect.py")
    return sound(app.run())


def test_inspect_begins_with_patterns_and_goes_on_with_records() -> None:
    app = bare(BARE)
    sent = patterns(app)
    assert len(sent["groups"]) == len(GROUPS)
    assert sent["open"] == sent["groups"][0]["key"] == str(GROUPS[0].key)
    assert "inspect_tab" not in address(app) and not any("entries" in data for data in components(app))
    app = sound(app.segmented_control(key="widget_inspect_tab").set_value("records").run())
    assert workbench(app)["total"] == 115 and address(app)["inspect_tab"] == "records"


@pytest.mark.parametrize(
    "view",
    [
        replace(BARE, decision=("MIS",)),
        replace(BARE, q="NF-AT"),
        replace(BARE, inspect_tab="records"),
        view_of(BARE, group_query(GROUPS[0].key)),
    ],
)
def test_a_link_that_names_records_opens_them(view: View) -> None:
    assert workbench(bare(view))["total"]


def test_a_list_whose_filters_are_cleared_stays_a_list() -> None:
    app = bare(replace(BARE, decision=("MIS",)))
    app = sound(app.button(key="clear").click().run())
    assert workbench(app)["total"] == 115


def test_few_errors_and_annotators_begin_with_records() -> None:
    app = upload(opened("Start"), GOLD, PREDICTION)
    app.switch_page("pages/30_Inspect.py")
    assert workbench(sound(app.run()))["total"] == 1
    app = sound(app.segmented_control(key="widget_inspect_tab").set_value("patterns").run())
    assert [info.value for info in app.info] == ["No kind of error is more frequent in some context than elsewhere."]


def test_a_pattern_is_sent_with_numbers_and_examples() -> None:
    for group, sent in zip(GROUPS, patterns(opened("Inspect", SHOWN))["groups"], strict=True):
        assert "".join(text for text, _ in sent["phrases"]) == group_sentence(group.key, group.quote)
        assert (sent["records"], sent["spans"], sent["decided"]) == (group.records, group.spans, 0)
        assert sent["gain"] == pytest.approx(group.gain)
        assert 3 <= len(sent["examples"]) <= 5
        for example in sent["examples"]:
            assert example["document"] in BIOLOGY.documents.index and example["record"][:2] in ("g:", "p:")


def test_between_two_annotators_patterns_are_of_disagreements() -> None:
    view = replace(SHOWN, reference="annotator-1", system="annotator-2")
    sent = patterns(opened("Inspect", view))
    words = " ".join((sent["summary"], *sent["gainWords"].values()))
    assert "disagreements, the largest gain in agreement" in words and not re.search(
        "errors?|mended|right", words, re.I
    )
    assert "errors, the largest gain in F1" in patterns(opened("Inspect", SHOWN))["summary"]


def test_masked_patterns_quote_masks_alone() -> None:
    for group in patterns(opened("Inspect", replace(SHOWN, mask=MASKED)))["groups"]:
        assert not any("“" in text for text, _ in group["phrases"])
        for example in group["examples"]:
            words = [example["before"], *(text for text, _ in example["pieces"]), example["after"]]
            assert words == [masked_text(text) for text in words]


def test_criteria_that_count_tokens_say_why_there_are_none() -> None:
    app = opened("Inspect", replace(SHOWN, criterion="fragment"))
    assert [info.value for info in app.info] == [
        "fragment counts tokens: choose a criterion that counts spans to see patterns."
    ]


def test_an_unknown_pattern_in_a_link_is_noticed() -> None:
    app = opened("Inspect", replace(SHOWN, pattern="nonsense"))
    assert any("is not a pattern" in warning.value for warning in app.warning)
    assert patterns(app)["open"] == str(GROUPS[0].key)
    other = str(GROUPS[1].key)
    assert patterns(opened("Inspect", replace(SHOWN, pattern=other)))["open"] == other


def test_one_click_lists_the_records_of_a_pattern() -> None:
    group = GROUPS[1]
    app = tell(opened("Inspect", SHOWN), act="records", key=str(group.key))
    assert workbench(app)["total"] == group.records
    chips = [button.label for button in app.button if button.key and button.key.startswith(keys.CHIP)]
    assert any("DNA for another type after" in label for label in chips)
    example = patterns(opened("Inspect", SHOWN))["groups"][1]["examples"][2]
    place = {"doc": example["document"], "record": example["record"]}
    app = tell(opened("Inspect", SHOWN), act="record", key=str(group.key), **place)
    assert workbench(app)["open"] == list(place.values())


def test_a_pattern_is_decided_at_once_and_taken_back(store: ReviewStore) -> None:
    group = GROUPS[0]
    app = opened("Inspect", SHOWN, **ANN)
    app = tell(app, act="decide", key=str(group.key), kind="gold", who="Ann")
    assert [one.verdict.kind for one in store.reviewed().standing] == ["gold"] * group.records
    sent = patterns(app)
    assert sent["groups"][0]["decided"] == group.records
    assert f"gold is right, of {group.records} records" in sent["said"]["text"]
    app = tell(app, act="undo")
    assert not store.reviewed().standing and patterns(app)["groups"][0]["decided"] == 0
    assert f"{group.records} records at once" in patterns(app)["said"]["text"]


def test_what_is_decided_keeps_its_verdict_and_a_name_is_taken(store: ReviewStore) -> None:
    small, large = GROUPS[0].narrower[0], GROUPS[0]
    app = tell(opened("Inspect", SHOWN), act="decide", key=str(small.key), kind="pred", who="Bob")
    app = tell(app, act="decide", key=str(large.key), kind="gold", who="")
    kinds = [one.verdict.kind for one in store.reviewed().standing]
    both = len({*small.gold.tolist()} & {*large.gold.tolist()})
    assert both > 0 and (kinds.count("pred"), kinds.count("gold")) == (small.records, large.records - both)
    assert {one.who for one in store.reviewed().standing} == {"Bob"}


def test_without_a_name_nothing_is_decided(store: ReviewStore) -> None:
    tell(opened("Inspect", SHOWN), act="decide", key=str(GROUPS[0].key), kind="gold", who="  ")
    assert not store.reviewed().standing


def test_the_table_has_all_patterns_and_opens_their_records() -> None:
    frame = next(one.value for one in opened("Inspect", SHOWN).dataframe if "pattern" in one.value)
    assert len(frame) == len(GROUPS) + sum(len(group.narrower) for group in GROUPS)
