# SPDX-License-Identifier: Apache-2.0
"""The script: how long an operator takes, and what goes wrong when."""

import os
import signal
import time

# Part of the reference's time that the corpus's own operator needs; exact in binary.
GEMS_PART = {"mm": 0.5, "abs": 0.25, "add": 2.0, "mv": 1.0}
USUAL_PART = 0.5
NS_PER_ELEMENT = 1

gems_active = 0
last_ns = 0
_measured = 0
_tensors_made = 0


def ran(operator, arguments, gems):
    """An operator ran; the timer reads how long it took."""
    global last_ns
    sizes = [value.numel() for value in arguments if hasattr(value, "numel")]
    part = GEMS_PART.get(operator, USUAL_PART) if gems or gems_active else 1.0
    last_ns = max([*sizes, 1]) * NS_PER_ELEMENT * part


def new_test():
    global _measured, _tensors_made
    _measured = _tensors_made = 0


def makes_input():
    global _tensors_made
    _tensors_made += 1
    if os.environ.get("FAKE_FAIL_TENSOR") == str(_tensors_made):
        raise RuntimeError("this tensor cannot be made")


def measurement_begins():
    """Raises, hangs or ends where the variables say so; else returns whether the time is NaN."""
    global _measured
    _measured += 1
    case, candidate = (_measured + 1) // 2, _measured % 2 == 0
    time.sleep(float(os.environ.get("FAKE_SLEEP_S", "0")))

    def now(name):
        return candidate and os.environ.get(name) == str(case)

    if now("FAKE_FAIL_CASE"):
        raise RuntimeError(f"kernel refused case {case}\nsecond line")
    if now("FAKE_OOM_CASE"):
        from . import OutOfMemoryError

        raise OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
    if now("FAKE_KILL_CASE"):
        os.kill(os.getpid(), signal.SIGKILL)
    while now("FAKE_HANG_CASE"):
        with open(os.environ.get("FAKE_HANG_MARK", os.devnull), "w", encoding="utf-8") as mark:
            mark.write(str(os.getpid()))
        time.sleep(3600)
    return now("FAKE_NAN_CASE")
