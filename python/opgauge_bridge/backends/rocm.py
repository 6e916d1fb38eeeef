# SPDX-License-Identifier: Apache-2.0
"""AMD through torch.cuda of a HIP build."""

from __future__ import annotations

from typing import Any

from .cuda import properties


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
