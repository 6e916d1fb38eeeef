# SPDX-License-Identifier: Apache-2.0
"""The memory that stands in for a tuner's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .desk import Entry

if TYPE_CHECKING:
    from .runs import Runs


class WinnerCache(dict[Any, Any]):
    """A tuner's `cache`, or one table of a corpus's store: key to the tuner's own Config. While a
    tuner runs, the first look at a key asks the parent; at other times it is a plain dict."""

    def __init__(self, runs: Runs, space: str = "", known: dict[Any, Any] | None = None) -> None:
        super().__init__(known or {})
        self.space = space
        self.entries: dict[Any, Entry] = {}
        self._runs = runs

    def __contains__(self, key: Any) -> bool:
        self._runs.look_up(self, key)
        return dict.__contains__(self, key)

    def get(self, key: Any, default: Any = None) -> Any:
        return dict.get(self, key, default) if key in self else default

    def __missing__(self, key: Any) -> Any:
        if key in self:
            return dict.__getitem__(self, key)
        raise KeyError(key)

    def __setitem__(self, key: Any, config: Any) -> None:
        dict.__setitem__(self, key, config)
        self._runs.chosen(config)

    def has(self, key: Any) -> bool:
        return dict.__contains__(self, key)

    def remember(self, key: Any, config: Any) -> None:
        """Without telling anyone: the parent named it."""
        dict.__setitem__(self, key, config)

    def forget(self, key: Any) -> None:
        dict.pop(self, key, None)
