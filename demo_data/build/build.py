"""Write every layer of the demo corpora: `python -m demo_data.build [--check] [FOLDER]`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from demo_data.build import markup, perceptron, rules
from demo_data.build.markup import Document, Span

SOURCES = Path(__file__).parent
PUBLISHED = SOURCES.parent
CORPORA = ("pharmacology", "biology", "newspapers")
WRITTEN = ("gold", "annotator-1", "annotator-2")
NO_ENTRY = {"NO_NORMALIZABLES": "NIL"}
"""The link of types that the concept list cannot hold."""
RANKED = "rules"
"""The system that links to what its dictionary says, then to that concept's kinds: magnesium, magnesium sulfate."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build into a folder, or with --check only say which files would differ (exit status 1)."""
    parser = argparse.ArgumentParser(prog="python -m demo_data.build", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=PUBLISHED, help="where to write (default: demo_data)")
    parser.add_argument("--check", action="store_true", help="compare with the files in the folder, write nothing")
    options = parser.parse_args(arguments)
    differing = []
    for corpus in CORPORA:
        for layer, content in layers(corpus).items():
            path = options.folder / corpus / f"{layer}.jsonl"
            if not options.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            elif not path.is_file() or path.read_bytes() != content:
                differing.append(str(path))
    for name in differing:
        print(f"{name}: differs from what is built now", file=sys.stderr)
    return 1 if differing else 0


def layers(corpus: str) -> dict[str, bytes]:
    """Return the content of each layer's file.

    The taggers are given the texts of the corpus and nothing else of it.

    Raises:
        ValueError: the annotators did not annotate the same texts, or a concept is not in the list.
    """
    folder = SOURCES / corpus
    concepts = _concepts(folder)
    written = {layer: markup.read(folder / f"{layer}.txt") for layer in WRITTEN}
    gold = written["gold"]
    for layer, documents in written.items():
        for one, two in zip(gold, documents, strict=True):
            if (one.id, one.meta, one.text) != (two.id, two.meta, two.text):
                raise ValueError(f"{corpus}: document {two.id} of {layer} has not the text of gold's {one.id}")
    made = {layer: _lines(documents, concepts) for layer, documents in written.items()}
    for layer, tag in taggers(folder).items():
        found = [tag(document.text) for document in gold]
        documents = [replace(d, spans=tuple(spans)) for d, spans in zip(gold, found, strict=True)]
        made[layer] = _lines(documents, concepts, ranked=layer == RANKED)
    return made


def taggers(folder: Path) -> Mapping[str, Callable[[str], list[Span]]]:
    """Return the two systems of the corpus that the folder is named after: functions from a text to spans.

    They are made from the rules and from two of the folder's files, `dictionary.tsv` and `training.txt`.
    """
    training = markup.read(folder / "training.txt")
    # A system that has learnt a name knows the concept it was linked to.
    linked = {d.text[s.start : s.end].lower(): s.concept for d in training for s in d.spans if s.concept}
    model = perceptron.train(training)

    def tag(text: str) -> list[Span]:
        return [replace(span, concept=linked.get(text[span.start : span.end].lower())) for span in model.tag(text)]

    return {"rules": rules.tagger(folder.name, folder, markup.types(folder / "training.txt")), "perceptron": tag}


def _concepts(folder: Path) -> dict[str, str]:
    path = folder / "concepts.tsv"
    if not path.is_file():
        return {}
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {name: code for code, name in rows}


def _lines(documents: Sequence[Document], concepts: Mapping[str, str], *, ranked: bool = False) -> bytes:
    """Return documents as native JSONL: one object a line, keys and spans in a fixed order."""
    lines = []
    for document in documents:
        spans = []
        for number, span in enumerate(sorted(document.spans, key=lambda span: span.key), start=1):
            row: dict[str, object] = {"start": span.start, "end": span.end, "label": span.label, "id": f"T{number}"}
            if span.concept is not None:
                if span.concept not in concepts:
                    raise ValueError(f"document {document.id}: no concept {span.concept} in concepts.tsv")
                kinds = sorted(name for name in concepts if ranked and name.startswith(f"{span.concept}-"))
                row["links"] = [concepts[name] for name in (span.concept, *kinds)]
            elif concepts and span.label in NO_ENTRY:
                row["links"] = [NO_ENTRY[span.label]]
            if len(span.fragments) > 1:
                row["fragments"] = [list(part) for part in span.fragments]
            spans.append(row)
        line: dict[str, object] = {"id": document.id, "text": document.text, "spans": spans}
        if document.meta:
            line["meta"] = dict(document.meta)
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    return "".join(lines).encode()
