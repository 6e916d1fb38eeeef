# SPDX-License-Identifier: Apache-2.0
"""Random numbers of a forked child: as a process has them that did the same imports itself. What
nobody has seeded differs from child to child; what a corpus seeds at import is the same in all.
torch's own generator begins with a fixed seed in every process and needs nothing."""

from __future__ import annotations

import random
import sys
from typing import Any


def _numpy_random() -> Any:
    return sys.modules.get("numpy.random")


def _numpy_state() -> Any:
    module = _numpy_random()
    if module is None:
        return None
    name, key, *rest = module.get_state()
    return name, bytes(key), tuple(rest)


class RandomStates:
    """Made before the corpus is imported; `imported` once it is, `forked` in each child."""

    def __init__(self) -> None:
        self._begin = (random.getstate(), _numpy_state())
        self._seeded: Any = None  # what to set again: Python seeds `random` anew in each fork
        self._seeds_numpy = False

    def imported(self) -> None:
        python, numpy = self._begin
        self._seeded = random.getstate() if random.getstate() != python else None
        unchanged = numpy is None or _numpy_state() == numpy
        self._seeds_numpy = _numpy_random() is not None and unchanged

    def forked(self) -> None:
        if self._seeded is not None:
            random.setstate(self._seeded)
        if self._seeds_numpy:
            _numpy_random().seed()
