"""The works that methods are cited from, which `references.bib` holds: as short citations, as lines and as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

_FILE = Path(__file__).with_name("references.bib")
_PARTICLES = ("van", "von", "de")
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "SemEval-2013 task 9.1": "segura-bedmar2013",
        'HIPE "fuzzy"': "ehrmann2020",
        "GENETAG": "tanabe2005",
    }
)
"""Names by which `source` of a criterion calls a work otherwise than by its short citation."""


@dataclass(frozen=True, slots=True)
class Work:
    """A work with the entry of the file that it is read from, and the fields of that entry as plain text."""

    key: str
    entry: str
    fields: Mapping[str, str]

    @property
    def citation(self) -> str:
        """The short citation: `Efron 1987`, `Hripcsak and Rothschild 2005`, `Tsai et al. 2006`."""
        names = [_family_name(name) for name in self._authors()]
        who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
        return f"{who} {self.fields['year']}"

    @property
    def reference(self) -> str:
        """The whole reference in a line."""
        names = [re.sub("[{}]", "", name) for name in self._authors()]
        listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
        listed = re.sub(r" and others$", " et al.", listed)
        where = [self.fields[name] for name in ("journal", "booktitle", "publisher", "institution") if self._has(name)]
        volume = self.fields.get("volume", "") + (f"({self.fields['number']})" if self._has("number") else "")
        place = " ".join([*where, *([volume] if volume else [])])
        pages = f", {self.fields['pages']}" if self._has("pages") else ""
        return f"{listed} ({self.fields['year']}). {self.fields['title']}." + (f" {place}{pages}." if place else "")

    @property
    def url(self) -> str:
        """The address of the work, "" where the file has neither DOI nor URL."""
        doi = self.fields.get("doi")
        return f"https://doi.org/{quote(doi, safe='/')}" if doi else self.fields.get("url", "")

    def _authors(self) -> list[str]:
        return self.fields["author"].split(" and ")

    def _has(self, name: str) -> bool:
        return name in self.fields


@cache
def works() -> Mapping[str, Work]:
    """Return all works by key, in the order of their keys."""
    by_key = {}
    for entry in re.findall(r"^@.*?^}$", _FILE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        key = entry[entry.index("{") + 1 : entry.index(",")]
        fields = {name: _plain(name, text) for name, text in re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE)}
        by_key[key] = Work(key, entry, MappingProxyType(fields))
    return MappingProxyType(by_key)


def bibtex(keys: Iterable[str]) -> str:
    """Return the entries of works in the order of their keys."""
    return "".join(f"{works()[key].entry}\n" for key in sorted(set(keys)))


def works_named_in(text: str) -> tuple[str, ...]:
    """Return the keys of the works that a text cites by short citations or ALIASES, in their order."""
    named = {work.citation: key for key, work in works().items()} | dict(ALIASES)
    places = sorted((text.index(name), key) for name, key in named.items() if name in text)
    return tuple(dict.fromkeys(key for _, key in places))


def _plain(name: str, text: str) -> str:
    """Return the text of a field without markup; braces of names are kept, as they hold a family name together."""
    plain_text = text.replace("\\&", "&").replace("--", "–")
    return plain_text if name == "author" else re.sub("[{}]", "", plain_text)


def _family_name(name: str) -> str:
    """Return the family name of `First {Family Name}` or `First van Family`; "others" stay."""
    if (braced := re.search(r"\{(.*)\}", name)) is not None:
        return braced[1]
    parts = name.split()
    first = next((place for place, part in enumerate(parts) if part in _PARTICLES), -1)
    return " ".join(parts[first:])
