"""Links of concept ids: addresses made from a template that the user sets, and their HTML."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, urlsplit

from markupsafe import Markup

ID, CODE = "{id}", "{code}"
"""Placeholders of a template: the whole id, or the part after its last colon (`Wikidata:Q42` -> Q42)."""
EXAMPLE = "https://www.wikidata.org/wiki/{id}"
SCHEMES = ("http", "https")
NO_ENTRY = ("NIL",)
"""Ids of mentions without an entry, which no page describes."""


def template_problem(template: str) -> str | None:
    """Return the fault of a template in words, None if it can be used."""
    if ID not in template and CODE not in template:
        return f"it has neither {ID} nor {CODE} in it"
    if any(char.isspace() or not char.isprintable() for char in template):
        return "it has a blank or a control character in it"
    try:
        parts = urlsplit(template)
        host = parts.hostname
    except ValueError:
        return "it is not an address"
    if parts.scheme not in SCHEMES:
        return "it does not begin with https:// or http://"
    if not host or "{" in parts.netloc or "@" in parts.netloc or "\\" in template:
        return "it names no server, or the id is part of the server's name"
    return None


def address(template: str, concept: str) -> str | None:
    """Return the address of an id, percent-encoded; None without a usable template or an entry."""
    if not template or concept in NO_ENTRY or template_problem(template):
        return None
    # Everything with a meaning in an address is encoded, so that an id cannot add a path.
    return template.replace(ID, quote(concept, safe="")).replace(CODE, quote(concept.rpartition(":")[2], safe=""))


def links_html(ids: Sequence[str], template: str, *, right: str | None = None, label: str = "") -> Markup:
    """Return concept ids as HTML chips, in the order given; with a usable template they are links.

    The id `right` is marked. Nothing is fetched before a click, and the opened page gets no referrer.
    """
    chips = []
    for concept in ids:
        right_class = " nvh-right" if concept == right else ""
        place = address(template, concept)
        opening = Markup('<a href="{}" target="_blank" rel="noopener noreferrer"').format(place) if place else "<span"
        closing = "a" if place else "span"
        chips.append(
            Markup('{} class="nvh-link{}">{}</{}>').format(Markup(opening), right_class, concept, Markup(closing))
        )
    head = Markup('<span class="nvh-of">{}</span> ').format(label) if label else ""
    return Markup('{}<div class="nvh-links">{}{}</div>').format(LINK_STYLE, head, Markup(" ").join(chips))


LINK_STYLE = Markup(
    "<style>"
    ".nvh-links{display:flex;flex-wrap:wrap;gap:.4em;align-items:baseline}"
    ".nvh-of{opacity:.75;font-size:.875em}"
    ".nvh-link{border:1px solid currentColor;border-radius:.8em;padding:0 .6em;font-size:.875em;"
    "overflow-wrap:anywhere;color:inherit}"
    "a.nvh-link{text-decoration:underline}"
    ".nvh-right{font-weight:700}.nvh-right::before{content:'✓ '}"
    "</style>"
)
