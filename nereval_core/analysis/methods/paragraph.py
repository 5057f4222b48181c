"""The methods paragraph: statements with their citations, as text, Markdown, LaTeX and BibTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from nereval_core.report import METHODS_FORMS
from nereval_core.report.method_terms import METHODS
from nereval_core.report.references import bibtex, works
from nereval_core.tables.rendering import escape_latex, escape_markdown


@dataclass(frozen=True, slots=True)
class Cited:
    """The place of a citation in a statement: the keys of the works."""

    keys: tuple[str, ...]


Statement = tuple[str | Cited, ...]
"""A sentence in parts, each text or a citation."""


def cite(*methods: str) -> Cited:
    """Return the citation of some METHODS."""
    return Cited(tuple(dict.fromkeys(key for name in methods for key in METHODS[name].sources)))


@dataclass(frozen=True)
class Methods:
    """What was done to get some figures: statements, and the signatures that reproduce the figures."""

    statements: tuple[Statement, ...]
    signatures: tuple[str, ...]

    def __repr__(self) -> str:
        return self.paragraph

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the works cited, in the order of the statements."""
        parts = (part for statement in self.statements for part in statement)
        return tuple(dict.fromkeys(key for part in parts if isinstance(part, Cited) for key in part.keys))

    @property
    def paragraph(self) -> str:
        """The statements and signatures as plain text, works by authors and year."""
        return f"{self._sentences(str, _in_brackets)} {self._signed}: {'; '.join(self.signatures)}"

    @property
    def bibtex(self) -> str:
        """The works cited, as entries of BibTeX."""
        return bibtex(self.keys)

    def as_text(self) -> str:
        """Return the paragraph and the works cited, a line each."""
        return "\n".join([self.paragraph, *([""] if self.keys else []), *self._references()]) + "\n"

    def as_markdown(self) -> str:
        """Return the paragraph with links, the signatures, and the works cited."""
        parts = [
            self._sentences(escape_markdown, _linked),
            f"{self._signed}:",
            *(f"    {one}" for one in self.signatures),
        ]
        listed = "\n".join(f"- {escape_markdown(line)}" for line in self._references())
        return "\n\n".join([*parts, *([listed] if listed else [])]) + "\n"

    def as_latex(self) -> str:
        r"""Return the paragraph with `\cite`, whose keys are those of `bibtex`."""
        signed = "\\\\\n".join(map(escape_latex, self.signatures))
        return (
            f"{self._sentences(escape_latex, _latex_citation)} {self._signed}:\n"
            f"\\begin{{flushleft}}\\footnotesize\\ttfamily\n{signed}\n\\end{{flushleft}}\n"
        )

    @property
    def _signed(self) -> str:
        return "Signature" if len(self.signatures) == 1 else "Signatures"

    def _sentences(self, escape: Callable[[str], str], cited: Callable[[tuple[str, ...]], str]) -> str:
        return " ".join(
            "".join(escape(part) if isinstance(part, str) else cited(part.keys) for part in statement)
            for statement in self.statements
        )

    def _references(self) -> Iterable[str]:
        return [f"{works()[key].reference} {works()[key].url}".rstrip() for key in sorted(self.keys)]


def _bibtex(found: Methods) -> str:
    return found.bibtex


FORMS: Mapping[str, Callable[[Methods], str]] = MappingProxyType(
    dict(zip(METHODS_FORMS, (Methods.as_markdown, Methods.as_text, Methods.as_latex, _bibtex), strict=True))
)
"""The forms of a paragraph by the ending of its file."""


def _in_brackets(keys: tuple[str, ...]) -> str:
    return f" ({'; '.join(works()[key].citation for key in keys)})" if keys else ""


def _linked(keys: tuple[str, ...]) -> str:
    return f" ({'; '.join(map(linked_citation, keys))})" if keys else ""


def linked_citation(key: str) -> str:
    """Return the citation of a work in Markdown, a link where its address is known."""
    work = works()[key]
    return f"[{work.citation}]({work.url})" if work.url else work.citation


def _latex_citation(keys: tuple[str, ...]) -> str:
    return f"~\\cite{{{','.join(keys)}}}" if keys else ""
