# SPDX-License-Identifier: Apache-2.0
"""A device's facts lent to a framework during an import: the device is not called, and what the
corpus keeps of that time is right afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fork_parent import Server, adopting_orphans, variables
from opgauge_bridge.backends import loan

FACTS: dict[str, Any] = {
    "count": 1,
    "properties": {"name": "Lent H200", "major": 9, "minor": 0, "multi_processor_count": 132},
    "memory_info": [5, 10],
}

# As torch.cuda does it: whatever is asked initialises the device first.
CUDA = """
import types
_initialized, _bad_fork = False, False
def _lazy_init():
    global _initialized
    _initialized = True
def is_initialized(): return _initialized
def _is_in_bad_fork(): return _bad_fork
def is_available():
    global _bad_fork
    _bad_fork = True
    return True
def device_count(): return 1
def current_device():
    _lazy_init()
    return 0
def get_device_properties(device=None):
    _lazy_init()
    return types.SimpleNamespace(
        name="Real H200", major=9, minor=0, multi_processor_count=132, uuid=b"u", method=print
    )
def get_device_capability(device=None):
    properties = get_device_properties(device)
    return properties.major, properties.minor
def mem_get_info(device=None):
    _lazy_init()
    return 6, 10
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("from . import cuda\n", encoding="utf-8")
    (tmp_path / "torch" / "cuda.py").write_text(CUDA, encoding="utf-8")
    return tmp_path


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    made: list[Server] = []
    with adopting_orphans():
        yield made
        for server in made:
            server.process.kill()
            server.close()


def corpus(folder: Path, text: str, servers: list[Server], lend: Any = FACTS) -> Server:
    (folder / "corpus.py").write_text(text, encoding="utf-8")
    server = Server(folder, variables(folder), "torch", "corpus", backend="cuda", lend=lend)
    servers.append(server)
    return server


ASKS = """
import functools, torch
get_device_properties = torch.cuda.get_device_properties
@functools.lru_cache
def kept(): return torch.cuda.get_device_properties(torch.cuda.current_device())
AT_IMPORT = [torch.cuda.is_available(), torch.cuda.device_count(), kept().name,
             torch.cuda.get_device_capability(), torch.cuda.mem_get_info("cuda:0"),
             hasattr(kept(), "L2_cache_size"), torch.cuda.is_initialized()]
"""

TEST = """
import corpus, torch
def test_it():
    assert corpus.AT_IMPORT == [True, 1, "Lent H200", (9, 0), (5, 10), False, False]
    assert not torch.cuda.is_initialized()
    assert corpus.kept().multi_processor_count == 132
    assert not hasattr(torch.cuda.get_device_properties, "__wrapped__")
    assert corpus.get_device_properties(0).name == "Real H200"
    assert torch.cuda.is_initialized()
    assert torch.cuda.mem_get_info() == (6, 10)
"""


def test_an_import_that_only_asks_gets_what_is_lent(folder: Path, servers: list[Server]) -> None:
    server = corpus(folder, ASKS, servers)
    assert server.problem is None
    (folder / "test_it.py").write_text(TEST, encoding="utf-8")
    for _ in range(2):
        child = server.run(folder / "log", "test_it.py")
        assert child.exit_code == 0, child.output


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import torch\ntorch.cuda._lazy_init()", 2),
        ("import torch\ntry: torch.cuda._lazy_init()\nexcept RuntimeError: pass", 2),
        ("import torch\n\ntorch.cuda.get_device_properties(1)", 3),
    ],
)
def test_an_import_that_uses_the_device_is_refused(
    folder: Path, servers: list[Server], text: str, line: int
) -> None:
    server = corpus(folder, text, servers)
    assert server.problem == f"the import uses the device at {folder / 'corpus.py'}:{line}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "import torch\ntorch.cuda.current_device()",
            "the import has initialised the device: torch.cuda is initialised",
        ),
        (
            "import torch\ntorch.cuda.is_available()",
            "the import has initialised the device: torch.cuda cannot be initialised in a forked "
            "process",
        ),
    ],
)
def test_without_facts_an_import_that_asks_cannot_be_forked(
    folder: Path, servers: list[Server], text: str, problem: str
) -> None:
    assert corpus(folder, text, servers, lend=None).problem == problem


def test_what_a_fork_cannot_do_is_found_by_forking(folder: Path, servers: list[Server]) -> None:
    text = (
        "import os, torch\n"
        "pid = os.getpid()\n"
        "torch.cuda._is_in_bad_fork = lambda: os.getpid() != pid\n"
    )
    problem = "a forked process cannot initialise the device"
    assert corpus(folder, text, servers).problem == problem


def test_a_framework_that_is_not_there_is_told(tmp_path: Path, servers: list[Server]) -> None:
    server = Server(tmp_path, variables(tmp_path), "corpus", backend="musa", lend=FACTS)
    servers.append(server)
    problem = "cannot lend the device's facts: ModuleNotFoundError: No module named 'torch_musa'"
    assert server.problem == problem


def test_facts_come_from_a_process_that_uses_the_device(folder: Path) -> None:
    command = [sys.executable, "-m", "opgauge_bridge.device_facts", "cuda"]
    done = subprocess.run(
        command, env=variables(folder), cwd=folder, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == {
        "count": 1,
        "properties": {
            "name": "Real H200",
            "major": 9,
            "minor": 0,
            "multi_processor_count": 132,
            "uuid": "b'u'",
        },
    }


def test_only_the_first_device_is_lent() -> None:
    asked: list[Any] = []
    module = SimpleNamespace(get_device_properties=asked.append)
    device = SimpleNamespace
    with loan.Loan(module, FACTS).lent():
        for first in (None, 0, "cuda", "cuda:0", device(index=None), device(index=0)):
            assert module.get_device_properties(first).name == "Lent H200"
        for other in (1, "cuda:1", device(index=3)):
            module.get_device_properties(other)
    assert asked == [1, "cuda:1", device(index=3)]
    assert module.get_device_properties == asked.append


def test_what_is_not_known_is_not_lent() -> None:
    names = ("_lazy_init", "is_available", "device_count", "current_device", "mem_get_info")
    module = SimpleNamespace(**dict.fromkeys(names, print))
    assert set(loan.Loan(module, {}).answers()) == {"_lazy_init", "is_available"}
    known = loan.Loan(module, {"count": 0}).answers()
    assert set(known) == {"_lazy_init", "is_available", "device_count", "current_device"}
    assert known["device_count"]() == 0
