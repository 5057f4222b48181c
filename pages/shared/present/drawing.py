"""The slides of a deck as HTML: title, figures, patterns with an example, records. Needs no session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from markupsafe import Markup

from nereval_core.analysis.errors.error_groups import SPURIOUS, ErrorGroup
from nereval_core.corpus import Layer
from nereval_core.problems import name_text
from nereval_core.records.queries import Query
from nereval_core.records.tables import records
from nereval_core.report.slides import Bar, Pattern, Slide, Text, bars_html, gone_html, map_html, slide_html, title_html
from nereval_core.review.playlists import Item
from nereval_core.review.verdicts import StoredVerdict
from nereval_core.review.verdicts_on_records import marked
from nereval_core.review.words import decision_in_words
from nereval_core.scoring.criteria import SCHEMAS
from nereval_core.tables import signed
from nereval_core.tables.glossary import DECISIONS
from pages.shared.confusion import heat_map_data, matrix_title
from pages.shared.data import playlists
from pages.shared.data.loading import Loaded
from pages.shared.data.page_context import PageContext
from pages.shared.inspect.document import document_marks, find_record
from pages.shared.present import systems_slides
from pages.shared.present.deck import Deck, example_of, groups_by_key, sentence_of
from pages.shared.view import FIGURES_OF_SYSTEM, SYSTEM_SLIDES, is_pattern
from pages.shared.view.confusion_layout import confusion_table
from pages.shared.view.formulas import number
from pages.shared.view.text import count

HIDDEN = "Texts are masked, so comments and notes, which are people's own words, are not shown."
MOST = 4
"""Systems and criteria of a playlist whose F1 stands on its title."""
TYPES = 10
"""Types of a confusion table that are legible from the last row."""
SCORES, CONFUSION = FIGURES_OF_SYSTEM

FindCorpus = Callable[[str], Loaded | None]
"""Gives the corpus of a digest, None where this server lacks it."""


def first_slide_html(deck: Deck, word: str, hint: str) -> Markup:
    """Return the HTML of a slide before the records, by its id."""
    page = deck.page
    if not word:
        return _title(deck, hint)
    if is_pattern(word):
        return _pattern(deck, word)
    # Figures are about all documents.
    under = " · ".join(_under(replace(page, view=replace(page.view, doc="")), deck.heading))
    if word in SYSTEM_SLIDES:
        return systems_slides.systems_html(page, deck.heading, under, word)
    return (_scores if word == SCORES else _confusion)(page, deck.heading, under)


def _title(deck: Deck, hint: str) -> Markup:
    page = deck.page
    pairs_on_playlist = dict.fromkeys((item.starred.shown.system, item.starred.shown.criterion) for item in deck.items)
    pairs_here = [
        (system, name) for system, name in pairs_on_playlist if system in page.systems and name in page.criteria
    ]
    pairs = pairs_here[:MOST] or [(page.system, page.by)]
    facts = [("corpus", name_text(page.loaded.corpus.name))]
    ranked = [(page.scores(system, [name]).counts(name).f1, system, name) for system, name in pairs]
    for f1, system, name in sorted(ranked, key=lambda row: -1.0 if row[0] is None else row[0], reverse=True):
        context = replace(page, view=replace(page.view, system=system))
        interval = _interval(systems_slides.f1_intervals(context, [name]), name)
        facts.append((f"{name_text(system)}, {name}", f"F1 {number(f1)} {interval}".rstrip()))
    facts.append(("slides", deck.contents))
    if page.view.mask:
        facts.append(("masked", HIDDEN))
    return title_html(deck.heading, facts, hint, words=page.words.of_slides)


def _pattern(deck: Deck, word: str) -> Markup:
    page = deck.page
    group = groups_by_key(page)[word]
    document, record = example_of(page, word)
    place = f"pattern {deck.patterns.index(word) + 1:,} of {len(deck.patterns):,}"
    example = replace(page, view=replace(page.view, doc=document, record=record))
    pattern = Pattern(sentence_of(page, group), numbers_of(page, group))
    return record_slide_html(example, deck.heading, place, pattern=pattern)


def numbers_of(page: PageContext, group: ErrorGroup) -> str:
    """Return the numbers of a pattern: its share of the spans in its context, the share elsewhere, and the gain."""
    spans = page.words.spans("pred" if group.key.kind == SPURIOUS else "gold")
    parts = [f"{group.records:,} of {group.spans:,} {spans} in this context"]
    parts += [f"elsewhere {group.elsewhere:.0%}"] if group.elsewhere == group.elsewhere else []
    parts += [f"F1 {signed(group.gain)} without these errors"] if group.gain == group.gain else []
    return " · ".join(parts)


def _scores(page: PageContext, heading: str, under: str) -> Markup:
    names = [name for name in dict.fromkeys((*SCHEMAS, page.by)) if name in page.criteria]
    scores = page.scores(names=names)
    intervals = systems_slides.f1_intervals(page, names)
    bars = []
    for name in names:
        counts = scores.counts(name)
        decided = dict(zip(DECISIONS, (*counts.gold[:4], counts.spu), strict=True))
        bars.append(Bar(name, number(counts.f1), _interval(intervals, name), decided))
    title = f"Decisions and F1 of {name_text(page.system)} by criterion"
    note = systems_slides.numbers_behind(page)
    return bars_html(heading, under, title, bars, note, words=page.words.of_slides)


def _interval(intervals: Mapping[str, tuple[float, float]], name: str) -> str:
    """Return the interval of a criterion in brackets, "" without one."""
    low, high = intervals.get(name, (float("nan"), float("nan")))
    return "" if low != low else f"[{low:.3f}, {high:.3f}]"


def _confusion(page: PageContext, heading: str, under: str) -> Markup:
    """Draw the types most often confused; pairs of equal type are left out, as the question is what is mistaken."""
    cells = page.ledger().confusion()
    layout = ("by-confusion", "off-diagonal")
    order = confusion_table(cells, page.types, layout, page.words).rows[:-1]
    table = confusion_table(cells, order[:TYPES], layout, page.words)
    of_equal_type = sum(number for (gold, pred), number in cells.items() if gold == pred)
    hidden = [f"{count(of_equal_type, 'pair')} of equal type"] if of_equal_type else []
    if n_types := len(order) - len(order[:TYPES]):
        types_left_out = set(order[TYPES:])
        n_errors = sum(
            number for (gold, pred), number in cells.items() if gold != pred and {gold, pred} & types_left_out
        )
        hidden.append(f"{count(n_types, 'type')} less often mistaken ({count(n_errors, 'error')})")
    note = f"Not shown: {' and '.join(hidden)}." if hidden else ""
    cells_data = heat_map_data(table, "", share="", words=page.words)
    return map_html(heading, under, matrix_title(page), cells_data, note)


def record_slide_html(
    page: PageContext,
    heading: str,
    place: str,
    item: Item | None = None,
    *,
    pattern: Pattern | None = None,
    find: FindCorpus = lambda digest: None,
) -> Markup:
    """Return the HTML of the slide of the record of a view, or of the item that is shown there."""
    view = page.view
    is_masked = bool(view.mask)
    comment = "" if item is None else playlists.item_comment(item, is_masked=is_masked)
    scores = page.reading(view.doc) if view.doc and view.record else None
    rows = None if scores is None else records(scores, page.by)
    record = None if scores is None or rows is None else find_record(rows, scores, page.by, view.record)
    if scores is None or rows is None or record is None:
        return gone_html(heading, place, *_gone(page, item, find), comment)
    sides = {("gold", int(record["gold"])), ("prediction", int(record["pred"]))}
    marks = document_marks(scores, page.by, rows)
    documents = scores.gold.documents
    verdict = _verdict(page, view.doc, str(record["record"]))
    return slide_html(
        Slide(
            heading,
            place,
            " · ".join(_under(page, heading)),
            Text(
                documents.texts[0],
                [mark for mark in marks if (mark.side, mark.index) in sides],
                documents.sentences.of_document(0) if documents.sentences is not None else (),
                page.annotated_types,
                [mark for mark in marks if (mark.side, mark.index) not in sides],
            ),
            str(record["decision"]),
            page.words.reason(str(record["reason"]), record["gold_type"], record["pred_type"]),
            _side(scores.layers(page.by)[0], int(record["gold"])),
            _side(scores.layers(page.by)[1], int(record["pred"])),
            "" if verdict is None else f"Verdict of {verdict.who}: {_decided(page, verdict, documents.texts[0])}",
            "" if verdict is None or is_masked else verdict.verdict.note,
            comment,
            pattern,
            page.words.of_slides,
        )
    )


def _under(page: PageContext, heading: str) -> Iterator[str]:
    """Yield the facts beside a heading: system, unless that names it, criterion, document, the layer taken as gold."""
    if not heading.endswith(f" {name_text(page.system)}"):
        yield name_text(page.system)
    if page.view.reference:
        yield f"against {name_text(page.view.reference)}"
    yield page.by
    if page.view.doc:
        yield name_text(page.view.doc)


def _side(layer: Layer, span: int) -> tuple[str, str] | None:
    """Return the words and the type of the span of one side, None where it has none."""
    if span < 0:
        return None
    words = layer.text(span)
    if span in layer.fragments:
        words = marked(layer, span).quote_apart(layer.documents.texts[layer.doc[span]])
    return words, name_text(layer.label(span))


def _verdict(page: PageContext, doc: str, record: str) -> StoredVerdict | None:
    """Return the verdict that stands on a record, None where none does or it is stale."""
    ledger = page.ledger()
    verdicts = ledger.verdicts
    if verdicts is None:
        return None
    positions = ledger.positions(Query(doc=doc))
    ids = ledger.frame(positions)["record"].tolist()
    if record not in ids:
        return None
    at = int(positions[ids.index(record)])
    return None if verdicts.stale[at] else verdicts.of(at)


def _decided(page: PageContext, verdict: StoredVerdict, text: str) -> str:
    return decision_in_words(verdict.verdict.kind, verdict.verdict.right, text, page.words.verdicts)


def _gone(page: PageContext, item: Item | None, find: FindCorpus) -> tuple[str, str, tuple[str, str, str]]:
    """Return the reason why a record cannot be shown, the remedy, and its words as they were."""
    if item is None:
        return (
            "This record is not there any more",
            "Under these settings nothing has its id. Go on, or leave with Escape.",
            ("", "", ""),
        )
    starred, was = item.starred.shown, playlists.item_words(item, is_masked=bool(page.view.mask))
    if find(starred.corpus) is None and not playlists.has_text_of(page.loaded, item):
        return (
            "Its corpus is not on this server",
            f"Upload gold and system {name_text(starred.system)} of the corpus {starred.corpus[:16]} at Start: what is "
            "in the files, not their names, decides.",
            was,
        )
    if page.view.record:
        why = f"{name_text(starred.system)} does not predict this span any more, or its settings leave it out."
        return "This record is not there any more", why, was
    return "This record is not there any more", f"There is no system {name_text(starred.system)} in this corpus.", was
