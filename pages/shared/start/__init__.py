"""Parts of the front page: an example of the demo, the choice of a corpus, problems of the reading."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from nereval_core.records.queries import side_query
from nereval_core.report.colours import LOOKS
from pages.shared.components import navigation, opening
from pages.shared.components.record_card import excerpt
from pages.shared.data import caches, masks, scored_folders
from pages.shared.data.loading import demo_names
from pages.shared.data.page_context import PageContext
from pages.shared.start import file_forms, kept, reading_options
from pages.shared.start.file_forms import served_form
from pages.shared.view import View, keys, state
from pages.shared.view.queries import view_of
from pages.shared.view.text import plain, show_problems

QUESTION = "What did your NER system get wrong, and is it really wrong?"
AROUND = 60
"""Characters before and after the spans of the example: one line of a wide screen."""
LOCAL, SERVED = "Files on this computer", "Folder on this server"
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
    query = side_query("gold", "COR")
    recall = scores.counts("strict").recall
    if query is None or recall is None:
        return
    with st.container(border=True):
        counts = scores.counts("strict")
        sentence = f"In the demo, the rule-based system finds **{recall:.0%}** of the gold spans exactly."
        them = f":primary[Read these {counts.gold[0]:,} of {counts.pos:,} →]"
        navigation.link_to("Inspect", f"{sentence} {them}", view_of(view, query))
        near = caches.ledger(loaded, DEMO_SYSTEM, settings, "strict").page(replace(query, decision=("INC",)))
        near = near[near["boundary"] != "equal"] if (near["boundary"] != "equal").any() else near
        if len(near):
            record = near.iloc[0]
            st.html(excerpt(scores, "strict", record, loaded.types, around=AROUND))
            look = LOOKS[record["decision"]]
            st.caption(
                f"{look.glyph} {look.label} under strict: the prediction {plain(str(record['reason']))}. "
                "Gold stands above the text, the prediction below it."
            )


def choose_corpus(page: PageContext | None) -> None:
    """Offer the demo corpora, the corpora that are kept, a drop zone and, where there is one, the served folder."""
    opening.offer_demos(page.loaded.digest if page is not None else None)
    kept.offer_kept(page.loaded.corpus.digest if page is not None else None)
    st.header("Compare your files" if page is None or page.is_demo else "Compare other files")
    folder = caches.served_folder()
    if folder is not None:
        place = st.segmented_control(
            "Where the files are", (SERVED, LOCAL), default=SERVED, label_visibility="collapsed", key="files_from"
        )
    if folder is None or place == LOCAL:
        file_forms.draw_drop_zone()
        return
    if not masks.all_masked():
        scored_folders.offer_folders(folder)
    served_form(folder)


def show_reading_problems() -> None:
    lines = [masks.mask_message(line) for line in st.session_state.get(keys.UPLOAD_PROBLEMS, [])]
    if lines:
        show_problems(lines, below=lambda: reading_options.offer_retry(lines))
        if any(" --" in line for line in lines):
            st.caption(
                "What begins with two dashes is an option: find it under Format and reading, beneath the files. What "
                "the columns of a table hold is asked for below its files."
            )
