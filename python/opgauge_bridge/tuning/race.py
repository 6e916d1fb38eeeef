# SPDX-License-Identifier: Apache-2.0
"""Which configuration of a key is timed next, how often, and when it is given up. Pure: it knows
indexes and nanoseconds, no tuner and no device (docs/tune_timing.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

# Median, lower and upper end, as a tuner's own timer returns them.
_TOLD = (0.5, 0.2, 0.8)
_FULL = 3


@dataclass(frozen=True)
class Rules:
    """Numbers of samples, and relative distances."""

    first: int = 5  # samples of each configuration in the first round
    second: int = 15  # more of each that is left, in the second
    full: int = 100  # of each of the last ones, all new
    turn: int = 10  # of these in one turn: they alternate, so that a drift meets all of them
    least: int = 3  # samples of a round, however long the kernel is
    round_ns: float = 10e6  # a long kernel has fewer samples than a round has
    full_ns: float = 50e6  # and than the full timing has
    clear: float = 1.05  # its lower quartile so far above the best's upper one is clearly behind
    hopeless: float = 10.0  # one call that takes so many times the best ends a configuration
    near: float = 1.03  # what lies within it of the best is timed in full
    last: int = 3  # at least so many are timed in full


def quantile(values: Sequence[float], share: float) -> float:
    """Between the two nearest ones; `values` sorted and not empty."""
    at = share * (len(values) - 1)
    below = int(at)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (at - below)


@dataclass
class Runner:
    """One configuration."""

    samples: list[float] = field(default_factory=list)
    target: int = 1  # samples to have at the end of the stage; the first is taken alone
    dropped: int = 0  # in which round; 0: not
    failed: bool = False

    def at(self, share: float) -> float:
        return quantile(sorted(self.samples), share) if self.samples else math.inf

    @property
    def median(self) -> float:
        return self.at(0.5)


class Race:
    """Two rounds, then the full timing (stage 3). Whatever of `queue` is ready may be next:
    `samples()` says how many to take of it, `add()` or `fail()` what came of them. The race is over
    when the queue is empty."""

    def __init__(self, count: int, rules: Rules | None = None) -> None:
        self.rules = rules or Rules()
        self.runners = [Runner() for _ in range(count)]
        self.stage = 1 if count > 1 else _FULL
        self.queue = list(range(count))

    # -- one turn -----------------------------------------------------------------------------
    def samples(self, index: int) -> int:
        runner = self.runners[index]
        wanted = runner.target - len(runner.samples)
        return min(wanted, self.rules.turn) if self.stage == _FULL else wanted

    def add(self, index: int, values: Sequence[float]) -> None:
        """Nanoseconds of one call each. What is no time ends the configuration."""
        runner = self.runners[index]
        if not values or not all(math.isfinite(value) and value > 0 for value in values):
            self.fail(index)
            return
        runner.samples += values
        self.queue.remove(index)
        if len(runner.samples) == 1 and not self._goes_on(runner):
            runner.dropped = 1
        elif len(runner.samples) < runner.target:
            # A round ends one after the other; in the full timing the others have their turn.
            self.queue.insert(0 if self.stage < _FULL else len(self.queue), index)
        self._end_stages()

    def fail(self, index: int) -> None:
        """It does not compile, does not launch, or gives no time."""
        self.runners[index].failed = True
        self.queue.remove(index)
        self._end_stages()

    def _goes_on(self, runner: Runner) -> bool:
        """After the very first sample, which says how many there will be."""
        others = [other.median for other in self._left() if other is not runner]
        if self.stage == 1 and runner.median >= self.rules.hopeless * min(others, default=math.inf):
            return False
        runner.target = self._target(runner.median, 0)
        return True

    # -- stages -------------------------------------------------------------------------------
    def _target(self, estimate: float, taken: int) -> int:
        rules = self.rules
        most, limit = (
            (rules.first, rules.round_ns),
            (rules.second, rules.round_ns),
            (rules.full, rules.full_ns),
        )[self.stage - 1]
        return taken + max(rules.least, min(most, int(limit / estimate)))

    def _left(self) -> list[Runner]:
        return [each for each in self.runners if not each.dropped and not each.failed]

    def _end_stages(self) -> None:
        if self.queue or self.stage == _FULL:
            return
        self._drop()
        left = self._left()
        self.stage = self.stage + 1 if len(left) > self.rules.last else _FULL
        for runner in left:
            estimate = runner.median
            if self.stage == _FULL:
                runner.samples = []  # those of the others were not taken at the same time
            runner.target = self._target(estimate, len(runner.samples))
        self.queue = [index for index, runner in enumerate(self.runners) if runner in left]

    def _drop(self) -> None:
        left = sorted(self._left(), key=lambda runner: runner.median)
        for runner in left[self.rules.last :]:
            if self._behind(runner, left[0]):
                runner.dropped = self.stage

    def _behind(self, runner: Runner, best: Runner) -> bool:
        if self.stage == 1:
            return runner.at(0.25) > best.at(0.75) * self.rules.clear
        return runner.median > best.median * self.rules.near

    # -- the outcome --------------------------------------------------------------------------
    def winner(self) -> int | None:
        """The first of the best of those that were timed in full, and of the dropped ones where all
        those failed; None where nothing works."""
        works = [
            (runner.dropped > 0, runner.median, index)
            for index, runner in enumerate(self.runners)
            if runner.samples and not runner.failed
        ]
        return min(works)[2] if works else None

    def times(self, index: int) -> list[float]:
        """Nanoseconds, as a tuner's timer orders them; infinite for what does not work."""
        runner = self.runners[index]
        return [math.inf if runner.failed else runner.at(share) for share in _TOLD]

    def dropped(self) -> list[int]:
        """How many in the first round, how many in the second."""
        return [sum(runner.dropped == stage for runner in self.runners) for stage in (1, 2)]
