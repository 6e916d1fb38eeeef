# SPDX-License-Identifier: Apache-2.0
"""The hidden backend of opgauge's own tests: facts from variables, no framework.

OPGAUGE_FAKE_DEVICES lists the machine's devices and FAKE_VISIBLE_DEVICES masks them, as a vendor's
runtime would; OPGAUGE_FAKE_SEEN overrides members of what is seen, for a runtime that is wrong.
OPGAUGE_FAKE_CLOCK names the module whose device the timers measure on. OPGAUGE_FAKE_IN_USE is why a
process that is forked now could not use the device.
"""

from __future__ import annotations

import json
import os
from importlib import import_module
from typing import Any

FORK_COMPILE = True
_DEFAULT = [{"name": "Fake Accelerator", "uuid": "FAKE-0000"}]


def _visible() -> list[dict[str, Any]]:
    devices = json.loads(os.environ.get("OPGAUGE_FAKE_DEVICES") or "null")
    devices = _DEFAULT if devices is None else devices
    mask = os.environ.get("FAKE_VISIBLE_DEVICES")
    if mask is None:
        return list(devices)
    seen = []
    for token in (part.strip() for part in mask.split(",")):
        match = [
            device
            for index, device in enumerate(devices)
            if token in (str(device.get("index", index)), device.get("uuid"))
        ]
        if not match:  # a runtime stops at the first token it does not know
            break
        seen += match[:1]
    return seen


def describe() -> dict[str, Any]:
    seen = _visible()
    facts: dict[str, Any] = {"backend": "fake", "vendor": "nobody", "count": len(seen)}
    if seen:
        members = ("name", "uuid", "pci_id", "memory_total_bytes")
        facts.update({name: seen[0][name] for name in members if name in seen[0]})
    facts.update(json.loads(os.environ.get("OPGAUGE_FAKE_SEEN") or "{}"))
    return facts


def in_use() -> str:
    """As OPGAUGE_FAKE_IN_USE says, a variable that an import may set."""
    return os.environ.get("OPGAUGE_FAKE_IN_USE", "")


def device() -> Any:
    """A device with a virtual clock, or None: then there is nothing to time with."""
    name = os.environ.get("OPGAUGE_FAKE_CLOCK")
    return import_module(name).device() if name else None
