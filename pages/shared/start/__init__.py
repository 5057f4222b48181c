"""Parts of the front page: an example of the demo, ways in, the choice of a corpus, the account of the reading."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from nereval_core.problems import SHOWN
from nereval_core.report.colours import LOOKS
from pages.shared.components import demo_cards, navigation
from pages.shared.components.downloads import Export, layer_file_name, offer_layer
from pages.shared.components.record_list import excerpt
from pages.shared.data import caches, masks, scored_folders
from pages.shared.data.loading import LayerRead, demo_names
from pages.shared.frame import Here
from pages.shared.start import kept, type_mapping, upload_forms
from pages.shared.start import retry as start_retry
from pages.shared.view import View, keys, state
from pages.shared.view.queries import side_query, view_of
from pages.shared.view.text import plain, show_problems

QUESTION = "What did your NER system get wrong, and is it really wrong?"
AROUND = 60
"""Characters before and after the spans of the example: one line of a wide screen."""
EXPORT = "The spans of gold or a system with their texts, in any format that can be written."
DEMO, DEMO_SYSTEM = "pharmacology", "rules"


def draw_headline() -> None:
    """Introduce the app with a number of the demo, computed and linked, and one of its records in the text."""
    st.markdown(f"**{QUESTION}**")
    if DEMO not in demo_names():
        return
    loaded = masks.as_shown(caches.demo(DEMO))
    view = View(corpus=loaded.digest, system=DEMO_SYSTEM, mask=state.view().mask)
    settings = caches.settings_of(loaded.corpus.gold, view)
    scores = caches.scores(loaded, DEMO_SYSTEM, settings)
    found = side_query("gold", "COR")
    recall = scores.counts("strict").recall
    if found is None or recall is None:
        return
    with st.container(border=True):
        counts = scores.counts("strict")
        sentence = f"In the demo, the rule-based system finds **{recall:.0%}** of the gold spans exactly."
        them = f":primary[Read these {counts.gold[0]:,} of {counts.pos:,} →]"
        navigation.link_to("Inspect", f"{sentence} {them}", view_of(view, found))
        near = caches.ledger(loaded, DEMO_SYSTEM, settings, "strict").page(replace(found, decision=("INC",)))
        near = near[near["boundary"] != "equal"] if (near["boundary"] != "equal").any() else near
        if len(near):
            record = near.iloc[0]
            st.html(excerpt(scores, "strict", record, loaded.types, around=AROUND))
            look = LOOKS[record["decision"]]
            st.caption(
                f"{look.glyph} {look.label} under strict: the prediction {plain(str(record['reason']))}. "
                "Gold stands above the text, the prediction below it."
            )


def offer_ways_in(here: Here | None) -> None:
    """Offer three ways in, for the corpus at hand or the demo."""
    view = here.view if here is not None else _demo_view()
    if view is None:
        return
    offers = (
        ("Inspect errors", "Inspect", view, "Go through what was missed, confused, cut short or made up, one by one."),
        (
            "Compare criteria",
            "Overview",
            view.with_sort("all-criteria"),
            "See all scores side by side: how far do they depend on what counts as a match?",
        ),
        (
            "Show in a meeting",
            "Confusion",
            view.with_sort("off-diagonal"),
            "Show which types are taken for which as a picture; every number opens the text behind it.",
        ),
    )
    for column, (label, page, there, why) in zip(st.columns(3), offers, strict=True):
        with column.container(border=True, height="stretch"):
            navigation.link_to(page, f":primary[**{label} →**]", there)
            st.caption(why)


def _demo_view() -> View | None:
    if DEMO not in demo_names():
        return None
    loaded = caches.demo(DEMO)
    return View(corpus=loaded.corpus.digest, system=loaded.start, mask=state.view().mask)


def choose_corpus(here: Here | None) -> None:
    """Offer the demo corpora, uploads and, where the server was given one, its folder."""
    kept.offer_kept(here.loaded.corpus.digest if here is not None else None)
    st.header("Choose a corpus")
    folder = caches.served_folder()
    labels = ["Demo", "Upload", *(["Folder on this server"] if folder else [])]
    tabs = st.tabs(labels)
    with tabs[0]:
        demo_cards.offer_demos(here.loaded.digest if here is not None else None)
    with tabs[1]:
        upload_forms.upload_form()
    if folder is not None:
        with tabs[2]:
            if not masks.all_masked():
                scored_folders.offer_folders(folder)
            upload_forms.served_form(folder)


def show_reading_problems() -> None:
    lines = [masks.mask_message(line) for line in st.session_state.get(keys.UPLOAD_PROBLEMS, [])]
    if lines:
        show_problems(lines, below=lambda: start_retry.offer_retry(lines))
        if any(" --" in line for line in lines):
            st.caption(
                "What begins with two dashes is an option: find it under Format and reading, beneath the files. What "
                "the columns of a table hold is asked for below its files."
            )


def _export(here: Here) -> None:
    """Offer gold or a system, as it stands over gold's documents, in any format that can be written."""
    corpus = here.loaded.corpus
    layers = {layer.name: layer for layer in (corpus.gold, *corpus.systems)}
    name = st.selectbox("Layer", list(layers), key=f"{keys.WIDGET}export_layer")
    offer_layer(lambda: layers[name], len(layers[name]), layer_file_name(name), (here.loaded.number, name))


def say_what_was_read(here: Here) -> None:
    """Show the account of the reading: source, format and numbers of each layer, with notes and lost spans."""
    st.header(f"What was read: {plain(here.loaded.corpus.name)}")
    rows = [
        {
            "layer": row.name,
            "documents": row.documents,
            "spans": row.spans,
            "types": ", ".join(row.types),
            "format": row.format + (f", {row.scheme}" if row.scheme else ""),
            "source": row.source,
        }
        for row in here.loaded.layers
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, column_config={"types": st.column_config.TextColumn(width=220)})
    with st.container(horizontal=True, vertical_alignment="center"):
        navigation.link_to("Overview", ":primary[See the scores →]", here.view)
        if here.loaded.folder is None:
            navigation.link_to("Criteria", ":primary[Under every criterion and published scorer →]", here.view)
            with st.popover(
                "Export a layer", key="export_layer", type="tertiary", on_change="rerun", help=EXPORT
            ) as popover:
                if popover.open:
                    _export(here)
    type_mapping.offer_mapping(here)
    for row in here.loaded.layers:
        if row.notes:
            st.caption(f"{plain(row.name)}: {'; '.join(plain(note, 400) for note in row.notes)}")
        if row.lost:
            _lost(here, row)
    st.caption(f"Content digest sha256:{here.loaded.digest[:16]}: what a link names this corpus by.")


def _lost(here: Here, row: LayerRead) -> None:
    """List the spans of a layer that have no place in gold's text."""
    table = pd.DataFrame(
        {"source": [one.source for one in row.lost], "line": [one.line for one in row.lost]}
        | {"span": [one.found for one in row.lost]}
    ).astype({"line": "Int64"})
    total = f"{len(row.lost):,} span{'' if len(row.lost) == 1 else 's'}"
    with st.expander(f"{total} of {plain(row.name)} left out: no place in gold's text"):
        st.dataframe(table[:SHOWN], hide_index=True, column_config={"line": st.column_config.NumberColumn(format="%d")})
        if len(table) > SHOWN:
            st.caption(f"The first {SHOWN} of {len(table):,}; the export has all.")
        Export(table, " | ".join(here.loaded.marks[row.name]), "lost-spans", key=f"lost_{row.name}").draw()
