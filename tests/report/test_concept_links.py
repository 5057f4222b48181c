"""Where ids open: which templates are refused, and that an id stays an id whatever is in it."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nereval_core.report.concept_links import EXAMPLE, address, links_html, template_problem

REFUSED = [
    "",
    "Q42",
    "https://www.wikidata.org/wiki/",
    "javascript:alert('{id}')",
    "JAVASCRIPT:alert('{id}')",
    "data:text/html,{id}",
    "ftp://example.org/{id}",
    "//example.org/{id}",
    "https://{id}.example.org/",
    "https://{id}/",
    "https://user:{id}@example.org/{id}",
    "https:///{id}",
    "https://example.org\\@evil/{id}",
    "https://example.org/{id} x",
    "https://example.org/{id}\n",
    "https://[{id}",
    " https://example.org/{id}",
]


@pytest.mark.parametrize("template", REFUSED)
def test_refused(template: str) -> None:
    assert template_problem(template)
    assert address(template, "Q42") is None


TAKEN = [
    (EXAMPLE, "Q42", "https://www.wikidata.org/wiki/Q42"),
    (EXAMPLE, "a/../b?c#d", "https://www.wikidata.org/wiki/a%2F..%2Fb%3Fc%23d"),
    (EXAMPLE, "{code}", "https://www.wikidata.org/wiki/%7Bcode%7D"),
    ("https://www.wikidata.org/wiki/{code}", "Wikidata:Q42", "https://www.wikidata.org/wiki/Q42"),
    ("http://localhost:8000/?q={id}&x={code}", "é:1", "http://localhost:8000/?q=%C3%A9%3A1&x=1"),
    (EXAMPLE, "NIL", None),
]


@pytest.mark.parametrize(("template", "concept", "expected"), TAKEN)
def test_addresses(template: str, concept: str, expected: str | None) -> None:
    assert address(template, concept) == expected


class _Read(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[dict[str, str | None]] = []
        self.tags: set[str] = set()
        self.text = ""
        self.style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.style = tag == "style"
        if tag == "a":
            self.links.append(dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        self.style = False

    def handle_data(self, data: str) -> None:
        self.text += "" if self.style else data


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1) | st.just("\"><script>alert('x')</script>"))
def test_an_id_is_one_part_of_the_address_and_text_in_the_chip(concept: str) -> None:
    place = address(EXAMPLE, concept)
    assert concept == "NIL" or (place is not None and place.isascii())
    if place is not None:
        parts = urlsplit(place)
        assert (parts.netloc, parts.query, parts.fragment) == ("www.wikidata.org", "", "")
        assert unquote(parts.path.removeprefix("/wiki/")) == concept
    reader = _Read()
    reader.feed(str(links_html([concept, "NIL"], EXAMPLE, right=concept)))
    assert reader.tags <= {"style", "div", "span", "a"}
    assert reader.text == f"{concept} NIL"
    assert [(link["href"], link["rel"]) for link in reader.links] == ([(place, "noopener noreferrer")] if place else [])


def test_without_a_template_nothing_opens() -> None:
    for template in ("", "javascript:{id}"):
        assert "<a" not in links_html(["Q42"], template)
