"""Every script of endurance runs briefly, and counts nothing that must not happen."""

from __future__ import annotations

from pathlib import Path

from tests.endurance import swapped_links


def test_nothing_outside_is_read_while_links_are_swapped(tmp_path: Path) -> None:
    counts = swapped_links.run(tmp_path, lambda tries: tries < 2_000)
    assert counts["leaks"] == 0
    # Both were seen: what leads inside is read, and what leads outside is refused.
    assert counts["read"] > 100 and counts["refused"] > 100
