# SPDX-License-Identifier: Apache-2.0
"""The rules of a race on scripted and on seeded random latencies: who is dropped when, how many
calls that takes, and how often the winner is as good as the best."""

from __future__ import annotations

import importlib.util
import math
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fake_parent import BRIDGE

US = 1e3
MS = 1e6

Draw = Callable[[int], float]


def _load() -> Any:
    """Alone, without the package: it must not need any of it."""
    path = BRIDGE / "opgauge_bridge" / "tuning" / "race.py"
    spec = importlib.util.spec_from_file_location("race_alone", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["race_alone"] = module
    spec.loader.exec_module(module)
    return module


race_alone = _load()
Race, Rules, quantile = race_alone.Race, race_alone.Rules, race_alone.quantile


def run(count: int, draw: Draw, order: Callable[[list[int]], int] = lambda queue: queue[0]) -> Any:
    """A race to its end; `calls` of each are kept with it. None as a time is a failure."""
    race = Race(count)
    race.calls = [0] * count
    while race.queue:
        index = order(race.queue)
        wanted = race.samples(index)
        assert wanted >= 1
        values = [draw(index) for _ in range(wanted)]
        race.calls[index] += wanted
        if None in values:
            race.fail(index)
        else:
            race.add(index, values)
    return race


def fixed(*times: Any) -> Draw:
    return lambda index: times[index]


def dropped(race: Any) -> list[int]:
    return [runner.dropped for runner in race.runners]


def test_what_is_clearly_behind_is_dropped_in_the_first_round() -> None:
    race = run(6, fixed(*(US * each for each in (20, 10, 30, 11, 12, 10.1))))
    # The three best stay whatever their distance; 20 and 12 are 20 % and more behind.
    assert dropped(race) == [1, 0, 1, 0, 1, 0]
    assert race.winner() == 1
    # 5 samples in the first round, then 100 new ones of each of the last.
    assert race.calls == [5, 105, 5, 105, 5, 105]
    assert race.dropped() == [3, 0]


def test_what_is_a_little_behind_is_dropped_in_the_second_round() -> None:
    race = run(5, fixed(*(US * each for each in (10, 10.1, 10.2, 10.25, 10.4))))
    # 4 % are not clear after 5 samples; after 20, what lies within 3 % is timed in full.
    assert dropped(race) == [0, 0, 0, 0, 2]
    assert race.calls == [120, 120, 120, 120, 20]
    assert race.winner() == 0


def test_ties_are_all_timed_in_full_and_the_first_of_them_wins() -> None:
    race = run(10, fixed(*[10 * US] * 10))
    assert dropped(race) == [0] * 10
    assert race.calls == [120] * 10
    assert race.winner() == 0


def test_one_that_is_a_hundred_times_slower_ends_after_one_call() -> None:
    race = run(5, fixed(10 * US, 1000 * US, 10.1 * US, 10.2 * US, 99 * US))
    assert dropped(race) == [0, 1, 0, 0, 1]
    assert race.calls == [105, 1, 105, 105, 5]  # 9.9 times the best is not yet ten times


def test_the_slow_one_in_front_is_dropped_at_the_end_of_the_round() -> None:
    race = run(5, fixed(1000 * US, 10 * US, 10.1 * US, 10.2 * US, 10.3 * US))
    assert dropped(race)[0] == 1
    assert race.calls[0] == 5
    assert race.winner() == 1


def test_a_long_kernel_is_called_a_few_times_only() -> None:
    race = run(5, fixed(8 * MS, 8.1 * MS, 8.2 * MS, 12 * MS, 13 * MS))
    assert dropped(race) == [0, 0, 0, 1, 1]
    # 10 ms a round would be one call, but 3 are the least; 50 ms of full timing are 6.
    assert race.calls == [9, 9, 9, 3, 3]


def test_a_single_configuration_is_timed_in_full_at_once() -> None:
    race = run(1, fixed(10 * US))
    assert race.calls == [100]
    assert race.winner() == 0
    assert race.times(0) == [10 * US] * 3
    assert race.dropped() == [0, 0]


@pytest.mark.parametrize("count", [2, 3])
def test_two_or_three_are_not_dropped(count: int) -> None:
    race = run(count, fixed(10 * US, 15 * US, 20 * US))
    assert race.calls == [105] * count
    assert race.winner() == 0


def test_no_configuration() -> None:
    race = run(0, fixed())
    assert race.winner() is None
    assert race.dropped() == [0, 0]


def test_what_fails_is_out_and_is_not_counted_as_dropped() -> None:
    race = run(5, fixed(None, 12 * US, 10 * US, None, 11 * US))
    assert race.calls == [1, 105, 105, 1, 105]
    assert race.winner() == 2
    assert race.dropped() == [0, 0]
    assert race.times(0) == [math.inf] * 3


@pytest.mark.parametrize("value", [math.nan, math.inf, 0.0, -1.0])
def test_what_is_no_time_ends_a_configuration(value: float) -> None:
    race = run(4, fixed(value, 12 * US, 10 * US, 11 * US))
    assert race.calls[0] == 1
    assert race.winner() == 2
    assert race.times(0) == [math.inf] * 3


def test_nothing_works() -> None:
    race = run(3, fixed(None, math.nan, math.inf))
    assert race.winner() is None
    assert race.calls == [1, 1, 1]


def test_where_all_of_the_last_ones_fail_the_best_of_the_dropped_ones_wins() -> None:
    counts = [0] * 5

    def draw(index: int) -> Any:
        counts[index] += 1
        late = index < 3 and counts[index] > 5
        return None if late else (10, 10, 10, 14, 13)[index] * US

    race = run(5, draw)
    assert dropped(race) == [0, 0, 0, 1, 1]
    assert race.winner() == 4


def test_a_late_one_has_its_turn_when_it_is_ready() -> None:
    """Configurations compile at their own pace; the first one is the last to be ready."""
    seen: list[int] = []

    def order(queue: list[int]) -> int:
        seen.append(queue[-1] if seen[-1:] != [queue[0]] or len(queue) == 1 else queue[0])
        return seen[-1]

    race = run(4, fixed(10 * US, 11 * US, 30 * US, 12 * US), order)
    assert race.winner() == 0
    assert dropped(race) == [0, 0, 1, 0]


def test_the_last_ones_take_turns() -> None:
    turns: list[int] = []

    def order(queue: list[int]) -> int:
        turns.append(queue[0])
        return queue[0]

    run(3, fixed(10 * US, 10 * US, 10 * US), order)
    # The first round: one sample, then the other four, of each. Then 100 in tens.
    assert turns == [0, 0, 1, 1, 2, 2] + [0, 1, 2] * 10


def test_a_device_that_gets_slower_meets_all_of_the_last_ones() -> None:
    """By a third while they are timed; the one that is 2 % better wins all the same."""
    calls = 0

    def draw(index: int) -> float:
        nonlocal calls
        calls += 1
        return (10.2, 10.0, 10.3)[index] * US * (1 + calls / 1000)

    race = run(3, draw)
    assert race.winner() == 1
    assert race.calls == [105, 105, 105]


def test_quantiles_lie_between_their_neighbours() -> None:
    assert quantile([10.0], 0.8) == 10.0
    assert quantile([10.0, 20.0], 0.5) == 15.0
    assert quantile([10.0, 20.0, 30.0, 40.0, 50.0], 0.2) == pytest.approx(18.0)


def test_times_are_of_the_full_timing_alone() -> None:
    counts = [0] * 3

    def draw(index: int) -> float:
        counts[index] += 1
        return 50 * US if counts[index] <= 5 else 10 * US

    assert run(3, draw).times(0) == [10 * US] * 3


# -- random fields --------------------------------------------------------------------------------
def _field(rng: random.Random) -> list[float]:
    """True times of a key's configurations: near each other, spread, or some of them hopeless."""
    count = rng.choice([8, 16, 24, 48, 96])
    best = math.exp(rng.uniform(math.log(4 * US), math.log(100 * US)))
    spread = rng.choice([0.02, 0.1, 0.5, 1.0])
    times = [best * math.exp(spread * rng.expovariate(1)) for _ in range(count)]
    return [time * 100 if rng.random() < 0.05 else time for time in times]


def _draws(rng: random.Random, truth: list[float], noise: float) -> Draw:
    """Noise that makes a call longer, now and then much longer, and a device that warms up."""
    drift = rng.uniform(-0.04, 0.04)
    done = 0

    def draw(index: int) -> float:
        nonlocal done
        done += 1
        value = truth[index] * (1 + abs(rng.gauss(0, noise))) * (1 + drift * done / (done + 500))
        if rng.random() < 0.01:
            value *= rng.uniform(1.1, 3)
        return value * 20 if rng.random() < 0.0005 else value

    return draw


def _full_calls(time: float) -> int:
    """Triton's do_bench: a first call, five to estimate, then 25 ms and 100 ms."""
    return 6 + max(1, int(25 * MS / time)) + max(1, int(100 * MS / time))


def _outcomes(noise: float, draws: int) -> Iterator[tuple[float, float]]:
    for seed in range(draws):
        rng = random.Random(seed)
        truth = _field(rng)
        race = run(len(truth), _draws(rng, truth, noise))
        winner = race.winner()
        assert winner is not None
        # With the call that is not timed, before each one's first sample.
        calls = sum(race.calls) + len(truth)
        yield truth[winner] / min(truth) - 1, calls / sum(map(_full_calls, truth))


@pytest.mark.parametrize("noise", [0.002, 0.01, 0.03, 0.06])
def test_the_winner_is_as_good_as_the_best_for_a_fifth_of_the_calls(noise: float) -> None:
    draws = 250
    outcomes = list(_outcomes(noise, draws))
    good = sum(loss <= 0.02 for loss, _ in outcomes)
    assert good >= 0.98 * draws
    shares = sorted(share for _, share in outcomes)
    assert shares[-1] < 0.2
    assert shares[draws // 2] < 0.05
