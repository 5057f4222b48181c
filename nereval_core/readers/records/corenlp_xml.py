"""CoreNLP's XML as the objects of its JSON: sentences of tokens with their places and tags."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import Element

from nereval_core.readers.input.source import SourceFile
from nereval_core.readers.shared.safe_xml import LINE, parse_elements
from nereval_core.readers.shared.strict_json import Item

INTEGER = re.compile(r"[0-9]{1,12}")


def items_of_xml(file: SourceFile) -> list[Item]:
    """Return the documents of a file with their lines, as `-outputFormat json` would write them.

    Raises:
        FormatError: not XML, or it declares a document type.
    """
    return parse_elements(file.read(), file.shown, ("document",), _item)


def _item(document: Element) -> Item:
    sentences = [
        {"tokens": [_token(token) for token in sentence.iter("token")]}
        for sentence in document.iterfind("sentences/sentence")
    ]
    return Item(int(document.attrib[LINE]), {"docId": document.findtext("docId"), "sentences": sentences})


def _token(token: Element) -> dict[str, Any]:
    begin, end = (token.findtext(f"CharacterOffset{name}", "") for name in ("Begin", "End"))
    return {
        "word": token.findtext("word"),
        "characterOffsetBegin": int(begin) if INTEGER.fullmatch(begin) else begin,
        "characterOffsetEnd": int(end) if INTEGER.fullmatch(end) else end,
        "ner": token.findtext("NER"),
    }
