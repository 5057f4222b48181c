"""The view in session state and in the address bar: one place that reads and one that writes each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

import streamlit as st

from nereval_core.scoring.criteria import Criterion
from pages.shared.streamlit_internals import is_back_or_forward, uncut
from pages.shared.view import View, keys
from pages.shared.view.link import MOST_TRACKS, is_rule_of, read_link, write_rule, write_short_link

T = TypeVar("T")


def view() -> View:
    present: View = st.session_state.get(keys.VIEW, View())
    return present


def lasting(key: str, make: Callable[[], T]) -> T:
    """Return the object that the session has under a key, made once and then changed in place."""
    if key not in st.session_state:
        # Of two runs at a time each would make its own.
        with uncut():
            st.session_state.setdefault(key, make())
    lasting_object: T = st.session_state[key]
    return lasting_object


def put(new: View) -> None:
    st.session_state[keys.VIEW] = new


def update(**changes: Any) -> None:
    """Change fields of the view (in callbacks). A change of a list gives up the record chosen from it."""
    old = view()
    if (old.record or old.at) and "record" not in changes:
        changes = {"record": "", "doc": "", **changes}
    changes = {"at": "", **changes}
    put(replace(old, **changes))


def mirror(name: str, value: Any, take: Callable[[Any], object], *, prefix: str = keys.WIDGET) -> dict[str, Any]:
    """Give a widget the value of the fact that it shows; return its key, and the callback by which it is changed.

    Widgets take both as `st.toggle("Mask the text", **mirror("mask", on, take))`. `take` is called with what the reader
    chose, before the page runs again.
    """
    key = prefix + name
    st.session_state[key] = value
    return {"key": key, "on_change": lambda: take(st.session_state[key])}


def mirror_field(name: str, value: Any, change: Callable[[Any], Any] = lambda value: value) -> dict[str, Any]:
    """Mirror a field of the view, see `mirror`; `change` makes the field of what the reader chose."""
    return mirror(name, value, lambda selected: update(**{name: change(selected)}))


def take_record(doc: str, record: str) -> None:
    """Choose a record in a document, or with "" the document alone (a callback)."""
    update(doc=doc, record=record)


def take_field(name: str) -> Callable[[Any], None]:
    """Return a callback that writes the value of a widget into a field of the view."""
    return lambda value: update(**{name: value})


def take_beside(system: str | None) -> None:
    """Hold the chosen system against another one; the record chosen stays, as its gold span is the same."""
    put(replace(view(), beside=system or ""))


def take_compared(systems: Sequence[str]) -> None:
    """Show other systems with the chosen one; the record chosen stays."""
    put(replace(view(), beside=next(iter(systems), ""), tracks=tuple(systems[1 : MOST_TRACKS + 1])))


def exchange_system(system: str, compared: Sequence[str]) -> None:
    """Read another system, with the one read before in its place among those compared; the record chosen stays."""
    before = view().system
    take_compared([before if name == system else name for name in compared])
    put(replace(view(), system=system))


def keep(key: str) -> Callable[[Any], None]:
    """Return a callback that writes the value of a widget into the session, for facts that no link carries."""

    def take(value: Any) -> None:
        st.session_state[key] = value

    return take


def read_address(page: str) -> tuple[str, ...]:
    """Take the view from the address if this run comes from a link; return the dropped values in words.

    On a rerun of the same page the address may be older than the session, so the session is right. After a page
    switch, and by the browser's Back and Forward, the address is right, unless it is empty: then a plain link was
    followed, and the session goes on.
    """
    is_newer = st.session_state.get(keys.PAGE) != page or is_back_or_forward()
    st.session_state[keys.PAGE] = page
    params = st.query_params.to_dict()
    if not is_newer or (not params and keys.VIEW in st.session_state):
        return ()
    new, notices = read_link(params)
    put(new)
    return notices


def write_address() -> bool:
    """Write the view into the address; False where it is too long for a link (the address is emptied then)."""
    params = params_of(view())
    if st.query_params.to_dict() != (params or {}):
        st.query_params.from_dict(params or {})
    return params is not None


def params_of(new: View) -> dict[str, str] | None:
    """Return the parameters of a link to a view, None where they do not fit.

    The rule of a criterion of one's own goes along if there is room for it: else its name alone.
    """
    own: tuple[Criterion, ...] = getattr(st.session_state.get(keys.OWN), "criteria", ())
    mine = next((write_rule(criterion) for criterion in own if criterion.name == new.criterion), "")
    rule = new.rule if is_rule_of(new.rule, new.criterion) else mine
    params = write_short_link(replace(new, rule=rule))
    return write_short_link(replace(new, rule="")) if params is None else params


def link(new: View) -> dict[str, str]:
    """Return the parameters for a link inside the app; none where they do not fit, then the session's view stays."""
    return params_of(new) or {}


def go(page: str, new: View) -> NoReturn:
    """Switch to a page and show a view there."""
    put(new)
    st.switch_page(page, query_params=link(new))
