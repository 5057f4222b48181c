"""An averaged perceptron that tags tokens from left to right.

Collins 2002, decoded greedily. All weights are Python integers and every order is fixed, so that each machine and each
Python version finds the same spans. It sees outermost continuous spans only: nesting and fragments are beyond it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from demo_data.build.markup import Document, Span

EPOCHS = 15
TOKEN = re.compile(r"\w+(?:-\w+)*|[^\w\s]")
OUT = "O"


class Perceptron:
    """A tagger; `train` makes one, `tag` uses it."""

    def __init__(self, tags: Sequence[str]) -> None:
        self.tags = tuple(tags)
        self.weights: dict[str, list[int]] = {}
        self.totals: dict[str, list[int]] = {}
        self.step = 1
        # A tag I-x goes on only with x: what may follow each tag, by number.
        self.after = {
            before: [
                number
                for number, tag in enumerate(self.tags)
                if not tag.startswith("I-") or (before != OUT and before[2:] == tag[2:])
            ]
            for before in self.tags
        }

    def best(self, features: Sequence[str], before: str) -> int:
        """Return the number of the best tag that may follow `before`; the first of equals."""
        found = [row for feature in features if (row := self.weights.get(feature)) is not None]
        scores = [sum(column) for column in zip(*found, strict=True)] if found else [0] * len(self.tags)
        return max(self.after[before], key=lambda number: scores[number])

    def learn(self, features: Sequence[str], right: int, guess: int) -> None:
        self.step += 1
        if right == guess:
            return
        for feature in features:
            weights = self.weights.setdefault(feature, [0] * len(self.tags))
            totals = self.totals.setdefault(feature, [0] * len(self.tags))
            for number, change in ((right, 1), (guess, -1)):
                weights[number] += change
                totals[number] += change * self.step

    def average(self) -> None:
        """Put in place of each weight its sum over all steps: the average times a constant, so still an integer."""
        for feature, weights in self.weights.items():
            totals = self.totals[feature]
            self.weights[feature] = [self.step * w - total for w, total in zip(weights, totals, strict=True)]

    def tag(self, text: str) -> list[Span]:
        """Return the spans found in a text."""
        tokens = list(TOKEN.finditer(text))
        words = [token[0] for token in tokens]
        history = [OUT, OUT]
        for at in range(len(words)):
            history.append(self.tags[self.best(list(_features(words, at, history)), history[-1])])
        spans: list[tuple[int, int, str]] = []
        for token, tag in zip(tokens, history[2:], strict=True):
            if tag.startswith("B-"):
                spans.append((token.start(), token.end(), tag[2:]))
            elif tag.startswith("I-"):
                start, _, label = spans.pop()
                spans.append((start, token.end(), label))
        return [Span(((start, end),), label) for start, end, label in spans]


def train(documents: Sequence[Document]) -> Perceptron:
    """Train on annotated documents, in an order that depends on nothing but their number."""
    labels = sorted({span.label for document in documents for span in document.spans})
    model = Perceptron([OUT, *(f"{part}-{label}" for label in labels for part in "BI")])
    examples = [_example(document) for document in documents]
    state = 1
    for _ in range(EPOCHS):
        order = list(range(len(examples)))
        for last in range(len(order) - 1, 0, -1):
            state = (state * 1103515245 + 12345) % 2**31
            other = (state >> 8) % (last + 1)
            order[last], order[other] = order[other], order[last]
        for number in order:
            words, tags = examples[number]
            history = [OUT, OUT]
            for at, tag in enumerate(tags):
                features = list(_features(words, at, history))
                guess = model.best(features, history[-1])
                model.learn(features, model.tags.index(tag), guess)
                history.append(tag)
    model.average()
    return model


def _example(document: Document) -> tuple[list[str], list[str]]:
    tokens = list(TOKEN.finditer(document.text))
    tags = [OUT] * len(tokens)
    covered = 0
    for span in sorted(document.spans, key=lambda span: (span.start, -span.end, span.label)):
        if len(span.fragments) > 1 or span.start < covered:
            continue
        covered = span.end
        inside = [at for at, token in enumerate(tokens) if token.start() < span.end and token.end() > span.start]
        for at in inside:
            tags[at] = f"I-{span.label}"
        tags[inside[0]] = f"B-{span.label}"
    return [token[0] for token in tokens], tags


def _features(words: Sequence[str], at: int, history: Sequence[str]) -> Iterator[str]:
    """Yield what is known of the token at a place; `history` holds the tags so far after two of padding."""
    word = words[at]
    low = word.lower()
    last, following = (words[place] if 0 <= place < len(words) else "#" for place in (at - 1, at + 1))
    yield "bias"
    yield f"word={low}"
    yield f"shape={_shape(word)}"
    yield f"start={low[:3]}"
    yield f"end={low[-3:]}"
    yield f"end2={low[-2:]}"
    yield f"end4={low[-4:]}"
    yield f"word-1={last.lower()}"
    yield f"word+1={following.lower()}"
    yield f"shape-1={_shape(last)}"
    yield f"shape+1={_shape(following)}"
    yield f"end+1={following.lower()[-3:]}"
    yield f"before={history[-1]}"
    yield f"before2={history[-2]}_{history[-1]}"
    yield f"before+word={history[-1]}_{low}"
    yield f"before+shape={history[-1]}_{_shape(word)}"


def _shape(word: str) -> str:
    """Return the word with letters and figures put into classes, each run once: `CD4` is `Ad`."""
    shape = ""
    for char in word:
        kind = "A" if char.isupper() else "a" if char.isalpha() else "d" if char.isdigit() else char
        if not shape.endswith(kind):
            shape += kind
    return shape
