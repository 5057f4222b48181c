"""The account of a corpus that was read: its scores in short, what was noticed in reading, and where to look next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import streamlit as st

from nereval_core.problems import SHOWN
from pages.shared.components import navigation, notices
from pages.shared.components.downloads import Export, layer_file_name, offer_layer
from pages.shared.components.record_list import count
from pages.shared.data import caches
from pages.shared.data.loading import GOLD, LayerRead
from pages.shared.frame import Here
from pages.shared.start import type_mapping
from pages.shared.view import keys
from pages.shared.view.text import plain

SYSTEMS = 6
"""The most systems whose scores are shown."""
SPANS = 1_000_000
"""Above so many spans in all, only the first system is scored here."""
EXPORT = "The spans of gold or a system with their texts, in any format that can be written."


def draw_account(here: Here) -> None:
    """Show the systems with their F1, what was noticed while reading, and ways on; details are folded away."""
    st.header(plain(here.loaded.corpus.name, 80))
    if here.loaded.folder is None:
        _scores(here)
    for name in here.systems:
        notices.draw_identical(here, name)
    _ways_on(here)
    type_mapping.offer_mapping(here)
    names = _names(here)
    notes = [
        f"- {plain(names.get(row.name, row.name))}: {plain(note, 400)}"
        for row in here.loaded.layers
        for note in row.notes
    ]
    if notes:
        st.caption("\n".join(notes))
    for row in here.loaded.layers:
        if row.lost:
            _lost(here, row)
    with st.expander("Files, formats and types"):
        _details(here)


def _scores(here: Here) -> None:
    """Show F1 under strict by system; each leads to its scores."""
    systems = sorted(here.systems, key=lambda name: name != here.system)
    spans = sum(len(layer) for layer in here.loaded.corpus.systems)
    shown = systems[: SYSTEMS if spans <= SPANS else 1]
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown("F1 under strict:", width="content")
        for name in shown:
            f1 = here.scores(name, ["strict"]).counts("strict").f1
            view = replace(here.view, system=name, criterion="strict")
            pair = f"{here.words.reference} / {name}" if here.words.annotators else name
            label = f"**{plain(pair, 60)}** :primary[**{'–' if f1 is None else f'{f1:.3f}'}**] →"
            navigation.link_to("Overview", label, view, help="All its scores.")
        if len(systems) > len(shown):
            more = count(len(systems) - len(shown), "more system")
            navigation.link_to("Systems", f":primary[{more} →]", here.view)


def _ways_on(here: Here) -> None:
    between = (
        ("Annotators", "Where they disagree →", here.view),
        ("Inspect", "Decide who is right →", here.view),
        ("Overview", "See the agreement →", here.view),
        ("Confusion", "Which types they confuse →", here.view),
    )
    ways = (
        ("Overview", "See the scores →", here.view),
        ("Inspect", "Inspect errors →", here.view),
        ("Confusion", "Which types are confused →", here.view),
        ("Criteria", "Under every criterion and published scorer →", here.view),
    )
    with st.container(horizontal=True, gap="medium"):
        for page, label, view in between if here.words.annotators else ways:
            if here.loaded.shows(page):
                navigation.link_to(page, f":primary[{label}]", view)


def _names(here: Here) -> Mapping[str, str]:
    """Return the names by which layers are shown, where these are others."""
    return {GOLD: here.loaded.first_annotator or GOLD}


def _details(here: Here) -> None:
    root = caches.served_folder()
    names = _names(here)
    rows = [
        {
            "layer": names.get(row.name, row.name),
            "documents": row.documents,
            "spans": row.spans,
            "types": ", ".join(row.types),
            "format": row.format + (f", {row.scheme}" if row.scheme else ""),
            "source": row.source.removeprefix(f"{root}/") if root is not None else row.source,
        }
        for row in here.loaded.layers
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, column_config={"types": st.column_config.TextColumn(width=220)})
    if here.loaded.folder is None:
        with st.popover(
            "Export a layer", key="export_layer", type="tertiary", on_change="rerun", help=EXPORT
        ) as popover:
            if popover.open:
                _export(here)
    st.caption(f"Content digest sha256:{here.loaded.digest[:16]}: what a link names this corpus by.")


def _export(here: Here) -> None:
    """Offer gold or a system, as it stands over gold's documents, in any format that can be written."""
    corpus = here.loaded.corpus
    layers = {layer.name: layer for layer in (corpus.gold, *corpus.systems)}
    name = st.selectbox("Layer", list(layers), key=f"{keys.WIDGET}export_layer")
    offer_layer(lambda: layers[name], len(layers[name]), layer_file_name(name), (here.loaded.number, name))


def _lost(here: Here, row: LayerRead) -> None:
    """List the spans of a layer that have no place in gold's text."""
    table = pd.DataFrame(
        {"source": [one.source for one in row.lost], "line": [one.line for one in row.lost]}
        | {"span": [one.found for one in row.lost]}
    ).astype({"line": "Int64"})
    with st.expander(f"{count(len(row.lost), 'span')} of {plain(row.name)} left out: no place in gold's text"):
        st.dataframe(table[:SHOWN], hide_index=True, column_config={"line": st.column_config.NumberColumn(format="%d")})
        if len(table) > SHOWN:
            st.caption(f"The first {SHOWN} of {len(table):,}; the export has all.")
        Export(table, " | ".join(here.loaded.marks[row.name]), "lost-spans", key=f"lost_{row.name}").draw()
