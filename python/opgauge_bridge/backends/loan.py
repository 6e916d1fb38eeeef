# SPDX-License-Identifier: Apache-2.0
"""Lends a device's facts to a torch module while a corpus is imported, so that an import which only
asks what the device is need not call it."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

Answer = Callable[..., Any]
_INITIALISE = "_lazy_init"


class Properties(SimpleNamespace):
    """In place of torch's device properties: the same names, and no others."""


def _place() -> str:
    """Who wants the device: the innermost line outside torch and this file."""
    for frame in reversed(traceback.extract_stack()):
        parts = frame.filename.split(os.sep)
        if frame.filename != __file__ and "torch" not in parts and not parts[0].startswith("<"):
            return f"{frame.filename}:{frame.lineno}"
    return "an unknown place"


class Loan:
    """What one import asks. Corpora keep the functions that they find in the module; those ask the
    device again as soon as the loan is over."""

    def __init__(self, module: Any, facts: dict[str, Any]) -> None:
        self._module = module
        self._facts = facts
        self._open = False
        self.refused: list[str] = []  # places that wanted the device itself

    def answers(self) -> dict[str, Answer]:
        """A fact that is not known is asked of the device, which is then refused."""
        known: dict[str, Answer] = {
            "is_available": lambda: True,
            _INITIALISE: self._refuse,
        }
        if isinstance(self._facts.get("count"), int):
            known["device_count"] = lambda: self._facts["count"]
            known["current_device"] = lambda: 0
        if self._facts.get("properties"):
            properties = Properties(**self._facts["properties"])
            known["get_device_properties"] = lambda device=None: properties
        if self._facts.get("memory_info"):
            free, total = self._facts["memory_info"]
            known["mem_get_info"] = lambda device=None: (free, total)
        return {name: answer for name, answer in known.items() if hasattr(self._module, name)}

    def _refuse(self) -> None:
        self.refused.append(_place())
        raise RuntimeError("the device is not to be used while the fork server imports")

    def _lent(self, original: Answer, answer: Answer) -> Answer:
        @functools.wraps(original)
        def lent(*args: Any, **kwargs: Any) -> Any:
            if self._open and all(map(_is_first, (*args, *kwargs.values()))):
                return answer(*args, **kwargs)
            return original(*args, **kwargs)

        return lent

    @contextlib.contextmanager
    def lent(self) -> Iterator[Loan]:
        """While this is open the module answers for its first device."""
        originals = {name: getattr(self._module, name) for name in self.answers()}
        for name, answer in self.answers().items():
            setattr(self._module, name, self._lent(originals[name], answer))
        self._open = True
        try:
            yield self
        finally:
            self._open = False
            for name, original in originals.items():
                setattr(self._module, name, original)


def _is_first(device: Any) -> bool:
    """None, 0, "cuda", "cuda:0" and torch's objects for these; one device is visible."""
    if isinstance(device, str):
        return not device.partition(":")[2].strip("0")
    return not getattr(device, "index", device)


def facts_of(module: Any) -> dict[str, Any]:
    """What can be lent, from a process that uses the device."""
    facts: dict[str, Any] = {"count": module.device_count()}
    if facts["count"]:
        properties = module.get_device_properties(0)
        facts["properties"] = dict(_plain_members(properties))
    return facts


def _plain_members(properties: Any) -> Iterator[tuple[str, Any]]:
    for name in dir(properties):
        value = getattr(properties, name, None)
        if name.startswith("_") or callable(value):
            continue
        # The UUID is an object of torch's own; everything else is a number or a text.
        yield name, value if isinstance(value, (bool, int, float, str)) else str(value)


def framework(name: str, package: str) -> Any:
    """torch's module of this name, whose functions tell of the device; `package` adds it."""
    import_module(package)
    return getattr(import_module("torch"), name)


def in_use(name: str) -> str:
    """Why a process that is forked now could not use the device of torch's module `name`; "" where
    it can or the module is not loaded. Asked in the process that imported and in one forked from
    it: only there a framework says so."""
    module = getattr(sys.modules.get("torch"), name, None)
    if getattr(module, "is_initialized", lambda: False)():
        return f"{module.__name__} is initialised"
    if getattr(module, "_is_in_bad_fork", lambda: False)():
        return f"{module.__name__} cannot be initialised in a forked process"
    return ""
