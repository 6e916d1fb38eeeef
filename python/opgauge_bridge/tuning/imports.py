# SPDX-License-Identifier: Apache-2.0
"""Runs a function as soon as a module has been imported, before anybody uses what is in it."""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any

Then = Callable[[Any], None]


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, wanted: dict[str, Then]) -> None:
        self._wanted = wanted

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name not in self._wanted:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None else None
            if spec is not None:
                _watch(spec, self._wanted[name])
                return spec
        return None


def _watch(spec: ModuleSpec, then: Then) -> None:
    """The loader stays the module's own, since tracebacks and `inspect` ask it for the source."""
    execute = getattr(spec.loader, "exec_module", None)
    if execute is None:
        return

    def exec_module(module: Any) -> None:
        execute(module)
        then(module)

    spec.loader.exec_module = exec_module  # type: ignore[method-assign, union-attr]


def after_import(wanted: dict[str, Then]) -> None:
    """`wanted`: module name to what is done with it; at once where it is there already."""
    for name, then in wanted.items():
        if name in sys.modules:
            then(sys.modules[name])
    sys.meta_path.insert(0, _Finder(wanted))
