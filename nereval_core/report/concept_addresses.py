"""Where a concept id opens: an address made of a template that the user sets."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

ID, CODE = "{id}", "{code}"
"""What a template holds: the whole id, or what follows its last colon (`Wikidata:Q42` -> Q42)."""
EXAMPLE = "https://www.wikidata.org/wiki/{id}"
SCHEMES = ("http", "https")
NOTHING = ("NIL",)
"""Ids that name no entry, so that there is nothing to open."""


def template_problem(template: str) -> str | None:
    """Return what is wrong with a template, None where it can be used."""
    if ID not in template and CODE not in template:
        return f"it has neither {ID} nor {CODE} in it"
    if any(char.isspace() or not char.isprintable() for char in template):
        return "it has a blank or a control character in it"
    try:
        parts = urlsplit(template)
        host = parts.hostname
    except ValueError:
        return "it is no address"
    if parts.scheme not in SCHEMES:
        return "it does not begin with https:// or http://"
    if not host or "{" in parts.netloc or "@" in parts.netloc or "\\" in template:
        return "it names no server, or the id is part of the server's name"
    return None


def address(template: str, concept: str) -> str | None:
    """Return where an id opens, percent-encoded; None without a usable template and for what has no entry."""
    if not template or concept in NOTHING or template_problem(template):
        return None
    # Letters beyond ASCII and everything that means something in an address are encoded: an id adds no path.
    return template.replace(ID, quote(concept, safe="")).replace(CODE, quote(concept.rpartition(":")[2], safe=""))
