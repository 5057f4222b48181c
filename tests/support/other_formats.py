"""All systems of a demo corpus side by side, as pages have them: ledgers that know of one another, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from nereval_core.corpus import Corpus, Layer
from nereval_core.ledger import Ledger, ledger
from nereval_core.scoring import Scores, Settings, score_layers
from nereval_core.scoring.criteria import CRITERIA
from pages.shared.data.loading import load_demo


@cache
def corpus(name: str) -> Corpus:
    return load_demo(name).corpus


@dataclass(frozen=True)
class Demo:
    """A demo corpus under some criteria, seen from one of its systems."""

    name: str
    criteria: tuple[str, ...]
    at: str = "rules"
    kept: dict[tuple[str, str], object] = field(default_factory=dict)

    @property
    def gold(self) -> Layer:
        return corpus(self.name).gold

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(sorted(layer.name for layer in corpus(self.name).systems))

    def scores(self, system: str | None = None, names: Sequence[str] = ()) -> Scores:
        key = (system or self.at, "")
        if key not in self.kept:
            settings = Settings(tuple(CRITERIA[name] for name in self.criteria))
            self.kept[key] = score_layers(self.gold, corpus(self.name).system(key[0]), settings)
        found = self.kept[key]
        assert isinstance(found, Scores)
        return found

    def ledger(self, system: str, criterion: str) -> Ledger:
        key = (system, criterion)
        if key not in self.kept:
            there = Demo(self.name, self.criteria, system, self.kept)
            sides = (self.gold, corpus(self.name).system(system))
            self.kept[key] = ledger(self.scores(system), criterion, sides, there)
        found = self.kept[key]
        assert isinstance(found, Ledger)
        return found
