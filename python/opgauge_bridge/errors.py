# SPDX-License-Identifier: Apache-2.0
"""What is said of an exception, and what led to it."""

from __future__ import annotations

from collections.abc import Iterator


def first_line(error: BaseException, longest: int = 500) -> str:
    """Its type and the first line of its text that says something, cut to a bearable length."""
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:longest]


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """The error, what it was raised from, and so on; each once, since a chain may be a circle."""
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen:
        yield cause
        seen.append(cause)
        cause = cause.__cause__ or cause.__context__
