# SPDX-License-Identifier: Apache-2.0
"""What one live tuning of one key found: each configuration with its times, and what failed."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from typing import Any

from .configs import Fields, fields_of, text_of

Times = list[float | None]
UNKNOWN: Times = [None, None, None]
# The channel's longest line is 1 MiB.
_MOST_BYTES = 900_000
_LONGEST_MESSAGE = 500


def times_of(values: Any) -> Times:
    """[p50, p20, p80] of what a tuner's timer returned; one number is the median alone."""
    if values is None or isinstance(values, (int, float)):
        values = [values, None, None]
    times = [None if value is None or math.isnan(value) else float(value) for value in values]
    return (times + UNKNOWN)[:3]


def without_nan(values: Any) -> Any:
    """A tuner takes the smallest by comparing, and would take a NaN that comes first."""
    if values is None:
        return None
    if isinstance(values, (int, float)):
        return math.inf if math.isnan(values) else values
    return [math.inf if math.isnan(value) else value for value in values]


def _told(times: Times) -> list[Any]:
    return ["inf" if value is not None and math.isinf(value) else value for value in times]


class Sweep:
    """Filled while a tuner tries its configurations."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self._timings: dict[str, tuple[Fields, Times]] = {}
        self._failed: dict[str, dict[str, Any]] = {}
        self.timed = 0
        self.benchmark_key: list[Any] | None = None
        self.benchmark_space = ""
        self.compile: dict[str, Any] | None = None  # of the pool, where there was one
        self.timing: dict[str, Any] = {}  # how it was timed; empty: nothing was

    def seconds(self) -> float:
        return time.perf_counter() - self._begin

    def add(self, config: Any, values: Any) -> None:
        fields = fields_of(config)
        self._timings[text_of(fields)] = (fields, times_of(values))

    def add_failure(self, config: Any, kind: str, message: str) -> None:
        fields = fields_of(config)
        message = message[:_LONGEST_MESSAGE]
        self._failed[text_of(fields)] = {"config": fields, "kind": kind, "message": message}

    def has(self, config: Any) -> bool:
        return text_of(fields_of(config)) in self._timings

    def times(self, fields: Fields) -> Times:
        known = self._timings.get(text_of(fields))
        return known[1] if known else UNKNOWN

    def works(self, fields: Fields) -> bool:
        """A configuration that was never timed is a rule's choice, not a failure."""
        known = self._timings.get(text_of(fields))
        return known is None or (known[1][0] is not None and math.isfinite(known[1][0]))

    def messages(self, fields: Fields) -> Iterator[dict[str, Any]]:
        """Members of the `tuned` messages, each short enough for a line; `fields` won."""
        ends = {
            "config": fields if self.works(fields) else None,
            "times": _told(self.times(fields)) if self.works(fields) else UNKNOWN,
            "benchmark_space": self.benchmark_space,
            "seconds": self.seconds(),
            "timed": self.timed,
        }
        if self.benchmark_key is not None:
            ends["benchmark_key"] = self.benchmark_key
        if self.compile is not None:
            ends["compile"] = self.compile
        if self.timing:
            ends["timing"] = self.timing
        parts = list(self._parts())
        for part in parts[:-1]:
            yield {**ends, **part, "more": True}
        yield {**ends, **parts[-1]}

    def _parts(self) -> Iterator[dict[str, list[Any]]]:
        rows: list[tuple[str, Any]] = [
            ("timings", {"config": config, "times": _told(times)})
            for config, times in self._timings.values()
        ]
        rows += [("failed", failure) for failure in self._failed.values()]
        part: dict[str, list[Any]] = {"timings": [], "failed": []}
        size = 0
        for name, row in rows:
            length = len(json.dumps(row))
            if size + length > _MOST_BYTES and size:
                yield part
                part, size = {"timings": [], "failed": []}, 0
            part[name].append(row)
            size += length
        yield part
