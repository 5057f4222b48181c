"""The editor of spans: keys and drags lose nothing, and give no span that is empty or outside of the text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nereval_core.problems import name_text
from tests.support.scripts import Run, run_scripts

TYPES = ["cell_line", "cell_type", "DNA", "protein", "RNA"]
PLAY = f"""
const TYPES = {json.dumps(TYPES)};
const editorOn = (segments, sources, offset = 0) => newEditor(editedText(segments, offset), TYPES, sources);
const keys = (editor, all) => all.reduce(editKey, editor);
const spansOf = (editor) => editor.spans.map(({{ fragments, type }}) => [quoteOf(editor.text, {{ fragments }}), type]);
const span = (start, end, type = "protein") => [{{ fragments: [[start, end]], type }}];
"""
TEXT = "given the troponin I of Crohn's disease"
GOLD, PRED = "span(10, 20)", "span(6, 18, 'DNA')"


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest) -> Run:
    return run_scripts(request, "../components/text_drawing", "span_editor", more=PLAY)


def after(run: Run, *keys: str, text: str = TEXT, sources: str = f"[{GOLD}, {PRED}]") -> list[list[str]]:
    """Return words and types of the spans after keys."""
    spans: list[list[str]] = run(f"spansOf(keys(editorOn([{json.dumps(text)}], {sources}), {json.dumps(keys)}))")
    return spans


RIGHT, LEFT = "Shift+ArrowRight", "Shift+ArrowLeft"


@pytest.mark.parametrize(
    ("keys", "spans"),
    [
        ([], [["troponin I", "protein"]]),
        (["4"], [["the troponin", "DNA"]]),
        (["4", "4"], [["troponin I", "protein"]]),
        ([RIGHT], [["troponin I of", "protein"]]),
        ([LEFT], [["troponin", "protein"]]),
        (["ArrowLeft", LEFT], [["the troponin I", "protein"]]),
        (["ArrowLeft", RIGHT], [["I", "protein"]]),
        (["Alt+Shift+ArrowLeft"], [["troponin", "protein"]]),
        (["Alt+Shift+ArrowLeft"] * 2, [["troponi", "protein"]]),
        (["Control+ArrowRight"], [["I of", "protein"]]),
        (["r"], [["troponin I", "RNA"]]),
        ([*"cell_t"], [["troponin I", "cell_type"]]),
        (["ArrowUp"], [["troponin I", "DNA"]]),
        (["r", "Backspace", "d"], [["troponin I", "DNA"]]),
        (["+"], [["troponin I", "protein"], ["of", "protein"]]),
        (["+", "r", "ArrowLeft", "ArrowLeft", LEFT], [["troponin", "protein"], ["of", "RNA"]]),
        (["&"], [["troponin I … of", "protein"]]),
        (["&", "Delete"], [["troponin I", "protein"]]),
        (["-"], []),
        (["-", "Control+z"], [["troponin I", "protein"]]),
        ([RIGHT, "r", "Control+z", "Control+z"], [["troponin I", "protein"]]),
        ([RIGHT, "r", "Control+z", "Control+z", "Control+y", "Control+Shift+z"], [["troponin I of", "RNA"]]),
        # A key that means nothing here changes nothing.
        (["F5", " ", "Home"], [["troponin I", "protein"]]),
    ],
)
def test_keys(run: Run, keys: list[str], spans: list[list[str]]) -> None:
    assert after(run, *keys) == spans


def test_the_edge_that_keys_move_first_is_the_one_that_differs(run: Run) -> None:
    assert after(run, LEFT, sources="[span(10, 20), span(6, 20)]") == [["the troponin I", "protein"]]
    assert after(run, LEFT, sources="[span(10, 20), span(10, 18)]") == [["troponin", "protein"]]


def test_a_new_type_is_for_the_arrow_keys_alone(run: Run) -> None:
    typed = [*"cell_l2"]
    editor = f"keys(editorOn([{json.dumps(TEXT)}], [{GOLD}]), %s)"
    assert after(run, *typed) == [["troponin I", "cell_line"]]
    refused = run(f"(({{outcome, message}}) => [outcome, message])({editor % json.dumps([*typed, 'Enter'])})")
    assert refused[0] == "" and "No type is called “cell_l2” yet" in refused[1]
    assert after(run, *typed, "ArrowDown") == [["troponin I", "cell_l2"]]
    sent = run(f"editedSpans({editor % json.dumps([*typed, 'ArrowDown', 'Enter'])})")
    assert sent == [{"fragments": [[10, 20]], "type": "cell_l2", "isNew": True}]
    # A prefix and Enter is a type that exists.
    assert run(f"editedSpans({editor % json.dumps([*'cell_l', 'Enter'])})")[0]["type"] == "cell_line"


def test_each_of_sixty_types_is_reached_without_a_key(run: Run) -> None:
    """Twelve about the span's own are offered at first; one button shows all, and takes them back."""
    setup = """(() => {
      const types = Array.from({ length: 60 }, (_, number) => `type ${String(number).padStart(2, "0")}`);
      const editor = newEditor(editedText(["troponin I"], 0), types, [span(0, 8, "type 40")]);
      const names = (editor) => offeredTypes(editor).choices.map(({ type }) => type);
      const all = foldTypes(editor);
      const other = editType(all, "type 03");
      return [names(editor), offeredTypes(editor).more, names(all), offeredTypes(all).more, names(other).length,
        spansOf(keepSpans(other)), names(foldTypes(other))];
    })()"""
    names, more, unfolded, none_more, still, kept, folded = run(setup)
    assert (len(names), more, "type 40" in names) == (12, 48, True)
    assert unfolded == [f"type {number:02}" for number in range(60)] and (none_more, still) == (0, 60)
    assert kept == [["troponin", "type 03"]] and len(folded) == 12 and "type 03" in folded


@pytest.mark.parametrize(
    ("text", "from_", "to", "words"),
    [
        ("a 😀 smile", 2, 3, "😀"),
        ("a 👩‍👩‍👧 family", 2, 4, "👩‍👩‍👧"),
        ("cafe\u0301 au lait", 0, 4, "cafe\u0301"),
        ("one\r\ntwo\r\n", 3, 8, "two"),
        ("ראש הממשלה אמר", 4, 10, "הממשלה"),
        ("𝒳𝒴 and 𝒵", 7, 8, "𝒵"),
        ("  padded  ", 0, 10, "padded"),
    ],
)
def test_stretches_are_counted_in_code_points_and_cut_no_character(
    run: Run, text: str, from_: int, to: int, words: str
) -> None:
    editor = f"editStretch(editorOn([{json.dumps(text)}], [], 5), {from_}, {to}, false)"
    assert run(f"spansOf({editor})") == [[words, TYPES[0]]]
    ((start, end),) = run(f"editedSpans({editor})[0].fragments")
    assert text[start - 5 : end - 5] == words
    before, whole = text[:from_], json.dumps(text[:from_])
    assert run(f"pointsIn({whole})") == len(before)


def test_by_character_no_combined_character_is_cut(run: Run) -> None:
    text = "cafe\u0301 👩‍👩‍👧"
    spans = after(run, "Alt+Shift+ArrowLeft", text=text, sources=f"[span(0, {len(text)})]")
    assert spans == [["cafe\u0301", "protein"]]
    assert after(run, *["Alt+Shift+ArrowLeft"] * 2, text=text, sources=f"[span(0, {len(text)})]") == [
        ["caf", "protein"]
    ]


def test_words_end_at_apostrophes_and_where_spans_do(run: Run) -> None:
    assert after(run, LEFT, LEFT, text="of l'Europe", sources="[span(3, 11)]") == [["l", "protein"]]
    cut = 'keys(editorOn(["anti-", "TNF", "alpha"], [span(0, 13)]), ["Shift+ArrowLeft"])'
    assert run(f"spansOf({cut})") == [["anti-TNF", "protein"]]


def test_drags_set_the_span_and_with_control_add_a_fragment(run: Run) -> None:
    editor = f"editorOn([{json.dumps(TEXT)}], [{GOLD}])"
    assert run(f"spansOf(editStretch({editor}, 24, 40, false))") == [["Crohn's disease", "protein"]]
    assert run(f"spansOf(editStretch({editor}, 39, 24, true))") == [["troponin I … Crohn's disease", "protein"]]
    assert run(f"spansOf(editStretch({editor}, 19, 23, true))") == [["troponin I of", "protein"]]
    assert run(f"spansOf(editStretch({editor}, 20, 21, false))") == [["troponin I", "protein"]]


def test_the_state_is_said_in_words(run: Run) -> None:
    editor = f"editorOn([{json.dumps(TEXT)}], [{GOLD}], 2)"
    assert run(f"editorWords({editor})") == "troponin I, protein, characters 12 to 22"
    assert run(f"editorWords(keys({editor}, ['&', '+']))").endswith(", span 2 of 2")
    assert run(f"editorWords(keys({editor}, ['-']))") == "no entity"


def test_names_of_types_are_shown_as_python_shows_them(run: Run) -> None:
    names = [
        "cell_line",
        "-",
        ",",
        " PER",
        "人",
        "٣",
        "…",
        "a\u202eb",
        "x\0\n\t\x1b",
        "𝒳 é",
        "a\xa0b\u2028",
        "\U000e0001z",
        "",
    ]
    assert run(f"{json.dumps(names)}.map(nameText)") == [name_text(name) for name in names]


def test_what_is_kept_is_each_span_once(run: Run) -> None:
    twice = f"keys(editorOn([{json.dumps(TEXT)}], [[...{GOLD}, ...{GOLD}]]), ['Enter'])"
    assert run(f"editedSpans({twice}).length") == 1


RANDOM = """
(() => {
  const random = (seed) => () => {
    seed = (Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return (seed >>> 0) / 2 ** 32;
  };
  const next = random(7);
  const pick = (all) => all[Math.floor(next() * all.length)];
  const texts = [
    ["given the ", "troponin", " I of Crohn's disease\\n", "in l'Europe 3.5\\n"],
    ["a 😀👩‍👩‍👧 cafe\\u0301\\r\\n", "ראש ", "הממשלה אמר\\r\\n", "𝒳𝒴 and ", "𝒵"],
    ["   ", "x", "   "],
  ];
  const chords = [...Object.keys(EDIT_KEYS).filter((key) => !["Enter", "Escape"].includes(key)), ..."4+&-abcdepr_ 1"];
  const wrong = [];
  let [edits, steps] = [0, 0];
  const check = (editor) => {
    const length = editor.text.points.length;
    for (const { fragments, type } of editor.spans) {
      const ends = fragments.flat();
      const isInside = ends[0] >= 0 && ends.at(-1) <= length && fragments.length > 0;
      const isApart = ends.every((end, at) => at === 0 || ends[at - 1] < end);
      if (!isInside || !isApart || !type) wrong.push(JSON.stringify(editor.spans));
    }
    const { span, fragment } = editor.edge;
    if (editor.spans.length && !editor.spans[span]?.fragments[fragment]) wrong.push("no edge");
  };
  for (let round = 0; round < 50; round += 1) {
    const segments = pick(texts);
    const { points } = editedText(segments, 0);
    const sources = pick([[], [span(3, 4)], [span(3, 4), span(3, 5, "RNA")]]);
    let editor = editorOn(segments, sources);
    const start = JSON.stringify(editor.spans);
    const seen = [start];
    for (let edit = 0; edit < 200; edit += 1) {
      const before = JSON.stringify(editor.spans);
      const [from, to] = [0, 0].map(() => Math.floor(next() * (points.length + 3)) - 1);
      if (seen.at(-1) !== before) wrong.push("lost");
      const isDrag = next() < 0.3;
      const chord = pick(chords);
      editor = isDrag ? editStretch(editor, from, to, next() < 0.4) : editKey(editor, chord);
      edits += 1;
      check(editor);
      const now = JSON.stringify(editor.spans);
      if (!isDrag && chord === "Control+z") seen.length = Math.max(1, seen.length - 1);
      else if (now !== before) seen.push(now);
    }
    const end = JSON.stringify(editor.spans);
    let back = 0;
    for (; editor.past; back += 1) editor = editKey(editor, "Control+z");
    if (JSON.stringify(editor.spans) !== start) wrong.push("undo does not lead to the start");
    if (back !== seen.length - 1) wrong.push(`${back} steps back of ${seen.length - 1}`);
    for (; back > 0; back -= 1) editor = editKey(editor, "Control+y");
    if (JSON.stringify(editor.spans) !== end) wrong.push("redo does not lead to the end");
    steps += seen.length;
  }
  return { edits, steps, wrong: wrong.slice(0, 5) };
})()
"""


def test_ten_thousand_edits_lose_none_and_undo_to_the_start(run: Run) -> None:
    result: dict[str, Any] = run(RANDOM.strip())
    assert result["edits"] == 10_000 and result["steps"] > 2_000 and result["wrong"] == []


def test_further_marks_cut_segments_where_they_begin_and_end(run: Run) -> None:
    data = {
        "paragraphs": [{"texts": ["a😀", "bc"]}, {"texts": ["de f"]}],
        "marks": [{"side": "gold", "lane": 0, "parts": [[1, 1]]}],
        "place": [2],
    }
    marks = [{"side": "right", "fragments": [[1, 3], [5, 8]]}, {"side": "right", "fragments": [[2, 3]]}]
    cut = run(f"withMarks({json.dumps(data)}, {json.dumps(marks)})")
    assert [paragraph["texts"] for paragraph in cut["paragraphs"]] == [["a", "😀", "b", "c"], ["d", "e f"]]
    assert [mark["parts"] for mark in cut["marks"]] == [[[2, 3]], [[1, 2], [5, 5]], [[2, 2]]]
    assert [mark["lane"] for mark in cut["marks"]] == [0, 0, 1] and cut["place"] == [4, 5]


@pytest.mark.parametrize("key", ["ArrowLeft", "ArrowRight"])
def test_alt_with_an_arrow_is_not_left_to_the_browser_which_would_go_back(run: Run, key: str) -> None:
    pressed = f"{{ key: '{key}', altKey: true, ctrlKey: false, metaKey: false, shiftKey: false }}"
    assert run(f"isEditKey(chordOf({pressed}))") is True
    message = run(f"editKey(editorOn(['a b'], [span(0, 1)]), chordOf({pressed})).message")
    assert message.startswith("Shift+Alt+← and Shift+Alt+→ move the edge by a character")
    assert after(run, f"Alt+{key}") == after(run)


def test_letters_of_a_type_begin_anew_after_a_pause_and_those_of_a_new_one_later(run: Run) -> None:
    def typed(before: str, key: str, pause: int) -> str:
        editor = f"keys(editorOn([{json.dumps(TEXT)}], [{GOLD}]), {json.dumps([*before])})"
        filter: str = run(f"editKey(afterPause({editor}, {json.dumps(key)}, {pause}), {json.dumps(key)}).filter")
        return filter

    assert typed("d", "n", 900) == "dn" and typed("d", "r", 1100) == "r"
    assert typed("zz", "r", 1100) == "zzr" and typed("zz", "r", 3100) == "r"
    # After a pause a sign is no longer a letter of the type, and other keys find what was typed as it is.
    assert typed("cell", "-", 1100) == "" and typed("cell", "-", 500) == "cell-"
    assert typed("cell", "ArrowDown", 5000) == "cell"


def test_all_keys_of_the_editor_have_words_and_stand_in_the_sheet(run: Run) -> None:
    table = run("EDIT_TABLE.map(([key, chords, words]) => [key, Object.keys(chords), words])")
    chords = [chord for _, every, _ in table for chord in every]
    wired = run("[...Object.keys(EDIT_KEYS), ...Object.keys(FIRST_KEYS)]")
    # The two that say what else to press are for whoever has pressed them.
    assert sorted([*chords, "Alt+ArrowLeft", "Alt+ArrowRight"]) == sorted(wired)
    assert run("editKeyRows()") == [[key, words] for key, _, words in table] and all(words for *_, words in table)
