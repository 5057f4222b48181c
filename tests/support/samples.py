"""A small file of every format that other tools write, as their documentation has it, made by hand."""

from __future__ import annotations

import json
from typing import Any

from tests.support import FIXTURES
from tests.support.record_files import RECORDS

Files = dict[str, str | bytes]


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


# doccano's documentation, "Sequence labeling", JSONL and JSONL(Relation).
DOCCANO = lines(
    {"id": 1, "text": "EU rejects German call 😀 Peter", "label": [[0, 2, "ORG"], [11, 17, "MISC"], [26, 31, "PER"]]},
    {"id": 2, "text": "Peter Blackburn", "label": [[0, 15, "PER"]], "source": "wire"},
    {"id": 3, "text": "none", "label": []},
)
DOCCANO_RELATIONS = lines(
    {
        "text": "Google was founded on September 4, 1998, by Larry Page.",
        "id": 7,
        "entities": [
            {"id": 0, "start_offset": 0, "end_offset": 6, "label": "ORG"},
            {"id": 1, "start_offset": 22, "end_offset": 39, "label": "DATE"},
        ],
        "relations": [{"id": 0, "from_id": 0, "to_id": 1, "type": "foundedAt"}],
        "Comments": [],
    }
)


def result(id: str, start: int, end: int, text: str, *labels: str, **more: Any) -> dict[str, Any]:
    """Return a span as Label Studio's documentation has it, "Export annotations", "Label Studio JSON format"."""
    value = {"start": start, "end": end, "text": text, "labels": list(labels)}
    return {"value": value, "id": id, "from_name": "label", "to_name": "text", "type": "labels", **more}


LABELSTUDIO_TASKS = [
    {
        "id": 101,
        "data": {"text": "Ann 😀 met Bob Lee in  Rome.", "date": "2024-01-02"},
        "annotations": [
            {
                "id": 1,
                "completed_by": {"id": 1, "email": "ann@example.org", "first_name": "", "last_name": ""},
                "result": [result("a1", 0, 3, "Ann", "PER"), result("a2", 11, 18, "Bob Lee", "PER")],
                "was_cancelled": False,
                "ground_truth": False,
                "created_at": "2024-01-02T10:00:00.000000Z",
                "lead_time": 12.5,
            },
            {"id": 2, "completed_by": 2, "result": [result("b1", 19, 27, "in Rome", "LOC")], "was_cancelled": False},
        ],
        "predictions": [
            {"id": 9, "model_version": "model-1", "result": [result("p1", 0, 3, "Ann", "PER", score=0.75)]}
        ],
        "project": 3,
        "created_at": "2024-01-01T10:00:00.000000Z",
    },
    {
        "id": 102,
        "data": {"text": "Rome", "date": "2024-01-03"},
        "annotations": [
            {
                "id": 3,
                "completed_by": {"id": 1, "email": "ann@example.org"},
                "result": [
                    result("c1", 0, 4, "Rome", "LOC"),
                    {"from_id": "c1", "to_id": "c1", "type": "relation", "direction": "right"},
                    {
                        "id": "c2",
                        "from_name": "tone",
                        "to_name": "text",
                        "type": "choices",
                        "value": {"choices": ["x"]},
                    },
                ],
                "was_cancelled": False,
            },
            {"id": 4, "completed_by": 2, "result": [result("d1", 0, 4, "Rome", "ORG")], "was_cancelled": True},
        ],
        "predictions": [],
    },
]
LABELSTUDIO = json.dumps(LABELSTUDIO_TASKS, ensure_ascii=False, indent=2)
# The same, "JSON-MIN".
LABELSTUDIO_MIN = json.dumps(
    [
        {
            "text": "Ann met Bob.",
            "date": "2024-01-02",
            "id": 101,
            "label": [{"start": 8, "end": 11, "text": "Bob", "labels": ["PER"]}],
            "annotator": 1,
            "annotation_id": 1,
            "created_at": "2024-01-02T10:00:00.000000Z",
            "updated_at": "2024-01-02T10:00:00.000000Z",
            "lead_time": 12.5,
        }
    ]
)

# Prodigy's documentation, "Annotation interfaces", ner, with what its reviewed databases add.
PRODIGY = lines(
    {
        "text": "Hello 😀 Apple",
        "_input_hash": 1842734674,
        "_task_hash": 636683182,
        "tokens": [
            {"text": "Hello", "start": 0, "end": 5, "id": 0, "ws": True},
            {"text": "😀", "start": 6, "end": 7, "id": 1, "ws": True},
            {"text": "Apple", "start": 8, "end": 13, "id": 2, "ws": False},
        ],
        "spans": [{"start": 8, "end": 13, "label": "ORG", "token_start": 2, "token_end": 2}],
        "_session_id": "ner-alex",
        "_view_id": "ner_manual",
        "answer": "accept",
        "_annotator_id": "ner-alex",
    },
    {"text": "Bad", "_input_hash": 7, "spans": [], "answer": "reject", "_annotator_id": "ner-alex"},
    {"text": "Skip", "_input_hash": 8, "spans": [], "answer": "ignore", "_annotator_id": "ner-alex"},
    {
        "text": "Hello 😀 Apple",
        "_input_hash": 1842734674,
        "spans": [{"start": 0, "end": 5, "label": "PER"}],
        "answer": "accept",
        "_annotator_id": "ner-sam",
    },
)
SPACY = lines({"text": "Uber blew through $1 million", "spans": [{"start": 0, "end": 4, "label": "ORG"}]})

JSONL = lines({"id": "d", "text": "abc", "spans": [{"start": 0, "end": 1, "label": "A"}]})

CSV = "doc_id,start,end,label,quote,text\nd1,0,3,PER,Ann,Ann met Bob.\nd1,8,11,PER,Bob,\nd2,,,,,Nobody.\n"
TSV = "id\tbegin\tend\ttype\ttext\nd1\t0\t3\tPER\tAnn\nd1\t8\t11\tPER\tBob\n"

# The files of BioCreative V CDR and tmVar, and the help page of PubTator.
PUBTATOR = (
    "1|t|Ovarian and breast cancer\n1|a|Naloxone, 5 µg, and BRAF V600E.\n"
    "1\t0\t25\tOvarian and breast cancer\tDisease\tD010051|D001943\tOvarian cancer|breast cancer\n"
    "1\t26\t34\tNaloxone\tChemical\tD009270\n1\t46\t50\tBRAF\tGene\t673;674\n"
    "1\t51\t56\tV600E\tMutation\ttmVar:p|SUB|V|600|E;RS#:113488022\n1\tCID\tD009270\tD001943\n\n"
    "2|t|Nothing\n2|a|\n2\t0\t7\tNothing\tDisease\t-1\n"
)

# Like the files of BioCreative V CDR and NLM-Chem: a discontinuous annotation, one without a place, a relation.
BIOC = """<?xml version='1.0' encoding='UTF-8'?>
<!DOCTYPE collection SYSTEM 'BioC.dtd'>
<collection>
<source>PubTator</source><date>0/0/0</date><key>PubTator.key</key>
<document>
<id>6794356</id>
<passage>
<infon key="type">title</infon>
<infon key="year">1981</infon>
<offset>0</offset>
<text>Ovarian and breast cancer &amp; lithium</text>
<annotation id="0">
<infon key="type">Disease</infon>
<infon key="MESH">D010051</infon>
<location offset="0" length="7"/>
<location offset="19" length="6"/>
<text>Ovarian cancer</text>
</annotation>
<annotation id="MIC0"><infon key="type">MeSH_Indexing_Chemical</infon><text/></annotation>
</passage>
<passage>
<infon key="type">abstract</infon>
<offset>36</offset>
<text>Naloxone, 5 µg 😀, and BRAF.</text>
<annotation id="1">
<infon key="identifier">673;674</infon>
<infon key="type">Gene</infon>
<infon key="score">0.5</infon>
<infon key="updated_at">1980-01-01</infon>
<location offset="58" length="4"/>
<text>BRAF</text>
</annotation>
<relation id="R0"><infon key="type">CID</infon><node refid="0" role="Disease"/></relation>
</passage>
</document>
</collection>
"""


def bioc_annotation(id: str, type: str, offset: int, text: str, **infons: Any) -> dict[str, Any]:
    """Return an annotation of BioC JSON."""
    locations = [{"offset": offset, "length": len(text)}]
    return {"id": id, "infons": {"type": type, **infons}, "text": text, "locations": locations}


def bioc_document(id: str, *passages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a document of BioC JSON."""
    return {"id": id, "infons": {}, "passages": list(passages), "annotations": [], "relations": [], **more}


def bioc_passage(offset: int, text: str, *annotations: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a passage of BioC JSON."""
    common: dict[str, Any] = {"infons": {}, "sentences": [], "relations": []}
    return {"offset": offset, "text": text, "annotations": list(annotations), **common, **more}


BIOC_DOCUMENTS = (
    bioc_document(
        "33664495",
        bioc_passage(0, "AIDA & UCP1.", bioc_annotation("2", "Gene", 0, "AIDA", identifier="108909", valid=True)),
        bioc_passage(13, "In mice.", bioc_annotation("9", "Species", 16, "mice", identifier="10090")),
        _id="33664495|None",
        pmid=33664495,
        journal="Nat Cell Biol",
    ),
    bioc_document("2", bioc_passage(0, "Nothing.")),
)
# The service of PubTator 3; and the BioC services of PubMed Central and PubMed, which give a list of one collection.
BIOC_PUBTATOR3 = json.dumps({"PubTator3": BIOC_DOCUMENTS})
BIOC_LIST = json.dumps(
    [
        {
            "bioctype": "BioCCollection",
            "source": "PMC",
            "date": "20200801",
            "key": "pmc.key",
            "version": "1.0",
            "infons": {},
            "documents": BIOC_DOCUMENTS,
        }
    ]
)

# The documentation of transformers, TokenClassificationPipeline: aggregation_strategy "none" and "simple".
PIECES = lines(
    {
        "id": "h1",
        "text": "Hugging Face Inc. is in New York City",
        "entities": [
            {"entity": "I-ORG", "score": 0.75, "index": 1, "word": "Hu", "start": 0, "end": 2},
            {"entity": "I-ORG", "score": 0.25, "index": 2, "word": "##gging", "start": 2, "end": 7},
            {"entity": "I-ORG", "score": 0.5, "index": 3, "word": "Face", "start": 8, "end": 12},
            {"entity": "B-LOC", "score": 0.5, "index": 11, "word": "New", "start": 24, "end": 27},
            {"entity": "I-LOC", "score": 1.0, "index": 12, "word": "York", "start": 28, "end": 32},
        ],
    }
)
GROUPS = lines(
    {
        "text": "My name is Clara",
        "entities": [{"entity_group": "PER", "score": 0.9965, "word": "clara", "start": 11, "end": 16}],
    },
    {"text": "none", "entities": []},
)
# GLiNER's README, predict_entities, and spaCy's documentation of Doc.to_json.
GLINER = lines(
    {
        "id": 1,
        "text": "Cristiano Ronaldo plays",
        "entities": [{"start": 0, "end": 17, "text": "Cristiano Ronaldo", "label": "person", "score": 0.98}],
    }
)
SPACY_DOC = lines(
    {
        "text": "Uber is here",
        "ents": [{"start": 0, "end": 4, "label": "ORG"}],
        "sents": [{"start": 0, "end": 12}],
        "tokens": [{"id": 0, "start": 0, "end": 4, "tag": "NNP"}],
    }
)

# The dataset card of conll2003, "Data Instances", with its labels beside.
DATASET = lines(
    {"id": "0", "tokens": ["EU", "rejects", "German", "call"], "ner_tags": [3, 0, 7, 0], "pos_tags": [22, 42, 16, 21]},
    {"id": "1", "tokens": ["Peter", "Blackburn"], "ner_tags": [1, 2], "pos_tags": [22, 22]},
)
CONLL_LABELS = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "B-MISC", "I-MISC")

# INCEpTION's user guide, "WebAnno TSV 3.3 File format"; the rows of a project with entities, a chain and relations.
WEBANNO = """#FORMAT=WebAnno TSV 3.3
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|PosValue
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value
#T_CH=de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink|referenceRelation|referenceType
#T_RL=webanno.custom.Relation|label|BT_de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity


#Sentence.id=s1
#Text=Ann Lee 😀 left New
#Text=York.\x20
1-1\t0-3\tAnn\tNNP\thttp://example.org/Q1[1]|*[2]\tPER[1]|GIVEN[2]\t*->1-1\t*[1]\t_\t_\t
1-2\t4-7\tLee\tNNP\thttp://example.org/Q1[1]\tPER[1]\t*->1-1\t*[1]\t_\t_\t
1-3\t8-10\t😀\t_\t_\t_\t_\t_\t_\t_\t
1-4\t11-15\tleft\tVBD\t_\t_\t_\t_\t_\t_\t
1-5\t16-19\tNew\tNNP\t*[3]\tLOC[3]\t_\t_\tborn\\_in\t1-1[1_3]\t
1-6\t20-24\tYork\tNNP\t*[3]\tLOC[3]\t_\t_\t_\t_\t
1-6.1\t20-22\tYo\t_\t*\t*\t_\t_\t_\t_\t
1-6.2\t24-24\t\t_\t*\tEND\t_\t_\t_\t_\t
1-7\t24-25\t.\t.\t_\t_\t_\t_\t_\t_\t

#Text=She did.
2-1\t27-30\tShe\tPRP\t_\t_\t*->1-2\t*[1]\t_\t_\t
2-2\t31-34\tdid\tVBD\t_\t_\t_\t_\t_\t_\t
2-3\t34-35\t.\t.\t_\t_\t_\t_\t_\t_\t
"""
# Made by spaCy 3.8.18: tests/fixtures/docbin/make.py.
DOCBIN = (FIXTURES / "docbin" / "sample.spacy").read_bytes()
# The UIMA references, "XMI CAS Serialization", and JSON CAS 0.4.0, with what INCEpTION's user guide has in them.
DKPRO = "http:///de/tudarmstadt/ukp/dkpro/core/api"
CAS_XMI = f"""<?xml version="1.0" encoding="UTF-8"?>
<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" xmlns:type="{DKPRO}/ner/type.ecore"
    xmlns:type2="{DKPRO}/metadata/type.ecore" xmlns:type3="{DKPRO}/segmentation/type.ecore" xmi:version="2.0">
<cas:NULL xmi:id="0"/>
<type2:DocumentMetaData xmi:id="1" sofa="2" begin="0" end="11" documentTitle="d.txt" documentId="ann"/>
<type3:Token xmi:id="3" sofa="2" begin="0" end="2"/>
<type3:Token xmi:id="4" sofa="2" begin="3" end="7"/>
<type3:Sentence xmi:id="5" sofa="2" begin="0" end="7"/>
<type:NamedEntity xmi:id="6" sofa="2" begin="3" end="7" value="LOC" identifier="http://www.wikidata.org/entity/Q220"/>
<cas:Sofa xmi:id="2" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="&#128522; Rome&#10;end"/>
<cas:View sofa="2" members="1 3 4 5 6"/>
</xmi:XMI>
"""
CAS_JSON = json.dumps(
    {
        "%TYPES": {
            "webanno.custom.Entity": {
                "%NAME": "webanno.custom.Entity",
                "%SUPER_TYPE": "uima.tcas.Annotation",
                "kind": {"%NAME": "kind", "%RANGE": "uima.cas.String"},
            }
        },
        "%FEATURE_STRUCTURES": [
            {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaNum": 1, "sofaID": "_InitialView", "sofaString": "In Rome."},
            {"%ID": 2, "%TYPE": "webanno.custom.Entity", "@sofa": 1, "begin": 3, "end": 7, "kind": "place"},
        ],
        "%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2]}},
    }
)


def words(*rows: str) -> str:
    """Return a sentence of CoNLL-U, of each row the number, form and MISC."""
    found = (row.split(" ") for row in rows)
    return "".join("\t".join([number, form, *("_" * 7), misc]) + "\n" for number, form, misc in found) + "\n"


# The tags of UD's Estonian treebanks, and the brackets of CorefUD's documentation, with parts and an empty node.
CONLLU = (
    "# newdoc id = d1\n# sent_id = s1\n# text = Ann Lee, 😀 del Sol.\n"
    + words(
        *("1 Ann NE=B-Per", "2 Lee NE=I-Per|SpaceAfter=No", "3 , _", "4 😀 NE=O"),
        *("5-6 del _", "5 de _", "6 el NE=B-Loc", "7 Sol NE=I-Loc|SpaceAfter=No", "8 . _"),
    )
    + "# newdoc id = d2\n# sent_id = s2\n# text = Rome\n"
    + words("1 Rome NE=B-Loc")
)
COREFUD = (
    "# newdoc id = d1\n# global.Entity = eid-etype-head-identity\n# sent_id = s1\n# text = Ann and Bob Lee left\n"
    + words(
        *("1 Ann Entity=(e1[1/2]-person-2-Lees(e2-person-1)", "2 and Entity=e1[1/2])", "3 Bob Entity=(e3-person-1"),
        *("4 Lee Entity=(e1[2/2]-person-2)e3)|Bridge=e2", "5 left _", "5.1 _ Entity=(e4-place-1)"),
    )
    + "# sent_id = s2\n# text = Rome\n"
    + words("1 Rome Entity=(e5-place-1-Q%2D220)")
)

KAGGLE = """\
Sentence #,Word,POS,Tag
Sentence: 1,Ann,NNP,B-per
,"Lee, Jr.",NNP,I-per
,left,VBD,O
Sentence: 2,Rome,NNP,B-geo
"""
MENTIONS = lines(
    {"id": "d1", "text": "Ann met Bob.", "entities": [{"text": "Ann", "type": "PER"}, {"text": "bob", "type": "PER"}]},
    {"id": "d2", "text": "Rome and Ron", "entities": {"LOC": ["Rome", "Paris"], "PER": []}},
    {"id": "d3", "text": "Ann", "answer": 'Here:\n```json\n[["Ann", "PER"]]\n```'},
    {"id": "d4", "text": "to Rome", "answer": "to <LOC>Rome</LOC>"},
)
# PubAnnotation's documentation, "Annotation format", with the metadata of a download and a span in two parts.
PUBANNOTATION = json.dumps(
    {
        "sourcedb": "PubMed",
        "sourceid": "25314077",
        "project": "example",
        "text": "ES 😀 cells",
        "denotations": [
            {"id": "T1", "span": [{"begin": 5, "end": 10}, {"begin": 0, "end": 2}], "obj": "Cell"},
            {"id": "T2", "span": {"begin": 3, "end": 10}, "obj": "Protein"},
            {"span": {"begin": 5, "end": 10}, "obj": "Cell"},
        ],
        "attributes": [
            {"id": "A1", "subj": "T2", "pred": "negated", "obj": True},
            {"id": "A2", "subj": "T2", "pred": "by", "obj": "A"},
            {"id": "A3", "subj": "T2", "pred": "by", "obj": "B"},
            {"id": "A4", "subj": "R1", "pred": "by", "obj": "B"},
        ],
        "relations": [{"id": "R1", "subj": "T1", "pred": "in", "obj": "T2"}],
    },
    ensure_ascii=False,
)
# The MUC-7 Named Entity Task Definition, and Stanford NER's inlineXML and slashTags.
MUC = """<DOC>
<DOCID> nyt960214.0704 </DOCID>
<SLUG fv=taf-z> BC-AT&amp;T-ART </SLUG>
<TEXT>
<p>
<ENAMEX TYPE="ORGANIZATION">Bank of <ENAMEX TYPE="LOCATION">Rome</ENAMEX></ENAMEX> &#8364;<NUMEX TYPE="MONEY"
STATUS="OPT">5</NUMEX> in
<TIMEX TYPE="DATE">May</TIMEX>
</TEXT>
</DOC>
<DOC id="d2">Nobody</DOC>
"""
INLINE = "<PERSON>Ann Lee</PERSON> left <LOCATION>Rome</LOCATION> &amp; 1 < 2.\n\nNobody.\n"
SLASHTAGS = "Ann/PERSON Lee/PERSON left/O Rome/LOCATION ./O\nHe/O met/O 1\\/2/O\n"

# Label Studio's CSV, a data frame saved as CSV, and the columns of MEDDOCAN, SympTEMIST and their like.
LABELSTUDIO_CSV = (
    "annotation_id,annotator,created_at,id,label,lead_time,text,updated_at\n"
    '5,1,2024-01-01T00:00:00Z,12,"[{""start"":0,""end"":3,""text"":""Ann"",""labels"":[""PER""]}]",4.2,'
    "Ann 😀 left Rome,2024-01-01T00:00:00Z\n"
    "6,1,2024-01-01T00:00:00Z,13,,1.2,Nobody.,2024-01-01T00:00:00Z\n"
)
ENTITIES_CSV = (
    "id,sentence,entities\n"
    "a,Ann 😀 left Rome,\"[(0, 3, 'PER'), (11, 15, 'LOC')]\"\n"
    "b,\"Bob, too\",\"[{'start': 0, 'end': 3, 'label': 'PER'}]\"\nc,Nobody.,[]\n"
)
BSC = "filename\tmark\tlabel\toff0\toff1\tspan\nd1\tT1\tPER\t0\t3\tAnn\nd1\tT2\tPER\t8\t11\tBob\n"

# The lines of shared tasks: i2b2/VA 2010, ShARe/CLEF 2013, SemEval-2015 task 14 and TAC KBP.
I2B2_TEXT = "Record\nAnn has  chest PAIN today .\n"
I2B2 = 'c="chest pain" 2:2 2:3||t="problem"\nc="Ann has chest" 2:0 2:2||t="test"\n'
SHARE = "d1.txt||Disease_Disorder||C0008031||16||21\nd1.txt||Disease_Disorder||CUI-less||7||10||22||26\n"
SEMEVAL = "d1.txt|16-21|C0008031|no|NULL|patient\nd1.txt|7-10,22-26|CUI-less|no|NULL|patient\n"
TAC = "run1\tm1\tAnn\td1:7-9\tm.01\tPER\tNAM\t0.9\nrun1\tm2\tchest\td1:16-20\tNIL1\tBODY\tNOM\t1.0\n"

# i2b2 2014, MAE, a document of GATE, and BioNLP's files.
I2B2_2014 = """<?xml version="1.0" encoding="UTF-8" ?>
<deIdi2b2>
<TEXT><![CDATA[
Ann 😀 left Rome & Paris.
]]></TEXT>
<TAGS>
<NAME id="P0" start="1" end="4" text="Ann" TYPE="PATIENT" comment="" />
<LOCATION id="P1" start="12" end="16" text="Rome" TYPE="CITY" comment="sure" />
</TAGS>
</deIdi2b2>
"""
MAE = """<?xml version="1.0" encoding="UTF-8" ?>
<Task>
<TEXT><![CDATA[Ann left Rome]]></TEXT>
<TAGS>
<PERSON id="N0" spans="0~3" text="Ann" role="" />
<TRIP id="T0" spans="0~3,9~13" text="Ann ... Rome" />
<NOWHERE id="T1" spans="-1~-1" text="" />
<GOES id="L0" fromID="N0" fromText="Ann" toID="T0" toText="Ann ... Rome" />
</TAGS>
</Task>
"""
GATE = """<?xml version='1.0' encoding='UTF-8'?>
<GateDocument version="3">
<GateDocumentFeatures><Feature><Name className="java.lang.String">MimeType</Name><Value>text/plain</Value></Feature>
</GateDocumentFeatures>
<TextWithNodes><Node id="0"/>Ann<Node id="3"/> 😀 left <Node id="12"/>Rome<Node id="16"/>.</TextWithNodes>
<AnnotationSet>
<Annotation Id="0" Type="Token" StartNode="0" EndNode="3"></Annotation>
<Annotation Id="1" Type="Person" StartNode="0" EndNode="3">
<Feature><Name className="java.lang.String">gender</Name><Value className="java.lang.String">female</Value></Feature>
</Annotation>
<Annotation Id="2" Type="Location" StartNode="12" EndNode="16"></Annotation>
</AnnotationSet>
<AnnotationSet Name="Key">
<Annotation Id="3" Type="Mention" StartNode="12" EndNode="16">
<Feature><Name className="java.lang.String">class</Name><Value className="java.lang.String">City</Value></Feature>
</Annotation>
</AnnotationSet>
</GateDocument>
"""
BIONLP = {
    "d.txt": "Ann binds Bob\n",
    "d.a1": "T1\tProtein 0 3\tAnn\nT2\tProtein 10 13\tBob\n",
    "d.a2": "T3\tBinding 4 9\tbinds\nE1\tBinding:T3 Theme:T1 Theme2:T2\nN1\tDB Annotation:T2 Referent:DB:0001\n",
}

# TEI as its Guidelines have it in 17.3, with words as in the corpora of CLARIN.
TEI_STANDOFF = """<?xml version="1.0" encoding="UTF-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0" xml:id="letter">
  <teiHeader><fileDesc><titleStmt><title xml:id="title">To Ann</title></titleStmt></fileDesc></teiHeader>
  <text><body><p><s><w xml:id="w1">Ann</w> <w>😀</w> <w xml:id="w2">Lee</w>
    <w xml:id="w3">left</w> <w xml:id="w4" join="right">Rome</w>
    <pc>.</pc></s> <s>Bye, <seg xml:id="b">Bob</seg>!</s></p></body></text>
  <standOff>
    <listPerson><person xml:id="ann"><persName>Ann Lee</persName></person></listPerson>
    <spanGrp type="names">
      <span xml:id="s1" from="#w1" to="#w2" ana="#PER">Ann Lee</span>
      <span from="#w4" to="#w4" ana="ner:PLACE"/>
      <span target="#b">PER</span>
      <span target="#w1 #w4" type="ODD"/>
    </spanGrp>
  </standOff>
</TEI>
"""

# OpenNLP's training data, Illinois NER's output, OntoNotes as in CoNLL-2012, and AIDA CoNLL-YAGO.
OPENNLP = (
    "<START:person> Ann Lee <END> left <START:location> Rome <END> .\nShe met <START> Bob <END> .\n\nNobody < 3 .\n"
)
SQUARE = "[PER Ann Lee ] left [ORG Bank of [LOC Rome ] ] .\n[ sic ] Nobody .\n"
CONLL2012 = """#begin document (nw/x/00/x_0001); part 000
nw/x/00/x_0001 0 0 Ann NNP (TOP(S(NP* - - - - (PERSON* (ARG0* -
nw/x/00/x_0001 0 1 Lee NNP *) - - - - *) *) (0)
nw/x/00/x_0001 0 2 left VBD (VP* leave 01 1 - * (V*) -
nw/x/00/x_0001 0 3 Rome NNP (NP*))) - - - - (GPE) * -

nw/x/00/x_0001 0 0 Nobody NN (TOP*) - - - - * -

#end document
#begin document (nw/x/00/x_0001); part 001
nw/x/00/x_0001 1 0 Bob NNP (TOP*) - - - - (PERSON) -

#end document
"""
AIDA = (
    "-DOCSTART- (1 EU)\nEU\tB\tEU\t--NME--\nrejects\n"
    "New\tB\tNew York\tNew_York\thttp://en.wikipedia.org/wiki/New_York\t8210131\t/m/059rby\n"
    "York\tI\tNew York\tNew_York\thttp://en.wikipedia.org/wiki/New_York\t8210131\t/m/059rby\n.\n\n"
    "-DOCSTART- (2 Rare)\nNobody\n\n"
)

# NIF 2, as its specification and the answers of FREME have it.
NIF = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<http://example.org/d1#char=0,16>
    a nif:RFC5147String , nif:Context ;
    nif:beginIndex "0"^^xsd:nonNegativeInteger ;
    nif:endIndex "16"^^xsd:nonNegativeInteger ;
    nif:isString "Ann 😀 left Rome."@en .

<http://example.org/d1#char=0,3>
    a nif:RFC5147String , nif:Phrase ;
    nif:anchorOf "Ann" ; nif:beginIndex "0"^^xsd:int ; nif:endIndex "3"^^xsd:int ;
    nif:referenceContext <http://example.org/d1#char=0,16> ;
    itsrdf:taClassRef <http://www.w3.org/2002/07/owl#Thing> , <http://dbpedia.org/ontology/Person> .

<http://example.org/d1#char=11,15>
    a nif:Word ;
    nif:anchorOf "Rome" ; nif:beginIndex 11 ; nif:endIndex 15 ;
    nif:referenceContext <http://example.org/d1#char=0,16> ;
    itsrdf:taIdentRef <http://dbpedia.org/resource/Rome> ; itsrdf:taConfidence 0.75 .

<http://example.org/d1#char=6,10> a nif:Word ; nif:beginIndex 6 ; nif:endIndex 10 .
"""

SAMPLES: dict[str, tuple[str, Files, str | None]] = {
    # what it is: format, files, the layer to read
    "native": ("jsonl", {"x.jsonl": JSONL}, None),
    "brat": ("brat", {"d.txt": "abc", "d.ann": "T1\tA 0 1\ta\n"}, None),
    "HIPE": ("hipe", {"x.tsv": "TOKEN\tNE-COARSE-LIT\n# document_id = d\nabc\tB-loc\n"}, None),
    "CoNLL": ("conll", {"x.conll": "EU\tB-ORG\nrejects\tO\n\nPeter\tB-PER\n"}, None),
    "GENETAG": ("bc2gm", {"s.in": "s1 abcd efgh\n", "GENE.eval": "s1|0 3|abcd\n"}, None),
    "mentions": ("mentions", {"answers.jsonl": MENTIONS}, None),
    "doccano triples": ("doccano", {"all.jsonl": DOCCANO}, None),
    "doccano with relations": ("doccano", {"all.jsonl": DOCCANO_RELATIONS}, None),
    "Label Studio": ("labelstudio", {"export.json": LABELSTUDIO}, "ann@example.org"),
    "Label Studio, JSON-MIN": ("labelstudio", {"export.json": LABELSTUDIO_MIN}, None),
    "Prodigy": ("prodigy", {"ner.jsonl": PRODIGY}, "ner-alex"),
    "CSV": ("csv", {"spans.csv": CSV}, None),
    "TSV with its texts beside": ("csv", {"d.texts.tsv": "id\ttext\nd1\tAnn met Bob.\n", "d.spans.tsv": TSV}, None),
    "tokens in CSV": ("tokentable", {"ner.csv": KAGGLE}, None),
    "sentences with their tags": ("tagrows", {"x.tsv": "Ann left Rome\tB-PER O B-LOC\nBob stayed\tB-PER O\n"}, None),
    "MUC": ("inline", {"x.sgm": MUC}, None),
    "tags in text": ("inline", {"x.txt": INLINE}, None),
    "slash tags": ("slashtags", {"x.txt": SLASHTAGS}, None),
    "types in columns": ("conll", {"x.conll": "Ann\tPERSON\nleft\tO\n\nRome\tLOCATION\n"}, None),
    "PubAnnotation": ("pubannotation", {"x.json": PUBANNOTATION}, None),
    "PubTator": ("pubtator", {"x.pubtator": PUBTATOR}, None),
    "BioC XML": ("bioc", {"x.xml": BIOC}, None),
    "BioC JSON of PubTator 3": ("bioc", {"x.json": BIOC_PUBTATOR3}, None),
    "BioC JSON of PubMed Central": ("bioc", {"x.json": BIOC_LIST}, None),
    "BioC JSON lines": ("bioc", {"x.jsonl": lines(*BIOC_DOCUMENTS)}, None),
    "pieces of a pipeline": ("pipeline", {"out.jsonl": PIECES}, None),
    "groups of a pipeline": ("pipeline", {"out.jsonl": GROUPS}, None),
    "GLiNER": ("pipeline", {"out.jsonl": GLINER}, None),
    "spaCy's to_json": ("pipeline", {"out.jsonl": SPACY_DOC}, None),
    "Hugging Face dataset": ("datasets", {"labels.txt": "\n".join(CONLL_LABELS), "train.jsonl": DATASET}, None),
    "CoNLL-U with tags": ("conllu", {"d.conllu": CONLLU}, None),
    "CoNLL-U with brackets": ("conllu", {"d.conllu": COREFUD}, None),
    "WebAnno TSV": ("webanno", {"d.tsv": WEBANNO}, None),
    "spaCy DocBin": ("docbin", {"train.spacy": DOCBIN}, "ents"),
    "spaCy JSONL": ("prodigy", {"train.jsonl": SPACY}, None),
    "CAS as XMI": ("cas", {"d.xmi": CAS_XMI}, None),
    "CAS as JSON": ("cas", {"d.json": CAS_JSON}, None),
    "CASes of a project": (
        "cas",
        {"p/annotation/d.txt/ann.json": CAS_JSON, "p/annotation/d.txt/bob.json": CAS_JSON},
        "bob",
    ),
    "Label Studio, CSV": ("labelstudio", {"export.csv": LABELSTUDIO_CSV}, None),
    "entities in a cell": ("pipeline", {"entities.csv": ENTITIES_CSV}, None),
    "BSC's columns": ("csv", {"d.texts.tsv": "id\ttext\nd1\tAnn met Bob.\n", "d.spans.tsv": BSC}, None),
    "i2b2 2010": ("spanlines", {"txt/d1.txt": I2B2_TEXT, "concept/d1.con": I2B2}, None),
    "ShARe": ("spanlines", {"d1.txt": I2B2_TEXT, "d1.pipe.txt": SHARE}, None),
    "SemEval-2015 task 14": ("spanlines", {"d1.text": I2B2_TEXT, "d1.pipe": SEMEVAL}, None),
    "TAC KBP": ("spanlines", {"d1.txt": I2B2_TEXT, "run.tab": TAC}, None),
    "i2b2 2014": ("offsetxml", {"d.xml": I2B2_2014}, None),
    "MAE": ("offsetxml", {"d.xml": MAE}, None),
    "GATE": ("offsetxml", {"d.xml": GATE}, "default"),
    "TEI": ("tei", {"x.xml": TEI_STANDOFF}, None),
    "BioNLP": ("bionlp", dict(BIONLP), None),
    "OpenNLP": ("bracketed", {"x.train": OPENNLP}, None),
    "names in square brackets": ("bracketed", {"x.txt": SQUARE}, None),
    "CoNLL-2012": ("ragged", {"x.v4_gold_conll": CONLL2012}, None),
    "AIDA": ("ragged", {"x.tsv": AIDA}, None),
    "NIF": ("nif", {"x.ttl": NIF}, None),
    **{name: ("records", dict(files), layer) for name, (files, layer) in RECORDS.items()},
}


def raw(content: str | bytes) -> bytes:
    """Return the bytes of a file."""
    return content.encode() if isinstance(content, str) else content


def nested(spans: int, shift: int, more: int = 0) -> str:
    """Return a document of spans within spans, none of which is the same on both sides, and of `more` characters."""
    length = 4 * spans
    found = [{"start": at + shift, "end": length - at - 2 * shift, "label": "T"} for at in range(spans)]
    return json.dumps({"id": "a", "text": "x" * (length + more), "spans": found}) + "\n"
