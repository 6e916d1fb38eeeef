# SPDX-License-Identifier: Apache-2.0
"""How collecting and each test ended, in one line of the corpus's own words."""

from __future__ import annotations

from typing import Any


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines() if line.strip()]


def failure_reason(report: Any) -> str:
    """Why a test failed or was skipped: the first line of its message."""
    longrepr = report.longrepr
    crash = getattr(longrepr, "reprcrash", None)
    text = crash.message if crash is not None else ""
    if not text and isinstance(longrepr, tuple):
        text = str(longrepr[2])
    return (_lines(text or str(longrepr or "")) or [""])[0]


def collect_reason(report: Any) -> str:
    """Why a file was not collected: the last line of an import failure says what went wrong."""
    lines = _lines(str(report.longrepr))
    errors = [line for line in lines if line.startswith("E ")]
    return (errors or lines or ["unknown"])[-1].removeprefix("E ").strip()


def conftest_reason(error: BaseException) -> tuple[str, str]:
    """File and cause of a conftest that could not be loaded."""
    cause = getattr(error, "cause", None)
    if cause is None:  # before pytest 8: (type, value, traceback)
        cause = getattr(error, "excinfo", (None, error))[1]
    text = f"{type(cause).__name__}: {cause}"
    return str(getattr(error, "path", "conftest.py")), (_lines(text) or ["unknown"])[0]


class Outcomes:
    """The outcome of each test so far, made of its three phases."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[str, str]] = {}

    def forget(self, node: str) -> None:
        self._of.pop(node, None)

    def add(self, report: Any) -> None:
        if report.when != "call" and report.outcome == "passed":
            return
        outcome = report.outcome
        if report.when != "call" and outcome == "failed":
            outcome = "error"
        # A failure while tearing down does not hide how the call ended.
        if report.when != "teardown" or self._of.get(report.nodeid, ("passed",))[0] == "passed":
            reason = "" if outcome == "passed" else failure_reason(report)
            self._of[report.nodeid] = (outcome, reason)

    def of(self, node: str) -> tuple[str, str]:
        return self._of.get(node, ("error", "the test did not report"))
