# SPDX-License-Identifier: Apache-2.0
import math

from torch import _script

_NS_PER_MS = 1e6


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Calls the function once; its time is the script's."""
    is_nan = _script.measurement_begins()
    fn()
    time_ms = math.nan if is_nan else _script.last_ns / _NS_PER_MS
    if quantiles is not None:
        # As far apart as to show which of them was taken.
        times = [time_ms * (0.5 + quantile) for quantile in quantiles]
        return times[0] if len(times) == 1 else times
    if return_mode == "all":
        return [time_ms, time_ms * 2]
    return time_ms
