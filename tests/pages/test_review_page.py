"""The Review page: with no verdict, and with some; what it says is what the core says, and copies hold it."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from msgspec import structs

from nereval_core.api.read import read
from nereval_core.ledger.verdict_tables import share_in_words
from nereval_core.readers import Source
from nereval_core.review.apply import AppliedVerdicts, apply_verdicts, select_verdicts
from nereval_core.review.apply.adjudication import Undecided, adjudicate
from nereval_core.review.apply.corrected_copy import signature
from nereval_core.review.apply.settlement import DONE
from nereval_core.review.apply.what_if import what_if
from nereval_core.review.store import ReviewStore
from nereval_core.review.tables import change_table, layer_changes
from nereval_core.review.verdict_lines import export_lines
from nereval_core.review.verdicts import Draft, Key, text_digest
from nereval_core.scoring import Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from nereval_core.writers import pack_layer, write
from pages.shared.components.downloads import WITHOUT
from pages.shared.data import caches, reference_layer
from pages.shared.data.loading import DEMOS, Loaded, load
from pages.shared.data.page_context import PageContext
from pages.shared.server import access
from pages.shared.verdicts.events import Applied
from pages.shared.view import TABS, View, keys
from pages.shared.view.link import read_link
from pages.shared.view.text import named, plain
from tests.cli.test_review_apply_command import drafted
from tests.support.pages import DEMO, VIEW, address, cell, headings, opened, sentences, sound, start_afresh, unmarked
from tests.support.workbench import listed

STRICT = Settings((CRITERIA["strict"],))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReviewStore]:
    """Return an empty store that the pages keep verdicts in."""
    monkeypatch.setenv("NEREVAL_REVIEW_URL", f"sqlite:///{tmp_path}/review.sqlite")
    start_afresh()
    yield ReviewStore(os.environ["NEREVAL_REVIEW_URL"])
    start_afresh()


def given(store: ReviewStore, loaded: Loaded = DEMO, system: str = "rules") -> AppliedVerdicts:
    """Give verdicts of every kind on a system's records, one of them stale; return what comes of them."""
    drafts = drafted(loaded, system, every=2)
    old = drafts[0].verdict
    stale = structs.replace(
        old,
        key=Key(text_digest("another text"), "gold", old.key.span),
        seen=structs.replace(old.seen, quote="<b>old</b>"),
        kind="pred",
        note="<script>x</script>",
    )
    store.give(drafts[1:], "Ann")
    store.give([Draft(stale)], "Bob & Söhne")
    corpus = loaded.corpus
    return apply_verdicts(corpus.gold, store.reviewed(), corpus.systems)


def view(name: str, base: View = VIEW) -> View:
    return replace(base, review_tab=name)


def test_each_view_has_a_word_in_links() -> None:
    for name in TABS["review_tab"]:
        assert read_link({"review_tab": name}) == (replace(View(), review_tab=name), ())


@pytest.mark.parametrize("name", ["", *TABS["review_tab"]])
def test_with_no_verdict_it_says_how_to_give_one(name: str, store: ReviewStore) -> None:
    app = opened("Review", view(name) if name else VIEW)
    assert "No verdict stands on this corpus yet" in app.info[0].value and "Inspect" in app.info[0].value
    assert not app.dataframe
    if not name:
        assert [metric.value.partition(" ")[0] for metric in app.metric] == ["0"]


def test_every_page_says_the_same_number_of_open_records_of_a_system_that_nobody_has_read(store: ReviewStore) -> None:
    """Finish counted what was decided beside another system's prediction as decided, Inspect and Progress as open."""
    given(store, system="rules")
    other = replace(VIEW, system="perceptron")
    shown = [
        sentence
        for app in (opened("Inspect", other), opened("Review", other), opened("Review", view("finish", other)))
        for sentence in (
            *sentences(app),
            *(link.label for link in app.get("page_link")),
            *(box.label for box in app.expander),
        )
    ]
    texts = " | ".join(shown)
    numbers = [
        re.search(pattern, texts)
        for pattern in (
            r"([\d,]+) open",
            r"Decide the rest: ([\d,]+)",
            r"([\d,]+) without a verdict, \d+ with one",
            r"Decide on Inspect: ([\d,]+) record",
        )
    ]
    assert all(numbers), texts
    assert len({match[1] for match in numbers if match}) == 1, texts


def test_with_verdicts_that_wait_for_a_name_it_says_so(store: ReviewStore) -> None:
    page = PageContext(DEMO, VIEW, caches.settings_of(DEMO.corpus.gold, VIEW))
    app = opened("Review", VIEW, **{keys.APPLIED: Applied(waiting=((page, {}), (page, {})))})
    assert any("2 verdicts given in this tab" in info.value and "name" in info.value for info in app.info)


def test_what_if_is_what_the_core_says(store: ReviewStore) -> None:
    found = given(store)
    app = opened("Review", VIEW)
    both = what_if(found, [DEMO.corpus.system("rules")], STRICT).counts["rules", "strict"]
    assert both.before is not None and both.after is not None
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["F1 of rules under strict"] == f"{both.after.f1:.3f}"
    assert app.metric[1].delta.endswith(f" from {both.before.f1:.3f}")
    assert shown["Stale verdicts"] == "1" and shown["Finished layer"] == f"{len(found.layer):,} spans"
    decided, every = map(int, shown["Decided under strict"].split(" of "))
    (rest,) = (link for link in app.get("page_link") if "Decide the rest" in link.label)
    there, wrong = read_link(dict(parse_qsl(rest.proto.query_string)))
    assert not wrong and listed(opened("Inspect", there)) == every - decided
    table = next(frame.value for frame in app.dataframe if "criterion" in frame.value.columns)
    row = table[(table["system"] == "rules") & (table["criterion"] == "strict")].iloc[0]
    assert (row["F1"], row["F1 with verdicts"]) == (both.before.f1, both.after.f1)
    assert table["criterion"].tolist()[:5] == ["strict", "exact", "partial", "type", "alternatives"]
    # A row opens how its F1 is made, and the records with a verdict of a kind.
    app = opened("Review", VIEW, **{f"{keys.TABLE}what_if": cell(0, "F1")})
    assert f"/ ({both.after.pos} + {both.after.act})" in app.code[1].value
    kinds = next(pills for pills in app.button_group if "with a verdict" in pills.label)
    table = next(frame.value for frame in app.dataframe if "decision" in frame.value.columns)
    said = next(option for option in kinds.options if option.startswith("gold is right"))
    assert kinds.value == "gold" and said == f"gold is right · {len(table)}"


def test_each_count_of_verdicts_opens_its_records(store: ReviewStore) -> None:
    given(store)
    app = opened("Review", VIEW)
    tables = {
        name: next(frame.value for frame in app.dataframe if frame.value.columns[0] == name)
        for name in ("type", "reviewer")
    }
    by_type, by_reviewer = tables["type"], tables["reviewer"]
    decided = by_type.iloc[:, 1:6]
    assert (decided.sum(axis=1) + by_type["open"] == by_type["records"]).all() and decided.values.sum()
    assert by_reviewer["reviewer"].tolist() == ["Ann"] and "of" in by_reviewer["gold right"][0]
    for name, key in (("type", "progress_by_type"), ("reviewer", "progress_by_reviewer")):
        column = next(column for column in tables[name].columns[1:] if tables[name][column][0])
        app = opened("Review", VIEW, **{f"{keys.TABLE}{key}": cell(0, column)})
        count = tables[name][column][0]
        assert f": {count} record" in headings(app)


@pytest.mark.parametrize(("number", "total", "words"), [(12, 20, "12 of 20, 60 % (39 % to 78 %)"), (0, 0, "0 of 0")])
def test_a_share_has_its_numbers_and_interval(number: int, total: int, words: str) -> None:
    # 0.3866 to 0.7812: R's binom::binom.wilson(12, 20), version 1.1.1.1.
    assert share_in_words(number, total) == words


@pytest.mark.parametrize("criterion", ["alternatives", "fragment"])
def test_records_of_what_has_none_are_listed_under_strict(criterion: str, store: ReviewStore) -> None:
    given(store)
    base = replace(VIEW, criterion="strict" if criterion == "alternatives" else criterion)
    frames = [frame.value for frame in opened("Review", base).dataframe]
    names = next(frame["criterion"].tolist() for frame in frames if "criterion" in frame.columns)
    app = opened("Review", base, **{f"{keys.TABLE}what_if": cell(names.index(criterion), "F1")})
    assert any("listed under strict" in caption.value for caption in app.caption)
    assert any("decision" in frame.value.columns and len(frame.value) for frame in app.dataframe)


def test_the_order_of_systems_is_looked_into(store: ReviewStore) -> None:
    given(store)
    app = opened("Review", VIEW)
    table = next(frame.value for frame in app.dataframe if "holds" in frame.value.columns)
    assert len(table) == 6 and set(table["better"]) <= {layer.name for layer in DEMO.corpus.systems}
    place = int(table["verdicts"].fillna(0).argmax())
    app = opened("Review", VIEW, **{f"{keys.TABLE}hangs": cell(place, "holds")})
    assert "is better than" in headings(app).replace("\\", "")


def test_verdicts_are_listed_with_what_became_of_them(store: ReviewStore) -> None:
    found = given(store)
    app = opened("Review", view("given-verdicts"))
    assert f"**{len(found.log)} verdicts**" in headings(app)
    became = next(pills for pills in app.button_group if pills.label == "What became of them")
    assert became.options == [f"{name} · {n}" for name, n in found.counts().items()]
    app = sound(became.set_value(["stale"]).run())
    table = app.dataframe[0].value
    assert table["text"].tolist() == ["<b>old</b>"] and table["result"].tolist() == ["not applied: stale"]
    app.session_state[f"{keys.TABLE}verdicts"] = cell(0, "text")
    app = sound(app.run())
    assert app.text[0].value == "<script>x</script>" and "\\<b\\>old" in headings(app)


def test_accepted_reviewers_and_kinds_narrow_down(store: ReviewStore) -> None:
    given(store)
    app = opened("Review", VIEW, **{keys.REVIEW_WHO: ("Ann",), keys.REVIEW_KINDS: ("pred",)})
    some = select_verdicts(store.reviewed(), who=["Ann"], kinds=["pred"])
    found = apply_verdicts(DEMO.corpus.gold, some, DEMO.corpus.systems)
    after = what_if(found, [DEMO.corpus.system("rules")], STRICT).counts["rules", "strict"].after
    assert after is not None and app.metric[1].value == f"{after.f1:.3f}"


def test_a_switch_applies_verdicts_to_every_document_of_their_text(store: ReviewStore) -> None:
    given(store)
    app = opened("Review", view("finish"), **{keys.REVIEW_EVERY: True})
    assert "applied to every document with the text" in app.code[0].value
    app = opened("Review", VIEW, **{keys.REVIEW_EVERY: True})
    found = apply_verdicts(DEMO.corpus.gold, store.reviewed(), DEMO.corpus.systems)
    applied_to = f"{found.verdicts} verdicts applied to {found.places} places in {found.documents} documents"
    assert any(one.value.startswith(applied_to) for one in app.caption)


def test_on_a_server_for_others_no_verdict_on_another_text_is_quoted(
    store: ReviewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(store)
    quoted = "<b>old</b>"
    stale = [
        change.stored
        for change in apply_verdicts(DEMO.corpus.gold, store.reviewed(), ()).log
        if change.reason == "stale"
    ]
    assert any(one.verdict.seen.quote == quoted for one in stale)
    monkeypatch.setattr(access, "LOOPBACK", ())
    start_afresh()
    app = opened("Review", view("given-verdicts"))
    assert "Verdicts on this corpus (JSON lines)" in [one.proto.label for one in app.get("download_button")]
    found = ReviewStore(os.environ["NEREVAL_REVIEW_URL"], by_text_alone=True).reviewed()
    log = apply_verdicts(DEMO.corpus.gold, found, DEMO.corpus.systems).log
    assert log and not any(change.stored.verdict.seen.quote == quoted for change in log)


def test_the_copy_is_what_scores_so(store: ReviewStore, tmp_path: Path) -> None:
    found = given(store)
    app = opened("Review", view("finish"))
    assert app.code[0].value == signature(found)
    labels = [one.proto.label for one in app.get("download_button")]
    assert labels[:2] == [f"gold-finished.jsonl · {len(found.layer)} spans", "Log of changes (CSV)"]
    name, raw, _ = pack_layer(found.layer, "jsonl", "gold-finished")
    (tmp_path / name).write_bytes(raw)
    assert read(tmp_path / name).layer.digest == found.layer.digest
    # Columns of tags cannot hold this gold: that is told, and the button says that the file is without it.
    app = sound(app.selectbox(key=f"{keys.WIDGET}copy_format_gold-finished").select("conll").run())
    assert "which tags cannot say" in app.warning[-1].value and "--" not in app.warning[-1].value
    button = app.get("download_button")[0].proto
    assert button.label == f"gold-finished.conll · {len(found.layer)} spans, {WITHOUT}"
    # Another layer is another button: it is drawn anew, and says what it holds.
    app = sound(app.button_group(key=f"{keys.WIDGET}review_undecided").set_value("leave-out").run())
    fewer = app.get("download_button")[0].proto
    assert fewer.id != button.id and fewer.label != button.label


@pytest.mark.parametrize("undecided", ["first", "second", "leave-out"])
def test_records_without_a_verdict_are_as_in_one_layer_or_left_out(undecided: Undecided, store: ReviewStore) -> None:
    given(store)
    app = opened("Review", view("finish"), **{keys.REVIEW_UNDECIDED: {DEMO.digest: undecided}})
    gold, system = DEMO.corpus.gold, DEMO.corpus.system("rules")
    layer = adjudicate(gold, system, store.reviewed(), undecided=undecided).layer
    if undecided == "first":
        layer = apply_verdicts(gold, store.reviewed(), DEMO.corpus.systems).layer
    changes = layer_changes(gold, layer)
    assert changes.same + changes.changed + changes.added == len(layer)
    assert changes.same + changes.changed + changes.removed == len(gold)
    assert f"{len(layer):,} spans**: {changes.same:,} as in gold, {changes.changed:,} changed" in headings(app)
    table = app.dataframe[0].value
    assert table.values.tolist() == change_table(gold, layer, changes, 0, 5).to_frame().values.tolist()


@pytest.mark.parametrize("is_gold", [True, False], ids=["gold", "annotators"])
@pytest.mark.parametrize("undecided", ["first", "second", "leave-out"])
def test_the_promised_f1_is_that_of_the_layer_on_offer(
    undecided: Undecided, is_gold: bool, store: ReviewStore, tmp_path: Path
) -> None:
    loaded = DEMO
    if not is_gold:
        sources = [Source.of_path(DEMOS / f"biology/annotator-{number}.jsonl") for number in (1, 2)]
        loaded = replace(load("two", sources[0], {"annotator-2": sources[1]}), first_annotator="annotator-1")
        caches.shelf().put(loaded)
    name = "rules" if is_gold else "annotator-2"
    gold, system = loaded.corpus.gold, loaded.corpus.system(name)
    store.give(drafted(loaded, name, every=3), "Ann")
    layer = adjudicate(gold, system, store.reviewed(), undecided=undecided).layer
    file, raw, _ = pack_layer(layer, "jsonl", "finished")
    (tmp_path / file).write_bytes(raw)
    written = read(tmp_path / file).layer
    counts = score_layers(written, replace(system, documents=written.documents), STRICT).counts("strict")
    base = View(corpus=loaded.digest, system=name, criterion="strict")
    state = {keys.REVIEW_UNDECIDED: {loaded.digest: undecided}}
    app = opened("Review", view("finish", base), **state)
    assert f"F1 of {named(name)} under strict is **{counts.f1:.3f}**" in headings(app)
    app = opened("Review", base, **state)
    shown = {metric.label.replace("\\", ""): metric.value for metric in app.metric}
    assert shown[f"F1 of {name} under strict"] == f"{counts.f1:.3f}"
    assert shown["Finished layer"] == f"{len(written)} spans"
    word = {"first": "as in", "second": "as in", "leave-out": "left out"}[undecided]
    assert sum(f"undecided records {word}" in caption.value.lower() for caption in app.caption) >= 2


@pytest.mark.parametrize("tab", ["", "given-verdicts", "finish"])
def test_verdicts_of_other_layers_are_counted_and_can_be_left_out(tab: str, store: ReviewStore) -> None:
    """Verdicts on two annotators change the first one also beside a copy of it, where no record is open."""
    folder = DEMOS / "biology"
    first, second = (Source.of_path(folder / f"annotator-{number}.jsonl") for number in (1, 2))
    both = replace(load("two", first, {"annotator-2": second}), first_annotator="annotator-1")
    alone = replace(load("one", first, {"copy": first}), first_annotator="annotator-1")
    for loaded in (both, alone):
        caches.shelf().put(loaded)
    store.give(drafted(both, "annotator-2", ("pred", "gold"), every=3), "Ann")
    applied = apply_verdicts(alone.corpus.gold, store.reviewed(), alone.corpus.systems)
    changes = [change for change in applied.changes if change.done != "kept"]
    assert len(changes) > 3
    key = f"{keys.WIDGET}review_other_layers"
    app = opened("Review", View(corpus=both.digest, system="annotator-2", review_tab=tab))
    assert key not in [toggle.key for toggle in app.toggle]
    beside_copy = View(corpus=alone.digest, system="copy", review_tab=tab)
    app = opened("Review", beside_copy)
    assert app.toggle(key=key).label == f"{len(changes)} verdicts given on other layers of these texts: apply them too"
    app = sound(app.toggle(key=key).set_value(False).run())
    assert app.toggle(key=key).value is False
    if tab == "finish":
        n_spans = len(alone.corpus.gold)
        assert f"{n_spans} spans**: {n_spans} as in" in headings(app)
    elif not tab:
        effects = " ".join(caption.value for caption in app.caption)
        assert ": kept " in effects and not re.search(r"(replaced|removed|added) \d", effects)


def test_it_is_written_in_the_format_that_was_read(store: ReviewStore, tmp_path: Path) -> None:
    folder = tmp_path / "brat"
    folder.mkdir()
    write(DEMO.corpus.gold, folder / "gold", format="brat", lossy=True)
    write(DEMO.corpus.system("rules"), folder / "rules", format="brat", lossy=True)
    loaded = load("brat", Source.of_path(folder / "gold"), {"rules": Source.of_path(folder / "rules")})
    caches.shelf().put(loaded)
    gold = loaded.corpus.gold
    for draft in drafted(loaded, "rules", ("both",)):
        store.give([draft], "Ann")
        if apply_verdicts(gold, store.reviewed(), loaded.corpus.systems).layer.alternatives:
            break
    app = opened("Review", View(corpus=loaded.digest, system="rules", review_tab="finish"))
    assert app.selectbox(key=f"{keys.WIDGET}copy_format_gold-finished").value == "brat"
    # What both sides may be right about has no place in brat: that is told in words.
    assert "left out: alternatives of 1 span" in unmarked(app.warning[0].value) and not app.error
    assert not any("alternatives" in caption.value for caption in app.caption)
    assert app.get("download_button")[0].proto.label.endswith(f" spans, {WITHOUT}")


def test_codes_that_are_lost_are_said_before_the_download(store: ReviewStore, tmp_path: Path) -> None:
    ann = "T1\tDrug 9 13\taspi\n#1\tAnnotatorNotes T1\t722\n"
    rules = "T1\tDrug 9 16\taspirin\n"
    for name, lines in (("gold", ann + "R1\tX Arg1:T1 Arg2:T1\n"), ("rules", rules)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "d.txt").write_text("Ann took aspirin")
        (tmp_path / name / "d.ann").write_text(lines)
    loaded = load("brat", Source.of_path(tmp_path / "gold"), {"rules": Source.of_path(tmp_path / "rules")})
    caches.shelf().put(loaded)
    store.give(drafted(loaded, "rules", ("pred",)), "Ann")
    app = opened("Review", View(corpus=loaded.digest, system="rules", review_tab="finish"))
    assert plain("links of 1 span, in d at 9-13 'aspi'") in app.warning[0].value
    captions = " ".join(caption.value for caption in app.caption)
    assert plain("When gold was read: relations, not read: 1") in captions


def test_verdicts_of_a_file_are_taken_once(store: ReviewStore, tmp_path: Path) -> None:
    other = ReviewStore(tmp_path / "other.sqlite")
    other.give(drafted(DEMO, "rules")[:3], "Zoe")
    raw = b"".join(export_lines(other.every()))
    app = opened("Review", view("given-verdicts"))
    for taken, known in ((3, 0), (0, 3)):
        app.file_uploader(key=f"{keys.WIDGET}review_import").set_value(("v.jsonl", raw, "application/jsonl"))
        app = sound(app.run())
        app = sound(app.button(key="import_verdicts").click().run())
        said = f"{taken} verdict{'' if taken == 1 else 's'} imported, {known} known before."
        assert app.success[0].value == said and len(store.reviewed()) == 3
    app.file_uploader(key=f"{keys.WIDGET}review_import").set_value(("v.jsonl", b"{\n", "application/jsonl"))
    app = sound(sound(app.run()).button(key="import_verdicts").click().run())
    assert any("v.jsonl:1: " in one.value for one in app.code)


def test_on_a_server_for_others_a_conflict_quotes_no_other_text(
    store: ReviewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(store)
    some = store.every()[-3:]
    assert some[-1].verdict.seen.quote == "<b>old</b>"
    raw = b"".join(export_lines(structs.replace(one, uid=f"{number:032x}") for number, one in enumerate(some)))
    monkeypatch.setattr(access, "LOOPBACK", ())
    start_afresh()
    app = opened("Review", view("given-verdicts"))
    app.file_uploader(key=f"{keys.WIDGET}review_import").set_value(("v.jsonl", raw, "application/jsonl"))
    app = sound(sound(app.run()).button(key="import_verdicts").click().run())
    assert "3 spans with conflicting verdicts" in app.warning[0].value
    assert sum("here Ann on" in one.value for one in app.caption) == 2
    assert not any("here Bob" in one.value for one in app.caption)


def test_two_annotators_are_adjudicated(store: ReviewStore) -> None:
    base = replace(VIEW, system="annotator-2", reference="annotator-1")
    loaded = reference_layer.swap_gold(DEMO, "annotator-1")
    store.give(drafted(loaded, "annotator-2", ("gold", "pred", "unclear")), "Ann")
    found = adjudicate(loaded.corpus.gold, loaded.corpus.system("annotator-2"), store.reviewed())
    # A choice is for its corpus.
    choices = {DEMO.digest: "leave-out", "another": "first"}
    app = opened("Review", view("finish", base), **{keys.REVIEW_UNDECIDED: choices})
    assert f"{len(found.layer):,} spans**" in headings(app) and found.open
    # One word has one number, and where two differ it says by what: all of these have a verdict, which is unclear.
    split = f"{len(found.open)} undecided records: 0 without a verdict, {len(found.open)} with one that is not applied"
    assert any(one.label == split for one in app.expander)
    left_out = sum(row.spans[0] is not None for row in found.open)
    changes = layer_changes(loaded.corpus.gold, found.layer)
    assert f"{left_out} left out as undecided" in headings(app) and left_out
    assert changes.removed == left_out or f"{changes.removed - left_out} removed" in headings(app)
    table = next(frame.value for frame in app.dataframe if "why" in frame.value.columns)
    assert table["why"].tolist() == ["unclear"] * len(found.open)
    # From gold against a system to the two annotators in a step.
    app = opened("Review", view("finish"))
    app = sound(app.button(key="adjudicate-annotators").click().run())
    assert (address(app)["reference"], address(app)["system"]) == ("annotator-1", "annotator-2")


def test_progress_and_finish_count_what_verdicts_did_as_the_log_does(store: ReviewStore) -> None:
    found = given(store)
    changes = layer_changes(DEMO.corpus.gold, found.layer)
    words = f"{changes.changed} changed, {changes.removed} removed, {changes.added} added"
    effects = Counter(change.done for change in found.changes)
    said = ", ".join(f"{name} {effects[name]}" for name in DONE if effects[name])
    assert effects.total() == found.places and {"kept", "removed", "added"} <= set(effects)
    app = opened("Review", view(""))
    assert [f": {said}." in one.value for one in app.caption].count(True) == 1
    finished = headings(opened("Review", view("finish")))
    assert words in finished and f"applied: {said}." in finished


def test_what_is_not_applied_is_listed_alone(store: ReviewStore) -> None:
    found = given(store)
    app = sound(opened("Review", view("")).button(key="not_applied").click().run())
    table = app.dataframe[0].value
    assert 0 < len(table) == len(found.open) < len(found.log)
    assert all(result.startswith("not applied: ") for result in table["result"])


def test_progress_is_that_of_all_errors_whatever_is_listed(store: ReviewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    found = given(store)
    kept: list[tuple[int, int, str, str]] = []
    monkeypatch.setattr(caches.shelf().keeper, "note_progress", lambda loaded, *progress: kept.append(progress))
    query = replace(VIEW, type=("PROTEINAS",), inspect_tab="records")
    for base in (replace(VIEW, inspect_tab="records"), query):
        opened("Inspect", base)
    assert found.log and len(kept) == 2 and kept[0][:2] == kept[1][:2]
    assert "PROTEINAS" not in kept[1][2]


def test_without_gold_nothing_is_called_gold(store: ReviewStore) -> None:
    folder = DEMOS / "biology"
    sources = [Source.of_path(folder / f"annotator-{number}.jsonl") for number in (1, 2)]
    loaded = load("two annotators", sources[0], {"annotator-2": sources[1]})
    loaded = replace(loaded, first_annotator="annotator-1")
    caches.shelf().put(loaded)
    store.give(drafted(loaded, "annotator-2", every=2), "Ann")
    for name in ("", *TABS["review_tab"]):
        app = opened("Review", View(corpus=loaded.digest, system="annotator-2", review_tab=name))
        words = [str(element.value) for element in (*app.markdown, *app.caption, *app.header, *app.warning)]
        words += [element.label for element in (*app.metric, *app.button, *app.expander)]
        words += [frame.value.to_csv() for frame in app.dataframe]
        assert len(app.dataframe) and not [text for text in words if re.search(r"\bgold\b", text, re.IGNORECASE)]


def test_masked_texts_stay_masked(store: ReviewStore) -> None:
    found = given(store)
    secret = {change.before for change in found.log if len(change.before) > 6}
    for name in ("", *TABS["review_tab"]):
        app = opened("Review", replace(view(name) if name else VIEW, mask="yes"))
        shown = "\n".join(
            [frame.value.to_csv() for frame in app.dataframe] + [str(one.value) for one in (*app.markdown, *app.text)]
        )
        assert not [text for text in secret if text in shown], name
        assert all("text masked" in one.value for one in app.code if one.value.startswith("nereval"))
    assert "All verdicts (JSON lines)" not in [one.proto.label for one in app.get("download_button")]


@pytest.mark.parametrize(
    "base",
    [VIEW, replace(VIEW, merge=(("PROTEINAS", "X"), ("NORMALIZABLES", "X"))), replace(VIEW, criterion="fragment")],
    ids=["as annotated", "merged", "by token"],
)
def test_a_chosen_verdict_and_an_open_record_are_read_in_the_text(base: View, store: ReviewStore) -> None:
    found = given(store)
    place = next(at for at, change in enumerate(found.log) if change.done == "replaced")
    app = opened("Review", view("given-verdicts", base), **{f"{keys.TABLE}verdicts": cell(place, "text")})
    quote = found.log[place].before
    assert any("nvh" in box.body and quote in box.body for box in app.get("html"))
    app = opened("Review", view("finish", base), **{f"{keys.TABLE}open": cell(0, "first")})
    assert any("nvh" in box.body for box in app.get("html"))
