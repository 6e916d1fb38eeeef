# SPDX-License-Identifier: Apache-2.0
"""pytest hooks: what was collected, how each test ended, and the wiring of the case hooks."""

from __future__ import annotations

import gc
import time
from typing import Any

import pytest

from . import hooks, tuning
from .outcomes import Outcomes, collect_reason, conftest_reason
from .session import session
from .turns import turn

# At import: before the corpus, so that the variables are seen as the parent set them.
_session = session()
if _session is not None:
    tuning.install(_session)
_outcomes = Outcomes()
_errors: list[dict[str, str]] = []
_deselected = 0
_told_collected = False


def _tell_collected(nodes: list[str]) -> None:
    global _told_collected
    if _session is not None and not _told_collected:
        _told_collected = True
        _session.channel.tell("collected", nodes=nodes, errors=_errors, deselected=_deselected)


# The old style of wrapper, here and below: pytest 7 has no other.
@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests() -> Any:
    """A corpus's conftest imports its framework; pytest ends there without a session."""
    outcome = yield
    if outcome.excinfo is not None and isinstance(outcome.excinfo[1], Exception):
        path, message = conftest_reason(outcome.excinfo[1])
        _errors.append({"node": path, "message": message})
        _tell_collected([])


def pytest_collectreport(report: Any) -> None:
    if report.failed:
        _errors.append({"node": report.nodeid, "message": collect_reason(report)})


def pytest_deselected(items: list[Any]) -> None:
    global _deselected
    _deselected += len(items)


# A child that takes the place of another leaves out what that one has finished.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[Any]) -> None:
    done = set(_session.job.get("skip_nodes") or []) if _session is not None else set()
    items[:] = [item for item in items if item.nodeid not in done]


# Last: plugins that deselect tests have had their turn.
@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: Any) -> None:
    _tell_collected([item.nodeid for item in session.items])
    if _session is not None and session.items:
        hooks.install(_session, session.items)
        tuning.tell_hooked()
        turn().watch()
        # Corpora collect garbage after each case. What was imported need not be searched each time:
        # that took 0.18 s a case with FlagGems, more than its timing.
        gc.freeze()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    if _session is None:
        yield
        return
    begin = time.monotonic()
    _outcomes.forget(item.nodeid)
    _session.channel.tell("test_begin", node=item.nodeid)
    turn().begin()
    hooks.begin_test(item)
    yield
    hooks.end_test()
    outcome, reason = _outcomes.of(item.nodeid)
    seconds = time.monotonic() - begin
    facts = {"outcome": outcome, "reason": reason, "seconds": seconds}
    dtypes = hooks.dtypes_of_test()
    if dtypes:
        facts["dtypes"] = dtypes
    _session.channel.tell("test_end", node=item.nodeid, **facts)
    turn().end()


def pytest_runtest_logreport(report: Any) -> None:
    _outcomes.add(report)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: Any, exitstatus: int) -> None:
    # A node that does not exist ends pytest before its collection has finished.
    _tell_collected([])
    if _session is not None:
        tuning.tell_end()
        _session.channel.tell("bye", exit=int(exitstatus))
