"""Triples of RDF as Turtle or N-Triples write them, as far as annotations need them: no reasoning, nothing fetched.

See "RDF 1.1 Turtle", W3C 2014. Lists are passed over, blank nodes have names of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urljoin

from nereval_core.problems import Problem, ProblemList, quoted

TOKEN = re.compile(
    r"(?P<space>\s++|\#[^\n]*+)"
    r'|(?P<long>"""(?:[^"\\]|\\.|"(?!""))*+"""|\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*+\'\'\')'
    r'|(?P<string>"(?:[^"\\\n]|\\.)*+"|\'(?:[^\'\\\n]|\\.)*+\')'
    r"|<(?P<iri>[^<>\"{}|^`\s]*+)>"
    r"|@(?P<at>[A-Za-z][A-Za-z0-9-]*+)"
    r"|(?P<typed>\^\^)"
    r"|(?P<number>[+-]?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|[+-]?\.[0-9]++)"
    r"|(?P<name>(?:_|[^\W\d_][\w.-]{0,100}+)?:(?:[\w:%.~!$&'*+=@?/-]|\\[^\s\w])*+)"
    r"|(?P<word>[A-Za-z]++)"
    r"|(?P<mark>[;,.\[\]()])",
    re.DOTALL,
)
ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
MARKS = "end statements by a full stop, and write ; or , between what is said of one subject"
REMEDY = "write it as Turtle or N-Triples"


class Triple(NamedTuple):
    """A triple with the line of its object; `is_literal` says whether the object is a value."""

    subject: str
    predicate: str
    object: str
    is_literal: bool
    line: int


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


@dataclass(slots=True)
class _Frame:
    """What is being written of a subject; `is_list` is true within a list, whose elements are passed over."""

    subject: str = ""
    predicate: str = ""
    has_object: bool = False
    is_list: bool = False


def triples(text: str, source: str, problems: ProblemList) -> Iterator[Triple]:
    """Yield the triples of a text; where it cannot be read on, that is a problem, and the last."""
    prefixes: dict[str, str] = {}
    base = ""
    frames = [_Frame()]
    blanks = 0
    directive = prefix = ""
    stop_may_follow = False
    value: tuple[str, int] | None = None
    tokens = _tokens(text)
    for token in tokens:
        frame = frames[-1]
        kind, word, line = token
        if kind == "error":
            problems.append(Problem(source, line, f"{quoted(word)} is not Turtle", REMEDY))
            return
        # A literal may be followed by its language or type.
        if value is not None:
            if kind == "typed":
                next(tokens, None)
                continue
            if kind == "at":
                continue
            if frame.predicate and not frame.is_list:
                yield Triple(frame.subject, frame.predicate, value[0], True, value[1])
            value = None
        if stop_may_follow and word == "." and kind == "mark":
            stop_may_follow = False
            continue
        stop_may_follow = False
        if directive:
            if kind == "iri" and directive == "base":
                base = word
            elif kind == "iri":
                prefixes[prefix] = _joined(base, word)
            elif kind == "name" and directive == "prefix":
                prefix = word.removesuffix(":")
                continue
            else:
                problems.append(Problem(source, line, f"{quoted(word)} in a declaration", "write @prefix name: <…> ."))
                return
            directive, stop_may_follow = "", True
        elif kind in ("at", "word") and word.lower() in ("prefix", "base") and not frame.subject:
            directive = word.lower()
        elif kind in ("long", "string", "number") or (kind == "word" and word in ("true", "false")):
            if not frame.is_list and (not frame.predicate or frame.has_object):
                problems.append(Problem(source, line, f"the value {quoted(word)} where none can stand", MARKS))
                return
            value = word, line
            frame.has_object = True
        elif kind in ("iri", "name", "word"):
            term = _term(token, prefixes, base)
            if term is None:
                problems.append(Problem(source, line, f"{quoted(word)} is of no prefix that is declared", "declare it"))
                return
            if frame.is_list:
                continue
            if not frame.subject:
                frame.subject = term
            elif not frame.predicate:
                frame.predicate = term
            elif frame.has_object:
                problems.append(Problem(source, line, f"{quoted(word)} where none can stand", MARKS))
                return
            else:
                frame.has_object = True
                yield Triple(frame.subject, frame.predicate, term, False, line)
        elif word in "[(":
            blanks += 1
            node = f"_:b{blanks}"
            if frame.predicate and not frame.is_list:
                frame.has_object = True
                yield Triple(frame.subject, frame.predicate, node, False, line)
            elif not frame.subject:
                frame.subject = node
            frames.append(_Frame(node, is_list=word == "("))
        elif word in "])":
            if len(frames) == 1 or frame.is_list != (word == ")"):
                problems.append(Problem(source, line, f"{quoted(word)} closes nothing", REMEDY))
                return
            frames.pop()
        elif word in ";,":
            frame.has_object = False
            frame.predicate = "" if word == ";" else frame.predicate
        elif word == "." and len(frames) == 1:
            frames = [_Frame()]
    if len(frames) > 1 or frames[0].subject:
        problems.append(Problem(source, text.count("\n") + 1, "it is cut off", "give the whole file"))


def _tokens(text: str) -> Iterator[_Token]:
    """Yield what a text is made of; its last token is an error where it cannot be read."""
    at, line = 0, 1
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            yield _Token("error", text[at : at + 40].split("\n")[0], line)
            return
        kind, word = match.lastgroup, match[match.lastgroup]
        at = match.end()
        if kind == "name" and word.endswith("."):
            # A full stop ends a statement unless more of the name follows.
            stripped = word.rstrip(".")
            at -= len(word) - len(stripped)
            word = stripped
        if kind in ("long", "string"):
            edge = 3 if kind == "long" else 1
            yield _Token(kind, _unescaped(word[edge:-edge]), line)
        elif kind == "iri":
            yield _Token(kind, _unescaped(word), line)
        elif kind != "space":
            yield _Token(kind, word, line)
        line += text.count("\n", match.start(), at)


def _term(token: _Token, prefixes: dict[str, str], base: str) -> str | None:
    """Return the IRI of a token, None for a name whose prefix is not declared."""
    if token.kind == "iri":
        return _joined(base, token.text)
    if token.kind == "word":
        return TYPE if token.text == "a" else None
    prefix, _, local = token.text.partition(":")
    if prefix == "_":
        return token.text
    return None if prefix not in prefixes else prefixes[prefix] + re.sub(r"\\(.)", r"\1", local)


def _joined(base: str, iri: str) -> str:
    """Return an address that may start from a base; one that is no address as it is."""
    try:
        return urljoin(base, iri) if base else iri
    except ValueError:
        return iri


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        if code is None:
            return ESCAPES.get(match[3], match[3])
        number = int(code, 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"

    return ESCAPE.sub(character, text)
