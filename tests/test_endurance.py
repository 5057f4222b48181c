"""Every script of endurance runs briefly, and counts nothing that must not happen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.endurance import masking, swapped_links
from tests.endurance.__main__ import NEVER


def test_nothing_outside_is_read_while_links_are_swapped(tmp_path: Path) -> None:
    counts = swapped_links.run(tmp_path, lambda tries: tries < 2_000)
    assert counts["leaks"] == 0
    # Both were seen: what leads inside is read, and what leads outside is refused.
    assert counts["read"] > 100 and counts["refused"] > 100


@pytest.mark.browser
def test_no_payload_runs(tmp_path: Path) -> None:
    # Not by tests that have no browser: it takes long to import.
    from tests.endurance import payloads

    counts = payloads.run(tmp_path, lambda views: views < 3, together=40, steps=False)
    assert not [name for name in NEVER if counts[name]]
    assert counts["views"] == 3 and counts["payloads"] > 30


def test_a_masking_server_sends_none_of_the_texts(tmp_path: Path) -> None:
    counts = masking.run(tmp_path, lambda views: views < 1)
    assert not [name for name in NEVER if counts[name]]
    assert counts["messages"] > 500 and counts["files"] > 5 and counts["quoting"] > 0
