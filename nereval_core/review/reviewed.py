"""All verdicts that stand at one moment, found by record, by text and by document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from nereval_core.review.verdicts import Given, Key


@dataclass(frozen=True, eq=False)
class Reviewed:
    """The last verdict on each record by `Key.record`, those taken back too, up to `number` of the store."""

    last: Mapping[str, Given] = field(default_factory=dict)
    number: int = 0

    def __len__(self) -> int:
        return len(self.standing)

    def after(self, news: Iterable[Given]) -> Reviewed:
        """Return what stands after some more verdicts, in the order of the store; itself where there are none."""
        found = list(news)
        if not found:
            return self
        return Reviewed({**self.last, **{one.verdict.key.record: one for one in found}}, found[-1].number)

    def of(self, key: Key) -> Given | None:
        """Return the verdict that stands on a record, None where there is none."""
        found = self.last.get(key.record)
        return found if found is not None and found.stands else None

    def version(self, key: Key) -> int:
        """Return how many verdicts were ever given on a record: what a reviewer who looks at it now has seen."""
        found = self.last.get(key.record)
        return 0 if found is None else found.version

    @cached_property
    def standing(self) -> tuple[Given, ...]:
        """The verdicts that stand, in the order in which they were given."""
        return tuple(sorted((one for one in self.last.values() if one.stands), key=lambda one: one.number))

    @cached_property
    def by_text(self) -> Mapping[str, tuple[Given, ...]]:
        """The verdicts that stand by the digest of their text."""
        found: dict[str, list[Given]] = {}
        for one in self.standing:
            found.setdefault(one.verdict.key.text, []).append(one)
        return {text: tuple(given) for text, given in found.items()}

    @cached_property
    def reviewers(self) -> tuple[str, ...]:
        """Those whose verdicts stand, by name."""
        return tuple(sorted({one.who for one in self.standing}))
