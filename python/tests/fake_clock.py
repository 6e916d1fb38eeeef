# SPDX-License-Identifier: Apache-2.0
"""What OPGAUGE_FAKE_CLOCK names in a child of the stand-in corpus: its operators queue their
scripted time on a device with a virtual clock. FAKE_CLOCK is a JSON object of the module's members
(fake_device.FakeModule) that are other than usual."""

from __future__ import annotations

import json
import os
from typing import Any

from torch import Tensor, _script

from fake_device import FakeDevice, FakeTensor

# Above all operators' times: a host's clock would read this.
HOST_NS = 5e6

_device: FakeDevice | None = None


def device() -> FakeDevice:
    """Made once; from then on the corpus's operators work on it."""
    global _device
    if _device is None:
        _device = FakeDevice()
        for name, value in json.loads(os.environ.get("FAKE_CLOCK") or "{}").items():
            setattr(_device.module, name, value)
        original = _script.ran

        def ran(operator: str, arguments: list[Any], gems: bool) -> None:
            assert _device is not None
            original(operator, arguments, gems)
            _device.module.launch(_script.last_ns, HOST_NS)

        _script.ran = ran
        memory = bytearray(8)
        Tensor.untyped_storage = FakeTensor(_device.module, memory).untyped_storage
    return _device
