# SPDX-License-Identifier: Apache-2.0
"""NVIDIA through torch.cuda."""

from __future__ import annotations

from typing import Any


def properties(device: Any) -> dict[str, Any]:
    """Facts that torch's device properties carry; what an older torch lacks is None."""
    uuid = getattr(device, "uuid", None)
    domain = getattr(device, "pci_domain_id", None)
    bus = getattr(device, "pci_bus_id", None)
    slot = getattr(device, "pci_device_id", None)
    pci = None
    if isinstance(bus, int) and isinstance(slot, int):
        pci = f"{domain or 0:04x}:{bus:02x}:{slot:02x}.0"
    return {
        "name": getattr(device, "name", None),
        "uuid": str(uuid) if uuid else None,
        "pci_id": pci,
        "memory_total_bytes": getattr(device, "total_memory", None),
    }


def describe() -> dict[str, Any]:
    import torch

    if getattr(torch.version, "hip", None):
        return {"backend": "rocm", "vendor": "AMD", "count": torch.cuda.device_count()}
    if not getattr(torch.version, "cuda", None):
        return {"problem": "this torch is built without CUDA"}
    facts: dict[str, Any] = {
        "backend": "cuda",
        "vendor": "NVIDIA",
        "count": torch.cuda.device_count(),
        "runtime": f"CUDA {torch.version.cuda}",
    }
    if facts["count"]:
        facts.update(properties(torch.cuda.get_device_properties(0)))
    return facts
