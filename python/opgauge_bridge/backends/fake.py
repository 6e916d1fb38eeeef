# SPDX-License-Identifier: Apache-2.0
"""The hidden backend of opgauge's own tests: facts from a variable, no framework."""

from __future__ import annotations

import json
import os
from typing import Any


def describe() -> dict[str, Any]:
    default = {"name": "Fake Accelerator", "uuid": "FAKE-0000"}
    seen = json.loads(os.environ.get("OPGAUGE_FAKE_SEEN", "null")) or default
    return {"backend": "fake", "vendor": "nobody", "count": 1, **seen}
