"""The reviewer's name: asked for once, kept for the session, and in a cookie for the next one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

import streamlit as st

from nereval_core.review.verdicts import REVIEWER_CHARACTERS
from pages.shared.server.access import has_login
from pages.shared.server.component_files import component
from pages.shared.view import keys
from pages.shared.view.text import named

VARIABLE = "NEREVAL_REVIEWER"
"""The environment's name of whoever gives verdicts, on a server of one's own."""
COOKIE = "nereval_reviewer"
FIELD = f"{keys.VERDICT}name"
_write = component(
    "nereval_reviewer",
    js="""export default function ({ data }) {
      document.cookie = `${data.cookie}=${data.value}; path=/; max-age=31536000; SameSite=Strict` +
        (location.protocol === "https:" ? "; Secure" : "");
    }""",
)


def reviewer_name() -> str:
    """Return the reviewer's name, "" where none is known."""
    if has_login():
        return login_name()
    stored: str | None = st.session_state.get(keys.REVIEWER)
    return stored or first_valid_name(unquote(st.context.cookies.get(COOKIE, "")), os.environ.get(VARIABLE, ""))


def first_valid_name(*names: object) -> str:
    """Return the first of some names that a verdict could bear, "" where there is none."""
    stripped = (name.strip() for name in names if isinstance(name, str))
    return next((name for name in stripped if name and name.isprintable() and len(name) <= REVIEWER_CHARACTERS), "")


def name_problem(typed: str) -> str:
    """Return in a line why no verdict could bear a name, "" where one could."""
    name = typed.strip()
    if not name:
        return "Type a name."
    if len(name) > REVIEWER_CHARACTERS:
        return f"A name has at most {REVIEWER_CHARACTERS} characters."
    hidden = next((character for character in name if not character.isprintable()), "")
    return f"A name has no invisible characters; this one has U+{ord(hidden):04X}. Type it anew." if hidden else ""


def login_name() -> str:
    """Return the name of who is logged in, as the provider has it."""
    user: Mapping[str, Any] = st.user.to_dict()
    return first_valid_name(*(user.get(name) for name in ("name", "email", "sub")))


def ask_name(key: str = FIELD) -> None:
    """Ask for the name; `key` is that of the field, of which a page may have two."""
    st.text_input(
        "Your name",
        key=key,
        max_chars=REVIEWER_CHARACTERS,
        placeholder="Your name, kept with each verdict",
        label_visibility="collapsed",
        on_change=_took,
        args=(key,),
        width=280,
    )


def show_reviewer() -> None:
    """Say who gives verdicts here, where a click changes it, or ask."""
    name = reviewer_name()
    if not name:
        ask_name()
        return
    if has_login():
        st.caption(f"as {named(name, 20)}")
        return
    label, key = f"as {named(name, 20)}", f"{keys.VERDICT}as"
    with st.popover(label, type="tertiary", key=key, help="Who gives the verdicts", on_change="rerun") as box:
        if box.open:
            st.session_state[FIELD] = name
            ask_name()


def remember_reviewer() -> None:
    """Have the browser remember the name that was given in this session."""
    name = reviewer_name()
    if st.session_state.get(keys.REVIEWER) and st.context.cookies.get(COOKIE) != quote(name):
        _write(data={"cookie": COOKIE, "value": quote(name)}, key=f"{keys.VERDICT}cookie")


def _took(key: str) -> None:
    if not take_name(st.session_state[key]) and (problem := name_problem(st.session_state[key])):
        st.toast(problem, icon=":material/error:")


def take_name(typed: str) -> bool:
    """Take a name over for this session; return whether a verdict could bear it."""
    name = first_valid_name(typed)
    if name:
        st.session_state[keys.REVIEWER] = name
    return bool(name)
