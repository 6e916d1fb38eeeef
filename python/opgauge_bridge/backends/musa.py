# SPDX-License-Identifier: Apache-2.0
"""Moore Threads through torch.musa, which torch_musa brings."""

from __future__ import annotations

from typing import Any

from . import loan
from .cuda import properties
from .torch_device import TorchDevice


def describe() -> dict[str, Any]:
    import torch

    module = getattr(torch, "musa", None)
    if module is None:
        return {"problem": "torch has no module musa: torch_musa is not loaded"}
    facts: dict[str, Any] = {
        "backend": "musa",
        "vendor": "Moore Threads",
        "count": module.device_count(),
        "runtime": getattr(torch.version, "musa", None),
    }
    if facts["count"]:
        facts.update(properties(module.get_device_properties(0)))
    return facts


def framework() -> Any:
    return loan.framework("musa", "torch_musa")


def in_use() -> str:
    return loan.in_use("musa")


class MusaDevice(TorchDevice):
    graph_class = "MUSAGraph"


def device() -> TorchDevice:
    """The device that the timers measure on."""
    import torch

    return MusaDevice(torch.musa, "musa")
