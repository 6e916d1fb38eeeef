# SPDX-License-Identifier: Apache-2.0
"""The event timer on a device with a virtual clock: what a sample holds and what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from fake_device import L2_BYTES, FakeDevice
from opgauge_bridge.timers import EventTimer

FLUSH = f"fill {2 * L2_BYTES}"


def prepared(device: FakeDevice, call: Any, holds: bool = True, cold: bool = False) -> EventTimer:
    timer = EventTimer(device, call, holds, cold)
    timer.prepare()
    return timer


def nanoseconds(*values: float) -> Any:
    return pytest.approx(list(values), rel=1e-6)


def test_a_sample_is_the_kernels_time_although_the_host_takes_100_us_a_call() -> None:
    device = FakeDevice()
    timer = prepared(device, device.kernel(30_000, host_ns=100_000))
    assert timer.burst(8, 1) == nanoseconds(*[30_000.0] * 8)
    assert timer.hold_short == 0


def test_without_a_hold_the_hosts_time_is_inside() -> None:
    device = FakeDevice()
    timer = prepared(device, device.kernel(30_000, host_ns=100_000), holds=False)
    # From the first event over the launch to the end of the kernel: what the hold is there for.
    assert timer.burst(1, 1) == nanoseconds(130_000.0)
    assert "hold" not in device.module.log
    assert timer.settings() == {"l2": "hot", "hold": False}


def test_the_first_call_and_the_estimate_are_the_hosts_and_the_devices() -> None:
    device = FakeDevice()
    costs = iter([5_000_000.0])

    def call() -> None:  # the first one compiles
        device.module.launch(30_000, next(costs, 10_000.0))

    timer = prepared(device, call)
    assert timer.first_call_ns == 5_000_000 + 30_000 + device.module.synchronize_ns
    assert timer.estimate_ns == pytest.approx(30_000)


def test_a_long_first_call_is_followed_by_few_others() -> None:
    device = FakeDevice()
    calls: list[float] = []

    def call() -> None:
        calls.append(device.module.now)
        device.module.launch(200e6, 10_000)

    timer = prepared(device, call)
    # The first one, one that warms, one that estimates.
    assert len(calls) == 3
    assert timer.estimate_ns == pytest.approx(200e6)


def test_a_hold_that_is_too_short_is_grown_and_the_sample_taken_again() -> None:
    device = FakeDevice()
    host_ns = 100_000.0
    calls = 0

    def call() -> None:
        nonlocal calls
        calls += 1
        device.module.launch(30_000, host_ns)

    timer = prepared(device, call)
    device.synchronize()
    host_ns, calls = 500_000.0, 0
    begin = len(device.module.log)
    assert timer.burst(2, 1) == nanoseconds(30_000, 30_000)
    # 170 us, then 340 and 680: the hold has grown once for both samples.
    assert calls == 4
    assert device.module.log[begin:].count("hold") == 4
    assert timer.hold_short == 0


@pytest.mark.parametrize("samples", [4, 40])
def test_a_call_that_waits_for_the_device_is_hold_short_in_bounded_tries(samples: int) -> None:
    device = FakeDevice()
    calls = 0

    def call() -> None:
        nonlocal calls
        calls += 1
        device.module.launch(30_000, 10_000)
        device.synchronize()

    timer = prepared(device, call)
    # A first call, three that warm, five that estimate; two of these are tried three times more.
    assert calls == 1 + 3 + 5 + 2 * 3
    calls = timer.hold_short = 0
    values = timer.burst(samples, 1)
    assert (len(values), calls, timer.hold_short) == (samples, samples, samples)
    assert min(values) > 30_000


def test_a_call_that_waits_only_for_a_while_is_held_again_afterwards() -> None:
    device = FakeDevice()
    waits = True

    def call() -> None:
        device.module.launch(30_000, 10_000)
        if waits:
            device.synchronize()

    timer = EventTimer(device, call, True, False)
    super(EventTimer, timer).prepare()
    assert len(timer.burst(1, 1)) == 1
    assert timer.hold_short == 1
    waits = False
    assert timer.burst(3, 1) == nanoseconds(*[30_000.0] * 3)
    assert timer.hold_short == 1


# -- the cache ------------------------------------------------------------------------------------
def test_cold_samples_flush_behind_the_hold_and_before_the_first_event() -> None:
    device = FakeDevice()
    timer = prepared(device, device.kernel(30_000), cold=True)
    begin = len(device.module.log)
    assert timer.burst(3, 1) == nanoseconds(*[30_000.0] * 3)
    assert device.module.log[begin:] == ["hold", FLUSH, "event", "kernel", "event"] * 3
    assert timer.settings() == {"l2": "cold", "hold": True}


def test_hot_samples_flush_never() -> None:
    device = FakeDevice()
    timer = prepared(device, device.kernel(30_000))
    timer.burst(3, 2)
    assert FLUSH not in device.module.log
    assert device.module.log[-5:] == ["hold", "event", "kernel", "kernel", "event"]


def test_a_device_that_tells_no_cache_size_is_flushed_with_twice_128_mib() -> None:
    device = FakeDevice()
    device.module.l2_bytes = 0
    assert device.l2_bytes() == 128 << 20


def test_more_calls_a_sample_are_divided_out() -> None:
    device = FakeDevice()
    timer = prepared(device, device.kernel(30_000))
    assert timer.burst(2, 5) == nanoseconds(30_000, 30_000)


# -- streams --------------------------------------------------------------------------------------
def test_short_kernels_rotate_over_all_streams_with_untimed_first_calls() -> None:
    device = FakeDevice()
    timer = prepared(device, device.kernel(6_000))
    halves = []
    for _ in range(3):
        begin = len(device.module.log)
        values = timer.burst(40, 1)
        assert values == nanoseconds(*[6_000.0] * 40)
        names, streams = device.module.log[begin:], device.module.used[begin:]
        used = [s for name, s in zip(names, streams, strict=True) if name == "kernel"]
        counts = [used.count(stream) for stream in device.streams()]
        assert sum(counts) == len(used) == 40 + 2 * 16
        halves.append(counts)
    # Two or three of 40 samples on each of 16 streams, behind two that are not timed.
    shares = [2 + (40 + index) // 16 for index in range(16)]
    assert halves == [shares + [0] * 16, [0] * 16 + shares, shares + [0] * 16]


def test_fewer_samples_than_streams_stay_on_the_current_one() -> None:
    device = FakeDevice()
    timer = prepared(device, device.kernel(6_000))
    begin = len(device.module.used)
    timer.burst(15, 1)
    assert set(device.module.used[begin:]) == {device.current_stream()}


def test_long_kernels_stay_on_the_current_stream() -> None:
    device = FakeDevice()
    timer = prepared(device, device.kernel(20_000))
    timer.burst(40, 1)
    assert set(device.module.used) == {device.current_stream()}


def test_work_on_another_stream_begins_after_all_that_is_queued() -> None:
    device = FakeDevice()
    device.module.launch(1e6, 1_000)
    busy_until = device.current_stream().free_at
    with device.on(device.stream()):
        assert device.module.launch(10, 1_000) == busy_until


# -- the truth of it ------------------------------------------------------------------------------
@pytest.mark.parametrize("unit_ns", [40_000.0, 1e6])
def test_one_two_and_four_units_of_work_scale_as_such(unit_ns: float) -> None:
    medians = []
    for units in (1, 2, 4):
        device = FakeDevice()
        device.module.gap_ns = 1_600.0  # of the two events themselves
        # One launch whose host cost is larger than the work: a host's clock would read a constant.
        timer = prepared(device, device.kernel(units * unit_ns, host_ns=3e6), cold=True)
        medians.append(sorted(timer.burst(9, 1))[4])
    assert medians[1] / medians[0] == pytest.approx(2, rel=0.05)
    assert medians[2] / medians[0] == pytest.approx(4, rel=0.05)


def test_inputs_that_are_made_on_another_stream_are_waited_for() -> None:
    device = FakeDevice()
    device.module.launch(50e6, 1_000, stream=device.stream())
    begins: list[Any] = []
    timer = prepared(device, lambda: begins.append(device.module.launch(30_000, 10_000)))
    assert begins[0] >= 50e6
    assert timer.first_call_ns < 1e6
    assert timer.burst(2, 1) == nanoseconds(30_000, 30_000)
