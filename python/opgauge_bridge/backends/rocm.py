# SPDX-License-Identifier: Apache-2.0
"""AMD through torch.cuda of a HIP build."""

from __future__ import annotations

import os
from typing import Any

from . import loan
from .cuda import framework as framework  # a HIP build answers under the same name
from .cuda import properties
from .torch_device import TorchDevice

# A forked process must not call the device; compiling does not.
FORK_COMPILE = True

_RUNTIME_DIGITS = 16


def spell_uuid(seen: str, planned: str) -> str | None:
    """torch prints the bytes of the runtime's UUID in hexadecimal, and these bytes are 16 digits
    as text; the runtime itself says GPU-<16 digits>. The management library spells the same number
    XXff74a1-0000-1000-80YY-ZZZZZZZZZZZZ for GPU-XXYYZZZZZZZZZZZZ: where that is the plan's
    device, its spelling is returned. None where the device has no number of its own."""
    try:
        digits = bytes.fromhex(seen.replace("-", "")).decode("ascii").rstrip("\0").lower()
    except ValueError:  # not text: a runtime that has bytes there
        return seen
    if len(digits) != _RUNTIME_DIGITS or set(digits) - set("0123456789abcdef"):
        return None
    parts = planned.lower().split("-")
    if len(parts) == 5 and parts[0][:2] + parts[3][2:] + parts[4] == digits:
        return planned
    return f"GPU-{digits}"


def describe() -> dict[str, Any]:
    import torch

    hip = getattr(torch.version, "hip", None)
    if not hip:
        count = torch.cuda.device_count()
        return {"backend": "cuda", "count": count, "problem": "torch has no HIP"}
    # Hygon's stack is a HIP build too and says so only in torch's version.
    if "+das.dtk" in torch.__version__:
        return {"backend": "hygon", "vendor": "Hygon", "count": torch.cuda.device_count()}
    facts: dict[str, Any] = {
        "backend": "rocm",
        "vendor": "AMD",
        "count": torch.cuda.device_count(),
        "runtime": f"HIP {hip}",
    }
    if facts["count"]:
        facts.update(properties(torch.cuda.get_device_properties(0)))
    return facts


def in_use() -> str:
    return loan.in_use("cuda") or ("the driver's device file is open" if _driver_open() else "")


def _driver_open() -> bool:
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}") == "/dev/kfd":
                return True
        except OSError:  # the listing's own
            continue
    return False


def device() -> TorchDevice:
    """The device that the timers measure on."""
    import torch

    return TorchDevice(torch.cuda, "cuda")
