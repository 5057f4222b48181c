"""Parts of the front page: an example of the demo, and the choice of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from nereval_core.records.queries import side_query
from nereval_core.report.colours import LOOKS
from pages.shared.components import navigation, opening, refusals
from pages.shared.components.records import excerpt
from pages.shared.data import caches, masks, scored_folders
from pages.shared.data.loading import demo_names
from pages.shared.data.page_context import PageContext
from pages.shared.start import account, file_forms, recent
from pages.shared.start.file_forms import DROPPED, FILES, SERVED_FORM, served_form
from pages.shared.start.recent import Recent
from pages.shared.view import View, state
from pages.shared.view.queries import view_of
from pages.shared.view.text import plain

QUESTION = "What did your NER system get wrong, and is it really wrong?"
AROUND = 60
"""Characters before and after the spans of the example: one line of a wide screen."""
GLYPH = 2
"""Characters of a label before its type."""
LOCAL, SERVED = "Files on this computer", "Folder on this server"
FILES_FROM = "files_from"
DEMO, DEMO_SYSTEM = "pharmacology", "rules"


def draw_headline(*, with_example: bool) -> None:
    """Introduce the app, to a stranger with a number of the demo, computed and linked, and a record in the text."""
    st.markdown(f"**{QUESTION}**")
    if not with_example or DEMO not in demo_names():
        return
    loaded = masks.as_shown(caches.demo(DEMO))
    view = View(corpus=loaded.digest, system=DEMO_SYSTEM, mask=state.view().mask)
    settings = caches.settings_of(loaded.corpus.gold, view)
    scores = caches.scores(loaded, DEMO_SYSTEM, settings)
    query = side_query("gold", "COR")
    recall = scores.counts("strict").recall
    if query is None or recall is None:
        return
    counts = scores.counts("strict")
    sentence = f"In the demo, the rule-based system finds **{recall:.0%}** of the gold spans exactly."
    them = f":primary[Read these {counts.gold[0]:,} of {counts.pos:,} →]"
    navigation.link_to("Inspect", f"{sentence} {them}", view_of(view, query))
    errors = caches.ledger(loaded, DEMO_SYSTEM, settings, "strict").page(replace(query, decision=("INC",)))
    if len(errors):
        record = errors.iloc[plainest_error(errors)]
        st.html(excerpt(scores, "strict", record, loaded.types, around=AROUND))
        look = LOOKS[record["decision"]]
        st.caption(
            f"{look.glyph} {look.label} under strict: the prediction {plain(str(record['reason']))}. "
            "Gold stands above the text, the prediction below it."
        )


def plainest_error(errors: pd.DataFrame) -> int:
    """Return the row whose error is seen at once: spans with other boundaries, each as long as the name of its type."""
    is_moved = (errors["boundary"] != "equal").to_numpy()
    fits = [
        all(len(str(row[f"{side}_text"])) > len(str(row[f"{side}_type"])) + GLYPH for side in ("gold", "pred"))
        for row in errors[["gold_text", "gold_type", "pred_text", "pred_type"]].to_dict("records")
    ]
    return int((is_moved * 2 + np.array(fits)).argmax())


def draw_other_problems(page: PageContext | None) -> None:
    """Draw the problems of files that no form on the page has: of a stored corpus, or of files that are gone."""
    has_mapping = page is not None and account.has_other_types(page.loaded)
    forms = [DROPPED if st.session_state.get(FILES) else "", SERVED_FORM, account.MAPPING if has_mapping else ""]
    refusals.draw_elsewhere(forms)


def choose_corpus(page: PageContext | None, corpora: Sequence[Recent]) -> None:
    """Offer a place for files at the left, and at the right the recent corpora, or for a stranger the demos."""
    folder = caches.served_folder()
    local = folder is None or st.session_state.get(FILES_FROM) == LOCAL
    with st.container(key="start_columns"):
        with st.container(key="start_files"):
            st.header("Compare your files" if page is None or page.is_demo else "Compare other files")
            if folder is not None:
                st.segmented_control(
                    "Where the files are", (SERVED, LOCAL), default=SERVED, label_visibility="collapsed", key=FILES_FROM
                )
            files = file_forms.draw_drop_zone() if local else []
            if local and not files:
                file_forms.draw_files(files)
        with st.container(key="start_corpora"):
            digest = page.loaded.digest if page is not None else None
            if corpora:
                recent.draw_recent(corpora, page.loaded.corpus.digest if page is not None else None)
            opening.offer_demos(digest, in_words=page is None and not corpora and not files)
            recent.draw_trouble()
    if folder is not None and not local:
        if not masks.all_masked():
            scored_folders.offer_folders(folder)
        served_form(folder)
    elif files:
        file_forms.draw_files(files)
