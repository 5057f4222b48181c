"""Names in addresses of the pages: lists with commas, merges with semicolons, and these characters in names escaped."""

from __future__ import annotations

from collections.abc import Iterable


def escaped_name(name: str) -> str:
    """Return a name in which `%`, comma, semicolon and equals sign are escapes."""
    return "".join(f"%{ord(char):02X}" if char in "%,;=" else char for char in name)


def names_parameter(names: Iterable[str]) -> str:
    """Return names as a parameter: `protein,DNA`."""
    return ",".join(map(escaped_name, names))


def merges_parameter(pairs: Iterable[tuple[str, str]]) -> str:
    """Return pairs of a type and the name that it is merged into as a parameter: `protein,DNA=macromolecule`."""
    groups: dict[str, list[str]] = {}
    for member, name in pairs:
        groups.setdefault(name, []).append(member)
    return ";".join(f"{names_parameter(members)}={escaped_name(name)}" for name, members in groups.items())
