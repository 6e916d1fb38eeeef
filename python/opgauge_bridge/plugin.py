# SPDX-License-Identifier: Apache-2.0
"""pytest hooks: what was collected, how each test ended, and the wiring of the case hooks."""

from __future__ import annotations

import time
from typing import Any

import pytest

from . import cases
from .session import session

_errors: list[dict[str, str]] = []
_deselected = 0
_begin = 0.0
_outcomes: dict[str, tuple[str, str]] = {}
_told_collected = False

# At import: before the corpus, so that the variables are seen as the parent set them.
_session = session()


def _reason(report: Any) -> str:
    """One line of why a test failed or was skipped, in the corpus's own words."""
    longrepr = report.longrepr
    crash = getattr(longrepr, "reprcrash", None)
    text = crash.message if crash is not None else ""
    if not text and isinstance(longrepr, tuple):
        text = str(longrepr[2])
    text = text or str(longrepr or "")
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[0] if lines else ""


def _collect_reason(report: Any) -> str:
    """The last line of an import failure says what went wrong."""
    lines = [line for line in str(report.longrepr).strip().splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("E ")]
    return (errors or lines or ["unknown"])[-1].removeprefix("E ").strip()


def pytest_collectreport(report: Any) -> None:
    if report.failed:
        _errors.append({"node": report.nodeid, "message": _collect_reason(report)})


def pytest_deselected(items: list[Any]) -> None:
    global _deselected
    _deselected += len(items)


# Last: plugins that deselect tests have had their turn.
@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: Any) -> None:
    global _told_collected
    if _session is None:
        return
    _told_collected = True
    nodes = [item.nodeid for item in session.items]
    _session.channel.tell("collected", nodes=nodes, errors=_errors, deselected=_deselected)
    if nodes:
        cases.install(_session, session.items)


# The old style of wrapper: pytest 7 has no other.
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    if _session is None:
        yield
        return
    begin = time.monotonic()
    _outcomes.pop(item.nodeid, None)
    _session.channel.tell("test_begin", node=item.nodeid)
    cases.begin_test(item)
    yield
    cases.end_test()
    outcome, reason = _outcomes.get(item.nodeid, ("error", "the test did not report"))
    seconds = time.monotonic() - begin
    _session.channel.tell(
        "test_end", node=item.nodeid, outcome=outcome, reason=reason, seconds=seconds
    )


def pytest_runtest_logreport(report: Any) -> None:
    if report.when == "call" or report.outcome != "passed":
        outcome = report.outcome
        if report.when != "call" and outcome == "failed":
            outcome = "error"
        # A failure while tearing down does not hide how the call ended.
        if report.when != "teardown" or _outcomes.get(report.nodeid, ("passed",))[0] == "passed":
            _outcomes[report.nodeid] = (outcome, "" if outcome == "passed" else _reason(report))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: Any, exitstatus: int) -> None:
    if _session is None:
        return
    # A node that does not exist ends pytest before its collection has finished.
    if not _told_collected:
        _session.channel.tell("collected", nodes=[], errors=_errors, deselected=_deselected)
    _session.channel.tell("bye", exit=int(exitstatus))
