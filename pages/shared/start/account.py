"""The account of a corpus that was read: scores in short, notes of the reading, types that do not meet, and links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import pandas as pd
import streamlit as st

from nereval_core.analysis.sentences import name_list
from nereval_core.api.load_options import LoadOptions
from nereval_core.pairing import have_no_common_type
from nereval_core.pairing.type_names import TypeNames, mapping_line, parse_types, type_names
from nereval_core.pairing.type_suggestions import Suggestion, spellings, suggest_types
from nereval_core.problems import SHOWN, FormatError, name_text
from nereval_core.tables import Column, Table, frame_table
from pages.shared.components import navigation, opening, refusals, sentence
from pages.shared.components.downloads import Export, layer_file_name, offer_layer
from pages.shared.components.tables import draw_rows
from pages.shared.data import caches, reference_layer, refused_files
from pages.shared.data.computations import compute
from pages.shared.data.loading import GOLD, LayerRead, Loaded
from pages.shared.data.memo import memoized
from pages.shared.data.page_context import PageContext
from pages.shared.data.reading_orders import Again
from pages.shared.view import keys
from pages.shared.view.formulas import number
from pages.shared.view.text import count, named, plain

SYSTEMS = 6
"""The most systems whose scores are shown."""
UNSCORED = re.compile(
    r"(relations|events|modifications|equivalences|attributes|annotator's notes)(?: between spans)?, not read: (\d+)"
)
"""Notes on annotations that are no spans, which nothing here scores."""
SPANS = 1_000_000
"""Above so many spans in all, only the first system is scored here."""
EXPORT = "The spans of gold or a system with their texts, in any format that can be written."


ACCOUNT_COLUMNS = (
    Column("layer", kind="name"),
    *(Column(key, kind="count") for key in ("documents", "spans")),
    *(Column(key, kind="text") for key in ("types", "format")),
    Column("source", kind="name"),
)
LOST_COLUMNS = (Column("source", kind="text"), Column("line"), Column("span", kind="text"))


def draw_account(page: PageContext) -> None:
    """Show the systems with their F1, what was noticed while reading, and ways on; details are folded away."""
    st.header(named(page.loaded.corpus.name, 80))
    if page.loaded.has_layers:
        _scores(page)
    for name in page.systems:
        sentence.draw_identical(page, name)
    _ways_on(page)
    offer_mapping(page)
    _offer_spellings(reference_layer.as_read(page.loaded))
    draw_notes(page)
    for row in _layers_read(page).values():
        if row.lost:
            _lost(page, row)
    with st.expander("Files, formats and types"):
        _details(page)


def draw_notes(page: PageContext) -> None:
    """Say what of the files is not scored, and draw what else was noticed while reading, folded into a line."""
    unscored = []
    for name, row in _layers_read(page).items():
        if kinds := [match.groups() for note in row.notes if (match := UNSCORED.fullmatch(note))]:
            counts = name_list([count(int(number), noun.removesuffix("s")) for noun, number in kinds])
            unscored.append(f"{counts} of {named(name)}")
    if unscored:
        st.caption(f"Read and not scored: {'; '.join(unscored)}.")
    notes = [
        f"- {named(name)}: {plain(refusals.page_words(note), 400)}"
        for name, row in _layers_read(page).items()
        for note in row.notes
    ]
    if notes:
        with st.expander(f"{count(len(notes), 'note')} on how the files were read"):
            st.caption("\n".join(notes))


def _scores(page: PageContext) -> None:
    """Show F1 under strict by system; each leads to its scores."""
    systems = sorted(page.systems, key=lambda name: name != page.system)
    spans = sum(len(layer) for layer in page.loaded.corpus.systems)
    scored = systems[: SYSTEMS if spans <= SPANS else 1]
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown("F1 under strict:", width="content")
        for name in scored:
            f1 = page.scores(name, ["strict"]).counts("strict").f1
            view = replace(page.view, system=name, criterion="strict")
            pair = f"{page.words.reference} / {name}" if page.words.annotators else name
            label = f"**{named(pair, 60)}** :primary[**{'–' if f1 is None else f'{f1:.3f}'}**] →"
            navigation.link_to("Overview", label, view, help="All its scores.")
        if len(systems) > len(scored):
            more = count(len(systems) - len(scored), "more system")
            navigation.link_to("Systems", f":primary[{more} →]", page.view)


def _ways_on(page: PageContext) -> None:
    between = (
        ("Annotators", "Where they disagree →", page.view),
        ("Inspect", "Decide who is right →", page.view),
        ("Overview", "See the agreement →", page.view),
        ("Confusion", "Which types they confuse →", page.view),
    )
    ways = (
        ("Overview", "See the scores →", page.view),
        ("Inspect", "Inspect errors →", page.view),
        ("Confusion", "Which types are confused →", page.view),
        ("Criteria", "Under every criterion and published scorer →", page.view),
    )
    with st.container(horizontal=True, gap="medium"):
        for title, label, view in between if page.words.annotators else ways:
            if page.loaded.shows(title):
                navigation.link_to(title, f":primary[{label}]", view)


def _layers_read(page: PageContext) -> Mapping[str, LayerRead]:
    """Return how each layer was read by its name, whichever of them is the reference now."""
    loaded = reference_layer.as_read(page.loaded)
    return {
        loaded.first_annotator if row.name == GOLD and loaded.first_annotator else row.name: row
        for row in loaded.layers
    }


def _details(page: PageContext) -> None:
    root = caches.served_folder()
    rows = [
        {
            "layer": name,
            "documents": row.documents,
            "spans": row.spans,
            "types": ", ".join(map(name_text, row.types)),
            "format": row.format + (f", {row.scheme}" if row.scheme else ""),
            "source": row.source.removeprefix(f"{root}/") if root is not None else row.source,
        }
        for name, row in _layers_read(page).items()
    ]
    draw_rows(frame_table("", pd.DataFrame(rows), ACCOUNT_COLUMNS))
    if page.loaded.has_layers:
        with st.popover(
            "Export a layer", key="export_layer", type="tertiary", on_change="rerun", help=EXPORT
        ) as popover:
            if popover.open:
                _export(page)
    st.caption(f"Content digest sha256:{page.loaded.digest[:16]}: what a link names this corpus by.")


def _export(page: PageContext) -> None:
    """Offer gold or a system, as it stands over gold's documents, in any format that can be written."""
    layers = reference_layer.layers(page.loaded)
    name = st.selectbox("Layer", list(layers), format_func=name_text, key=f"{keys.WIDGET}export_layer")
    offer_layer(lambda: layers[name], len(layers[name]), layer_file_name(name), (page.loaded.id, name))


def _lost(page: PageContext, row: LayerRead) -> None:
    """List the spans of a layer that have no place in the text."""
    table = pd.DataFrame(
        {"source": [span.source for span in row.lost], "line": [span.line for span in row.lost]}
        | {"span": [span.found for span in row.lost]}
    ).astype({"line": "Int64"})
    with st.expander(f"{count(len(row.lost), 'span')} of {named(row.name)} left out: no place in the text"):
        draw_rows(frame_table("", table[:SHOWN], LOST_COLUMNS))
        if len(table) > SHOWN:
            st.caption(f"The first {SHOWN} of {len(table):,}; the export has all.")
        Export(table, " | ".join(page.loaded.marks[row.name]), "lost-spans", key=f"lost_{row.name}").draw()


MAPPING = "mapping"
"""The form of the mapping of types, beside which problems of reading by it stand."""
NEAR_ZERO = 0.05
"""F1 below which names of types explain it where most spans have another one."""
TYPES_NAMED = 4
"""So many types of each side are named."""
BY_NAME = "By their spans or names; the table below says why. The signature says what was mapped."
BY_SPELLING = "On both sides, by the spelling that has most spans. The signature says what was mapped."
NOTE = (
    "{other} may call the same thing by another name. Each type that {reference} does not have is set beside the type "
    "of {reference} that its spans overlap most, or else the one with a name alike. Nothing was applied."
)


def offer_mapping(page: PageContext) -> None:
    """Offer a mapping where systems have types that gold, or the first annotator, does not have."""
    # Layers are read again as they were read, whichever of them is the reference now.
    loaded = reference_layer.as_read(page.loaded)
    gold, systems = loaded.corpus.gold, loaded.corpus.systems
    if not has_other_types(loaded):
        return
    reference = plain(loaded.first_annotator or GOLD)
    apart = [layer for layer in systems if have_no_common_type(gold, layer)]
    suggestions = _suggested(loaded)
    for layer in apart:
        here_named, gold_types = (", ".join(map(plain, side.types[:TYPES_NAMED])) for side in (layer, gold))
        st.warning(
            f"No type of {named(layer.name)} is one of {reference}'s: {here_named} there, {gold_types} in {reference}."
        )
    if not apart:
        _offer_other_names(loaded, _sure_names(suggestions), reference, f"Other names for types of {reference}")
    with st.expander(f"Types that {reference} does not have: {len(suggestions)}", expanded=bool(apart)):
        other = "An annotator" if loaded.first_annotator else "A system"
        st.caption(NOTE.format(other=other, reference=reference))
        table = _table(suggestions, reference)
        draw_rows(table)
        Export(table.to_frame(), _signed(loaded), "types", key="types_suggested").draw()
        _form(loaded, suggestions, reference)


def draw_type_names(page: PageContext) -> None:
    """Say that types of the page's system are not gold's, and offer by a click to read those that have other names."""
    loaded, layer, reference = page.loaded, page.loaded.corpus.system(page.system), plain(page.words.reference)
    names: Mapping[str, str] = {}
    if loaded.types_can_be_mapped and has_other_types(loaded) and len(layer) <= SPANS:
        names = {name: to for name, to in _sure_names(_suggested(loaded)).items() if name in layer.types}
    if not names:
        sentence.draw_type_notice(page, page.system)
        return
    f1 = page.scores().counts(page.by).f1
    n_renamed = sum(int((layer.type == code).sum()) for code, name in enumerate(layer.types) if name in names)
    beginning = f"Other names for types of {reference}"
    if f1 is not None and f1 < NEAR_ZERO and n_renamed > len(layer) / 2:
        beginning = f"**F1 is {number(f1)} because types have other names than in {reference}**"
    _offer_other_names(loaded, names, reference, beginning)


def has_other_types(loaded: Loaded) -> bool:
    """Tell whether a system has types that gold, or the first annotator, does not have, and they can be mapped."""
    loaded = reference_layer.as_read(loaded)
    gold, systems = loaded.corpus.gold, loaded.corpus.systems
    return loaded.types_can_be_mapped and any(not set(layer.types) <= set(gold.types) for layer in systems)


@memoized("Counting what spans overlap …")
def _suggested(loaded: Loaded) -> tuple[Suggestion, ...]:
    return compute(loaded, "Suggesting types", suggest_types, loaded.corpus.gold, loaded.corpus.systems)


def _sure_names(suggestions: Iterable[Suggestion]) -> dict[str, str]:
    return {each.name: each.to for each in suggestions if each.sure and each.to}


def _offer_other_names(loaded: Loaded, names: Mapping[str, str], reference: str, beginning: str) -> None:
    """Offer to read types of systems by the names of gold's where it is clear which these are."""
    if names:
        pairs = ", ".join(f"{named(name)} may be {named(to)}" for name, to in list(names.items())[:TYPES_NAMED])
        text = f"{beginning}: {pairs}{_further(names)}."
        _offer(text, f"Read them by {reference}'s names", "types_read_sure", _read_as, loaded, names)


def _offer_spellings(loaded: Loaded) -> None:
    """Offer to join types that one side spells in several ways, on both sides at once."""
    joined = _spellings(loaded) if loaded.types_can_be_mapped else {}
    if not joined:
        return
    pairs = ", ".join(f"{named(name)} and {named(usual)}" for name, usual in list(joined.items())[:TYPES_NAMED])
    text = f"One side spells the same type in several ways: {pairs}{_further(joined)}."
    _offer(text, "Read them as one type", "spellings_join", _join_spellings, loaded, joined, BY_SPELLING)


def _further(names: Mapping[str, str]) -> str:
    return f" and {len(names) - TYPES_NAMED:,} more" if len(names) > TYPES_NAMED else ""


def _offer(
    text: str,
    label: str,
    key: str,
    on_click: Callable[[Loaded, Mapping[str, str]], None],
    loaded: Loaded,
    names: Mapping[str, str],
    words: str = BY_NAME,
) -> None:
    """Draw what may be read by other names, and the button that does it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(text, width="content")
        st.button(label, key=key, help=words, disabled=opening.is_waiting(), on_click=on_click, args=(loaded, names))


@memoized("Comparing names of types …")
def _spellings(loaded: Loaded) -> dict[str, str]:
    return compute(loaded, "Comparing names of types", spellings, (loaded.corpus.gold, *loaded.corpus.systems))


def _join_spellings(loaded: Loaded, joined: Mapping[str, str]) -> None:
    names, options = type_names(joined), loaded.options
    gold, pred = _composed(options.gold_types, names), _composed(options.pred_types, names)
    _begin_reading(loaded, replace(options, gold_types=gold, pred_types=pred))


def _read_as(loaded: Loaded, names: Mapping[str, str]) -> None:
    pred = _composed(loaded.options.pred_types, type_names(names))
    _begin_reading(loaded, replace(loaded.options, pred_types=pred))


def _table(suggestions: tuple[Suggestion, ...], reference: str) -> Table:
    rows = tuple((each.name, each.spans, each.to, "yes" if each.sure else "no", each.reason) for each in suggestions)
    texts = (Column(key, kind="text") for key in (f"type of {reference}", "sure", "why"))
    return Table("", (Column("type", kind="name"), Column("spans", kind="count"), *texts), rows)


def _signed(loaded: Loaded) -> str:
    return f"corpus sha256:{loaded.digest[:16]}"


def _form(loaded: Loaded, suggestions: tuple[Suggestion, ...], reference: str) -> None:
    key = f"types_lines_{loaded.digest[:16]}"
    lines = [
        ("" if suggestion.sure else "# ") + mapping_line(suggestion.name, suggestion.to or "?")
        for suggestion in suggestions
    ]
    st.session_state.setdefault(key, "\n".join(lines))
    st.text_area(f"Name read = type of {reference}, one a line", key=key, height=min(300, 60 + 26 * len(lines)))
    st.button(
        "Read again with this mapping",
        type="primary",
        key="types_read",
        disabled=opening.is_waiting(),
        on_click=_read_again,
        args=(loaded, key),
    )
    if (error := refused_files.refusal_of(MAPPING)) is not None:
        refusals.draw_alone(error)


def _read_again(loaded: Loaded, key: str) -> None:
    try:
        names = parse_types(st.session_state[key], source="mapping")
    except FormatError as error:
        refused_files.keep(error, MAPPING)
        return
    _begin_reading(loaded, replace(loaded.options, pred_types=_composed(loaded.options.pred_types, names)))


def _composed(before: TypeNames | None, names: TypeNames) -> TypeNames:
    return names if before is None else before.then(names)


def _begin_reading(loaded: Loaded, options: LoadOptions) -> None:
    opening.begin_reading(
        Again(
            loaded.corpus.name,
            loaded.key,
            caches.shelf().keeper.store,
            loaded.sources,
            options,
            loaded.first_annotator,
        ),
        MAPPING,
    )
