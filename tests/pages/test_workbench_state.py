"""The state of the workbench: no verdict is lost, doubled or given to another record, however late answers are.

Its script runs under node, and where there is none in an empty page of the browser.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from nereval_core.review.verdicts import KINDS
from tests.support.scripts import Run, run_scripts

PLAY = """
const steps = (all) => all.reduce((state, [name, ...values]) => eval(name)(state, ...values), initialState("m"));
const play = (all) => {
  const state = steps(all);
  const sent = { sent: messageOf(state), unsaved: isUnsaved(state) };
  return { ...state, texts: [...state.texts.keys()], cards: Object.fromEntries(state.cards), ...sent };
};
"""
Step = list[Any]


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest) -> Run:
    return run_scripts(request, "../components/events", "span_editor", "drafts", "unkept", "workbench_state", more=PLAY)


TEXT = {
    "doc": "d",
    "part": 0,
    "parts": 1,
    "window": [10, 34, 90],
    "paragraphs": [{"texts": ["the ", "troponin", " I of ", "a cell"]}],
    "marks": [
        {"side": "gold", "record": "r0", "parts": [[1, 1]]},
        {"side": "beside", "record": "r1", "parts": [[2, 2]]},
        {"side": "prediction", "record": "r2", "parts": [[3, 3]]},
    ],
}
CARD = {
    "key": "0|d",
    "rows": [1, 0],
    "version": 0,
    "note": "",
    "starred": False,
    "sides": {"gold": {"fragments": [[14, 24]], "type": "X"}, "pred": {"fragments": [[14, 22]], "type": "X"}},
}


def play(run: Run, *steps: Step) -> dict[str, Any]:
    """Return the state after an answer in which the first of four records is open, and these steps."""
    state: dict[str, Any] = run(f"play({json.dumps([answer(), *steps])})")
    return state


def answer(at: float = 0, *, seen: int = 0, first: int = 0, n_entries: int = 4, total: int = 4, **fields: Any) -> Step:
    """Return the step that takes an answer of the server, with a part of a queue and all of its cards."""
    entries = [["d", f"r{number}", "INC", "span", "why", "X", None] for number in range(first, first + n_entries)]
    records = [entry[1] for entry in entries]
    data = {
        "facts": "f",
        "mount": "m",
        "seen": seen,
        "total": total,
        "first": first,
        "at": at,
        "entries": entries,
        "open": ["d", f"r{at}"],
        "text": "0|d",
        "texts": {"0|d": TEXT},
        "cards": {f"d\n{record}": CARD for record in records},
        "rows": [{"criterion": "exact"}, {"criterion": "strict"}],
        "corrected": {},
        "entities": [],
        "whole": False,
        "starred": ["d\nr2"],
        "colour": "decision",
        "verdicts": {
            "reason": "",
            "kinds": list(KINDS),
            "labels": list(KINDS),
            "advance": True,
            "stars": True,
            "types": ["X", "Y"],
        },
    }
    return ["take", data | fields]


def presses(keys: str | list[str]) -> list[Step]:
    return [["press", key] for key in keys]


def verdicts(state: dict[str, Any]) -> list[tuple[str, str]]:
    """Return record and kind of the verdicts that the server is sent."""
    return [(event["record"], event["kind"]) for event in state["events"] if event["act"] == "verdict"]


def numbers(state: dict[str, Any]) -> list[int]:
    return [event["seq"] for event in state["events"]]


def test_verdicts_faster_than_the_page_are_each_about_the_next_record(run: Run) -> None:
    state = play(run, *presses("125"))
    assert verdicts(state) == [("r0", "gold"), ("r1", "pred"), ("r2", "unclear")]
    assert state["open"] == ["d", "r3"] and state["at"] == 3 and numbers(state) == [1, 2, 3]
    assert state["sent"] == {"mount": "m", "at": ["d", "r3", 3], "events": state["events"]}
    assert state["labels"] == {"d\nr0": "gold", "d\nr1": "pred", "d\nr2": "unclear"}


def decided(*numbers: int, **fields: Any) -> Step:
    """Return an answer in which some records of the queue have a verdict."""
    step = answer(**fields)
    for entry in step[1]["entries"]:
        entry[6] = "gold · Ann" if int(entry[1][1:]) in numbers else None
    return step


def test_after_a_verdict_the_next_open_record_comes(run: Run) -> None:
    state = play(run, decided(1, 2), *presses("2"))
    assert verdicts(state) == [("r0", "pred")] and (state["open"], state["at"]) == (["d", "r3"], 3)
    # Behind the last open one the first follows, and where none is open the next record.
    state = play(run, decided(1, 2), ["chooseNumber", 3], *presses("2"))
    assert (state["open"], state["at"]) == (["d", "r0"], 0)
    state = play(run, decided(0, 1, 2, 3), *presses("12"))
    assert verdicts(state) == [("r0", "gold"), ("r1", "pred")] and state["at"] == 2
    assert play(run, decided(0, 1, 2, 3), ["chooseNumber", 3], *presses("1"))["at"] == 3


def test_an_open_record_beyond_the_part_that_was_sent_is_for_the_server_to_find(run: Run) -> None:
    begun = decided(0, 1, 2, 3, total=9)
    state = play(run, begun, *presses("12"))
    assert verdicts(state) == [("r0", "gold")] and state["heldKeys"] == ["2"]
    assert state["events"][-1] == {"act": "next", "value": 0, "doc": "d", "record": "r0", "seq": 2}
    state = play(run, begun, *presses("12"), decided(5, at=6, seen=2, first=5, total=9))
    assert verdicts(state) == [("r6", "pred")] and state["open"] == ["d", "r7"]


def test_a_late_answer_moves_nothing_back_and_ends_what_it_acknowledges(run: Run) -> None:
    state = play(run, *presses("12"), answer(1, seen=1), *presses("1"))
    assert state["at"] == 3 and numbers(state) == [2, 3]
    state = play(run, *presses("12"), answer(2, seen=2))
    assert state["events"] == [] and state["labels"] == {} and state["open"] == ["d", "r2"]


SYSTEMS = {"systems": ["a", "b", "c", "d"], "system": "a", "compared": [], "most": 2}


def test_brackets_read_the_next_system_of_those_compared_or_of_all(run: Run) -> None:
    def read(keys: str, **fields: Any) -> list[str]:
        events = play(run, answer(**SYSTEMS | fields), *presses(keys))["events"]
        return [event["value"] for event in events if event["act"] == "system"]

    assert read("]") == ["b"] and read("[") == ["d"] and read("]]]") == ["b", "c", "d"]
    assert read("]]", compared=["c"]) == ["c", "a"]
    assert read("]", systems=["a"]) == []
    # A verdict waits for the record of the other system, and is for none where that does not come.
    state = play(run, answer(**SYSTEMS), *presses("]1"))
    assert verdicts(state) == [] and state["heldKeys"] == ["1"] and state["open"] == ["d", "r0"]
    state = play(run, answer(**SYSTEMS), *presses("]1"), answer(seen=1, facts="g", **SYSTEMS))
    assert verdicts(state) == [] and state["heldKeys"] == []


def test_systems_are_compared_with_at_most_so_many(run: Run) -> None:
    steps = [["compareWith", name, True] for name in "bcd"]
    state = play(run, answer(**SYSTEMS), *steps[:2], ["compareWith", "b", False])
    assert [event["value"] for event in state["events"]] == [["b"], ["b", "c"], ["c"]]
    assert play(run, answer(**SYSTEMS), *steps)["events"][-1]["value"] == ["b", "c"]


def test_windows_of_a_long_text_are_asked_for_one_request_at_a_time(run: Run) -> None:
    texts = {f"{number}|d": {"doc": "d", "part": number, "parts": 3} for number in range(3)}
    first = answer(texts={"0|d": texts["0|d"]})
    state = play(run, first, ["askForWindows", [1, 2]], ["askForWindows", [1, 2]])
    assert [(event["act"], event["value"]) for event in state["events"]] == [("windows", [1, 2])]
    assert state["open"] == ["d", "r0"] and state["at"] == 0
    script = "windowsOf(steps({})).map((text) => text?.part ?? null)".format
    assert run(script(json.dumps([first]))) == [0, None, None]
    assert run(script(json.dumps([first, answer(texts=texts)]))) == [0, 1, 2]
    # Another record is open meanwhile: its windows, not these.
    assert run(script(json.dumps([first, ["choose", "e", "r9"]]))) == []


def test_what_is_sent_again_stays_the_same_object(run: Run) -> None:
    steps = json.dumps([answer(), answer()])
    assert run(f'((all) => steps(all.slice(0, 1)).texts.get("0|d") === all[0][1].texts["0|d"])({steps})')
    same = """((all) => {
        const before = steps(all.slice(0, 1));
        return take(before, all[1][1]).texts.get("0|d") === before.texts.get("0|d");
    })"""
    assert run(f"{same}({steps})") is True
    assert run(f"{same}({json.dumps([answer(), answer(texts={'0|d': {'doc': 'd', 'part': 7}})])})") is False


def test_an_answer_to_an_earlier_mount_acknowledges_nothing(run: Run) -> None:
    assert numbers(play(run, *presses("1"), answer(seen=9, mount="before"))) == [1]


def test_of_moves_in_a_row_the_last_one_counts_and_the_ends_hold(run: Run) -> None:
    state = play(run, *presses("kjjk"))
    assert state["at"] == 1 and [event["act"] for event in state["events"]] == ["open"]
    state = play(run, *presses("jjjjj1"))
    assert state["at"] == 0 and verdicts(state) == [("r3", "gold")]
    state = play(run, *presses("j1j"))
    assert [event["act"] for event in state["events"]] == ["open", "verdict", "open"] and state["at"] == 3


def test_keys_after_a_step_beyond_the_part_that_was_sent_are_for_the_record_it_leads_to(run: Run) -> None:
    begun = [answer(2, n_entries=4, total=9), *presses("jj2")]
    state = play(run, *begun)
    assert state["at"] == 3 and verdicts(state) == [] and state["heldKeys"] == ["2"]
    state = play(run, *begun, answer(3, seen=1, first=2, n_entries=5, total=9))
    assert verdicts(state) == [("r4", "pred")] and state["at"] == 5
    # The same where a verdict is on the last record of the part.
    begun = [answer(3, n_entries=4, total=9), *presses("12")]
    assert verdicts(play(run, *begun)) == [("r3", "gold")]
    state = play(run, *begun, answer(4, seen=2, first=2, n_entries=5, total=9))
    assert verdicts(state) == [("r4", "pred")] and state["at"] == 5


def test_a_step_that_leads_nowhere_gives_its_keys_to_no_record(run: Run) -> None:
    state = play(run, answer(3, total=9), *presses("j1"), answer(3, seen=1, total=9))
    assert state["events"] == [] and state["heldKeys"] == [] and state["step"] == 0


@pytest.mark.parametrize("leads_away", [["press", "u"], ["jumpTo", 2]], ids=["undo", "jump"])
def test_keys_after_undo_and_go_to_are_for_the_record_that_the_server_opens(run: Run, leads_away: Step) -> None:
    state = play(run, leads_away, *presses("1j5"))
    assert verdicts(state) == [] and state["heldKeys"] == ["1", "j", "5"]
    # The answer to something before it is not the one.
    assert play(run, leads_away, *presses("1"), answer(0))["heldKeys"] == ["1"]
    state = play(run, leads_away, *presses("1j"), answer(2, seen=1))
    assert verdicts(state) == [("r2", "gold")] and state["at"] == 3 and state["heldKeys"] == []


LEFT = "Shift+ArrowLeft"


def right(state: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return record and right spans of the verdicts of neither that the server is sent."""
    return [(event["record"], event["right"]) for event in state["events"] if event.get("kind") == "neither"]


def span(start: int, end: int, kind: str, *, is_new: bool = False) -> dict[str, Any]:
    return {"fragments": [[start, end]], "type": kind, "isNew": is_new}


def test_an_edit_is_one_verdict_with_the_whole_span_and_opens_the_next_record(run: Run) -> None:
    state = play(run, *presses(["4", LEFT, "y", "Enter", "1"]))
    assert right(state) == [("r0", [span(14, 22, "Y")])] and verdicts(state) == [("r0", "neither"), ("r1", "gold")]
    assert state["corrected"]["d\nr0"] == [span(14, 22, "Y")] and state["edit"] is None
    assert state["labels"] == {"d\nr0": "neither", "d\nr1": "gold"} and state["open"] == ["d", "r2"]


def test_keys_in_the_editor_are_for_it_alone_and_escape_leaves_without_a_verdict(run: Run) -> None:
    state = play(run, *presses(["4", "j", "u", "s", "1"]))
    assert state["events"] == [] and state["edit"]["editor"]["filter"] == "jus1"
    state = play(run, *presses(["4", LEFT, "Escape", "1"]))
    assert verdicts(state) == [("r0", "gold")] and state["edit"] is None


@pytest.mark.parametrize(("keys", "kind"), [(["4"], "gold"), (["4", LEFT], "pred"), (["4", "4"], "pred")])
def test_the_span_of_one_side_says_that_this_side_is_right(run: Run, keys: list[str], kind: str) -> None:
    state = play(run, *presses([*keys, "Enter"]))
    assert verdicts(state) == [("r0", kind)] and "right" not in state["events"][0]


def test_no_entity_is_kept_without_spans(run: Run) -> None:
    assert right(play(run, *presses(["4", "-", "Enter"]))) == [("r0", [])]


def test_an_edit_of_a_record_that_is_not_here_yet_waits_for_it_with_its_keys(run: Run) -> None:
    begun = [answer(3, total=9), *presses(["1", "4", "y", "Enter", "2"])]
    state = play(run, *begun)
    assert state["heldKeys"] == ["4", "y", "Enter", "2"] and run(f"isEditing(steps({json.dumps(begun)}))")
    state = play(run, *begun, answer(4, seen=2, first=2, n_entries=5, total=9))
    assert right(state) == [("r4", [span(14, 24, "Y")])] and verdicts(state)[1] == ("r5", "pred")
    # The queue may have the record, and its card come later.
    few = {"d\nr0": CARD}
    begun = [answer(cards=few, facts="g"), *presses(["1", "4", "y", "Enter", "2"])]
    assert play(run, *begun)["heldKeys"] == ["4", "y", "Enter", "2"]
    state = play(run, *begun, answer(1, seen=1, facts="g"))
    assert right(state) == [("r1", [span(14, 24, "Y")])] and verdicts(state)[1] == ("r2", "pred")


def test_whoever_opens_another_record_finds_the_draft_again(run: Run) -> None:
    state = play(run, *presses(["4", LEFT, "y"]), ["choose", "d", "r2"], ["choose", "d", "r0"], *presses(["4"]))
    assert state["edit"]["editor"]["spans"] == [{"fragments": [[4, 12]], "type": "Y"}]


RESTORED = """
const stored = (all) => JSON.parse(JSON.stringify(draftsToStore(steps(all))));
const restored = (all, drafts, more) =>
  more.reduce((state, [name, ...values]) => eval(name)(state, ...values), withStoredDrafts(steps(all), drafts));
"""
NEW_TEXT = {"draftsOf": "corpus gold rules"}


def stored(run: Run, *steps: Step) -> dict[str, Any]:
    """Return the drafts that a tab stores after these steps."""
    found: dict[str, Any] = run(
        f"(() => {{ {RESTORED} return stored({json.dumps([answer(**NEW_TEXT), *steps])}); }})()"
    )
    return found


def restored(run: Run, drafts: object, *more: Step, **fields: Any) -> dict[str, Any]:
    """Return the state after a reload with stored drafts, and more steps."""
    values = ", ".join(json.dumps(value) for value in ([answer(**NEW_TEXT | fields)], drafts, more))
    state: dict[str, Any] = run(f"(() => {{ {RESTORED} return restored({values}); }})()")
    return state


def test_a_reload_brings_drafts_back_and_they_decide_nothing(run: Run) -> None:
    edited = presses(["4", LEFT, "y"])
    draft = {"d\nr0": {"spans": [{"fragments": [[14, 22]], "type": "Y"}]}}
    # While it is edited, and after another record was opened.
    assert stored(run, *edited) == stored(run, *edited, ["choose", "d", "r2"]) == draft
    state = restored(run, draft)
    assert verdicts(state) == [] and state["labels"] == {} and state["corrected"] == {} and state["edit"] is None
    assert state["message"]["text"].startswith("A draft is back")
    # The line says what Enter and Escape do, and goes with the last draft that it asks about.
    dropped = restored(run, draft, *presses(["Escape"]))
    assert dropped["drafts"] == {} and dropped["message"] is None and verdicts(dropped) == []
    elsewhere = restored(run, draft, ["choose", "d", "r1"], *presses(["Enter"]))
    for resumed in (restored(run, draft, *presses(["Enter"])), elsewhere):
        assert resumed["edit"]["record"] == "r0" or resumed["heldKeys"] == ["4"] or resumed["awaitsCard"]
        assert resumed["open"] == ["d", "r0"]
    for key in ("Escape", "Enter"):
        assert restored(run, draft, *presses(["4", key]))["message"] is None
    assert restored(run, draft, *presses("1"))["message"] is None
    two = draft | {"d\nr1": {"spans": [{"fragments": [[14, 20]], "type": "Y"}]}}
    assert restored(run, two, *presses("1"))["message"]["drafts"] == ["d\nr0", "d\nr1"]
    assert restored(run, two, *presses(["Escape"]))["drafts"] == {}
    # Without a line they are nobody's keys.
    assert play(run, *presses(["Enter", "Escape"]))["events"] == []
    # The editor goes on from it, and undo leads to gold's span.
    spans = [{"fragments": [[4, 12]], "type": "Y"}]
    assert restored(run, draft, *presses(["4"]))["edit"]["editor"]["spans"] == spans
    undone = restored(run, draft, *presses(["4", "Control+z"]))["edit"]["editor"]["spans"]
    assert undone == [{"fragments": [[4, 14]], "type": "X"}]
    # Kept or left it is a draft no more.
    for key, sent in (("Enter", [("r0", "neither")]), ("Escape", [])):
        state = restored(run, draft, *presses(["4", key]))
        assert verdicts(state) == sent and ("d\nr0" in state["drafts"]) == (key == "Enter")
    assert stored(run, *edited, *presses(["Enter"])) == {}


def test_no_draft_outlives_a_verdict_on_its_record(run: Run) -> None:
    left = [*presses(["4", LEFT, "y"]), ["choose", "d", "r2"], ["choose", "d", "r0"]]
    elsewhere = answer(2, seen=9, **NEW_TEXT)
    # By a key, or by keeping what was edited: where the server sends other documents, none says that it is decided.
    for keys in (["1"], ["4", "Enter"]):
        assert play(run, *left, *presses(keys), elsewhere)["drafts"] == {}
        assert stored(run, *left, *presses(keys), elsewhere) == {}
    # One that was not kept is a draft again.
    said = answer()[1]["verdicts"] | {"said": {"text": "Not kept.", "lines": [], "wrong": True}}
    assert [*stored(run, *left, *presses(["4", "Enter"]), answer(0, seen=9, verdicts=said, **NEW_TEXT))] == ["d\nr0"]
    # Others stay.
    assert [*stored(run, *left, ["choose", "d", "r1"], *presses(["1"]), elsewhere)] == ["d\nr0"]


def test_a_draft_stays_when_the_queue_is_filtered(run: Run) -> None:
    filtered = answer(facts="g", **NEW_TEXT)
    assert stored(run, *presses(["4", LEFT, "y"]), filtered) == stored(run, *presses(["4", LEFT, "y"]))
    assert stored(run, *presses(["4", LEFT, "y"]), answer(facts="g", draftsOf="another corpus")) == {}


def test_an_entity_that_was_drawn_and_left_is_a_draft(run: Run) -> None:
    drawn = [["dragOver", 10, 13, False], ["choose", "d", "r2"]]
    (key,) = stored(run, *drawn)
    assert key.startswith("d\nnew ")
    state = restored(run, stored(run, *drawn), ["editEntity", key, 0], *presses(["y", "Enter"]))
    assert [event["act"] for event in state["events"]] == ["entity"] and key not in state["drafts"]


def test_enter_on_a_draft_out_of_sight_asks_for_its_part_of_the_text_and_opens_it(run: Run) -> None:
    long = TEXT | {"parts": 12, "window": [0, 22, 300]}
    key, draft = "d\nnew 154", {"spans": [{"fragments": [[154, 162]], "type": "X"}]}
    asked = restored(run, {key: draft}, *presses(["Enter"]), texts={"0|d": long})
    (event,) = asked["events"]
    assert event["act"] == "windows" and 6 in event["value"] and not asked["edit"]
    # Keys behind it are for the editor, which opens with the answer.
    there = long | {"part": 6, "window": [150, 174, 300]}
    answered = answer(seen=1, texts={"0|d": long, "6|d": there}, **NEW_TEXT)
    opened = restored(run, {key: draft}, *presses(["Enter", "y"]), answered, texts={"0|d": long})
    assert opened["edit"]["draftKey"] == key and opened["edit"]["editor"]["spans"][0]["fragments"] == [[4, 12]]
    assert opened["edit"]["editor"]["filter"] == "y"
    # A server that does not send it is not asked for ever.
    without = answer(seen=1, texts={"0|d": long}, **NEW_TEXT)
    left = restored(run, {key: draft}, *presses(["Enter"]), without, texts={"0|d": long})
    assert not left["events"] and left["message"]["text"].startswith("The draft is on no record")
    # In another document its first listed record is opened before.
    elsewhere = restored(run, {"e\nnew 154": draft}, *presses(["Enter"]))
    assert not elsewhere["events"] and elsewhere["message"]["text"].startswith("The draft is on no record")
    entries = [["e", "q0", "INC", "span", "why", "X", None]]
    led = restored(run, {"e\nnew 154": draft}, *presses(["Enter"]), entries=[*answer()[1]["entries"], *entries])
    assert led["open"] == ["e", "q0"] and led["heldKeys"] == ["Enter"]


@pytest.mark.parametrize(
    "drafts",
    [
        {"d\nr0": {"spans": [{"fragments": [[3, 1]], "type": "X"}]}},
        {"d\nr0": {"spans": [{"fragments": [], "type": "X"}]}},
        {"d\nr0": {"spans": [{"fragments": [["a", "b"]], "type": "X"}]}},
        {"d\nr0": {"spans": [{"fragments": [[0, 1]], "type": 1}]}},
    ],
)
def test_what_is_no_draft_is_not_taken(drafts: object, run: Run) -> None:
    assert restored(run, drafts)["drafts"] == {}
    outside = {"d\nr0": {"spans": [{"fragments": [[500, 501]], "type": "X"}]}}
    state = restored(run, outside, *presses(["4"]))
    assert state["edit"]["editor"]["spans"] == [{"fragments": [[4, 14]], "type": "X"}]


def test_a_tab_that_stores_nothing_is_no_fault(run: Run) -> None:
    assert run("[readDrafts('x'), storeDrafts({ state: { ...initialState('m'), data: { draftsOf: 'x' } } })]") == [
        {},
        None,
    ]
    memory = "const all = new Map(); globalThis.sessionStorage = { getItem: (key) => all.get(key) ?? null, "
    memory += "setItem: (key, text) => all.set(key, text), removeItem: (key) => all.delete(key) };"
    keep = f"storeDrafts({{ state: steps({json.dumps([answer(**NEW_TEXT), *presses(['4', LEFT, 'y'])])}) }})"
    read = f"(() => {{ {memory} {keep}; return [readDrafts('corpus gold rules'), readDrafts('another')]; }})()"
    assert run(read) == [stored(run, *presses(["4", LEFT, "y"])), {}]


def test_a_name_is_asked_for_from_the_first_verdict_on_and_no_key_is_lost(run: Run) -> None:
    bar = answer()[1]["verdicts"] | {"who": "", "waiting": 0}
    begun = ["take", answer(verdicts=bar)[1]]

    def naming(*steps: Step) -> bool:
        asked: bool = run(f"isNaming(steps({json.dumps([begun, *steps])}))")
        return asked

    # It takes no answer of the server, and moves ask for nothing.
    assert not naming() and not naming(*presses("jk")) and naming(*presses("1"))
    assert naming(["take", answer(1, verdicts=bar | {"waiting": 1})[1]])
    state = play(run, begun, *presses("12"), ["giveName", " Bo "])
    assert [(event["act"], event.get("value")) for event in state["events"]][-1] == ("name", " Bo ".strip())
    assert verdicts(state) == [("r0", "gold"), ("r1", "pred")] and not naming(*presses("1"), ["giveName", "Bo"])
    # Where none is typed nobody else's is taken: the question stays.
    assert naming(["take", answer(verdicts=bar | {"offered": "Ann"})[1]], *presses("1"), ["giveName", " "])
    named = answer(1, seen=1, verdicts=bar | {"who": "Bo"})
    assert not naming(*presses("1"), named)


def test_the_browser_asks_before_it_leaves_what_is_not_kept(run: Run) -> None:
    edited = presses(["4", LEFT])
    assert not any(play(run, *presses(keys))["unsaved"] for keys in ([], ["4"], ["j"]))
    assert play(run, *edited)["unsaved"]
    # A draft that was left for another record, and a verdict until the server has it.
    assert play(run, *edited, ["choose", "d", "r2"])["unsaved"]
    decided = {"d\nr0": [{"fragments": [[14, 22]], "type": "X"}]}
    sent = [*presses(["4", LEFT, "y"]), *presses(["Enter"])]
    assert play(run, *sent)["unsaved"]
    assert not play(run, *sent, answer(1, seen=1, corrected=decided))["unsaved"]
    assert play(run, *presses(["1"]))["unsaved"] and not play(run, *presses(["1"]), answer(1, seen=1))["unsaved"]
    waiting = answer()[1]["verdicts"] | {"waiting": 1}
    assert play(run, *presses(["1"]), answer(1, seen=1, verdicts=waiting))["unsaved"]


def unkept(run: Run, *steps: Step) -> Any:
    """Return the verdicts that a tab stores after these steps."""
    return run(f"verdictsToStore(steps({json.dumps([answer(), *steps])}))")


def waiting(*records: str) -> list[dict[str, Any]]:
    """Return verdicts of another mount that wait on the server for a name."""
    about = {"act": "verdict", "kind": "gold", "doc": "d"}
    return [about | {"record": name, "seq": seq, "origin": ["a", seq]} for seq, name in enumerate(records, 1)]


def test_verdicts_that_are_not_kept_come_back_in_order_and_once(run: Run) -> None:
    # Those that wait for a name, then those that were sent; what was taken back is gone.
    stored = unkept(run, answer(2, seen=0, waiting=waiting("r0", "r1")), *presses("2ju"))
    assert [(event["record"], event["origin"]) for event in stored] == [("r0", ["a", 1]), ("r1", ["a", 2])]
    stored = unkept(run, answer(2, waiting=waiting("r0", "r1")), *presses("2"))
    restore: Step = ["withStoredVerdicts", stored]
    state = play(run, restore)
    assert verdicts(state) == [("r0", "gold"), ("r1", "gold"), ("r2", "pred")] and numbers(state) == [1, 2, 3]
    assert state["labels"] == {"d\nr0": "gold", "d\nr1": "gold", "d\nr2": "pred"}
    assert state["message"]["text"] == "3 verdicts that were not kept yet are back."
    # Once they were answered something else is said of them: one that others came before was asked about below it.
    assert play(run, restore, answer(2, seen=2))["message"] == state["message"]
    assert play(run, restore, answer(3, seen=3))["message"] is None
    # The server has two of them; what was restored before, or is nothing, is not sent.
    assert verdicts(play(run, answer(waiting=waiting("r0", "r1")), restore)) == [("r2", "pred")]
    assert verdicts(play(run, restore, restore)) == verdicts(state) and unkept(run, restore)[2]["origin"] == ["m", 1]
    assert play(run, ["withStoredVerdicts", [{"act": "undo"}, {"act": "verdict"}]])["events"] == []
    # Named while the reader was at other records, they are kept.
    state = play(run, answer(answered=[["a", 1], ["a", 2]]), ["withStoredVerdicts", waiting("r0", "r1")])
    assert state["events"] == [] and not state["message"]
    assert unkept(run, restore, answer(3, seen=3)) == []
    entities = unkept(run, ["dragOver", 24, 28, False], *presses(["y", "Enter"]))
    assert [*play(run, ["withStoredVerdicts", entities])["entities"].values()] == [
        {"doc": "d", "span": OF, "right": [OF | {"isNew": False}]}
    ]


def test_a_session_that_knows_nothing_of_the_last_one_is_sent_what_was_not_kept(run: Run) -> None:
    begun = [answer(2, session="one", waiting=waiting("r0", "r1")), *presses("2"), ["sayLate", 1]]
    assert run(f"lateLine(steps({json.dumps([answer(), *begun])}))").startswith("3 verdicts not kept yet:")
    state = play(run, *begun, answer(mount="", session="two"))
    assert verdicts(state) == [("r0", "gold"), ("r1", "gold"), ("r2", "pred")] and numbers(state) == [2, 3, 4]
    assert state["lastEvent"] == 4 and state["labels"]["d\nr0"] == "gold" and state["open"] == ["d", "r3"]
    state = play(run, *begun, answer(mount="", session="two"), answer(3, seen=4, session="two"))
    assert state["events"] == [] and not state["isLate"]
    # An answer of the same session sends nothing again.
    assert numbers(play(run, *begun, answer(session="one", waiting=waiting("r0", "r1")))) == [1]
    assert not play(run, *presses("1"), ["sayLate", 0])["isLate"]


def test_a_question_whose_verdict_counts_outlives_a_reload_and_a_session(run: Run) -> None:
    (own,) = waiting("r0")
    question = {"id": "1", "text": "Somebody was first", "lines": [], "event": own}
    # One on the records of another system is asked about here, and stored with these alone.
    elsewhere = question | {"id": "2", "event": None}
    asked = answer(1, session="one", verdicts=answer()[1]["verdicts"] | {"conflicts": [question, elsewhere]})
    assert unkept(run, asked) == [own]
    assert verdicts(play(run, ["withStoredVerdicts", [own]])) == [("r0", "gold")]
    assert verdicts(play(run, asked, ["withStoredVerdicts", [own]])) == []
    assert unkept(run, asked, ["answerConflict", "1", "over"]) == [own]
    assert unkept(run, asked, ["answerConflict", "1", "leave"]) == []
    assert verdicts(play(run, asked, answer(mount="", session="two"))) == [("r0", "gold")]
    # It does not wait for the server: that it is late is not said of it.
    assert run(f"lateLine(steps({json.dumps([answer(), asked, *presses('2'), ['sayLate', 1]])}))").startswith(
        "1 verdict "
    )


def test_an_edit_stays_while_answers_come(run: Run) -> None:
    state = play(run, *presses(["1", "4", "y"]), answer(1, seen=1), *presses(["Enter"]))
    assert right(state) == [("r1", [span(14, 24, "Y")])]


def test_the_editor_begins_with_what_was_decided_before(run: Run) -> None:
    decided = {"d\nr0": [{"fragments": [[14, 22], [28, 29]], "type": "Y"}]}
    state = play(run, answer(corrected=decided), *presses(["4"]))
    assert state["edit"]["editor"]["spans"] == [{"fragments": [[4, 12], [18, 19]], "type": "Y"}]
    state = play(run, answer(corrected=decided), *presses(["4", "4"]))
    assert state["edit"]["editor"]["spans"] == [{"fragments": [[4, 14]], "type": "X"}]
    # A later verdict of the reader's counts, though no answer has it yet.
    state = play(run, answer(corrected=decided), *presses("1k"))
    assert state["corrected"]["d\nr0"] == []


def entities(state: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Return the first and the present spans of the entities that the server is sent."""
    return [(event["span"], event["right"]) for event in state["events"] if event["act"] == "entity"]


OF = {"fragments": [[25, 27]], "type": "Y"}


def test_a_drag_where_nobody_marked_anything_is_an_entity_which_needs_a_type(run: Run) -> None:
    drawn = ["dragOver", 24, 28, False]
    refused = play(run, drawn, *presses(["Enter"]))
    assert refused["events"] == [] and refused["edit"]["editor"]["message"].startswith("Which type?")
    state = play(run, drawn, *presses(["y", "Enter", "1"]))
    assert entities(state) == [(OF, [OF | {"isNew": False}])] and verdicts(state) == [("r0", "gold")]
    # The next one has the type of the last, and whoever drags over an entity changes it.
    state = play(run, drawn, *presses(["y", "Enter"]), ["dragOver", 10, 13, False], *presses(["Enter"]))
    assert entities(state)[1] == ({"fragments": [[10, 13]], "type": "Y"}, [span(10, 13, "Y")])
    state = play(run, drawn, *presses(["y", "Enter"]), ["dragOver", 22, 28, False], *presses(["Enter"]))
    assert entities(state)[1] == (OF, [span(23, 27, "Y")])
    assert play(run, ["dragOver", 22, 23, False])["edit"] is None


def test_a_drag_over_another_record_is_for_that_one(run: Run) -> None:
    state = play(run, ["dragOver", 30, 34, False], *presses(["Enter"]))
    assert state["at"] == 3 and right(state) == [("r2", [span(30, 34, "X")])]
    # Its card may come with the next answer, and keys follow.
    begun = [answer(cards={"d\nr0": CARD}, facts="g"), ["dragOver", 30, 34, False], *presses(["y", "Enter"])]
    assert play(run, *begun)["heldKeys"] == ["4", [30, 34, False], "y", "Enter"]
    assert right(play(run, *begun, answer(2, seen=1, facts="g"))) == [("r2", [span(30, 34, "Y")])]


def test_what_was_drawn_on_a_record_may_be_an_entity_beside_it(run: Run) -> None:
    state = play(run, ["dragOver", 14, 18, False], *presses(["*", "Enter", "1"]))
    assert entities(state) == [({"fragments": [[14, 18]], "type": "X"}, [span(14, 18, "X")])]
    assert verdicts(state) == [("r0", "gold")]


def test_an_entity_is_marked_by_keys_behind_the_open_record(run: Run) -> None:
    state = play(run, *presses(["m", "Control+ArrowRight", "y", "Enter"]))
    assert entities(state) == [(OF, [OF | {"isNew": False}])]


def test_an_entity_that_was_kept_is_changed_and_taken_out(run: Run) -> None:
    kept = {"doc": "d", "span": OF, "right": [OF], "version": 3, "who": "Ann"}
    name = json.dumps(["d", OF["fragments"], OF["type"]], separators=(",", ":"))
    begun = [answer(entities=[kept]), ["editEntity", name, 0]]
    state = play(run, *begun, *presses(["x", "Enter"]))
    assert entities(state) == [(OF, [span(25, 27, "X")])] and state["events"][0]["version"] == 3
    state = play(run, *begun, *presses(["-", "Enter"]))
    assert entities(state) == [(OF, [])]
    assert run(f"entitiesIn(steps({json.dumps([*begun, *presses(['-', 'Enter'])])}), 'd')") == []
    assert play(run, *begun, *presses(["-", "Escape"]))["events"] == []


def test_new_types_of_edits_that_were_not_acknowledged_are_types(run: Run) -> None:
    state = play(run, *presses(["4", "z", "ArrowDown", "Enter", "4", "z", "Enter"]))
    assert right(state) == [("r0", [span(14, 24, "z", is_new=True)]), ("r1", [span(14, 24, "z")])]


def test_a_drag_over_the_open_record_opens_the_editor_on_it(run: Run) -> None:
    state = play(run, ["dragOver", 13, 24, False], *presses(["Enter"]))
    assert verdicts(state) == [("r0", "gold")]
    state = play(run, ["dragOver", 10, 22, False], ["dragOver", 30, 34, True], *presses(["Enter"]))
    assert right(state) == [("r0", [{"fragments": [[10, 22], [30, 34]], "type": "X", "isNew": False}])]
    reason = {"reason": "This server takes no verdicts.", "stars": False}
    assert play(run, answer(verdicts=reason), ["dragOver", 13, 24, False])["edit"] is None


def test_a_version_is_said_of_what_the_server_has_shown_alone(run: Run) -> None:
    first, again = play(run, *presses("1k2"))["events"][0], play(run, *presses("1k2"))["events"][2]
    assert first["version"] == 0 and again["record"] == "r0" and "version" not in again


def test_records_of_the_other_system_and_servers_without_verdicts_take_none(run: Run) -> None:
    cards = {"d\nr0": {"key": "0|d", "rows": []}}
    assert play(run, answer(cards=cards, facts="g"), *presses("12"))["events"] == []
    reason = {"reason": "This server takes no verdicts.", "stars": False}
    assert play(run, answer(verdicts=reason), *presses("1u4s"))["events"] == []


def test_other_facts_drop_texts_and_cards_and_what_waited(run: Run) -> None:
    state = play(run, answer(2, total=9, facts="g"), *presses("jj1"), answer(0, facts="h", texts={}, cards={}))
    assert state["texts"] == [] and state["cards"] == {} and state["heldKeys"] == [] and verdicts(state) == []


def test_texts_of_earlier_answers_are_bounded_and_the_latest_stay(run: Run) -> None:
    many = [answer(texts={f"{number}|d": {"doc": "d"} for number in range(low, low + 300)}) for low in (0, 300)]
    texts = play(run, *many)["texts"]
    assert len(texts) == 400 and texts[-1] == "599|d" and "0|d" not in texts


def test_notes_go_with_the_verdict_on_their_record(run: Run) -> None:
    state = play(run, ["takeNote", "a"], *presses("1"), ["takeNote", "b"], *presses("k2"))
    notes = [(event["record"], event["note"]) for event in state["events"] if event["act"] == "verdict"]
    assert notes == [("r0", "a"), ("r0", "a")] and state["notes"]["d\nr1"] == "b"


def test_cards_have_their_own_rows_of_those_that_are_sent_once(run: Run) -> None:
    state = play(run, answer(cards={"d\nr0": CARD, "d\nr1": CARD | {"rows": [0]}}, facts="g"))
    named = {name: [row["criterion"] for row in card["rows"]] for name, card in state["cards"].items()}
    assert named == {"d\nr0": ["strict", "exact"], "d\nr1": ["exact"]}


def test_stars_of_the_playlist_show_in_the_queue_and_cards_are_later_than_the_list(run: Run) -> None:
    def starred(*later: Step) -> list[bool]:
        state = f"steps({json.dumps([answer(cards={}), *later])})"
        marks: list[bool] = run(f"((state) => ['d\\nr1', 'd\\nr2'].map((key) => isStarred(state, key)))({state})")
        return marks

    card = {"key": "0|d", "version": 0, "rows": []}
    later = {"d\nr1": card | {"starred": True}, "d\nr2": card | {"starred": False}}
    assert starred() == [False, True] and starred(answer(cards=later)) == [True, False]
    # A server whose visitors put nothing on playlists says nothing of cards.
    assert starred(answer(cards={"d\nr2": card})) == [False, True]


def test_a_star_is_shown_at_once(run: Run) -> None:
    state = play(run, *presses("sss"))
    assert [event["value"] for event in state["events"]] == [True, False, True] and state["cards"]["d\nr0"]["starred"]


def test_conflicts_are_asked_one_by_one_while_keys_are_for_the_open_record(run: Run) -> None:
    conflicts = [{"id": name, "text": f"Somebody was first on {name}.", "lines": []} for name in ("x", "y")]
    bar = answer()[1]["verdicts"]
    asked = answer(2, seen=2, verdicts=bar | {"conflicts": conflicts})

    def questions(*steps: Step) -> list[str]:
        state = json.dumps([answer(), *steps])
        names: list[str] = run(f"openConflicts(steps({state})).map(({{ id }}) => id)")
        return names

    # Neither an answer nor the next verdict and its words end them.
    begun = [*presses("12"), asked]
    kept = answer(3, seen=3, verdicts=bar | {"conflicts": conflicts, "said": {"text": "Kept.", "lines": []}})
    assert questions(*begun) == questions(*begun, *presses("1")) == questions(*begun, *presses("1"), kept) == ["x", "y"]
    assert verdicts(play(run, *begun, *presses("1"))) == [("r2", "gold")] and play(run, *begun)["unsaved"]
    state = play(run, *begun, ["answerConflict", "x", "over"], *presses("5"))
    assert [(event["act"], event.get("value")) for event in state["events"]] == [("over", "x"), ("verdict", None)]
    assert verdicts(state) == [("r2", "unclear")] and state["open"] == ["d", "r3"]
    assert questions(*begun, ["answerConflict", "x", "over"]) == ["y"]
    # By keys: of the one that is asked about, or with Shift of all; without a question they are nobody's.
    for key, events in (("t", [("leave", "x")]), ("y", [("over", "x")]), ("T", [("leave", "x"), ("leave", "y")])):
        state = play(run, *begun, *presses(key))
        assert [(event["act"], event.get("value")) for event in state["events"]] == events
    assert not questions(*begun, *presses("Y")) and play(run, *presses("tyTY"))["events"] == []
    answered = [["answerConflict", "x", "leave"], ["answerConflict", "y", "leave"]]
    assert not questions(*begun, *answered) and not play(run, *begun, *answered)["unsaved"]


SERVER = """
const N_RECORDS = 400, PART = 90;
const random = (seed) => () => {
  seed = (Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
  return (seed >>> 0) / 2 ** 32;
};

// What the server does with events: each once, in order; the last verdict is taken back, and its record opened.
const server = () => {
  const own = { seen: 0, at: 0, verdicts: [], versions: {}, conflicts: 0 };
  const kinds = Object.fromEntries(Array.from({ length: N_RECORDS }, (_, at) => [`r${at}`, []]));
  const label = (at) => kinds[`r${at}`].at(-1) ?? null;
  const apply = ({ at, events }) => {
    for (const event of events) {
      if (event.seq <= own.seen) continue;
      own.seen = event.seq;
      if (event.act === "verdict") {
        const version = own.versions[event.record] ?? 0;
        if (event.version !== undefined && event.version > version) own.conflicts += 1;
        own.versions[event.record] = version + 1;
        own.verdicts.push([event.record, event.kind, JSON.stringify(event.right)]);
        kinds[event.record].push(event.kind);
      } else if (event.act === "undo") {
        if (own.verdicts.length) {
          own.undone = own.verdicts.pop()[0];
          kinds[own.undone].pop();
        }
      } else if (event.act === "next") {
        const open = Array.from({ length: N_RECORDS }, (_, at) => at).filter((at) => !label(at));
        const next = Number(event.record.slice(1)) + 1;
        own.at = open.find((at) => at >= next) ?? open[0] ?? Math.min(next, N_RECORDS - 1);
      }
    }
    const last = events.at(-1).act;
    if (last === "next") return;
    if (last !== "undo") own.at = Number(at[1].slice(1));
    else if (own.undone) own.at = Number(own.undone.slice(1));
  };
  const corrected = () => {
    const standing = Object.fromEntries(own.verdicts.map(([record, , right]) => [`d\\n${record}`, right]));
    const spans = Object.entries(standing).filter(([, right]) => right);
    return Object.fromEntries(spans.map(([key, right]) => [key, JSON.parse(right)]));
  };
  const data = () => {
    const first = Math.max(0, (Math.floor(own.at / 30) - 1) * 30);
    const entries = [];
    for (let at = first; at < Math.min(first + PART, N_RECORDS); at += 1)
      entries.push(["d", `r${at}`, "INC", "", "", "", label(at)]);
    const cards = {};
    for (let at = Math.max(0, own.at - 3); at < Math.min(own.at + 11, N_RECORDS); at += 1)
      cards[`d\\nr${at}`] = { key: "0|d", version: own.versions[`r${at}`] ?? 0, sides: SIDES, rows: [] };
    return {
      facts: "f", mount: "m", seen: own.seen, total: N_RECORDS, first, at: own.at, entries, open: ["d", `r${own.at}`],
      text: "0|d", texts: { "0|d": TEXT_OF_D }, cards, rows: [], corrected: corrected(), entities: [],
      whole: false, starred: [],
      verdicts: { reason: "", kinds: KINDS_OF_VERDICTS, labels: KINDS_OF_VERDICTS, advance: true, types: ["X", "Y"] },
    };
  };
  return { own, apply, data };
};

// The verdicts that stand after keys on a server whose answers come `delay()` keys late, and the record that is open.
const verdictsAfter = (keys, delay) => {
  const { own, apply, data } = server();
  let state = take(initialState("m"), data());
  const answers = [];
  const exchange = () => {
    if (state.events.length) apply(messageOf(state));
    answers.push({ left: delay(), data: data() });
  };
  const receive = () => {
    for (const answer of answers) answer.left -= 1;
    while (answers.length && answers[0].left <= 0) {
      const before = state.lastEvent;
      state = take(state, answers.shift().data);
      if (state.lastEvent !== before) exchange();
    }
  };
  for (const key of keys) {
    const before = state.lastEvent;
    state = press(state, key);
    if (state.lastEvent !== before) exchange();
    receive();
  }
  for (let round = 0; round < 10_000 && (answers.length || state.events.length); round += 1) {
    if (!answers.length) exchange();
    receive();
  }
  return { verdicts: own.verdicts, open: state.open[1], conflicts: own.conflicts, held: state.heldKeys };
};
"""
COMPARE = """
[1, 2, 3].map((seed) => {
  const [next, late] = [random(seed), random(seed + 9)];
  const keys = Array.from({ length: 600 }, () => PRESSED[Math.floor(next() * PRESSED.length)]).flat();
  return [verdictsAfter(keys, () => 0), verdictsAfter(keys, () => Math.floor(late() ** 4 * 120))];
})
"""


EDITS = [["4", LEFT, "y", "Enter"], ["4", "4", "+", "Enter"], ["4", "-", "Enter"], ["4", "y", "Escape", "Escape"]]


@pytest.mark.parametrize(
    "pressed",
    [list("1"), list("12j"), list("1125jjku"), list("j1"), list("5uk"), [*EDITS, "1"], [*EDITS, *"15kuj"]],
    ids=lambda pressed: "".join(key if isinstance(key, str) else "e" for key in pressed),
)
def test_verdicts_are_the_same_however_late_answers_are(run: Run, pressed: list[Any]) -> None:
    facts = {"PRESSED": pressed, "KINDS_OF_VERDICTS": list(KINDS), "SIDES": CARD["sides"], "TEXT_OF_D": TEXT}
    names = "".join(f"const {name} = {json.dumps(value)};" for name, value in facts.items())
    for at_once, late in run(f"(() => {{ {SERVER}{names} return {COMPARE.strip()}; }})()"):
        assert late == at_once and late["verdicts"] and late["conflicts"] == 0


def test_every_key_has_words_and_is_wired(run: Run) -> None:
    table = run("KEY_TABLE.map(([key, act, words]) => [key, typeof act, words])")
    assert [row[0] for row in table] == ["j", "k", *"12345", "m", "u", "s", "[", "]", "w"]
    assert all(kind == "function" and words for _, kind, words in table)
    assert sorted(run("Object.keys(KEYS)")) == sorted(row[0] for row in table)


def test_the_sheet_of_keys_calls_verdicts_as_the_page_does(run: Run) -> None:
    words = ["anna is right", "ben is right", "both are right", "neither is right", "unclear"]
    every = run(f"keyRows({{ data: {{ verdicts: {{ words: {json.dumps(words)} }} }} }})")
    (heading,) = [place for place, row in enumerate(every) if len(row) == 1]
    assert every[heading + 1 :] == run("editKeyRows()")
    rows = dict(every[:heading])
    assert [rows[key] for key in "12345"] == [*words[:3], "neither: mark what is right", "unclear"]
    assert rows["j"] == "next record"
    # Where no verdicts are given the keys still have words.
    assert all(row[-1] for row in run('keyRows({ data: { verdicts: { reason: "none here" } } })'))
