# SPDX-License-Identifier: Apache-2.0
"""Puts the real tuner and store of a FlagGems checkout (OPGAUGE_FLAGGEMS) in place, without those
parts of the package that want a device and torch."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path
from types import SimpleNamespace
from typing import Any

SOURCE = Path(os.environ["OPGAUGE_FLAGGEMS"]) / "src" / "flag_gems"


def _package(name: str, **members: Any) -> Any:
    """Without running its `__init__`; what lies below it is imported as ever."""
    module = types.ModuleType(name)
    module.__path__ = [str(SOURCE.joinpath(*name.split(".")[1:]))]
    vars(module).update(members)
    sys.modules[name] = module
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, module)
    return module


_package("flag_gems")
_package("flag_gems.utils")
_package("flag_gems.flagtune")
runtime = _package(
    "flag_gems.runtime",
    device=SimpleNamespace(device_count=1, vendor_name="none"),
    torch_device_fn=SimpleNamespace(current_device=lambda: 0),
)
vendor = SimpleNamespace(vendor_info=SimpleNamespace(vendor_name="none"))
_package("flag_gems.runtime.backend", _state=SimpleNamespace(vendor_module=vendor))
_package("flag_gems.utils.code_cache", config_cache_dir=lambda: Path("nowhere"))

from flag_gems.runtime import flagtune  # noqa: E402

runtime.TuningMode = flagtune.TuningMode
runtime.resolve_tuning_mode = flagtune.resolve_tuning_mode
