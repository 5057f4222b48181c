"""A small file of each shape of JSON records, as the tools write them, by hand; all but a few of the same two texts."""

from __future__ import annotations

import json
from typing import Any

TEXT = "Ann 😀 left Rome"
OTHER = "Nobody came."
WORDS = TEXT.split()
GOLD = {"PER": (0, 3), "LOC": (11, 15)}
"""The spans of the first text, in code points."""

Files = dict[str, str]


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def spans(*keys: str, shift: int = 0, **more: Any) -> list[dict[str, Any]]:
    """Return the spans of the text as objects, start, end, type and, with a fourth of the `keys`, words under them."""
    return [
        {**dict(zip(keys, (start, end + shift, kind, TEXT[start:end]), strict=False)), **more}
        for kind, (start, end) in GOLD.items()
    ]


def utf_16(row: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return a span whose offsets count UTF-16 units: one character before them takes two."""
    return {key: value + 1 if key in keys and value > 4 else value for key, value in row.items()}


ARGILLA = {"prediction_agent": None, "annotation_agent": "argilla", "metadata": {}, "status": "Validated"}
ARGILLA_1 = lines(
    {
        "text": TEXT,
        "tokens": WORDS,
        "prediction": [["PER", 0, 3, 0.5]],
        "annotation": spans("start", "end", "label"),
        "id": "a1",
        **ARGILLA,
    },
    {"text": OTHER, "tokens": OTHER.split(), "prediction": None, "annotation": [], "id": "a2", **ARGILLA},
)
ARGILLA_2 = json.dumps(
    [
        {
            "id": name,
            "fields": {"text": text},
            "metadata": {},
            "suggestions": {"spans": {"value": [], "score": None, "agent": "model-1"}},
            "responses": {"spans": [{"value": value, "user_id": "u1"}], "tone": [{"value": "calm", "user_id": "u1"}]},
            "vectors": {},
            "_server_id": f"s{name}",
        }
        for name, text, value in (("a1", TEXT, spans("start", "end", "label")), ("a2", OTHER, []))
    ],
    indent=1,
)
# As the server of version 1 answers.
ARGILLA_SERVER = json.dumps(
    [
        {
            "id": name,
            "text": text,
            "tokens": text.split(),
            "annotation": {"agent": "ann", "entities": entities},
            "prediction": None,
        }
        for name, text, entities in (("a1", TEXT, spans("start", "end", "label", score=1.0)), ("a2", OTHER, []))
    ]
)
# `records.to_list(flatten=True)`, and the data sets of `to_datasets()`, whose lists of objects may be columns.
ARGILLA_COLUMNS = lines(
    *(
        {
            "id": name,
            "status": "completed",
            "_server_id": f"s{name}",
            "text": text,
            "names.responses": [value],
            "names.responses.users": ["u1"],
            "names.responses.status": ["submitted"],
            "names.suggestion": {"start": [0], "end": [3], "label": ["PER"]},
            "names.suggestion.agent": "model-1",
        }
        for name, text, value in (("a1", TEXT, spans("start", "end", "label")), ("a2", OTHER, []))
    )
)
ARGILLA_FEEDBACK = lines(
    {
        "text": TEXT,
        "names": [
            {"user_id": "u1", "value": spans("start", "end", "label", "text"), "status": "submitted"},
            {"user_id": "u2", "value": None, "status": "discarded"},
        ],
        "names-suggestion": None,
        "names-suggestion-metadata": {"type": None, "score": None, "agent": None},
        "external_id": None,
        "metadata": "{}",
    }
)
# LTExample in lighttag-convertors.
ANNOTATOR = {"annotator_id": 1, "annotator": "ann@example.org", "timestamp": "2024-01-01T00:00:00Z"}
LIGHTTAG = json.dumps(
    {
        "name": "job",
        "id": "j1",
        "schema": {},
        "examples": [
            {
                "example_id": "e1",
                "content": TEXT,
                "metadata": {},
                "seen_by": [ANNOTATOR, {**ANNOTATOR, "annotator": "bob"}],
                "annotations": spans(
                    "start",
                    "end",
                    "tag",
                    "value",
                    example_id="e1",
                    tag_id="t",
                    tagged_token_id="k",
                    reviewed=False,
                    correct=None,
                    annotated_by=[ANNOTATOR],
                ),
                "classifications": [],
            }
        ],
        "relations": [],
    }
)
DATATURKS = lines(
    {
        "content": TEXT,
        "annotation": [
            {"label": [kind], "points": [{"start": start, "end": end - 1, "text": TEXT[start:end]}]}
            for kind, (start, end) in GOLD.items()
        ],
        "extras": None,
        "metadata": {"first_done_at": 1527658507000},
    },
    {"content": OTHER, "annotation": None, "extras": None, "metadata": {}},
)
# Labelbox's tests of its exports: an end inside the span, and the words as the token.
LABELBOX = lines(
    {
        "data_row": {"id": "r1", "external_id": "one.txt", "row_data": TEXT},
        "media_attributes": {"asset_type": "text"},
        "projects": {
            "p1": {
                "name": "names",
                "labels": [
                    {
                        "label_kind": "Default",
                        "label_details": {"created_by": "ann@example.org"},
                        "annotations": {
                            "objects": [
                                {
                                    "name": kind,
                                    "value": kind.lower(),
                                    "annotation_kind": "TextEntity",
                                    "classifications": [],
                                    "location": {"start": start, "end": end - 1, "token": TEXT[start:end]},
                                }
                                for kind, (start, end) in GOLD.items()
                            ],
                            "classifications": [],
                            "relationships": [],
                        },
                    }
                ],
            }
        },
    }
)
LABELBOX_1 = json.dumps(
    [
        {
            "ID": f"l{at}",
            "DataRow ID": f"r{at}",
            "Labeled Data": text,
            "Label": {
                "objects": [
                    {
                        "featureId": "f",
                        "title": kind,
                        "value": kind.lower(),
                        "format": "text.location",
                        "data": {"location": {"start": start, "end": end - 1}},
                    }
                    for kind, (start, end) in places.items()
                ],
                "classifications": [],
            },
            "Created By": who,
            "External ID": f"{at}.txt",
            "Reviews": [],
        }
        for at, text, who, places in ((0, TEXT, "ann@example.org", GOLD), (1, OTHER, "ann@example.org", {}))
    ]
)
UBIAI = json.dumps(
    [
        {
            "documentName": "x.txt",
            "document": TEXT,
            "tokens": spans("start", "end", "entityLabel", "text", token_start=0, token_end=0),
            "relations": [],
        }
    ]
)
TECOHOLIC = json.dumps(
    {
        "classes": ["PER", "LOC"],
        "annotations": [[TEXT, {"entities": [[0, 3, "PER"], [11, 15, "LOC"]]}], [OTHER, {"entities": []}]],
    }
)
RASA = json.dumps(
    {
        "rasa_nlu_data": {
            "common_examples": [
                {"text": TEXT, "intent": "go", "entities": spans("start", "end", "entity", value="Ann Lee")},
                {"text": OTHER, "intent": "none"},
            ],
            "entity_synonyms": [],
        }
    },
    indent=1,
)
BRAT_JSON = json.dumps(
    {
        "text": TEXT,
        "entities": [["T1", "PER", [[0, 3]]], ["T2", "LOC", [[11, 15]]], ["T3", "ODD", [[0, 3], [6, 10]]]],
        "relations": [],
    }
)
# GATE counts UTF-16 units.
GATE_JSON = json.dumps(
    {"text": TEXT, "entities": {"PER": [{"indices": [0, 3], "gender": "female"}], "LOC": [{"indices": [12, 16]}]}}
)
BDOC = json.dumps(
    {
        "annotation_sets": {
            "Key": {"name": "Key", "annotations": spans("start", "end", "type", features={}, id=0), "next_annid": 2}
        },
        "text": TEXT,
        "offset_type": "p",
        "features": {},
        "name": "",
    }
)
AZURE_DOCUMENTS = {
    "documents": [
        {
            "id": "1",
            "entities": [
                {
                    "text": TEXT[start:end],
                    "category": kind,
                    "offset": start,
                    "length": end - start,
                    "confidenceScore": 0.9,
                }
                for kind, (start, end) in GOLD.items()
            ],
            "warnings": [],
        },
        {"id": "2", "entities": [], "warnings": []},
    ],
    "errors": [],
    "modelVersion": "2023-09-01",
}
AZURE_PROJECT = json.dumps(
    {
        "projectFileVersion": "2022-05-01",
        "stringIndexType": "Utf16CodeUnit",
        "metadata": {"projectKind": "CustomEntityRecognition"},
        "assets": {
            "entities": [{"category": "PER"}, {"category": "LOC"}],
            "documents": [
                {
                    "location": "1.txt",
                    "language": "en",
                    "dataset": "Train",
                    "entities": [
                        {
                            "regionOffset": 0,
                            "regionLength": 16,
                            "labels": [
                                {"category": "PER", "offset": 0, "length": 3},
                                {"category": "LOC", "offset": 12, "length": 4},
                            ],
                        }
                    ],
                },
                {"location": "2.txt", "language": "en", "entities": []},
            ],
        },
    }
)
COMPREHEND_ENTITIES = spans("BeginOffset", "EndOffset", "Type", "Text", Score=0.9)
COMPREHEND = lines(
    {"Entities": COMPREHEND_ENTITIES, "File": "x.txt", "Line": 0},
    {"Entities": [], "File": "x.txt", "Line": 1},
)
GOOGLE = lines(
    {
        "entities": [
            {
                "name": TEXT[start:end],
                "type": kind,
                "metadata": {},
                "salience": 0.5,
                "mentions": [{"text": {"content": TEXT[start:end], "beginOffset": start}, "type": "PROPER"}],
            }
            for kind, (start, end) in GOLD.items()
        ],
        "language": "en",
    }
)
WATSON = json.dumps(
    {
        "usage": {"text_units": 1, "features": 1},
        "language": "en",
        "entities": [
            {
                "type": kind,
                "text": TEXT[start:end],
                "mentions": [{"text": TEXT[start:end], "location": [start, end], "confidence": 0.5}],
                "count": 1,
            }
            for kind, (start, end) in GOLD.items()
        ],
    }
)
GROUND_TRUTH = lines(
    {
        "source": TEXT,
        "names": {"annotations": {"entities": spans("startOffset", "endOffset", "label"), "labels": []}},
        "names-metadata": {"entities": [{"confidence": 0.5}], "job-name": "j"},
    },
    {"source": OTHER, "names": {"annotations": {"entities": [], "labels": []}}, "names-metadata": {}},
)
VERTEX = lines(
    {
        "textSegmentAnnotations": spans("startOffset", "endOffset", "displayName"),
        "textContent": TEXT,
        "dataItemResourceLabels": {},
    }
)
AUTOML = lines(
    {
        "annotations": [
            {"text_extraction": {"text_segment": {"start_offset": start, "end_offset": end}}, "display_name": kind}
            for kind, (start, end) in GOLD.items()
        ],
        "text_snippet": {"content": TEXT},
    }
)
SPACY_2 = json.dumps(
    [
        {
            "id": 0,
            "paragraphs": [
                {
                    "raw": TEXT,
                    "sentences": [
                        {
                            "tokens": [
                                {"id": at, "orth": word, "tag": "NN", "head": 0, "dep": "", "ner": tag}
                                for at, (word, tag) in enumerate(zip(WORDS, ("U-PER", "O", "O", "U-LOC"), strict=True))
                            ],
                            "brackets": [],
                        }
                    ],
                }
            ],
        }
    ]
)
# CoreNLP counts UTF-16 units.
CORENLP_TOKENS = [
    {
        "index": at,
        "word": word,
        "originalText": word,
        "characterOffsetBegin": start,
        "characterOffsetEnd": end,
        "pos": "NN",
        "ner": tag,
    }
    for at, (word, start, end, tag) in enumerate(
        zip(WORDS, (0, 4, 7, 12), (3, 6, 11, 16), ("PER", "O", "O", "LOC"), strict=True), start=1
    )
]
CORENLP_MENTIONS = [
    {
        "docTokenBegin": at,
        "docTokenEnd": at + 1,
        "text": TEXT[slice(*GOLD[kind])],
        "characterOffsetBegin": start,
        "characterOffsetEnd": end,
        "ner": kind,
    }
    for at, kind, start, end in ((0, "PER", 0, 3), (3, "LOC", 12, 16))
]
CORENLP = json.dumps(
    {"docId": "x", "sentences": [{"index": 0, "entitymentions": CORENLP_MENTIONS, "tokens": CORENLP_TOKENS}]}, indent=1
)
CORENLP_TAGS = json.dumps({"sentences": [{"index": 0, "tokens": CORENLP_TOKENS}]})
STANZA = json.dumps(
    [
        [
            {
                "id": at,
                "text": word,
                "upos": "NOUN",
                "start_char": start,
                "end_char": end,
                "ner": tag,
                "multi_ner": [tag],
            }
            for at, (word, start, end, tag) in enumerate(
                zip(WORDS, (0, 4, 6, 11), (3, 5, 10, 15), ("S-PER", "O", "O", "S-LOC"), strict=True), start=1
            )
        ],
        [{"id": 1, "text": "Bye", "upos": "INTJ", "start_char": 16, "end_char": 19, "ner": "O"}],
    ],
    indent=1,
)
FLAIR = lines(
    {
        "text": TEXT,
        "labels": [],
        "entities": [
            {
                "text": TEXT[start:end],
                "start_pos": start,
                "end_pos": end,
                "labels": [{"value": kind, "confidence": 0.9}],
            }
            for kind, (start, end) in GOLD.items()
        ],
    }
)
HAYSTACK = json.dumps(
    [{"id": "h1", "content": TEXT, "meta": {"named_entities": spans("start", "end", "entity", score=0.9)}}]
)
BIGBIO = lines(
    {
        "id": "0",
        "document_id": "d1",
        "passages": [
            {"id": "1", "type": "title", "text": [TEXT], "offsets": [[0, 15]]},
            {"id": "2", "type": "abstract", "text": [OTHER], "offsets": [[16, 28]]},
        ],
        "entities": [
            {
                "id": kind,
                "type": kind,
                "text": [TEXT[start:end]],
                "offsets": [[start, end]],
                "normalized": [{"db_name": "MESH", "db_id": "D1"}],
            }
            for kind, (start, end) in GOLD.items()
        ],
        "events": [],
        "coreferences": [],
        "relations": [],
    }
)
SPERT = json.dumps(
    [
        {
            "tokens": WORDS,
            "entities": [{"type": "PER", "start": 0, "end": 1}, {"type": "LOC", "start": 3, "end": 4}],
            "relations": [],
            "orig_id": "1",
        }
    ]
)
W2NER = json.dumps(
    [{"sentence": WORDS, "ner": [{"index": [0], "type": "PER"}, {"index": [3], "type": "LOC"}], "word": []}]
)
W2NER_OUTPUT = json.dumps(
    [{"sentence": WORDS, "entity": [{"text": ["Ann"], "type": "PER"}, {"text": ["Rome"], "type": "LOC"}]}]
)
ONEIE = lines(
    {
        "doc_id": "d",
        "sent_id": "d-1",
        "tokens": WORDS,
        "pieces": WORDS,
        "entity_mentions": [
            {"id": "e1", "start": 0, "end": 1, "entity_type": "PER", "mention_type": "NAM", "text": "Ann"},
            {"id": "e2", "start": 3, "end": 4, "entity_type": "LOC", "mention_type": "NAM", "text": "Rome"},
        ],
        "relation_mentions": [],
        "event_mentions": [],
    }
)
DOCRED = json.dumps(
    [
        {
            "vertexSet": [
                [{"pos": [0, 1], "type": "PER", "sent_id": 0, "name": "Ann"}],
                [{"pos": [1, 2], "type": "LOC", "sent_id": 1, "name": "Rome"}],
            ],
            "labels": [],
            "title": "T",
            "sents": [WORDS[:2], WORDS[2:]],
        }
    ]
)
CLUENER = lines({"text": TEXT, "label": {"PER": {"Ann": [[0, 2]]}, "LOC": {"Rome": [[11, 14]]}}})
CMEEE = json.dumps([{"text": TEXT, "entities": spans("start_idx", "end_idx", "type", "entity", shift=-1)}])
CCKS = lines({"originalText": TEXT, "entities": spans("start_pos", "end_pos", "label_type", overlap=0)})
ENTITY_INDEX = lines(
    {
        "text": TEXT,
        "entity_list": [
            {"entity_index": {"begin": start, "end": end}, "entity_type": kind, "entity": TEXT[start:end]}
            for kind, (start, end) in GOLD.items()
        ],
    }
)
PRESIDIO = json.dumps(
    [{"full_text": TEXT, "masked": "", "spans": spans("start_position", "end_position", "entity_type", "entity_value")}]
)
AI4PRIVACY = lines({"source_text": TEXT, "masked_text": "", "privacy_mask": spans("start", "end", "label", "value")})
MASKS = spans("start", "end", "label", "value")
AI4PRIVACY_JSON = lines(
    {"source_text": TEXT, "privacy_mask": json.dumps(MASKS)}, {"source_text": OTHER, "privacy_mask": "[]"}
)
AI4PRIVACY_PYTHON = lines({"source_text": TEXT, "privacy_mask": repr(MASKS)})
SPAN_LABELS = [[start, end, kind] for kind, (start, end) in GOLD.items()]
AI4PRIVACY_200K = lines(
    {
        "masked_text": "",
        "unmasked_text": TEXT,
        "privacy_mask": '{"[PER]": "Ann"}',
        "span_labels": json.dumps(SPAN_LABELS),
    }
)
GRETEL = lines(
    {"index": 7, "language": "English", "generated_text": TEXT, "pii_spans": json.dumps(spans("start", "end", "label"))}
)
DATASETS_SERVER = json.dumps(
    {
        "features": [
            {"feature_idx": 0, "name": "tokens", "type": {"feature": {"dtype": "string", "_type": "Value"}}},
            {
                "feature_idx": 1,
                "name": "ner_tags",
                "type": {
                    "feature": {"names": ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"], "_type": "ClassLabel"},
                    "_type": "Sequence",
                },
            },
        ],
        "rows": [{"row_idx": 0, "row": {"id": "0", "tokens": WORDS, "ner_tags": [1, 0, 0, 3]}, "truncated_cells": []}],
        "num_rows_total": 1,
    },
    indent=1,
)

DATASETS_SERVER_TEXTS = json.dumps(
    {
        "features": [{"feature_idx": 0, "name": "text", "type": {"dtype": "string", "_type": "Value"}}],
        "rows": [
            {
                "row_idx": 0,
                "row": {"text": TEXT, "entities": {"start": [0, 11], "end": [3, 15], "label": ["PER", "LOC"]}},
                "truncated_cells": [],
            }
        ],
    }
)

KILI = [
    {**span, "categories": [{"name": span.pop("type")}]}
    for span in spans("beginOffset", "endOffset", "type", "content")
]
KILI_LABELS = [
    {"author": {"email": f"{name}@example.org"}, "jsonResponse": {"JOB": {"annotations": annotations}}}
    for name, annotations in (("ann", KILI), ("bob", KILI[:1]))
]
INSTRUCTUIE = [{"name": TEXT[start:end], "type": kind, "pos": [start, end]} for kind, (start, end) in GOLD.items()]
AZURE_MATCHES = [
    {"type": kind, "matches": [{"wikipediaScore": 0.1, "entityTypeScore": 0.8, "offset": start, "length": end - start}]}
    for kind, (start, end) in GOLD.items()
]
HEALTHCARE = [
    {"mentionId": "1", "type": kind, "text": {"content": TEXT[start:end], "beginOffset": start}, "confidence": 0.9}
    for kind, (start, end) in GOLD.items()
]
ROSETTE = [
    {"type": kind, "mention": TEXT[start:end], "mentionOffsets": [{"startOffset": at, "endOffset": at + end - start}]}
    for (kind, (start, end)), at in zip(GOLD.items(), (0, 12), strict=True)
]
TEXTRAZOR = [
    {**span, "type": [span.pop("type")], "entityId": "Q1"}
    for span in spans("startingPos", "endingPos", "type", "matchedText")
]

SPOTLIGHT = json.dumps(
    {
        "@text": TEXT,
        "@confidence": "0.5",
        "Resources": [
            {
                "@URI": "http://dbpedia.org/resource/Rome",
                "@types": "DBpedia:City",
                "@surfaceForm": "Rome",
                "@offset": "11",
            }
        ],
    }
)
UTTERANCES = [
    {"text": TEXT, "intent": "None", "entities": spans("startPos", "endPos", "entity", shift=-1)},
    {"text": OTHER, "intent": "None", "entities": []},
]
CLU = [
    {
        "text": TEXT,
        "entities": [
            utf_16({"category": kind, "offset": start, "length": end - start}, "offset")
            for kind, (start, end) in GOLD.items()
        ],
    }
]
VERTEX_PREDICTIONS = lines(
    {
        "instance": {"content": "gs://b/1.txt", "mimeType": "text/plain"},
        "prediction": {
            "ids": ["7", "8"],
            "displayNames": list(GOLD),
            "textSegmentStartOffsets": ["0", "11"],
            "textSegmentEndOffsets": ["2", "14"],
            "confidences": [0.9, 0.8],
        },
    },
    {
        "instance": {"content": "gs://b/2.txt", "mimeType": "text/plain"},
        "prediction": {
            "ids": [],
            "displayNames": [],
            "textSegmentStartOffsets": [],
            "textSegmentEndOffsets": [],
            "confidences": [],
        },
    },
)
VERTEX_FILES = [{key: str(value) for key, value in span.items() if value} for span in spans("startOffset", "endOffset")]
VERTEX_IN_FILES = lines(
    {
        "textSegmentAnnotations": [
            {**span, "displayName": kind} for span, kind in zip(VERTEX_FILES, GOLD, strict=True)
        ],
        "textGcsUri": "gs://b/folder/1.txt",
    }
)
WEB_ANNOTATIONS = json.dumps(
    [
        {
            "@context": "http://www.w3.org/ns/anno.jsonld",
            "id": f"#{kind}",
            "type": "Annotation",
            "body": [{"type": "TextualBody", "purpose": "tagging", "value": kind}],
            "target": {
                "source": "1",
                "selector": [
                    {"type": "TextQuoteSelector", "exact": TEXT[start:end]},
                    {"type": "TextPositionSelector", "start": start, "end": end},
                ],
            },
        }
        for kind, (start, end) in GOLD.items()
    ]
)
NIF_CORE = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
NIF_NODES = [
    {"@id": "http://x.org/1#char=0,15", "@type": ["nif:Context"], "nif:isString": TEXT, "nif:beginIndex": "0"},
    {"@id": "http://x.org/1#char=0,3", "@type": "nif:Word", "nif:beginIndex": "0", "nif:endIndex": "3"},
    *(
        {
            "@id": f"http://x.org/1#char={start},{end}",
            "@type": "nif:Phrase",
            "nif:anchorOf": {"@language": "en", "@value": TEXT[start:end]},
            "nif:beginIndex": {"@type": "xsd:nonNegativeInteger", "@value": str(start)},
            "nif:endIndex": {"@type": "xsd:nonNegativeInteger", "@value": str(end)},
            "nif:referenceContext": {"@id": "http://x.org/1#char=0,15"},
            "itsrdf:taClassRef": {"@id": f"http://x.org/{kind}"},
        }
        for kind, (start, end) in GOLD.items()
    ),
]
NIF_JSON = json.dumps({"@context": {"nif": NIF_CORE}, "@graph": NIF_NODES})
NIF_EXPANDED = json.dumps([{key.replace("nif:", NIF_CORE): value for key, value in node.items()} for node in NIF_NODES])
CORENLP_WORDS = [("Ann", 0, 3, "PER"), ("😀", 4, 6, "O"), ("left", 7, 11, "O"), ("Rome", 12, 16, "LOC")]
CORENLP_XML = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<?xml-stylesheet href="CoreNLP-to-HTML.xsl" type="text/xsl"?>\n'
    '<root>\n<document>\n<docId>d1</docId>\n<sentences>\n<sentence id="1">\n<tokens>\n'
    + "".join(
        f'<token id="1"><word>{word}</word><CharacterOffsetBegin>{start}</CharacterOffsetBegin>'
        f"<CharacterOffsetEnd>{end}</CharacterOffsetEnd><NER>{tag}</NER></token>\n"
        for word, start, end, tag in CORENLP_WORDS
    )
    + "</tokens>\n</sentence>\n</sentences>\n</document>\n</root>\n"
)
TRANKIT = json.dumps(
    {
        "text": TEXT,
        "sentences": [
            {
                "id": 1,
                "tokens": [
                    {"id": number, "text": word, "ner": tag, "dspan": [TEXT.index(word), TEXT.index(word) + len(word)]}
                    for number, (word, tag) in enumerate(zip(WORDS, ("S-PER", "O", "O", "S-LOC"), strict=True))
                ],
                "dspan": [0, 15],
            }
        ],
        "lang": "english",
    }
)
GLINER_2 = lines(
    {
        "text": TEXT,
        "entities": {
            "ORG": [],
            **{
                kind: [{"text": TEXT[start:end], "confidence": 0.9, "start": start, "end": end}]
                for kind, (start, end) in GOLD.items()
            },
        },
    }
)
TPLINKER = [
    {"text": TEXT[start:end], "type": kind, "char_span": [start, end], "tok_span": [0, 1]}
    for kind, (start, end) in GOLD.items()
]
ACE = [
    {"text": word, "entity-type": kind, "head": {"start": 0, "end": 9}, "start": at, "end": at + 1}
    for word, kind, at in (("Ann", "PER", 0), ("Rome", "LOC", 3))
]

RECORDS: dict[str, tuple[Files, str | None]] = {
    # what it is: the file, the layer to read
    "Argilla 1": ({"x.jsonl": ARGILLA_1}, "annotation"),
    "Argilla 2": ({"x.json": ARGILLA_2}, "u1"),
    "Argilla's server": ({"x.json": ARGILLA_SERVER}, None),
    "Argilla in columns": ({"x.jsonl": ARGILLA_COLUMNS}, "u1"),
    "Argilla's feedback": ({"x.jsonl": ARGILLA_FEEDBACK}, None),
    "LightTag, examples alone": ({"x.json": json.dumps(json.loads(LIGHTTAG)["examples"])}, "ann@example.org"),
    "LightTag": ({"x.json": LIGHTTAG}, "ann@example.org"),
    "Dataturks": ({"x.json": DATATURKS}, None),
    "Labelbox": ({"x.ndjson": LABELBOX}, None),
    "Labelbox 1": ({"x.json": LABELBOX_1}, None),
    "UBIAI": ({"x.json": UBIAI}, None),
    "UBIAI for spaCy": (
        {"x.json": json.dumps([{"documentName": "a", "document": TEXT, "annotation": spans("start", "end", "label")}])},
        None,
    ),
    "LUIS": ({"x.json": json.dumps({"luis_schema_version": "7.0.0", "utterances": UTTERANCES})}, None),
    "Wit": (
        {"x.json": json.dumps({"utterances": [{"text": TEXT, "entities": spans("start", "end", "entity", "body")}]})},
        None,
    ),
    "Azure's conversations": (
        {"x.json": json.dumps({"projectFileVersion": "2023-04-01", "assets": {"utterances": CLU}})},
        None,
    ),
    "Vertex AI beside its texts": ({"1.txt": TEXT, "x.jsonl": VERTEX_IN_FILES}, None),
    "NIF as JSON-LD": ({"x.jsonld": NIF_JSON}, None),
    "NIF as JSON-LD, expanded": ({"x.json": NIF_EXPANDED}, None),
    "CoreNLP's XML": ({"x.xml": CORENLP_XML}, None),
    "Trankit": ({"x.json": TRANKIT}, None),
    "GLiNER2": ({"x.jsonl": GLINER_2}, None),
    "TPLinker": ({"x.json": json.dumps([{"id": "a", "text": TEXT, "entity_list": TPLINKER}])}, None),
    "ACE 2005": ({"x.json": json.dumps([{"words": WORDS, "golden-entity-mentions": ACE}])}, None),
    "Kili": ({"x.json": json.dumps([{"externalId": "a", "content": TEXT, "labels": KILI_LABELS}])}, "ann@example.org"),
    "Kili, one label": ({"x.jsonl": lines({"content": TEXT, "jsonResponse": {"JOB": {"annotations": KILI}}})}, None),
    "InstructUIE": ({"x.json": json.dumps([{"sentence": TEXT, "entities": INSTRUCTUIE}])}, None),
    "tecoholic": ({"x.json": TECOHOLIC}, None),
    "Rasa": ({"nlu.json": RASA}, None),
    "brat's JSON": ({"x.json": BRAT_JSON}, None),
    "GATE's JSON": ({"x.json": GATE_JSON}, None),
    "bdocjs": ({"x.bdocjs": BDOC}, None),
    "Azure project": ({"1.txt": TEXT, "2.txt": OTHER, "x.json": AZURE_PROJECT}, None),
    "Comprehend beside its texts": ({"x.txt": f"{TEXT}\n{OTHER}\n", "x.jsonl": COMPREHEND}, None),
    "Comprehend with texts": ({"x.jsonl": lines({"Text": TEXT, "Entities": COMPREHEND_ENTITIES})}, None),
    "Ground Truth": ({"output.manifest": GROUND_TRUTH}, None),
    "Vertex AI": ({"x.jsonl": VERTEX}, None),
    "AutoML": ({"x.jsonl": AUTOML}, None),
    "spaCy 2": ({"train.json": SPACY_2}, None),
    "CoreNLP": ({"x.json": CORENLP}, None),
    "CoreNLP with tags": ({"x.json": CORENLP_TAGS}, None),
    "Stanza": ({"x.json": STANZA}, None),
    "Flair": ({"x.jsonl": FLAIR}, None),
    "Haystack": ({"x.json": HAYSTACK}, None),
    "BigBIO": ({"x.jsonl": BIGBIO}, None),
    "SpERT": ({"x.json": SPERT}, None),
    "W2NER": ({"x.json": W2NER}, None),
    "W2NER's output": ({"output.json": W2NER_OUTPUT}, None),
    "OneIE": ({"x.json": ONEIE}, None),
    "DocRED": ({"x.json": DOCRED}, None),
    "CLUENER": ({"train.json": CLUENER}, None),
    "CMEEE": ({"train.json": CMEEE}, None),
    "CCKS": ({"subtask1.json": CCKS}, None),
    "entity_index": ({"train.json": ENTITY_INDEX}, None),
    "Presidio's evaluator": ({"x.json": PRESIDIO}, None),
    "ai4privacy": ({"x.jsonl": AI4PRIVACY}, None),
    "ai4privacy, JSON in strings": ({"x.jsonl": AI4PRIVACY_JSON}, None),
    "ai4privacy, Python in strings": ({"x.jsonl": AI4PRIVACY_PYTHON}, None),
    "ai4privacy of 2023": ({"x.jsonl": AI4PRIVACY_200K}, None),
    "Gretel": ({"x.jsonl": GRETEL}, None),
    "datasets server": ({"rows.json": DATASETS_SERVER}, None),
    "datasets server, texts": ({"rows.json": DATASETS_SERVER_TEXTS}, None),
}
"""Files that hold their texts."""
WITHOUT_TEXT: dict[str, Files] = {
    "CLUENER's predictions": {
        "x.json": lines({"id": 0, "label": {"PER": {"Ann": [[0, 2]]}, "LOC": {"Rome": [[11, 14]]}}})
    },
    "Azure": {"x.json": json.dumps(AZURE_DOCUMENTS)},
    "Azure with kind": {"x.json": json.dumps({"kind": "EntityRecognitionResults", "results": AZURE_DOCUMENTS})},
    "Azure job": {
        "x.json": json.dumps(
            {
                "jobId": "j1",
                "status": "succeeded",
                "tasks": {"items": [{"kind": "EntityRecognitionLROResults", "results": AZURE_DOCUMENTS}]},
            }
        )
    },
    "Azure's own client": {"x.json": json.dumps(AZURE_DOCUMENTS["documents"]).replace("confidenceS", "confidence_s")},
    "Azure Text Analytics 3": {
        "x.json": json.dumps({"documents": AZURE_DOCUMENTS["documents"], "errors": [], "modelVersion": "2020-04-01"})
    },
    "Azure Text Analytics 3 without a version": {
        "x.json": json.dumps({"documents": AZURE_DOCUMENTS["documents"], "errors": []})
    },
    "Azure Text Analytics 2": {
        "x.json": json.dumps({"documents": [{"id": "1", "entities": AZURE_MATCHES}], "errors": []})
    },
    "Google's Healthcare": {"x.json": json.dumps({"entityMentions": HEALTHCARE, "entities": [], "relationships": []})},
    "Azure project": {"x.json": AZURE_PROJECT},
    "Comprehend": {"output": COMPREHEND},
    "Comprehend in another order": {"output": "".join(reversed(COMPREHEND.splitlines(keepends=True)))},
    "Comprehend's batches": {
        "x.json": json.dumps(
            {
                "ResultList": [{"Index": 0, "Entities": COMPREHEND_ENTITIES}, {"Index": 1, "Entities": []}],
                "ErrorList": [],
            }
        )
    },
    "Google": {"x.jsonl": GOOGLE},
    "Vertex AI's predictions": {"x.jsonl": VERTEX_PREDICTIONS},
    "Web Annotation": {"x.json": WEB_ANNOTATIONS},
    "SuperAnnotate": {
        "x.json": json.dumps([{"metadata": {"name": "1"}, "instances": spans("start", "end", "className"), "tags": []}])
    },
    "Watson": {"x.json": WATSON},
    "Rosette": {"x.json": json.dumps({"entities": ROSETTE})},
    "TextRazor": {"x.json": json.dumps({"response": {"entities": TEXTRAZOR}, "ok": True})},
}
"""Files whose texts are gold's."""
