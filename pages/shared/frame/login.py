"""Logging in and out, on a server whose visitors log in by OpenID Connect."""

from __future__ import annotations

import streamlit as st

from pages.shared.data.reviewer import login_name
from pages.shared.server.access import has_login
from pages.shared.view.text import plain


def draw_login() -> bool:
    """Ask a visitor who is not logged in to do so; return whether there is nothing else to show."""
    if not has_login() or st.user.is_logged_in:
        return False
    st.title("nereval")
    st.markdown("This server asks its visitors to log in. Your name will stand beside the verdicts that you give.")
    st.button("Log in", type="primary", on_click=st.login)
    return True


def draw_logout() -> None:
    """Say who is logged in, and offer to log out."""
    if has_login():
        st.caption(f"Logged in as {plain(login_name(), 40)}")
        st.button("Log out", type="tertiary", on_click=st.logout)
