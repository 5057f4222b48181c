"""A small file of every kind that is known and not read, and the same written as the message about it says."""

from __future__ import annotations

import json
from typing import Any

TEXT = "Ann left Rome"
WORDS = ["Ann", "left", "Rome"]
PLAIN = {"text": TEXT, "entities": [{"start": 0, "end": 3, "label": "PER"}, {"start": 9, "end": 13, "label": "LOC"}]}
OVER_WORDS = {"tokenized_text": WORDS, "ner": [[0, 0, "PER"], [2, 2, "LOC"]]}

Files = dict[str, str]
COLUMNS = {"x.txt": "Ann\tB-PER\nleft\tO\nRome\tB-LOC\n"}


def _file(content: Any, name: str = "x.json") -> Files:
    return {name: content if isinstance(content, str) else json.dumps(content) + "\n"}


UNREAD: dict[str, tuple[Files, Files | None]] = {
    # name: (the file, what its message says to write: None where it says to give another corpus)
    "doccano 1.0": (
        _file(
            {
                "id": 1,
                "text": TEXT,
                "annotations": [{"label": 1, "start_offset": 0, "end_offset": 3, "user": 1}],
                "meta": {},
                "annotation_approver": None,
            },
            "x.jsonl",
        ),
        _file({"id": 1, "text": TEXT, "label": [[0, 3, "PER"]]}, "x.jsonl"),
    ),
    "tagtog": (
        _file(
            {
                "annotatable": {"parts": ["s1v1"]},
                "anncomplete": True,
                "sources": [],
                "metas": {},
                "entities": [{"classId": "e_1", "part": "s1v1", "offsets": [{"start": 0, "text": "Ann"}]}],
                "relations": [],
            }
        ),
        _file(PLAIN),
    ),
    "Prodigy images": (
        _file(
            {
                "image": "x.jpg",
                "width": 9,
                "height": 9,
                "spans": [{"points": [[0, 0], [1, 1]], "label": "CAR"}],
                "answer": "accept",
                "_task_hash": 1,
            },
            "x.jsonl",
        ),
        None,
    ),
    "UIMA's old JSON": (
        _file({"_context": {"_types": {}}, "_views": {"_InitialView": {"NamedEntity": [{"sofa": 1, "end": 3}]}}}),
        None,
    ),
    "FARM": (
        _file(
            [
                {
                    "task": "ner",
                    "predictions": [
                        {"start": 0, "end": 3, "context": "Ann", "label": "PER", "probability": 0.9},
                        {"start": 9, "end": 13, "context": "Rome", "label": "LOC", "probability": 0.9},
                    ],
                }
            ]
        ),
        _file(PLAIN),
    ),
    "BERT-MRC": (
        _file(
            [
                {"context": " ".join(WORDS), "entity_label": label, "start_position": [at], "end_position": [at]}
                for label, at in (("PER", 0), ("LOC", 2))
            ]
        ),
        _file([OVER_WORDS]),
    ),
    "TACRED": (
        _file(
            [
                {
                    "id": "1",
                    "token": WORDS,
                    "relation": "no_relation",
                    "subj_start": 0,
                    "subj_end": 0,
                    "obj_start": 2,
                    "obj_end": 2,
                    "stanford_ner": ["PERSON", "O", "LOCATION"],
                }
            ]
        ),
        None,
    ),
    "SQuAD": (_file({"version": "1.1", "data": [{"title": "T", "paragraphs": [{"context": TEXT, "qas": []}]}]}), None),
    "evaluate": (
        _file({"PER": {"f1": 1.0, "number": 1}, "overall_precision": 1.0, "overall_recall": 1.0, "overall_f1": 1.0}),
        None,
    ),
    "displaCy": (
        _file(
            '<div class="entities"><mark class="entity" style="background: #ddd;">\n    Ann\n'
            '    <span style="font-size: 0.8em;">PER</span>\n</mark> left Rome</div>\n',
            "x.html",
        ),
        _file(PLAIN),
    ),
    "NIF as RDF/XML": (
        _file(
            '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
            'xmlns:nif="http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"></rdf:RDF>\n',
            "x.rdf",
        ),
        None,
    ),
    "NAF": (
        _file(
            '<?xml version="1.0"?>\n<NAF xml:lang="en" version="v3"><raw>Ann left</raw><text><wf id="w1" offset="0" '
            'length="3">Ann</wf></text><entities><entity id="e1" type="PER"><references><span><target id="t1"/></span>'
            "</references></entity></entities></NAF>\n",
            "x.naf",
        ),
        _file(PLAIN),
    ),
    "FoLiA": (_file('<FoLiA xmlns="http://ilk.uvt.nl/folia" version="2.5"><text/></FoLiA>\n', "x.xml"), COLUMNS),
    "TCF": (_file('<D-Spin xmlns="http://www.dspin.de/data" version="0.4"></D-Spin>\n', "x.tcf"), COLUMNS),
    "PAGE": (_file("<?xml version='1.0'?>\n<PcGts><Page><TextRegion/></Page></PcGts>\n", "x.xml"), None),
    "Knowtator": (
        _file(
            '<annotations textSource="1.txt"><annotation><mention id="m"/><span start="0" end="3"/></annotation>'
            '<classMention id="m"><mentionClass id="PER">PER</mentionClass></classMention></annotations>\n',
            "x.xml",
        ),
        _file(PLAIN),
    ),
    "Anafora": (
        _file(
            "<data><annotations><entity><id>1@e</id><span>0,3</span><type>EVENT</type></entity></annotations></data>\n",
            "x.xml",
        ),
        _file(PLAIN),
    ),
}
