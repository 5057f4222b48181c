"""Every script of endurance runs briefly, and counts nothing that must not happen."""

from __future__ import annotations

from pathlib import Path

from tests.endurance import neighbours, people, swapped_links, week


def test_nothing_outside_is_read_while_links_are_swapped(tmp_path: Path) -> None:
    counts = swapped_links.run(tmp_path, lambda tries: tries < 2_000)
    assert counts["leaks"] == 0
    # Both were seen: what leads inside is read, and what leads outside is refused.
    assert counts["read"] > 100 and counts["refused"] > 100


def test_nobody_is_sent_a_word_of_another(tmp_path: Path) -> None:
    counts = people.run(tmp_path, lambda clicks, share=1.0: clicks < 30, visitors=2, pause=(0, 0), rounds=1)
    assert counts["foreign texts"] == counts["errors"] == counts["lost verdicts"] == 0
    assert counts["own texts"] > 100 and counts["verdicts"] >= 2 and counts["links of others"] > 0


def test_a_killed_server_loses_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    counts = week.run(tmp_path, lambda sessions, share=1.0: True, sessions=10, tenths=2, killed=1)
    assert counts["foreign texts"] == counts["errors"] == counts["lost verdicts"] == counts["lost uploads"] == 0
    assert counts["temporaries"] == counts["processes"] == 0
    assert counts["kills"] == 1 and counts["verdicts"] == 100 and counts["opened again"] == 1


def test_neighbours_compute_while_somebody_clicks(tmp_path: Path) -> None:
    counts = neighbours.run(tmp_path, lambda tries, share=1.0: False, spans=1_000, megabytes=1, tangled=200, quiet=2)
    assert counts["errors"] == 0
    assert len([name for name, count in counts.items() if name.endswith(": clicks") and count]) == 5
