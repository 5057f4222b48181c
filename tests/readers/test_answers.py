"""Answers as language models write them: reasoning, drafts, literals of Python, pairs in either order, offsets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import nereval_core as nereval
from nereval_core.corpus import Documents
from nereval_core.problems import FormatError
from nereval_core.readers import Reading, ReadOptions, Source, read
from nereval_core.readers.recognition import likely_format
from nereval_core.readers.recognition.preview import preview
from tests.support import ROOT

TEXT = "Ada flew to Oslo for Smith & Sons, then left Oslo."
JSON = '{"PER": ["Ada"], "LOC": ["Oslo"]}'
TAGGED = "<PER>Ada</PER> flew to <LOC>Oslo</LOC> for Smith & Sons, then left Oslo."
BOTH = [(0, "PER"), (12, "LOC")]
ADA = [(0, "PER")]
REASONING = "answers without their reasoning 1"
SEVERAL = "answers of several JSON values, the last complete one read 1"
TURNED = "pairs of type and mention turned"


def read_line(row: Any, types: tuple[str, ...] = ("LOC", "PER"), *, own_text: bool = False) -> Reading:
    line = {"text": TEXT, **row} if own_text else row
    source = Source.of_uploads([("a.jsonl", json.dumps(line).encode())])
    texts = None if own_text else Documents(("d",), (TEXT,))
    return read(source, format="mentions", options=ReadOptions(texts=texts, gold_types=types))


def spans(reading: Reading) -> list[tuple[int, str]]:
    layer = reading.layer
    return [(start, layer.label(span)) for span, start in enumerate(layer.start.tolist())]


# An answer in words, its spans, and what the notes say beside the places.
ANSWERS: dict[str, tuple[str, list[tuple[int, str]], str]] = {
    "thought": (f"<think>Oslo is a {{place}}</think>\n{JSON}", BOTH, REASONING),
    "thought with a draft": (f'<reasoning>{{"PER": ["Oslo"]}}</reasoning>```json\n{JSON}\n```', BOTH, REASONING),
    "thought that is not opened": (f'Perhaps {{"PER": ["Oslo"]}}.\n</think>\n{JSON}', BOTH, REASONING),
    "thought that is not closed": (f"<thinking>Oslo is a place, so {JSON}", BOTH, REASONING),
    "thought that speaks of thoughts": (f"<think>Do I <think>? Yes.</think>{JSON}", BOTH, REASONING),
    "thought before tags": (f"<scratchpad>Oslo is <PER>?</scratchpad>{TAGGED}", BOTH, REASONING),
    "thought in brackets": (f"[THINK]Oslo is a place[/THINK]{JSON}", BOTH, REASONING),
    "thought in a channel": (
        f"<|channel|>analysis<|message|>{{}}<|end|><|start|>assistant<|channel|>final<|message|>{JSON}<|return|>",
        BOTH,
        REASONING,
    ),
    "thought under a key": (f'{{"reasoning": "Oslo is a place", "entities": {JSON}}}', BOTH, REASONING),
    "thought in a string": ('{"PER": ["Ada"], "note": "<think>"}', ADA, "keys of answers that were not read: 'note' 1"),
    "unknown tag around prose": (
        f"<notes>We see that <PER>Ada</PER> is a person who flew</notes>{TAGGED}",
        BOTH,
        "mentions inside tags that are not types of gold, left out 1",
    ),
    "tag around the answer": (f"<answer>{JSON}</answer>", BOTH, ""),
    "tag around tags": (f"<output>{TAGGED}</output>", BOTH, ""),
    "types as attributes": (
        '<e><entity type="PER">Ada</entity> flew to <entity type="LOC">Oslo</entity></e>',
        BOTH,
        "",
    ),
    "draft and answer": (f'First {{"PER": ["Oslo"]}}, better {JSON}.', BOTH, SEVERAL),
    "answer and a cut one": (f'{JSON} or {{"PER": ["As', BOTH, SEVERAL),
    "reference and answer": (f"As in [1]: {JSON}", BOTH, ""),
    "a mention a line": ('{"text": "Ada", "type": "PER"}\n{"text": "Oslo", "type": "LOC"}', BOTH, ""),
    "a mention an item": ('1. {"text": "Ada", "type": "PER"}\n2. {"text": "Oslo", "type": "LOC"}', BOTH, ""),
    "a type a line": ('{"PER": ["Ada"]}\n{"LOC": ["Oslo"]}', BOTH, ""),
    "a pair a line": ('["Ada", "PER"]\n["Oslo", "LOC"]', BOTH, ""),
    "types without and with mentions": ('{"entities": []}\n{"PER": ["Ada"]}', ADA, SEVERAL),
    "keys turned": ('{"entities": [{"text": "PER", "type": "Ada"}]}', ADA, f"{TURNED} 1"),
    "trailing commas": ('{"PER": ["Ada",], "LOC": ["Oslo"],}', BOTH, ""),
    "tuples of Python": ("entities = [('Ada', 'PER'), ('Oslo', \"LOC\")]", BOTH, ""),
    "set of Python": ("{('Ada', 'PER'), ('Oslo', 'LOC')}", BOTH, ""),
    "classes as types": ("result = [PER(span='Ada'), LOC(span='Oslo')]", BOTH, ""),
    "objects of pydantic": (
        "Answer(entities=[Entity(text='Ada', label='PER'), Entity(text='Oslo', label='LOC')])",
        BOTH,
        "",
    ),
    "keys of their own": ('[{"E": "Ada", "T": "PER"}, {"T": "LOC", "E": "Oslo"}]', BOTH, "exactly 2"),
    "lists behind types": ('PER: ["Ada"]\nLOC: ["Oslo"]\nORG: []', BOTH, f"{TURNED} 2"),
    "the last type without mentions": ("PER:\n- Ada\nLOC:\n- Oslo\nORG: []", BOTH, "exactly 2"),
    "occurrence from 1": (
        '[{"text": "Oslo", "type": "LOC", "occurrence": 2}]',
        [(45, "LOC")],
        "counted from 1: 1 of 1",
    ),
    "occurrences from 0": (
        '[{"text": "Ada", "type": "PER", "occurrence": 0}, {"text": "Oslo", "type": "LOC", "occurrence": 1}]',
        [(0, "PER"), (45, "LOC")],
        "counted from 0: 2 of 2",
    ),
    "an occurrence that is not there": (
        '[{"text": "Oslo", "type": "LOC", "occurrence": 9}]',
        [(12, "LOC")],
        "keys of answers that were not read: 'occurrence' 1",
    ),
    "dictionary of Python": ("{'PER': ['Ada'], 'LOC': ['Oslo']}", BOTH, ""),
    "a type twice": ('{"PER": ["Ada"], "PER": ["Oslo"]}', [(0, "PER"), (12, "PER")], ""),
    "JSON in a string": (json.dumps(JSON), BOTH, ""),
    "JSON in a string in JSON": (json.dumps({"output": JSON}), BOTH, ""),
    "entities of HTML": (JSON.replace('"', "&quot;"), BOTH, ""),
    "tags in entities of HTML": ("&lt;PER&gt;Ada&lt;/PER&gt; flew to &lt;LOC&gt;Oslo&lt;/LOC&gt;", BOTH, ""),
    "mention in entities of HTML": ('{"ORG": ["Smith &amp; Sons"]}', [(21, "ORG")], "exactly 1"),
    "no entities": ('{"entities": null}', [], "none"),
    "the text without tags": (TEXT, [], "none"),
    "type O": ('[["Ada", "PER"], ["flew", "O"]]', ADA, "mentions of type O or of none, left out 1"),
    "none of a type": ('{"PER": ["Ada"], "LOC": ["None"]}', ADA, "mentions of type O or of none, left out 1"),
    "text repeated": (json.dumps({"text": TEXT, "PER": ["Ada"]}), ADA, ""),
    "pairs": ('[["Ada", "PER"], ["Oslo", "LOC"]]', BOTH, "exactly 2"),
    "pairs turned": ('[["PER", "Ada"], ["LOC", "Oslo"]]', BOTH, f"{TURNED} 2"),
    "tuples turned": ("[('PER', 'Ada'), ('LOC', 'Oslo')]", BOTH, f"{TURNED} 2"),
    "object turned": ('{"Ada": "PER", "Oslo": "LOC"}', BOTH, f"{TURNED} 2"),
    "objects turned": ('[{"Ada": "PER"}, {"Oslo": "LOC"}]', BOTH, f"{TURNED} 2"),
    "types in other case turned": ('[["per", "Ada"]]', [(0, "per")], f"{TURNED} 1"),
    "made up and turned": ('[["PER", "Zoe"]]', [(len(TEXT), "PER")], f"{TURNED} 1"),
    "type of its own": ('[["Ada", "person"]]', [(0, "person")], "exactly 1"),
    "offsets in triples": ('[["Oslo", "LOC", 45, 49]]', [(45, "LOC")], "1 of 1 quotes match"),
    "offsets in words": ('[{"text": "Oslo", "type": "LOC", "start": 45, "end": 49}]', [(45, "LOC")], "quotes match"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_in_words(name: str) -> None:
    answer, expected, note = ANSWERS[name]
    reading = read_line({"id": "d", "answer": answer})
    assert spans(reading) == expected
    assert note in "; ".join(reading.notes)
    for mark in (REASONING, SEVERAL, TURNED):
        assert mark in note or mark not in reading.placed


REFUSED = {
    "cut in thought": ('<think>Perhaps {"PER": ["A', "nothing but reasoning: the answer is cut off"),
    "cut list": ('Here: [{"text": "Ada", "type": "PER"}, {"text": "Os', "the answer is cut off"),
    "cut lines": ('{"text": "Ada", "type": "PER"}\n{"text": "Os', "the answer is cut off"),
    "calls": ("[Person('Ada', aka=['Oslo'])]", "not JSON"),
    "broken list around a list": ('{"PER": [Ada, ["Oslo"]]}', "not JSON"),
    "a key of Python twice": ("{'PER': ['Ada'], 'PER': ['Oslo']}", "not JSON"),
    "structure in tags": ("<entity><text>Ada</text><type>PER</type></entity>", "neither JSON nor tags in"),
    "names alone": ('["Ada", "Oslo"]', "a string where an entity should be"),
    "words under a key": ('{"entities": "Ada is one"}', "neither JSON nor tags under 'entities'"),
    "tokens and tags": ('{"tokens": ["Ada"], "tags": ["B-PER"]}', "'tokens', which is not a type"),
    "tags as types": ('[["Ada", "B-PER"], ["flew", "O"]]', "the tag 'B-PER' where a type should be"),
    "JSON under a key": ('{"people": "{\\"PER\\": []}"}', "JSON under 'people', which is not a type"),
    "marks without a type": ("@@Ada## flew", "mentions without a type"),
    "both orders": ('[["PER", "Ada"], ["Oslo", "LOC"]]', "'PER' and 'Ada': either may be the mention or the type"),
    "unknown first": ('[["person", "Ada"]]', "'person' and 'Ada': either may be"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_answer_names_its_line(name: str) -> None:
    answer, note = REFUSED[name]
    with pytest.raises(FormatError) as error:
        read_line({"id": "d", "answer": answer})
    [problem] = error.value.problems
    assert (problem.source, problem.line) == ("a.jsonl", 1) and note in problem.found
    assert "--malformed empty" in problem.remedy or "either may be" in problem.found


def test_one_type_of_gold_is_that_of_marks() -> None:
    assert spans(read_line({"id": "d", "answer": "@@Ada## flew"}, ("PER",))) == ADA
    names = {"id": "d", "type": "PER", "answer": '["Ada", "Oslo"]'}
    assert spans(read_line(names)) == [(0, "PER"), (12, "PER")]


def test_types_of_the_file_decide_where_gold_has_others() -> None:
    """Words of the text that are types of other answers are types here too."""
    answers = ['[["Ada", "person"]]', '[["Zoe", "person"]]', '[["person", "Ada"]]']
    rows = [{"id": str(at), "text": "Ada is a person.", "answer": answer} for at, answer in enumerate(answers)]
    source = Source.of_uploads([("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())])
    rows[0]["text"] = "Ada left."
    source = Source.of_uploads([("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())])
    layer = read(source, format="mentions").layer
    assert [layer.label(span) for span in range(len(layer))] == ["person"] * 3
    assert layer.unplaced.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('[["PER", "Ada"]]', ADA),
        ('{"Ada": "PER"}', ADA),
        ('{"PER": ["Ada"]}', ADA),
        ('{"flew": ["Ada"]}', [(0, "flew")]),
        (TAGGED, BOTH),
    ],
)
def test_without_gold_the_text_decides(answer: str, expected: list[tuple[int, str]]) -> None:
    assert spans(read_line({"id": "d", "answer": answer}, (), own_text=True)) == expected


MESSAGE = {"role": "assistant", "content": JSON}
TOOL = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "tag", "arguments": JSON}}]}
ENTITIES = [{"text": "Ada", "type": "PER"}, {"text": "Oslo", "type": "LOC"}]
FENCES = '```json\n{"PER": ["Ada"]}\n```\n\n```json\n{"LOC": ["Oslo"]}\n```'
RESPONSES: dict[str, tuple[dict[str, Any], str]] = {
    "chat": ({"id": "d", "choices": [{"message": {**MESSAGE, "reasoning_content": "Hm."}}]}, REASONING),
    "a request beside its response": (
        {
            "id": "d",
            "request": {"contents": []},
            "response": {"candidates": [{"content": {"parts": [{"text": JSON}]}}]},
        },
        "",
    ),
    "samples": ({"id": "d", "filtered_resps": [JSON]}, ""),
    "tool": ({"id": "d", "choices": [{"message": TOOL}]}, ""),
    "calls of a tool": (
        {
            "id": "d",
            "choices": [
                {
                    "message": {
                        "content": "",
                        "tool_calls": [
                            {"function": {"name": "tag", "arguments": json.dumps({"entities": [entity]})}}
                            for entity in ENTITIES
                        ],
                    }
                }
            ],
        },
        "",
    ),
    "several blocks of a tool": (
        {
            "custom_id": "d",
            "result": {"message": {"content": [{"type": "tool_use", "input": entity} for entity in ENTITIES]}},
        },
        "",
    ),
    "Bedrock's batch": ({"recordId": "d", "modelOutput": {"content": [{"type": "text", "text": JSON}]}}, ""),
    "Bedrock's conversation": (
        {"id": "d", "output": {"message": {"content": [{"text": JSON}]}}, "stopReason": "end_turn"},
        "",
    ),
    "fences by type": ({"id": "d", "choices": [{"message": {"content": FENCES}}]}, ""),
    "several choices": (
        {"id": "d", "choices": [{"message": MESSAGE}, {"message": MESSAGE}]},
        "further answers of one response, not read 1",
    ),
    "blocks": (
        {
            "custom_id": "d",
            "result": {
                "message": {"content": [{"type": "thinking", "thinking": "{}"}, {"type": "text", "text": JSON}]}
            },
        },
        REASONING,
    ),
    "block of a tool": (
        {"custom_id": "d", "result": {"message": {"content": [{"type": "tool_use", "input": json.loads(JSON)}]}}},
        "",
    ),
    "items": (
        {
            "custom_id": "d",
            "response": {
                "body": {
                    "output": [
                        {"type": "reasoning", "summary": []},
                        {"type": "message", "content": [{"type": "output_text", "text": JSON}]},
                    ]
                }
            },
        },
        REASONING,
    ),
    "candidates": (
        {
            "key": "d",
            "response": {"candidates": [{"content": {"parts": [{"text": "Hm.", "thought": True}, {"text": JSON}]}}]},
        },
        REASONING,
    ),
    "outputs": ({"id": "d", "outputs": [{"text": JSON}]}, ""),
    "local chat": ({"id": "d", "message": {**MESSAGE, "thinking": "Hm."}, "done": True}, REASONING),
    "chat of a pipeline": ({"id": "d", "generated_text": [{"role": "user", "content": "?"}, MESSAGE]}, ""),
    "chat as conversations": ({"id": "d", "conversations": [{"from": "gpt", "value": JSON}]}, ""),
    "chat as messages": ({"id": "d", "messages": [{"role": "user", "content": "?"}, MESSAGE]}, ""),
}


@pytest.mark.parametrize("name", RESPONSES)
def test_a_response(name: str) -> None:
    row, note = RESPONSES[name]
    reading = read_line(row)
    assert spans(reading) == BOTH and note in reading.placed
    assert (REASONING in reading.placed) == (note == REASONING)


@pytest.mark.parametrize(
    ("row", "note"),
    [
        ({"custom_id": "d", "response": None, "error": {"message": "timeout"}}, "'timeout'"),
        ({"custom_id": "d", "response": {"body": {"error": {"message": "rate"}}}, "error": None}, "rate"),
        ({"custom_id": "d", "result": {"type": "errored", "error": {"type": "overloaded"}}}, "overloaded"),
        ({"id": "d", "answer": None}, "no answer: answer is null"),
        (
            {
                "id": "d",
                "choices": [{"message": {"tool_calls": [TOOL["tool_calls"][0], {"function": {"arguments": "x"}}]}}],
            },
            "a call of a tool whose arguments are a string without JSON",
        ),
    ],
)
def test_a_request_that_failed_is_not_an_empty_answer(row: dict[str, Any], note: str) -> None:
    with pytest.raises(FormatError, match=note):
        read_line(row)


# Numbers beside the mention "Oslo": its place, and what the notes say.
OFFSETS: list[tuple[dict[str, Any], int, str]] = [
    ({"char_start": 45, "char_end": 49}, 45, "end exclusive: 1 of 1"),
    ({"char_start": 45, "char_end": 48}, 45, "end inclusive: 1 of 1"),
    ({"char_start": 46, "char_end": 49}, 45, "first at 1"),
    ({"characterOffsetBegin": 45, "characterOffsetEnd": 49}, 45, "1 of 1"),
    ({"BeginOffset": 45, "EndOffset": 49}, 45, "1 of 1"),
    ({"CHAR_START": 45, "CHAR_END": 49}, 45, "1 of 1"),
    ({"startIdx": 45, "endIdx": 49}, 45, "1 of 1"),
    ({"startpos": 45, "endpos": 49}, 45, "1 of 1"),
    ({"s": 45, "e": 49}, 45, "1 of 1"),
    ({"x": 45, "y": 49}, 45, "1 of 1"),
    ({"start": "45", "end": "49"}, 45, "1 of 1"),
    ({"position": [45, 49]}, 45, "1 of 1"),
    ({"position": 45}, 45, "1 of 1"),
    ({"offset": 45, "length": 4, "score": 0.5}, 45, "keys of answers that were not read: 'score' 1"),
    ({"span": {"begin": 45, "end": 49}}, 45, "1 of 1"),
    ({"offsets": [[45, 49]]}, 45, "1 of 1"),
    ({"index": 45}, 45, "1 of 1"),
    ({"index": 2}, 12, "keys of answers that were not read: 'index' 1"),
    ({"token_start": 10, "token_end": 11}, 45, "numbers of tokens are read: what blanks divide, end exclusive"),
    ({"confidence": 1, "id": 7}, 12, "'confidence' 1, 'id' 1"),
    ({"start": None, "end": None}, 12, "exactly 1"),
]


@pytest.mark.parametrize(("numbers", "start", "note"), OFFSETS)
def test_offsets_that_the_mention_confirms(numbers: dict[str, Any], start: int, note: str) -> None:
    row = {"id": "d", "entities": [{"text": "Oslo", "type": "LOC", **numbers}]}
    source = Source.of_uploads([("a.jsonl", json.dumps(row).encode())])
    assert likely_format(source) == "mentions"
    reading = read_line(row)
    assert spans(reading) == [(start, "LOC")] and note in "; ".join(reading.notes)
    assert reading.layer.text(0) == "Oslo"


@pytest.mark.parametrize("numbers", [{"start": 3, "end": 7}, {"x": 3}, {"char_start": 44, "char_end": 48}])
def test_offsets_that_no_mention_confirms_are_refused(numbers: dict[str, Any]) -> None:
    mention = {"text": "Oslo", "type": "LOC"}
    with pytest.raises(FormatError) as error:
        read_line({"id": "d", "entities": [{**mention, **numbers}]})
    lines = error.value.lines()
    assert all(f"'{key}'" in lines[0] for key in numbers) and "leave them out" in lines[0]
    assert lines[1].startswith("a.jsonl:1: 'Oslo' at ")
    # The remedy, followed.
    assert spans(read_line({"id": "d", "entities": [mention]})) == [(12, "LOC")]


def test_places_that_offsets_state_are_not_free_for_other_mentions() -> None:
    mention = {"text": "Oslo", "type": "LOC"}
    reading = read_line({"id": "d", "entities": [mention, {**mention, "start": 12, "end": 16}]})
    assert spans(reading) == [(12, "LOC"), (45, "LOC")]


def test_two_keys_that_may_hold_the_answer_are_asked_about() -> None:
    row = {"id": "d", "entities": [{"text": "Ada", "type": "PER"}], "response": '{"LOC": ["Oslo"]}'}
    with pytest.raises(FormatError) as error:
        read_line(row)
    [line] = error.value.lines()
    assert line == (
        "a.jsonl:1: 2 keys may hold the answer: 'response' (LOC), 'entities' (PER); name one: "
        "--pred-column response or --pred-column entities; in the app choose beside the upload"
    )
    source = Source.of_uploads([("a.jsonl", json.dumps(row).encode())])
    assert [choice.number for choice in preview(source, format="mentions").tags] == ["response", "entities"]
    documents = Documents(("d",), (TEXT,))
    for column, expected_spans in (("response", [(12, "LOC")]), ("entities", ADA)):
        options = ReadOptions(texts=documents, gold_types=("LOC", "PER"), column=column)
        assert spans(read(source, format="mentions", options=options)) == expected_spans
    with pytest.raises(FormatError, match="no key 'answer', which is to hold the answer"):
        read(source, format="mentions", options=ReadOptions(texts=documents, column="answer"))


def test_an_answer_beside_spans_of_another_format_is_asked_about() -> None:
    rows = [
        {"id": "d", "text": TEXT, "entities": [{"start": 0, "end": 3, "label": "PER"}], "response": JSON},
        {"id": "d", "text": TEXT, "label": [[0, 3, "PER"]], "answer": JSON},
    ]
    for row in rows:
        source = Source.of_uploads([("a.jsonl", json.dumps(row).encode())])
        with pytest.raises(FormatError, match=r"this may be .*mentions.*--format mentions"):
            read(source)
        assert len(read(source, format="mentions").layer) == 2


def test_predicted_entities_beside_entities_are_asked_about() -> None:
    row = {"id": "d", "entities": [["Ada", "PER"]], "pred_entities": [["Oslo", "LOC"]]}
    with pytest.raises(FormatError, match=r"'entities' \(PER\), 'pred_entities' \(LOC\); name one"):
        read_line(row)


def examples() -> list[str]:
    """Return the lines of the example in docs/formats.md."""
    section = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8").partition("\n## mentions\n")[2]
    return section.partition("```jsonl\n")[2].partition("\n```")[0].splitlines()


EXAMPLES = examples()
EXAMPLE_TEXT = "Aspirin helps"


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Gold of the documents of the examples."""
    path = tmp_path / "gold.jsonl"
    span = {"start": 0, "end": 7, "label": "Drug"}
    rows = [{"id": f"d{number}", "text": EXAMPLE_TEXT, "spans": [span]} for number in range(1, 6)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 5


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_is_recognised_alone_in_a_file_of_any_name(line: str, gold: Path, tmp_path: Path) -> None:
    whole = nereval.read(gold)
    for name in ("a.jsonl", "a.json", "a.txt"):
        path = tmp_path / name
        for content in (line, json.dumps(json.loads(line), indent=1), f"[{line}]"):
            path.write_text(content + "\n", encoding="utf-8")
            reading = nereval.read(path, texts=whole)
            assert reading.format == "mentions" and spans(reading) == [(0, "Drug")]
            assert nereval.score(gold, path, missing="empty").counts("strict").cor == 1


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_is_taken_as_a_string_and_as_an_object(line: str) -> None:
    gold_objects = [[{"start": 0, "end": 7, "label": "Drug"}]]
    for answers in ([line], [json.loads(line)]):
        reading = nereval.read_objects(answers, texts=[EXAMPLE_TEXT])
        assert spans(reading) == [(0, "Drug")] and reading.format == "mentions"
        scores = nereval.score(gold_objects, answers, texts=[EXAMPLE_TEXT])
        assert scores.counts("strict").cor == 1 and scores.counts("strict").spu == 0


@pytest.mark.parametrize(
    "answer",
    [
        '{"Drug": ["Aspirin"]}',
        "<think>Hm.</think>[('Drug', 'Aspirin')]",
        "<Drug>Aspirin</Drug> helps",
        {"Drug": ["Aspirin"]},
        [{"text": "Aspirin", "type": "Drug"}],
        [("Aspirin", "Drug")],
        [("Drug", "Aspirin")],
    ],
)
def test_answers_as_python_objects(answer: Any, gold: Path) -> None:
    whole = nereval.read(gold)
    reading = nereval.read_objects([answer] * 5, texts=whole)
    assert spans(reading) == [(0, "Drug")] * 5 and reading.documents is not None
    for truth in (gold, whole, [[(0, 7, "Drug")]] * 5):
        texts = None if truth in (gold, whole) else [EXAMPLE_TEXT] * 5
        assert nereval.score(truth, [answer] * 5, texts=texts).counts("strict").cor == 5


def test_problems_of_python_objects_name_the_answer(gold: Path) -> None:
    answers = ['{"Drug": ["Aspirin"]}'] * 4
    with pytest.raises(FormatError, match=r"pred\[4\]: neither JSON nor tags in '- Aspirin'; ask the model for JSON"):
        nereval.score(gold, [*answers, "- Aspirin"])
    assert len(nereval.read_objects([*answers, "No"], texts=nereval.read(gold), malformed="empty").layer) == 4
    with pytest.raises(FormatError, match="4 answers without ids where gold has 5 documents"):
        nereval.score(gold, answers)
    with pytest.raises(FormatError, match="no text to place them in"):
        nereval.read_objects(answers)


@pytest.mark.parametrize("order", [1, -1])
def test_a_batch_is_paired_by_the_ids_of_its_requests(order: int, tmp_path: Path) -> None:
    gold = nereval.read_objects([[], []], texts=["Ada left", "Oslo"])
    rows = [
        {"id": f"batch_req_{number}", "custom_id": number, "response": {"body": {"choices": [{"text": answer}]}}}
        for number, answer in (("0", '{"PER": ["Ada"]}'), ("1", '{"LOC": ["Oslo"]}'))
    ]
    path = tmp_path / "batch.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows[::order]), encoding="utf-8")
    reading = nereval.read(path, texts=gold)
    assert sorted(spans(reading)) == [(0, "LOC"), (0, "PER")]


def test_ids_of_responses_are_not_those_of_documents(tmp_path: Path) -> None:
    documents = Documents(("a", "b"), ("Ada left", "Oslo"), named=True)
    rows = [
        {"id": f"chatcmpl-{number}", "object": "chat.completion", "choices": [{"message": {"content": answer}}]}
        for number, answer in enumerate(('{"PER": ["Ada"]}', '{"LOC": ["Oslo"]}'))
    ]
    path = tmp_path / "responses.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    reading = nereval.read(path, texts=documents)
    assert spans(reading) == [(0, "PER"), (0, "LOC")]
    assert "ids of responses, of which gold has none: answers are taken in their order" in reading.notes
    path.write_text("".join(json.dumps(row | {"id": "b"}) + "\n" for row in rows[1:]), encoding="utf-8")
    assert nereval.read(path, texts=documents).documents.ids == ("b",)


@pytest.mark.parametrize("ids", [{"custom_id": "request-1", "id": "d"}, {"custom_id": "d", "id": "batch_req_1"}])
def test_of_several_ids_the_one_that_gold_has_counts(ids: dict[str, str]) -> None:
    assert spans(read_line(ids | {"answer": JSON})) == BOTH


def test_ids_that_gold_does_not_have_are_said_or_refused() -> None:
    answers = [{"id": "request-2", "Drug": ["Aspirin"]}]
    reading = nereval.read_objects(answers, texts=[EXAMPLE_TEXT])
    assert "answers are taken in their order" in "; ".join(reading.notes)
    with pytest.raises(FormatError, match="'request-2' is not among gold's"):
        read_line(answers[0])


@pytest.mark.parametrize(
    ("row", "format"),
    [
        ({"text": TEXT, "spans": [], "answer": "accept"}, "prodigy"),
        ({"id": "d", "text": TEXT, "spans": []}, "jsonl"),
        ({"id": "d", "tokens": ["Ada"], "ner_tags": ["O"]}, "datasets"),
        ({"id": 1, "text": TEXT, "label": [[0, 3, "PER"]], "prediction": "x"}, "doccano"),
        ({"id": "d", "predictions": ["B-PER", "O"]}, None),
        ({"id": "d", "answer": "O B-PER O"}, None),
        ({"id": "d", "answer": "- Ada (PER)"}, "mentions"),
        ({"id": "d", "answer": {"PER": ["Ada"]}}, "mentions"),
        ({"id": "d", "prediction": "<think>Hm.</think>None"}, "mentions"),
        ({"id": "d", "text": TEXT, "PER": ["Ada"]}, "mentions"),
        ({"id": "d", "entities": [["Ada", "PER"]]}, "mentions"),
        ({"id": "d", "entities": [{"text": "Ada", "label": "PER", "start": 0, "end": 3}]}, "mentions"),
        ({"id": "d", "text": TEXT, "entities": [{"text": "Ada", "label": "PER", "start": 0, "end": 3}]}, "pipeline"),
        ({"custom_id": "d", "response": {"body": {"choices": []}}}, "mentions"),
    ],
)
def test_recognition_beside_other_formats(row: dict[str, Any], format: str | None) -> None:
    assert likely_format(Source.of_uploads([("x.jsonl", json.dumps(row).encode())])) == format


ASKED = [
    {"from": "human", "value": f"Text: {TEXT}"},
    {"from": "gpt", "value": "I've read this text."},
    {"from": "human", "value": "What describes PER in the text?"},
    {"from": "gpt", "value": '["Ada"]'},
    {"from": "human", "value": "What describes LOC in the text?"},
    {"from": "gpt", "value": '["Oslo"]'},
    {"from": "human", "value": "What describes ORG in the text?"},
    {"from": "gpt", "value": "[]"},
]


def test_a_chat_that_asks_for_one_type_after_another_answers_all_of_them() -> None:
    assert spans(read_line({"id": "d", "conversations": ASKED})) == BOTH
    # UniversalNER's training data hold their texts.
    alone = json.dumps({"conversations": ASKED}).encode()
    reading = read(Source.of_uploads([("x.jsonl", alone)]))
    assert (reading.documents.texts, spans(reading)) == ((TEXT,), BOTH)
    with pytest.raises(FormatError, match="no list of mentions for 'LOC' in 'Oslo'"):
        read_line({"id": "d", "conversations": [*ASKED[:5], {"from": "gpt", "value": "Oslo"}]})


def test_texts_of_instructions_are_their_input() -> None:
    alpaca = json.dumps([{"instruction": "Find names.", "input": TEXT, "output": JSON}]).encode()
    reading = read(Source.of_uploads([("x.json", alpaca)]))
    assert (reading.documents.texts, spans(reading)) == ((TEXT,), BOTH)


def test_texts_name_documents_where_gold_has_none_of_the_ids() -> None:
    rows = [{"id": "x2", "text": "Oslo", "answer": '{"LOC": ["Oslo"]}'}, {"id": "x1", "text": TEXT, "answer": JSON}]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    gold = ReadOptions(texts=Documents(("d1", "d2"), (TEXT, "Oslo")), gold_types=("LOC", "PER"))
    reading = read(Source.of_uploads([("x.jsonl", content)]), options=gold)
    assert (reading.documents.ids, spans(reading)) == (("d2", "d1"), [(0, "LOC"), *BOTH])
    with pytest.raises(FormatError, match="'x2' is not among gold's"):
        read(Source.of_uploads([("x.jsonl", content.replace(b'"Oslo", "a', b'"Rome", "a'))]), options=gold)


def test_texts_generated_for_several_prompts_are_answers_in_their_order() -> None:
    generated = json.dumps([[{"generated_text": JSON}]], indent=1).encode()
    gold = ReadOptions(texts=Documents(("d1",), (TEXT,)), gold_types=("LOC", "PER"))
    assert spans(read(Source.of_uploads([("x.json", generated)]), options=gold)) == BOTH


@pytest.mark.parametrize("kind", ["PER", ["PER"]])
@pytest.mark.parametrize("written", [list, repr, json.dumps], ids=["list", "Python", "JSON"])
def test_gretels_entities_name_their_types_in_a_list(kind: Any, written: Any) -> None:
    row = {"uid": "a", "text": TEXT, "entities": written([{"entity": "Ada", "types": kind}])}
    reading = read(Source.of_uploads([("a.jsonl", json.dumps(row).encode())]))
    assert (reading.format, spans(reading)) == ("mentions", ADA)


def test_an_entity_of_several_types_is_told() -> None:
    with pytest.raises(FormatError, match="an entity without a type, with the keys 'entity', 'types'"):
        read_line({"entities": [{"entity": "Ada", "types": ["PER", "ORG"]}]}, own_text=True)


@pytest.mark.parametrize(
    "answer", ["- Ada: PER", "PER: Ada", "| Entity | Type |\n|---|---|\n| Ada | PER |", "Ada\tPER\nAda\tPER"]
)
def test_answers_in_lines_as_python_objects(answer: str) -> None:
    gold = nereval.read_objects([[(0, 3, "PER")], []], texts=["Ada and Ada", "Nobody"])
    reading = nereval.read_objects([answer, "No entities found."], texts=gold)
    assert reading.layer.doc.tolist()[0] == 0 and reading.layer.start.tolist()[0] == 0
    assert nereval.score(gold, [answer, "None"]).counts("type").cor == 1


def test_strings_alone_are_answers_of_texts() -> None:
    gold = nereval.read_objects([[(0, 3, "PER")]], texts=["Ada came."])
    assert not len(nereval.read_objects(["None"], texts=gold).layer)
    with pytest.raises(FormatError, match="neither JSON nor tags in 'I cannot'"):
        nereval.read_objects(["I cannot"], texts=gold)


@pytest.mark.parametrize("head", ["id,text,response", "doc_id,sentence,Answer"])
def test_answers_in_a_column_of_a_table(head: str) -> None:
    row = ["d", TEXT, "- Ada: PER\n- Oslo: LOC"]
    content = f"{head}\n" + ",".join('"' + cell.replace('"', '""') + '"' for cell in row) + f"\ne,{TEXT[:8]},None\n"
    gold = ReadOptions(texts=Documents(("d", "e"), (TEXT, TEXT[:8])), gold_types=("LOC", "PER"))
    reading = read(Source.of_uploads([("x.csv", content.encode())]), options=gold)
    assert (reading.format, reading.documents.ids, spans(reading)) == ("mentions", ("d", "e"), BOTH)
    with pytest.raises(FormatError, match=r"x\.csv:2: not JSON|x\.csv:2: the answer is cut off"):
        read(Source.of_uploads([("x.csv", content.replace("- Ada: PER", '{""PER').encode())]), options=gold)
