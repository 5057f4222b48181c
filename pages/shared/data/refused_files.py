"""Why the files read last were not read, kept in the session, and the form whose files they are."""

from __future__ import annotations

import streamlit as st

from nereval_core.corpus.masking import masked_error
from nereval_core.problems import FormatError
from pages.shared.data import masks
from pages.shared.view import keys


def keep(error: FormatError | None, form: str = "") -> None:
    """Keep why files of a form were not read, None where all were; "" stands for no form."""
    st.session_state[keys.UPLOAD_PROBLEMS] = error
    st.session_state[keys.REFUSED_FORM] = form


def refused_form() -> str:
    """Return the form whose files were read last, "" for none."""
    form: str = st.session_state.get(keys.REFUSED_FORM, "")
    return form


def refusal_of(form: str) -> FormatError | None:
    """Return why files of a form were not read, as this session may read it."""
    error: FormatError | None = st.session_state.get(keys.UPLOAD_PROBLEMS)
    if error is None or refused_form() != form:
        return None
    return masked_error(error) if masks.is_masked() else error
