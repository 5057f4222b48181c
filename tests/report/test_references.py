"""The works cited: their short forms, that the documentation cites no others, and that BibTeX can read them."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from nereval_core.conventions import conventions
from nereval_core.report.references import ALIASES, METHODS, bibtex, works, works_named_in
from nereval_core.scoring.criteria import CRITERIA
from tests.support import ROOT

REQUIRED = {
    "article": {"journal"},
    "book": {"publisher"},
    "inproceedings": {"booktitle"},
    "techreport": {"institution"},
    "misc": {"url"},
}


def parsed(text: str) -> Mapping[str, tuple[str, Mapping[str, str]]]:
    """Return the type and fields of each entry by key: a reader of BibTeX that counts braces."""
    found = {}
    place = 0
    while (at := text.find("@", place)) >= 0:
        entry, _, rest = text[at + 1 :].partition("{")
        depth, end = 1, 0
        while depth:
            depth += {"{": 1, "}": -1}.get(rest[end], 0)
            end += 1
        key, _, body = rest[: end - 1].partition(",")
        fields, name, depth, start = {}, "", 0, 0
        for number, char in enumerate(body):
            if char == "=" and not depth:
                name = body[start:number].strip(" \n,")
            if char == "{":
                depth, start = depth + 1, start if depth else number + 1
            if char == "}":
                depth -= 1
                if not depth:
                    fields[name], start = body[start:number], number + 1
        assert key not in found and depth == 0 and not body[start:].strip(" \n,")
        found[key] = (entry, fields)
        place = at + 1 + len(entry) + 1 + end
    return found


def test_every_entry_has_what_its_kind_needs() -> None:
    found = parsed(bibtex(works()))
    assert list(found) == list(works()) == sorted(works())
    for key, (entry, fields) in found.items():
        assert {"author", "title", "year"} | REQUIRED[entry] <= set(fields), key
        assert key.endswith(fields["year"]) and "&" not in re.sub(r"\\&", "", str(fields))
        assert works()[key].fields["year"] == fields["year"]


def test_short_citations_are_distinct_and_in_the_form_of_the_documentation() -> None:
    assert len({work.citation for work in works().values()}) == len(works())
    shown = [works()[key].citation for key in ("efron1987", "hripcsak2005", "tsai2006", "tjong-kim-sang2000")]
    expected = ["Efron 1987", "Hripcsak and Rothschild 2005", "Tsai et al. 2006", "Tjong Kim Sang and Buchholz 2000"]
    assert shown == expected
    assert works()["krippendorff2004"].reference == (
        "Klaus Krippendorff (2004). Measuring the Reliability of Qualitative Text Analysis Data. "
        "Quality & Quantity 38(6), 787–800."
    )
    assert "Lorraine K. Tanabe et al. (2008)" in works()["smith2008"].reference
    assert works()["krippendorff2004"].url == "https://doi.org/10.1007/s11135-004-8107-7"
    assert not works()["holm1979"].url


def test_the_documentation_cites_works() -> None:
    text = (ROOT / "docs" / "scoring.md").read_text(encoding="utf-8")
    cited = set(re.findall(r"(?:[A-Z][\w'-]+ and )?[A-Z][\w'-]+(?: et al\.)? (?:19|20)\d\d\b", " ".join(text.split())))
    assert len(cited) > 20
    assert cited <= {work.citation for work in works().values()}


@pytest.mark.parametrize("name", METHODS)
def test_every_source_of_a_method_is_a_work(name: str) -> None:
    assert all(key in works() for key in METHODS[name].sources)
    assert METHODS[name].sentence.endswith(".")


def test_sources_of_criteria_and_scorers_name_their_works() -> None:
    assert all(key in works() for key in ALIASES.values())
    assert works_named_in(CRITERIA["type"].source) == ("segura-bedmar2013", "ehrmann2020", "tsai2006")
    assert all(works_named_in(criterion.source) for criterion in CRITERIA.values())
    without = {one.family for one in conventions().values() if not works_named_in(one.source)}
    assert without == {"spaCy"}
    assert works_named_in("") == ()
