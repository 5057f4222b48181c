"""When keys of Inspect count: not before the reader can have seen what they are for. The script runs under node."""

from __future__ import annotations

import pytest

from tests.support.scripts import Run, run_scripts

PLAY = """
const taken = (...times) => {
  let gate = closedGate(0);
  return times.filter((now) => {
    const isOpen = isGateOpen(gate, now);
    gate = gateAfterKey(gate, now);
    return isOpen;
  });
};
"""


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest) -> Run:
    return run_scripts(request, "key_sheet", more=PLAY)


@pytest.mark.parametrize(
    ("times", "taken"),
    [
        pytest.param((400, 410, 420), (400, 410, 420), id="all once it was read"),
        pytest.param((0, 349), (), id="none at once"),
        pytest.param(
            (100, 300, 500, 700, 1100), (1100,), id="none of those typed in a row with one that was too early"
        ),
        pytest.param(tuple(range(0, 2400, 200)), (2000, 2200), id="not for ever"),
    ],
)
def test_keys_count_once_the_record_can_have_been_read(
    times: tuple[int, ...], taken: tuple[int, ...], run: Run
) -> None:
    assert tuple(run(f"taken({', '.join(map(str, times))})")) == taken
