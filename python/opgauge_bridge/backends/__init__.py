# SPDX-License-Identifier: Apache-2.0
"""One module a vendor: what its torch module tells about the device this process sees."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .loan import Loan
from .loan import facts_of as loan_facts

# Every variable that hides or orders devices on some backend.
VISIBILITY = (
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "MUSA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ASCEND_RT_VISIBLE_DEVICES",
    "FAKE_VISIBLE_DEVICES",
)

_KNOWN = ("cuda", "musa", "rocm", "ascend", "cpu", "fake")


def describe(backend: str, planned: dict[str, Any]) -> dict[str, Any]:
    """Members of the protocol's `device` message. Raises what the framework raises.

    `planned` is the device of the parent's job: one vendor's library and framework spell a UUID
    differently, and the parent compares the library's spelling."""
    if backend not in _KNOWN:
        return {"problem": f"the bridge knows no backend {backend}"}
    module = import_module(f"{__name__}.{backend}")
    facts: dict[str, Any] = module.describe()
    spell = getattr(module, "spell_uuid", None)
    if spell is not None and facts.get("uuid"):
        facts["uuid"] = spell(facts["uuid"], str(planned.get("uuid") or ""))
    return facts


def _member(backend: str, name: str) -> Any:
    """What a backend's module has under this name; None: the bridge knows no such backend, or it
    has none."""
    if backend not in _KNOWN:
        return None
    return getattr(import_module(f"{__name__}.{backend}"), name, None)


def device(backend: str) -> Any:
    """What the timers measure on, or None where this backend's framework has no such object."""
    make = _member(backend, "device")
    return make() if make is not None else None


def fork_compile(backend: str) -> bool:
    """Whether a process that uses the device may be forked for compiling."""
    return bool(_member(backend, "FORK_COMPILE"))


def lend(backend: str, facts: dict[str, Any] | None) -> Loan | None:
    """Lends `facts` to the backend's framework, which is imported here; None: there is nothing to
    lend, or no framework that would ask."""
    make = _member(backend, "framework") if facts else None
    return Loan(make(), facts) if make is not None else None


def facts_to_lend(backend: str) -> dict[str, Any] | None:
    """What a process that uses the device can say of it for a loan."""
    make = _member(backend, "framework")
    return loan_facts(make()) if make is not None else None


def in_use(backend: str) -> str:
    """Why a process forked from this one could not use the device; "" where it can."""
    if backend not in _KNOWN:
        return f"the bridge knows no backend {backend}"
    ask = _member(backend, "in_use")
    return str(ask()) if ask is not None else ""
