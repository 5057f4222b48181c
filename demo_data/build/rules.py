"""A tagger of dictionary entries and hand-written rules.

The dictionaries (`<corpus>/dictionary.tsv`) and the rules below come from general knowledge and the training documents;
but those who wrote them knew the texts, so the scores are an illustration and no measurement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from demo_data.build.markup import FRAGMENT, Span


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and what to do where it matches.

    The groups of the pattern are the fragments of the span; without groups it is the whole match. `new` marks what
    overlaps nothing marked so far; `wide` takes the place of the spans it covers and, if the rule has no label, theirs;
    `around` is marked besides the spans it covers or lies in.
    """

    label: str | None
    pattern: str
    how: Literal["new", "wide", "around"] = "new"


PHARMACOLOGY = (
    # An ester or salt belongs to the name.
    Rule(None, r"\b\w+ (?:sulfate|tartrate|phosphate|chloride|citrate|acetate|gluconate|sodium|mofetil)\b", "wide"),
    Rule(None, r"\b\w+ (?:sódica|sódico)\b", "wide"),
    # Stems of international names.
    Rule("PROTEINAS", r"(?i)\b\w{3,}mab\b"),
    Rule(
        "NORMALIZABLES", r"(?i)\b\w{2,}(?:cillin|mycin|floxacin|cycline|pril|sartan|statin|olol|azole|azosin|dipine)\b"
    ),
    Rule("NORMALIZABLES", r"(?i)\b\w{2,}(?:solone|sone|caine|barbital|azepam|triptan|lukast|parin|tidine|grelor)\b"),
    Rule("NORMALIZABLES", r"(?i)\b\w{2,}(?:azina|micina|cilina|olona|sona|prazol|avir|idol|pramida|dipino)\b"),
    Rule("NORMALIZABLES", r"(?i)\b\w{4,}(?:ine|ina)\b"),
    Rule("NORMALIZABLES", r"(?i)\bácido \w+"),
    # Proteins.
    Rule("PROTEINAS", r"(?i)\b(?:\w+ )?\w{3,}(?:ases?|asas?)\b"),
    Rule("PROTEINAS", r"\b[Ff]actor [IVX]+\b"),
    Rule("PROTEINAS", r"(?i)\b(?!the )\w+ (?:antigens?|receptors?|peptide|protein)\b", "around"),
    Rule("PROTEINAS", r"(?i)\b\w+globin\b|\b\w+globulina?s?\b"),
    Rule("PROTEINAS", r"\banti-[\w-]+ (?:antibody|antibodies)\b", "around"),
    Rule("PROTEINAS", r"(?i)\b(?:antibodies against |receptores de |anticuerpos anti-)\w+", "around"),
    # What the concept list cannot hold.
    Rule("NO_NORMALIZABLES", r"\b[A-Z]{2,3}-\d+\b"),
    Rule("NO_NORMALIZABLES", r"\b\w+ (?:extract|tea)\b|\binfusión de \w+"),
    # "alpha- and beta-blockers": the first member shares the last word.
    Rule("NORMALIZABLES", r"\b(\w+-) and \w+-(blockers|agonists|antagonists)\b", "around"),
)

BIOLOGY = (
    # A cell line with its cell word, a cell type with its marker, tissue or state.
    Rule("cell_line", r"\b(?:[A-Z][\w.]*\d[\w.]*|[A-Z]{2,}-\d+|[A-Z][a-z]+) cells\b", "wide"),
    Rule("cell_line", r"\b[A-Z]\w+\d? [BT] cells\b", "wide"),
    Rule(
        "cell_type",
        r"\b(?:memory|naive|helper|resting|activated|human|murine|primary|blood) (?:[A-Z] )?"
        r"(?:cells|lymphocytes|monocytes|macrophages|fibroblasts|hepatocytes)\b",
        "wide",
    ),
    Rule("cell_type", r"(?i)\b(?:\w+ )?(?:progenitors|precursors|blasts|cytes|microglia)\b"),
    Rule("cell_type", r"\b(?:CD\d+\+)+ ?(?:[A-Z] cells|\w+cytes)", "around"),
    # Symbols of proteins and their families of names.
    Rule("protein", r"\b(?:IL|STAT|GATA|EBNA|ATF|JAK|HES|HSF|Hsp|cyclin|p)-?\d+\b"),
    Rule("protein", r"(?i)\binterleukin-\d+\b"),
    Rule("protein", r"\b[A-Z]{2,}-?\d+[A-Z]?\b"),
    Rule("protein", r"\b[PEL]-selectin\b|\b\w+ase\b"),
    Rule("protein", r"\b\w+ (?:receptor|protein|domain|ligand)s?\b", "wide"),
    Rule("protein", r"\banti-\w+ (?:antibody|antibodies)\b", "around"),
    # A gene is the name before the word, a promoter or messenger has its protein inside.
    Rule("DNA", r"\b[\w-]+ (?:fusion )?(?:gene|locus)\b", "wide"),
    Rule(
        "DNA",
        r"\b(?!the |its |of )[\w-]+ (?:promoter|enhancer|motif|element|sites?|plasmid|vector|repeat|library)\b",
        "around",
    ),
    Rule("RNA", r"\b(?!the |of )[\w-]+ (?:mRNA|RNA|RNAs|transcripts?)\b", "around"),
    Rule("RNA", r"\bmiR-\d+\b", "wide"),
    # The bare word, where nothing above has taken it.
    Rule("DNA", r"\b(?:promoter|enhancer|plasmid|chromosome|genome|locus)\b"),
    Rule("RNA", r"\b(?:mRNA|[Tt]ranscripts)\b"),
    # "B and T lymphocytes": the first member shares the last word.
    Rule("cell_type", r"\b([BT]) and [BT] (cells|lymphocytes)\b", "around"),
    Rule("protein", r"\b(p\d+) and p\d+ (subunits)\b", "around"),
)

TITLES = r"(?:Mr|Mrs|Miss|Miſs|Dr|Capt|Lieut|Rev|Sir|Lord|Lady|Count|Father|Captain|Widow|Constable|Frau|M|Mme)"
MONTHS = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
TRADES = r"(?:waterman|grocer|hoſier|hosier|bookſeller|surgeon|coroner|notaire)"

NEWSPAPERS = (
    # Dates.
    Rule("time", r"\b\d{1,2}(?:st|ſt|d|nd|rd|th) (?:inst|ult)\b\.?"),
    Rule("time", rf"\b\d{{1,2}}(?:st|ſt|d|nd|rd|th) of {MONTHS}\b"),
    Rule("time", rf"\b{MONTHS} \d{{1,2}}(?:, \d{{4}})?\b|\b{MONTHS} \d{{4}}\b"),
    Rule("time", r"\b\d{1,2}\. (?:Januar|Februar|März|April|Mai|Juni|Juli|August)(?: \d{4})?\b"),
    Rule("time", r"\b\d{1,2} (?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre)\b"),
    # People: a title and what is written large behind it, initials and surname, a name before a trade.
    Rule("pers", rf"\b{TITLES}\.?(?: [A-Z]\w*\.)*(?: [A-Z]\w+){{1,2}}", "wide"),
    Rule("pers", r"\bBi(?:s|ſ)hop of [A-Z]\w+", "around"),
    Rule("pers", r"\b[A-Z]\. [A-Z]\w+"),
    Rule("pers", rf"\b[A-Z]\w+ [A-Z]\w+(?=, (?:\w+ )*{TRADES}\b)"),
    Rule(
        "pers",
        r"\b(?:Thomas|William|John|Mary|Jane|Martha|Georg|Jakob|Hans|Otto|Luise) [A-Z]\w+",
    ),
    Rule("pers", r"(?<=the late )[A-Z]\w+ [A-Z]\w+"),
    # Bodies and houses.
    Rule("org", r"\bMe(?:ss|ſſ)rs\. [A-Z]\w+ and (?:Co\b\.?|Sons?)", "around"),
    Rule("org", r"\b(?:[A-Z]\w+ )+(?:Company|Society|Railway|Inn|Hotel|Regiment|Infirmary)\b", "around"),
    Rule("org", r"\b\d+(?:st|nd|rd|th) [A-Z]\w+|\bGasthof zum \w+|\bGebrüder [A-Z]\w+", "around"),
    Rule("org", r"\bCompagnie d\w+ (?:la )?\w+", "around"),
    Rule("org", r"\b(?:Society|Board|Committee|Court|University) (?:of|for) (?:the )?[A-Z]\w+", "around"),
    # Ships are known by the word beside them.
    Rule("prod", r"\b(?:brig|[sſ]hip|steamer|schooner|sloop|whaler|coach|engine) ([A-Z]\w+)"),
    Rule("prod", r"\b([A-Z]\w+) (?:cutter|packet|frigate|barque)\b", "wide"),
    Rule("prod", r"\b[A-Z]\w+(?: of|s) [A-Z]\w+"),
    Rule("prod", r"\b(?:[A-Z]\w+ )?(?:Gazette|Courier|Chronicle|Nachrichten|Zeitung)\b", "wide"),
    # What is written large behind a preposition is taken for a place.
    Rule("loc", r"\b[A-Z][\w.]*-(?:lane|[sſ]treet)\b"),
    Rule("loc", r"\b(?:at|in|from|near|off|of|to|between|bei|zu|à|de) ([A-Z][a-zſ]+(?: [A-Z][a-zſ]+)?)\b"),
    # "Messrs. John and Peter Holroyd": the first brother shares the last word.
    Rule("pers", r"\b(Me(?:ss|ſſ)rs\. [A-Z]\w+) and [A-Z]\w+ ([A-Z]\w+)", "around"),
)

RULES: Mapping[str, tuple[Rule, ...]] = {
    "pharmacology": PHARMACOLOGY,
    "biology": BIOLOGY,
    "newspapers": NEWSPAPERS,
}


def tagger(name: str, folder: Path, types: Mapping[str, str]) -> Callable[[str], list[Span]]:
    """Return a function from a text to the spans that dictionary and rules find in it.

    `types` maps the letters used in the dictionary to the names of types.
    """
    entries: dict[str, tuple[str, str | None]] = {}
    for line in (folder / "dictionary.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            surface, letter, concept = line.split("\t")
            entries[surface] = types[letter], concept or None
    # Longest first, so that an entry is preferred to its parts.
    surfaces = sorted(entries, key=lambda surface: (-len(surface), surface))
    known = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, surfaces)) + r")(?!\w)", re.IGNORECASE)
    rules = [(rule, re.compile(rule.pattern)) for rule in RULES[name]]

    def tag(text: str) -> list[Span]:
        spans: list[Span] = []
        for match in known.finditer(text):
            found = entries.get(match[0], entries.get(match[0].lower()))
            # A capitalised entry stands for itself only: "Reading" is a town, "reading" is not.
            if found is not None:
                spans.append(Span((match.span(),), *found))
        for rule, pattern in rules:
            for match in pattern.finditer(text):
                spans = _apply(rule, match, spans)
        return sorted(set(spans), key=lambda span: span.key)

    return tag


def _apply(rule: Rule, match: re.Match[str], spans: list[Span]) -> list[Span]:
    parts: tuple[FRAGMENT, ...] = tuple(
        match.span(group) for group in range(1, len(match.groups()) + 1) if match[group]
    )
    parts = parts or (match.span(),)
    start, end = parts[0][0], parts[-1][1]
    touched = [span for span in spans if span.start < end and start < span.end]
    covered = [span for span in touched if start <= span.start and span.end <= end]
    if rule.how == "new" and not touched:
        return [*spans, Span(parts, rule.label or "")]
    if rule.how == "wide" and len(covered) == len(touched) and (rule.label or covered):
        return [
            *(span for span in spans if span not in covered),
            Span(parts, rule.label or covered[0].label, covered[0].concept if covered else None),
        ]
    if rule.how == "around":
        crossing = [s for s in touched if s not in covered and not (s.start <= start and end <= s.end)]
        again = any((s.fragments, s.label) == (parts, rule.label) for s in touched)
        if len(parts) > 1 or not (crossing or again):
            return [*spans, Span(parts, rule.label or "")]
    return spans
