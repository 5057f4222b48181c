"""Last resort among the exact solvers: an assignment problem for each level, for tangled clusters of any shape."""

from __future__ import annotations

import numpy as np

from nereval_core.alignment.candidates import CandidatePairs
from nereval_core.alignment.codes import EQUAL, SAME_TYPE
from nereval_core.corpus.arrays import Float64, Int64

DENSE_SPANS = 256
"""Spans of a cluster up to which its assignments are solved over a full matrix of costs.

SciPy's solver of sparse assignments takes a second for some clusters of 60 spans."""


def solve_assignment(pairs: CandidatePairs, credit: Int64) -> Int64:
    """Solve any cluster: an assignment for each level, over the pairs that all best solutions so far may use.

    Levels are packed together as far as their sums stay exact in float64. After each assignment, dual prices tell
    which pairs a best solution may use; the order of the pairs decides between solutions that tie on every level.
    """
    golds, g = np.unique(pairs.gold, return_inverse=True)
    preds, p = np.unique(pairs.pred, return_inverse=True)
    most_pairs = min(len(golds), len(preds))
    farthest = int(pairs.difference.max())
    levels = [
        (credit, 2),
        ((pairs.code & EQUAL != 0).astype(np.int64), 1),
        (np.ones(len(pairs), np.int64), 1),
        ((pairs.code & SAME_TYPE != 0).astype(np.int64), 1),
        (pairs.shared, int(pairs.shared.max())),
        # All solutions left have equally many pairs, so that a constant each changes nothing.
        (farthest - pairs.difference, farthest),
    ]
    solver = _Assignment(len(golds), len(preds), g, p)
    packed, room = np.zeros(len(pairs), np.int64), 1
    for worth, most in levels:
        if room * (most * most_pairs + 1) > 1 << 50:
            solver.restrict(packed)
            packed, room = np.zeros(len(pairs), np.int64), 1
        packed = packed * (most * most_pairs + 1) + worth
        room *= most * most_pairs + 1
    solver.restrict(packed)
    return solver.smallest(pairs.key)


class _Assignment:
    """The best matchings of a bipartite graph, as perfect matchings of a graph twice its size.

    Each span has a dummy on the other side, worth nothing, that it takes when it stays unaligned; the dummies of the
    two spans of a pair may take each other. `row`, `column` and `allowed` describe the edges, the pairs first, and
    `match` the column of each row.
    """

    def __init__(self, golds: int, preds: int, g: Int64, p: Int64) -> None:
        self.pairs, self.size = len(g), golds + preds
        alone_gold, alone_pred = np.arange(golds), np.arange(preds)
        self.row = np.concatenate((g, golds + p, alone_gold, golds + alone_pred))
        self.column = np.concatenate((p, preds + g, preds + alone_gold, alone_pred))
        self.allowed = np.ones(len(self.row), bool)
        # At first every span takes its dummy.
        self.match = np.concatenate((preds + alone_gold, alone_pred))

    def restrict(self, worth: Int64) -> None:
        """Keep the edges that some best perfect matching may use; `worth` is that of each pair."""
        edges = np.flatnonzero(self.allowed)
        edges = edges[np.argsort(self.column[edges], kind="stable")]
        row, column = self.row[edges], self.column[edges]
        # Every perfect matching has equally many edges: a constant makes all costs positive, as the solver asks.
        cost = np.full(len(self.row), int(worth.max()) + 1)
        cost[: self.pairs] -= worth
        cost = cost[edges]
        self.match = self._best_matching(row, column, cost.astype(np.float64))
        # The costs of moving a row from its column to another: shortest paths over these are the dual prices.
        matched_cost = np.zeros(self.size, np.int64)
        matched = self.match[row] == column
        matched_cost[row[matched]] = cost[matched]
        move = cost - matched_cost[row]
        first = np.flatnonzero(np.diff(column, prepend=-1))
        price = np.zeros(self.size, np.int64)
        for _ in range(self.size + 1):
            reach = price[self.match[row]] + move
            lower = np.minimum(price, np.minimum.reduceat(reach, first))
            if np.array_equal(lower, price):
                break
            price = lower
        else:
            raise AssertionError("the assignment is not the best one")
        self.allowed[edges] = reach == price[column]

    def _best_matching(self, row: Int64, column: Int64, cost: Float64) -> Int64:
        """Return the column of each row in a perfect matching of least cost over some edges."""
        if self.size <= DENSE_SPANS:
            from scipy.optimize import linear_sum_assignment

            costs = np.full((self.size, self.size), np.inf)
            costs[row, column] = cost
            columns: Int64 = linear_sum_assignment(costs)[1].astype(np.int64)
            return columns
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import min_weight_full_bipartite_matching

        # SciPy first looks for any perfect matching, which can take it exponential time (scipy issue 26147). Where
        # columns are numbered by the rows that hold them so far, it finds that matching at once.
        holder = np.empty(self.size, np.int64)
        holder[self.match] = np.arange(self.size)
        graph = csr_array((cost, (row, holder[column])), shape=(self.size, self.size))
        graph.sort_indices()
        rows, columns = min_weight_full_bipartite_matching(graph)
        match = np.empty(self.size, np.int64)
        match[rows] = self.match[columns]
        return match

    def smallest(self, key: Int64) -> Int64:
        """Return the pairs of the perfect matching whose sorted keys are smallest."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        edges = np.flatnonzero(self.allowed)
        row_of = np.empty(self.size, np.int64)
        row_of[self.match] = np.arange(self.size)
        # An edge can be used if its row and the row that holds its column can hand columns round in a circle.
        holder = row_of[self.column[edges]]
        graph = csr_array((np.ones(len(edges), np.int8), (self.row[edges], holder)), shape=(self.size, self.size))
        labels = connected_components(graph, directed=True, connection="strong")[1]
        edges = edges[labels[self.row[edges]] == labels[holder]]
        if len(edges) > self.size:
            ways: list[list[int]] = [[] for _ in range(self.size)]
            for i, j in zip(self.row[edges].tolist(), self.column[edges].tolist(), strict=True):
                ways[i].append(j)
            order = edges[edges < self.pairs]
            order = order[np.argsort(key[order], kind="stable")]
            match, holders = self.match.tolist(), row_of.tolist()
            fixed = bytearray(self.size)
            shut: set[tuple[int, int]] = set()
            for i, j in zip(self.row[order].tolist(), self.column[order].tolist(), strict=True):
                if not fixed[i] and not fixed[holders[j]] and (i, j) not in shut:
                    fixed[i] = match[i] == j or _rotate(i, j, match, holders, ways, fixed, shut)
            self.match = np.array(match)
        return np.flatnonzero(self.match[self.row[: self.pairs]] == self.column[: self.pairs])


def _rotate(
    row: int,
    column: int,
    match: list[int],
    holders: list[int],
    ways: list[list[int]],
    fixed: bytearray,
    shut: set[tuple[int, int]],
) -> bool:
    """Give `column` to `row` by handing columns round in a circle of rows not yet fixed, if there is one."""
    start = holders[column]
    came = {start: start}
    waiting = [start]
    while waiting and row not in came:
        at = waiting.pop()
        for way in ways[at]:
            holder = holders[way]
            if holder not in came and not fixed[holder] and (at, way) not in shut:
                came[holder] = at
                waiting.append(holder)
    if row not in came:
        # The rows reached can never give way to this one.
        shut.update((row, match[reached]) for reached in came)
        return False
    circle = [row]
    while circle[-1] != start:
        circle.append(came[circle[-1]])
    columns = [match[at] for at in circle]
    # Each row takes the column of the one before it in the circle; the first takes the one asked for.
    for at, next_column in zip(circle, [column, *columns[:-1]], strict=True):
        match[at], holders[next_column] = next_column, at
    return True
