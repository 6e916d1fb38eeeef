# SPDX-License-Identifier: Apache-2.0
"""The same works under triton's own timers, as JSON: timer, work, [nanoseconds, seconds taken]."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from test_timers import WORKS, make
from triton.testing import do_bench, do_bench_cudagraph

TIMERS: dict[str, Callable[[Any], float]] = {
    "do_bench 25/100": lambda call: do_bench(call, warmup=25, rep=100, return_mode="median"),
    "do_bench_cudagraph 100": lambda call: do_bench_cudagraph(call, rep=100, return_mode="median"),
    "do_bench 1000/100": lambda call: do_bench(call, warmup=1000, rep=100, return_mode="median"),
}


def main() -> None:
    found: dict[str, dict[str, list[float]]] = {}
    for timer, bench in TIMERS.items():
        for name in WORKS:
            call = make(name)
            begin = time.perf_counter()
            milliseconds = bench(call)
            taken = time.perf_counter() - begin
            found.setdefault(timer, {})[name] = [milliseconds * 1e6, taken]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
