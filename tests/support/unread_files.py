"""A small file of every kind that is known and not read, and the same written as the message about it says."""

from __future__ import annotations

import json
from typing import Any

TEXT = "Ann left Rome"
WORDS = ["Ann", "left", "Rome"]
PLAIN = {"text": TEXT, "entities": [{"start": 0, "end": 3, "label": "PER"}, {"start": 9, "end": 13, "label": "LOC"}]}
OVER_WORDS = {"tokenized_text": WORDS, "ner": [[0, 0, "PER"], [2, 2, "LOC"]]}
COLUMNS = "Ann\tPERSON\nleft\tO\nRome\tLOCATION\n\n"
STAND_OFF = {"x.txt": TEXT, "x.ann": "T1\tPER 0 3\tAnn\nT2\tLOC 9 13\tRome\n"}

Files = dict[str, str]


def _file(content: Any, name: str = "x.json") -> Files:
    return {name: content if isinstance(content, str) else json.dumps(content) + "\n"}


def _point(start: int, end: int, **more: Any) -> dict[str, Any]:
    return {"start": start, "end": end, "text": TEXT[start : end + 1], **more}


AZURE_ENTITIES = [
    {"text": "Ann", "category": "Person", "offset": 0, "length": 3, "confidenceScore": 0.9},
    {"text": "Rome", "category": "Location", "subcategory": "GPE", "offset": 9, "length": 4, "confidenceScore": 0.8},
]
AZURE_DOCUMENTS = {
    "documents": [{"id": "1", "entities": AZURE_ENTITIES, "warnings": []}],
    "errors": [],
    "modelVersion": "2023-09-01",
}
AZURE_READ = {"id": "1", "text": TEXT, "entities": AZURE_ENTITIES}
COMPREHEND = {
    "Entities": [
        {"BeginOffset": 0, "EndOffset": 3, "Score": 0.9, "Text": "Ann", "Type": "PERSON"},
        {"BeginOffset": 9, "EndOffset": 13, "Score": 0.9, "Text": "Rome", "Type": "LOCATION"},
    ],
    "File": "x.txt",
    "Line": 0,
}
GOOGLE = {
    "entities": [
        {
            "name": name,
            "type": kind,
            "metadata": {},
            "salience": 0.5,
            "mentions": [{"text": {"content": name, "beginOffset": start}, "type": "PROPER"}],
        }
        for name, kind, start in (("Ann", "PERSON", 0), ("Rome", "LOCATION", 9))
    ],
    "language": "en",
}
SPERT_SPANS = [{"type": "PER", "start": 0, "end": 1}, {"type": "LOC", "start": 2, "end": 3}]
CORENLP_WORDS = [
    {"index": 1, "word": "Ann", "originalText": "Ann", "characterOffsetBegin": 0, "characterOffsetEnd": 3, "ner": "O"}
]
TECOHOLIC_PAIRS = [[TEXT, {"entities": [[0, 3, "PER"], [9, 13, "LOC"]]}]]
DATASET_ROW = {"tokens": WORDS, "ner_tags": ["B-PER", "O", "B-LOC"]}
ARGILLA_SPANS = [{"label": "PER", "start": 0, "end": 3}, {"label": "LOC", "start": 9, "end": 13}]
CONLLU = "".join(
    f"{number}\t{word}\t_\t_\t_\t_\t_\t_\t_\tner={tag}\n"
    for number, (word, tag) in enumerate(zip(WORDS, ("S-PER", "O", "S-LOC"), strict=True), 1)
)

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
    "Argilla 1": (
        _file(
            {
                "text": TEXT,
                "tokens": WORDS,
                "prediction": None,
                "prediction_agent": None,
                "annotation": ARGILLA_SPANS,
                "annotation_agent": "argilla",
                "id": "a1",
                "metadata": {},
                "status": "Validated",
            },
            "x.jsonl",
        ),
        _file({"text": TEXT, "entities": ARGILLA_SPANS}),
    ),
    "Argilla 2": (
        _file(
            [
                {
                    "id": "a1",
                    "status": "completed",
                    "_server_id": "s1",
                    "fields": {"text": TEXT},
                    "metadata": {},
                    "suggestions": {},
                    "responses": {"spans": [{"value": ARGILLA_SPANS, "user_id": "u1"}]},
                    "vectors": {},
                }
            ]
        ),
        _file({"text": TEXT, "entities": ARGILLA_SPANS}),
    ),
    "Label Studio CSV": (
        {
            "x.csv": "annotation_id,annotator,created_at,id,label,lead_time,text,updated_at\n"
            '5,1,2024-01-01T00:00:00Z,12,"[{""start"":0,""end"":3,""text"":""Ann"",""labels"":[""PER""]}]",4.2,'
            f"{TEXT},2024-01-01T00:00:00Z\n"
        },
        _file(
            [
                {
                    "text": TEXT,
                    "id": 12,
                    "label": [{"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}],
                    "annotator": 1,
                    "annotation_id": 5,
                    "lead_time": 4.2,
                }
            ]
        ),
    ),
    "LightTag": (
        _file(
            {
                "examples": [
                    {
                        "example_id": "e1",
                        "content": TEXT,
                        "metadata": {},
                        "annotations": [{"tag": "PER", "start": 0, "end": 3, "value": "Ann", "tag_id": "t"}],
                        "classifications": [],
                    }
                ],
                "relations": [],
            }
        ),
        _file(PLAIN),
    ),
    "Dataturks": (
        _file(
            {
                "content": TEXT,
                "annotation": [{"label": ["PER"], "points": [_point(0, 2)]}],
                "extras": None,
                "metadata": {"first_done_at": 1527658507000},
            }
        ),
        _file(PLAIN),
    ),
    "Labelbox": (
        _file(
            {
                "data_row": {"id": "r1", "row_data": TEXT},
                "media_attributes": {},
                "projects": {
                    "p": {
                        "labels": [{"annotations": {"objects": [{"name": "PER", "location": {"start": 0, "end": 2}}]}}]
                    }
                },
            },
            "x.ndjson",
        ),
        _file(PLAIN),
    ),
    "UBIAI": (
        _file(
            [
                {
                    "documentName": "x.txt",
                    "document": TEXT,
                    "tokens": [
                        {"text": "Ann", "start": 0, "end": 3, "token_start": 0, "token_end": 0, "entityLabel": "PER"}
                    ],
                    "relations": [],
                }
            ]
        ),
        _file(PLAIN),
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
    "tecoholic": (_file({"classes": ["PER", "LOC"], "annotations": TECOHOLIC_PAIRS}), _file(TECOHOLIC_PAIRS)),
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
    "Rasa": (
        _file(
            {
                "rasa_nlu_data": {
                    "common_examples": [
                        {
                            "text": TEXT,
                            "intent": "go",
                            "entities": [{"start": 0, "end": 3, "value": "Ann", "entity": "PER"}],
                        }
                    ]
                }
            }
        ),
        _file(PLAIN),
    ),
    "brat's JSON": (
        _file({"text": TEXT, "entities": [["T1", "PER", [[0, 3]]], ["T2", "LOC", [[9, 13]]]], "relations": []}),
        STAND_OFF,
    ),
    "GATE": (
        _file({"text": TEXT, "entities": {"Person": [{"indices": [0, 3], "gender": "female"}]}}),
        _file(PLAIN),
    ),
    "Azure": (_file(AZURE_DOCUMENTS), _file(AZURE_READ)),
    "Azure with kind": (
        _file({"kind": "EntityRecognitionResults", "results": AZURE_DOCUMENTS}),
        _file(AZURE_READ),
    ),
    "Azure job": (
        _file(
            {
                "jobId": "j1",
                "status": "succeeded",
                "tasks": {"items": [{"kind": "EntityRecognitionLROResults", "results": AZURE_DOCUMENTS}]},
            }
        ),
        _file(AZURE_READ),
    ),
    "Azure project": (
        _file(
            {
                "projectFileVersion": "2022-05-01",
                "stringIndexType": "Utf16CodeUnit",
                "metadata": {"projectKind": "CustomEntityRecognition"},
                "assets": {
                    "entities": [{"category": "PER"}],
                    "documents": [
                        {
                            "location": "x.txt",
                            "language": "en",
                            "entities": [
                                {
                                    "regionOffset": 0,
                                    "regionLength": 13,
                                    "labels": [{"category": "PER", "offset": 0, "length": 3}],
                                }
                            ],
                        }
                    ],
                },
            }
        ),
        _file(PLAIN),
    ),
    "Comprehend": (_file(COMPREHEND, "output"), _file({**COMPREHEND, "text": TEXT}, "output")),
    "Ground Truth": (
        _file(
            {
                "source": TEXT,
                "names": {
                    "annotations": {"entities": [{"label": "PER", "startOffset": 0, "endOffset": 3}], "labels": []}
                },
                "names-metadata": {"entities": [{"confidence": 0.5}], "job-name": "j"},
            },
            "output.manifest",
        ),
        _file(PLAIN),
    ),
    "Google": (_file(GOOGLE), _file({**GOOGLE, "text": TEXT})),
    "Vertex AI": (
        _file(
            {
                "textSegmentAnnotations": [{"startOffset": 0, "endOffset": 3, "displayName": "PER"}],
                "textContent": TEXT,
                "dataItemResourceLabels": {},
            },
            "x.jsonl",
        ),
        _file(PLAIN),
    ),
    "AutoML": (
        _file(
            {
                "annotations": [
                    {
                        "text_extraction": {"text_segment": {"start_offset": 0, "end_offset": 3}},
                        "display_name": "PER",
                    }
                ],
                "text_snippet": {"content": TEXT},
            },
            "x.jsonl",
        ),
        _file(PLAIN),
    ),
    "Watson": (
        _file(
            {
                "usage": {"text_units": 1, "features": 1},
                "language": "en",
                "entities": [
                    {"type": "Person", "text": "Ann", "mentions": [{"text": "Ann", "location": [0, 3]}], "count": 1}
                ],
            }
        ),
        _file(PLAIN),
    ),
    "LangExtract": (
        _file(
            {
                "extractions": [
                    {
                        "extraction_class": "PER",
                        "extraction_text": "Ann",
                        "char_interval": {"start_pos": 0, "end_pos": 3},
                        "alignment_status": "match_exact",
                        "attributes": {},
                    }
                ],
                "text": TEXT,
                "document_id": "doc_1",
            },
            "x.jsonl",
        ),
        _file(PLAIN),
    ),
    "spaCy 2": (
        _file(
            [
                {
                    "id": 0,
                    "paragraphs": [
                        {
                            "raw": TEXT,
                            "sentences": [
                                {"tokens": [{"id": 0, "orth": "Ann", "tag": "NNP", "head": 0, "ner": "U-PER"}]}
                            ],
                        }
                    ],
                }
            ]
        ),
        None,
    ),
    "CoreNLP": (_file({"docId": "x", "sentences": [{"index": 0, "tokens": CORENLP_WORDS}]}), {"x.conll": COLUMNS}),
    "Stanza": (
        _file([[{"id": 1, "text": "Ann", "upos": "PROPN", "start_char": 0, "end_char": 3, "ner": "S-PER"}]]),
        {"x.conllu": CONLLU},
    ),
    "Flair": (
        _file(
            {
                "text": TEXT,
                "labels": [],
                "entities": [
                    {"text": "Ann", "start_pos": 0, "end_pos": 3, "labels": [{"value": "PER", "confidence": 0.9}]}
                ],
            },
            "x.jsonl",
        ),
        _file(PLAIN),
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
    "Haystack": (
        _file(
            [
                {
                    "id": "h1",
                    "content": TEXT,
                    "meta": {"named_entities": [{"entity": "PER", "start": 0, "end": 3, "score": 0.9}]},
                }
            ]
        ),
        _file(PLAIN),
    ),
    "BigBIO": (
        _file(
            {
                "id": "0",
                "document_id": "d1",
                "passages": [{"id": "1", "type": "title", "text": [TEXT], "offsets": [[0, 13]]}],
                "entities": [{"id": "2", "type": "PER", "text": ["Ann"], "offsets": [[0, 3]], "normalized": []}],
                "events": [],
                "coreferences": [],
                "relations": [],
            },
            "x.jsonl",
        ),
        _file(PLAIN),
    ),
    "SpERT": (
        _file([{"tokens": WORDS, "entities": SPERT_SPANS, "relations": [], "orig_id": "1"}]),
        _file([OVER_WORDS]),
    ),
    "W2NER": (
        _file([{"sentence": WORDS, "ner": [{"index": [0], "type": "PER"}], "word": WORDS}]),
        _file([OVER_WORDS]),
    ),
    "CLUENER": (
        _file({"text": TEXT, "label": {"name": {"Ann": [[0, 2]]}, "address": {"Rome": [[9, 12]]}}}),
        _file({"text": TEXT, "label": [[0, 3, "name"], [9, 13, "address"]]}),
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
    "Presidio's evaluator": (
        _file([{"full_text": TEXT, "spans": [{"entity_type": "PER", "start_position": 0, "end_position": 3}]}]),
        _file(PLAIN),
    ),
    "ai4privacy": (
        _file({"source_text": TEXT, "privacy_mask": [{"value": "Ann", "start": 0, "end": 3, "label": "PER"}]}),
        _file(PLAIN),
    ),
    "GATE's bdocjs": (
        _file(
            {
                "annotation_sets": {"": {"annotations": [{"type": "PER", "start": 0, "end": 3, "id": 0}]}},
                "text": TEXT,
                "offset_type": "p",
            }
        ),
        _file(PLAIN),
    ),
    "i2b2 2014": (
        _file(
            f'<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>\n<TEXT><![CDATA[{TEXT}]]></TEXT>\n<TAGS>\n'
            '<NAME id="P0" start="0" end="3" text="Ann" TYPE="PATIENT" comment="" />\n</TAGS>\n</deIdi2b2>\n',
            "x.xml",
        ),
        STAND_OFF,
    ),
    "OneIE": (
        _file(
            {
                "doc_id": "d",
                "sent_id": "s",
                "tokens": WORDS,
                "entity_mentions": [{"id": "e1", "start": 0, "end": 1, "entity_type": "PER", "text": "Ann"}],
                "relation_mentions": [],
            }
        ),
        _file(OVER_WORDS),
    ),
    "DocRED": (
        _file(
            [
                {
                    "vertexSet": [[{"pos": [0, 1], "type": "PER", "sent_id": 0, "name": "Ann"}]],
                    "labels": [],
                    "title": "T",
                    "sents": [WORDS],
                }
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
    "datasets server": (
        _file(
            {
                "features": [{"feature_idx": 0, "name": "tokens", "type": {}}],
                "rows": [{"row_idx": 0, "row": DATASET_ROW, "truncated_cells": []}],
                "num_rows_total": 1,
            }
        ),
        _file(DATASET_ROW),
    ),
    "evaluate": (
        _file({"PER": {"f1": 1.0, "number": 1}, "overall_precision": 1.0, "overall_recall": 1.0, "overall_f1": 1.0}),
        None,
    ),
}
