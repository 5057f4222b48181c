"""Masked pages: the same counts, texts that cannot be read, a switch, a link, and a server that masks everything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from nereval_core.corpus.masking import masked, masked_text
from nereval_core.problems import FormatError, quoted
from nereval_core.report.signature import signature
from nereval_core.scoring import score_layers
from pages.shared.data import caches, masks
from pages.shared.data.loading import Loaded, load_demo
from pages.shared.data.reference_layer import former_gold, swap_gold, with_reference
from pages.shared.view import MASKED, View
from pages.shared.view.link import read_link, write_link
from tests.support.pages import DEMO, VIEW, address, opened, sound, start_afresh
from tests.support.workbench import span_words, workbench

HIDDEN = replace(VIEW, mask=MASKED)
PAGES = [
    "Start",
    "Overview",
    "Confusion",
    "Inspect",
    "Linking",
    "Criteria",
    "Slices",
    "Systems",
    "Annotators",
]
NEWS = load_demo("newspapers")


def words(loaded: Loaded) -> set[str]:
    return {word for text in loaded.corpus.documents.texts for word in re.findall(r"[^\W\d_]{5,}", text)}


def test_a_masked_corpus_keeps_its_address_and_has_a_number_of_its_own() -> None:
    hidden = masks.masked_corpus(DEMO)
    assert hidden is masks.masked_corpus(DEMO) and masks.masked_corpus(hidden) is hidden
    assert hidden.original is DEMO and hidden.id != DEMO.id and hidden.corpus.digest != DEMO.corpus.digest
    assert hidden.digest == DEMO.digest
    assert hidden.corpus.digest == masked(DEMO.corpus).digest


def test_the_signature_says_so_and_names_what_was_read() -> None:
    hidden = masks.masked_corpus(DEMO)
    line = signature(
        score_layers(hidden.corpus.gold, hidden.corpus.system("rules"), marks=hidden.marks["rules"]), "strict"
    )
    gold, pred = DEMO.corpus.gold.digest[:16], DEMO.corpus.system("rules").digest[:16]
    assert line.endswith(f"| text masked, read as gold sha256:{gold} pred sha256:{pred}")


def test_with_another_layer_as_gold() -> None:
    held = masks.masked_corpus(with_reference(DEMO, "annotator-1"))
    assert held.original is with_reference(DEMO, "annotator-1")
    assert held.origin is not None and held.origin.original is DEMO
    # Taken the other way round, the original has the layer in gold's place too.
    other = swap_gold(masks.masked_corpus(DEMO), "annotator-1")
    assert other.original is not None and other.original.corpus.gold is DEMO.corpus.system("annotator-1")
    assert other.corpus.gold.digest == held.corpus.gold.digest
    name = former_gold(DEMO)
    for one in (held, other):
        assert one.original is not None
        found, told = (caches.outcome(each, name, "nervaluate-1.2.1") for each in (one, one.original))
        assert found.figures.equals(told.figures)


@pytest.mark.parametrize("loaded", [DEMO, NEWS], ids=["pharmacology", "newspapers"])
def test_published_scorers_count_by_the_original(loaded: Loaded) -> None:
    """Some of them look at words; those that refuse say so without quoting any."""
    hidden = masks.masked_corpus(loaded)
    applied = 0
    for name in caches.conventions():
        try:
            told = caches.outcome(loaded, "rules", name)
        except FormatError as error:
            with pytest.raises(FormatError) as refused:
                caches.outcome(hidden, "rules", name)
            assert len(refused.value.problems) == len(error.problems)
            assert not [word for word in words(loaded) if quoted(word) in str(refused.value)]
            continue
        applied += 1
        found = caches.outcome(hidden, "rules", name)
        assert found.figures.equals(told.figures) and found.signature == f"{told.signature} | text masked"
        for evaluation in found.evaluations:
            old, new = told.records(evaluation), found.records(evaluation)
            shown = ["gold_text", "pred_text", "record"]
            assert new.drop(columns=shown).equals(old.drop(columns=shown))
            for unit, one, other in zip(old["unit"], old["gold_text"], new["gold_text"], strict=True):
                if unit != "concept" and isinstance(one, str):
                    assert other == masked_text(one)
            placed = (old["gold_start"].notna() | old["pred_start"].notna()).to_numpy()
            assert new["record"][placed].equals(old["record"][placed])
    assert applied >= 3


def test_what_parts_a_scorer_from_ours_is_the_same() -> None:
    hidden = masks.masked_corpus(DEMO)
    one, other = (caches.differing(each, "rules", "nervaluate-1.1.0", "strict", "strict") for each in (DEMO, hidden))
    assert one.drop(columns="text").equals(other.drop(columns="text"))


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_masked(page: str) -> None:
    app, plain = opened(page, HIDDEN), opened(page, VIEW)
    assert not app.warning and not app.error
    assert address(app)["corpus"] == VIEW.corpus[:16] and address(app)["mask"] == MASKED
    assert any(button.label == "text masked ×" for button in app.button)
    assert [one.value for one in app.metric] == [one.value for one in plain.metric]
    texts = {"span", "mention", "before", "after", "predicted text", "gold span", "prediction", "here"}
    for one, other in zip(app.dataframe, plain.dataframe, strict=False):
        same = [name for name in one.value.columns if name not in texts]
        if page != "Start":
            assert one.value[same].equals(other.value[same])
    app = sound(next(button for button in app.button if button.label == "text masked ×").click().run())
    assert "mask" not in address(app)


def test_the_switch_in_the_share_menu() -> None:
    app = opened("Inspect", VIEW, menu="share")
    (switch,) = (one for one in app.toggle if one.label == "Mask the text")
    before = workbench(app)["entries"]
    app = sound(switch.set_value(True).run())
    assert address(app)["mask"] == MASKED
    after = workbench(app)["entries"]
    assert [span_words(entry) for entry in after] == [masked_text(span_words(entry)) for entry in before]
    assert [entry[2] for entry in after] == [entry[2] for entry in before]
    assert read_link(write_link(HIDDEN))[0].mask == MASKED
    # Another corpus is masked too.
    app = opened("Start", HIDDEN)
    app = sound(next(button for button in app.button if button.key == "demo-biology").click().run())
    assert address(app)["mask"] == MASKED and address(app)["corpus"] != VIEW.corpus[:16]


def test_a_search_finds_no_word_of_the_original() -> None:
    word = next(
        span_words(entry) for entry in workbench(opened("Inspect", VIEW))["entries"] if len(span_words(entry)) > 5
    )
    assert not workbench(opened("Inspect", replace(HIDDEN, q=word)))["entries"]
    assert workbench(opened("Inspect", replace(VIEW, q=word)))["entries"]


def test_a_link_that_says_something_else_is_told_of() -> None:
    assert read_link({"mask": "no"}) == (View(), ("mask: 'no' is not yes",))


@pytest.fixture
def forced(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(masks.VARIABLE, "1")
    yield
    start_afresh()


@pytest.mark.usefixtures("forced")
def test_a_server_may_mask_everything() -> None:
    app = opened("Inspect", VIEW, menu="share")
    (switch,) = (one for one in app.toggle if one.label == "Mask the text")
    assert switch.value and switch.disabled and address(app)["mask"] == MASKED
    assert not [button for button in app.button if button.label.startswith("text masked")]
    assert all(span_words(entry) == masked_text(span_words(entry)) for entry in workbench(app)["entries"])
    # The headline shows a record of the demo.
    (excerpt,) = (one.proto.body for one in opened("Start").get("html") if "nvh-text" in one.proto.body)
    shown = re.sub("<style>.*</style>|<[^>]*>", " ", excerpt)
    assert "xxxx" in shown
    assert not [word for word in words(DEMO) if re.search(rf"\b{word}\b", shown)]
