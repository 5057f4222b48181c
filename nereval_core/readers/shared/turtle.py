"""Triples of RDF as Turtle or N-Triples write them, as far as annotations need them: no reasoning, nothing fetched.

See "RDF 1.1 Turtle", W3C 2014. Lists are passed over, blank nodes have names of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin

from nereval_core.problems import FormatError, quoted

TOKEN = re.compile(
    r"(?P<space>(?:\s++|\#[^\n]*+)++)"
    r"|(?P<declaration>@?(?i:prefix\s++(?P<prefix>(?:[^\W\d_][\w.-]*+)?):|base)\s*+<(?P<address>[^<>\"{}|^`\s]*+)>)"
    r"|(?P<value>(?:(?P<long>\"{3}|'{3})(?P<lines>(?:(?!(?P=long))[^\\]|\\.)*+)(?P=long)"
    r"|(?P<short>[\"'])(?P<words>(?:(?!(?P=short))[^\\\n]|\\.)*+)(?P=short)"
    r"|(?P<plain>[+-]?(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?|(?:true|false)\b(?!:)))"
    r"(?:\s*+\^\^\s*+(?:<[^<>\s]*+>|[\w.-]*+:[\w-]*+)|@[A-Za-z][A-Za-z0-9-]*+)?)"
    r"|<(?P<iri>[^<>\"{}|^`\s]*+)>"
    r"|(?P<name>(?P<space_of_name>(?:_|[^\W\d_][\w.-]{0,100}+)?):"
    r"(?P<local>(?:[\w:%~!$&'*+=@?/-]|\\[^\s\w]|\.++(?=[\w:%~!$&'*+=@?/\\-]))*+))"
    r"|(?P<type>a\b)"
    r"|(?P<mark>[;,.\[\]()])"
    r"|(?P<error>\S[^\n]{0,39})",
    re.DOTALL,
)
"""What Turtle is made of. A value has its language or type with it."""
ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
N_TERMS = {".": 0, ";": 1, ",": 2}
"""How many terms of a statement stay for the next: its subject, or its subject and predicate."""
REMEDY = "write it as Turtle or N-Triples"


def triples(text: str, source: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield subject, predicate and object of the triples of a text, and the line of the object.

    Raises:
        FormatError: where it cannot be read on.
    """
    prefixes, base, n_blanks, next_line = dict[str, str](), "", 0, 1
    # Subject, predicate and object, as far as written, of each node around the place; None within a list.
    nodes: list[list[str] | None] = [[]]
    for token in TOKEN.finditer(text):
        kind, word, terms, line = token.lastgroup, token[0], nodes[-1], next_line
        next_line += word.count("\n")
        if kind == "declaration" and not terms:
            if token["prefix"] is None:
                base = _joined(base, token["address"])
            else:
                prefixes[token["prefix"]] = _joined(base, token["address"])
        elif kind == "mark" and word in N_TERMS:
            if terms and (word != "." or len(nodes) == 1):
                del terms[N_TERMS[word] :]
        elif kind == "mark" and word in "])":
            if len(nodes) == 1 or (terms is None) != (word == ")"):
                raise FormatError.single(source, line, f"{quoted(word)} closes nothing", REMEDY)
            nodes.pop()
        elif kind != "space":
            n_blanks += kind == "mark"
            term = f"_:b{n_blanks}" if kind == "mark" else _term(token, prefixes, base)
            if term is None:
                is_name = kind == "name"
                finding = f"{quoted(word)} is {'of no prefix that is declared' if is_name else 'not Turtle'}"
                raise FormatError.single(source, line, finding, "declare it" if is_name else REMEDY)
            if terms is not None:
                if len(terms) == 3 or (kind == "value" and len(terms) < 2):
                    finding = f"the value {quoted(term)}" if kind == "value" else quoted(word)
                    remedy = "end statements by a full stop, and write ; or , between what is said of one subject"
                    raise FormatError.single(source, line, f"{finding} where none can stand", remedy)
                terms.append(term)
                if len(terms) == 3:
                    yield terms[0], terms[1], term, line
            if kind == "mark":
                nodes.append(None if word == "(" else [term])
    if len(nodes) > 1 or nodes[0]:
        raise FormatError.single(source, next_line, "it is cut off", "give the whole file")


def _term(token: re.Match[str], prefixes: dict[str, str], base: str) -> str | None:
    """Return the value or the IRI of a token, None where it has none."""
    if token["value"] is not None:
        return token["plain"] or ESCAPE.sub(_unescaped, token["lines"] or token["words"] or "")
    if token["iri"] is not None:
        return _joined(base, ESCAPE.sub(_unescaped, token["iri"]))
    if token["name"] is None or token["space_of_name"] == "_":
        return TYPE if token["type"] else token["name"]
    space = prefixes.get(token["space_of_name"])
    return None if space is None else space + re.sub(r"\\(.)", r"\1", token["local"])


def _joined(base: str, iri: str) -> str:
    """Return an address that may start from a base; one that is no address as it is."""
    try:
        return urljoin(base, iri) if base else iri
    except ValueError:
        return iri


def _unescaped(match: re.Match[str]) -> str:
    if match[3] is not None:
        return ESCAPES.get(match[3], match[3])
    number = int(match[1] or match[2], 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
