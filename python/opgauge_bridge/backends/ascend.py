# SPDX-License-Identifier: Apache-2.0
"""Huawei Ascend through torch.npu, which torch_npu brings. It tells no UUID and no PCI address."""

from __future__ import annotations

from typing import Any

from . import loan
from .torch_device import TorchDevice


def describe() -> dict[str, Any]:
    import torch

    module = getattr(torch, "npu", None)
    if module is None:
        return {"problem": "torch has no module npu: torch_npu is not loaded"}
    facts: dict[str, Any] = {
        "backend": "ascend",
        "vendor": "Huawei",
        "count": module.device_count(),
        "runtime": getattr(torch.version, "cann", None),
    }
    if facts["count"]:
        device = module.get_device_properties(0)
        facts["name"] = getattr(device, "name", None)
        facts["memory_total_bytes"] = getattr(device, "total_memory", None)
    return facts


def framework() -> Any:
    return loan.framework("npu", "torch_npu")


def in_use() -> str:
    return loan.in_use("npu")


class AscendDevice(TorchDevice):
    graph_class = "NPUGraph"


def device() -> TorchDevice:
    """The device that the timers measure on."""
    import torch

    return AscendDevice(torch.npu, "npu")
