# SPDX-License-Identifier: Apache-2.0
"""The fork server: its children are what plain processes would have been, and where they could not
be, it says why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_parent import DATA, PLUGINS, Child, Message, run_corpus
from fork_parent import (
    STUBS,
    Server,
    adopting_orphans,
    idle_files_of,
    resident_kib,
    variables,
    wait_for,
)

CORPUS = DATA / "corpus_flaggems" / "benchmark"
# What no two processes have in common.
_VOLATILE = ("pid", "seconds", "first_call_ns", "estimate_ns", "values_ns")
Start = Callable[..., Server]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Makes servers that end with the test."""
    made: list[Server] = []

    def make(folder: Path, *imports: str, **options: Any) -> Server:
        environment = options.pop("environment", None) or variables(folder)
        made.append(Server(folder, environment, *imports, **options))
        return made[-1]

    with adopting_orphans():
        yield make
        for server in made:
            server.process.kill()
            server.close()


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def told(child: Child) -> list[Message]:
    return [
        {name: value for name, value in message.items() if name not in _VOLATILE}
        for message in child.messages
    ]


def steady(child: Child) -> list[Message]:
    """Without how often a clock was read and how the process was made."""
    said = [message for message in told(child) if message["type"] != "samples"]
    return [{name: value for name, value in each.items() if name != "forked"} for each in said]


# -- children -------------------------------------------------------------------------------------
def test_a_child_says_what_a_plain_process_says(start: Start, tmp_path: Path) -> None:
    environment = variables(STUBS, OPGAUGE_VERSION="1.2.3")
    server = start(CORPUS, "torch", "flag_gems", environment=environment)
    plugins = [part for plugin in PLUGINS for part in ("-p", plugin)]
    options = ["-q", "-s", "-p", "no:cacheprovider", *plugins, "--level", "core"]
    for name in ("test_abs.py", "test_mm.py", "test_broken_import.py"):
        forked = server.run(tmp_path / name, *options, name)
        plain = run_corpus(name)
        assert forked.exit_code == plain.exit_code
        assert len(forked.messages) > 2
        assert steady(forked) == steady(plain)
        assert forked.one("hello")["pid"] != server.process.pid
        assert forked.one("hello")["forked"] is True
        assert plain.one("hello")["forked"] is False


def test_exit_codes_and_signals_are_the_childs_own(start: Start, tmp_path: Path) -> None:
    write(
        tmp_path,
        "test_ends.py",
        "import os, signal, sys\n"
        "def test_passes(): pass\n"
        "def test_fails(): assert False\n"
        "def test_exits(): os._exit(7)\n"
        "def test_dies(): os.kill(os.getpid(), signal.SIGKILL)\n",
    )
    server = start(tmp_path)
    ends = {"passes": 0, "fails": 1, "exits": 7, "dies": -9, "none": 4}
    for name, code in ends.items():
        child = server.run(tmp_path / "log", f"test_ends.py::test_{name}")
        assert child.exit_code == code, child.output
    assert "test_ends.py::test_none" in child.output  # of the last one


WORLD = """
import json, os, signal, sys

def test_tell():
    world = {
        "pid": os.getpid(), "group": os.getpgid(0), "parent": os.getppid(),
        "folder": os.getcwd(), "argv": sys.argv, "main": sys.modules["__main__"].__spec__.name,
        "environment": dict(os.environ), "path": sys.path[0],
        "blocked": len(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "interrupt": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
        "stdin": os.readlink("/proc/self/fd/0"), "out": os.readlink("/proc/self/fd/1"),
        "error": os.readlink("/proc/self/fd/2"),
        "files": sorted(int(fd) for fd in os.listdir("/proc/self/fd")),
        "channel": os.environ.get("OPGAUGE_CHANNEL_FD"),
    }
    with open("world.json", "w") as file:
        json.dump(world, file)
"""


def test_a_childs_surroundings_are_those_of_a_plain_process(start: Start, tmp_path: Path) -> None:
    write(tmp_path, "sets_variable.py", "import os\nos.environ['SET_BY_IMPORT'] = 'yes'\n")
    write(tmp_path, "test_world.py", WORLD)
    environment = variables(tmp_path, KEPT="1", OPGAUGE_VERSION="1", OPGAUGE_GONE="1")
    server = start(tmp_path, "sets_variable", environment=environment)
    wanted = {**environment, "OPGAUGE_VERSION": "2", "OPGAUGE_NEW": "3"}
    del wanted["OPGAUGE_GONE"]
    log = tmp_path / "log"
    child = server.run(log, "-s", "test_world.py", environment=wanted)
    assert child.exit_code == 0, child.output
    world = json.loads((tmp_path / "world.json").read_text(encoding="utf-8"))
    assert world["group"] == world["pid"]
    assert world["parent"] == os.getpid()
    assert world["folder"] == str(tmp_path)
    assert world["stdin"] == "/dev/null"
    assert world["out"] == world["error"] == str(log)
    assert int(world["channel"]) in world["files"]
    command = [sys.executable, "-m", "pytest", "-s", "test_world.py"]
    with log.open("ab") as fd:  # in place of a channel
        subprocess.run(command, cwd=tmp_path, env=wanted, pass_fds=[fd.fileno()], check=True)
    plain = json.loads((tmp_path / "world.json").read_text(encoding="utf-8"))
    assert len(world["files"]) == len(plain["files"])
    for name in ("argv", "main", "path", "folder", "blocked", "interrupt"):
        assert world[name] == plain[name]
    seen = world["environment"]
    for name in ("OPGAUGE_CHANNEL_FD", "PYTEST_CURRENT_TEST", "PYTEST_VERSION", "LC_CTYPE"):
        seen.pop(name, None)
    assert seen == {**wanted, "SET_BY_IMPORT": "yes"}


def test_what_a_child_leaves_at_its_end_is_done(start: Start, tmp_path: Path) -> None:
    write(
        tmp_path,
        "test_late.py",
        "import atexit, pathlib\n"
        "def test_it(): atexit.register(pathlib.Path('late').write_text, 'done')\n",
    )
    server = start(tmp_path)
    assert server.run(tmp_path / "log", "test_late.py").exit_code == 0
    assert (tmp_path / "late").read_text(encoding="utf-8") == "done"


def test_random_numbers_are_those_of_a_process_that_imported_the_same(
    start: Start, tmp_path: Path
) -> None:
    write(tmp_path, "seeds.py", "import random\nrandom.seed(42)\n")
    write(tmp_path, "does_not.py", "import random\n")
    write(
        tmp_path,
        "test_draw.py",
        "import random\ndef test_it(): print('drawn', random.random())\n",
    )
    drawn = {}
    for module in ("seeds", "does_not"):
        server = start(tmp_path, module)
        logs = [server.run(tmp_path / "log", "-s", "test_draw.py").output for _ in range(2)]
        drawn[module] = [log.split("drawn ")[1].split()[0] for log in logs]
    assert drawn["seeds"] == ["0.6394267984578837"] * 2
    assert len(set(drawn["does_not"])) == 2


@pytest.mark.parametrize(("text", "seeds"), [("", ["new"]), ("numpy.random.key = [9]", [])])
def test_numpy_is_seeded_anew_unless_the_corpus_did(
    start: Start, tmp_path: Path, text: str, seeds: list[str]
) -> None:
    (tmp_path / "numpy").mkdir()
    write(tmp_path, "numpy/__init__.py", "from . import random\n")
    write(
        tmp_path,
        "numpy/random.py",
        "key, seeded = [5], []\n"
        "def get_state(): return ('MT19937', key, 1, 0, 0.0)\n"
        "def seed(): seeded.append('new')\n",
    )
    write(tmp_path, "torch.py", "import numpy\ncuda = None\n")
    write(tmp_path, "corpus.py", f"import numpy\n{text}\n")
    write(
        tmp_path,
        "test_numpy.py",
        f"import numpy\ndef test_it(): assert numpy.random.seeded == {seeds!r}\n",
    )
    server = start(tmp_path, "torch", "corpus")
    child = server.run(tmp_path / "log", "test_numpy.py")
    assert child.exit_code == 0, child.output


# -- requests that it refuses ---------------------------------------------------------------------
def test_a_request_for_another_process_is_refused(start: Start, tmp_path: Path) -> None:
    server = start(tmp_path, environment=variables(tmp_path, KEPT="1"))
    python = sys.executable
    changed = {**server.environment, "KEPT": "2"}
    less = {name: value for name, value in server.environment.items() if name != "KEPT"}
    reasons = [
        ({"argv": ["other", "-m", "pytest"]}, f"its interpreter is not {python}"),
        ({"argv": [python, "-m", "unittest"]}, "it does not run pytest"),
        ({"working_directory": "/"}, f"its working directory is not {tmp_path}"),
        ({"environment": changed}, "its variable KEPT is another"),
        ({"environment": less}, "its variable KEPT is another"),
        ({"environment": {**changed, "KEPT": "1", "MORE": ""}}, "its variable MORE is another"),
        ({"argv": None}, "TypeError: 'NoneType' object is not subscriptable"),
    ]
    for changes, reason in reasons:
        assert server.fork(1, 1, **changes) == {"type": "refused", "reason": reason}
    lacking = server.ask({"type": "fork", "argv": []})
    assert lacking == {"type": "refused", "reason": "its files did not come"}
    write(tmp_path, "test_it.py", "def test_it(): pass\n")
    assert server.run(tmp_path / "log", "test_it.py").exit_code == 0


# -- where there is no server ---------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("import nothing_like_it", "ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("raise ValueError('first\\nsecond')", "ValueError: first"),
        ("import pytest\npytest.skip('no device', allow_module_level=True)", "Skipped: no device"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_an_import_that_fails_is_told(
    start: Start, tmp_path: Path, text: str, problem: str
) -> None:
    write(tmp_path, "corpus.py", text)
    server = start(tmp_path, "corpus")
    assert server.problem == f"cannot import corpus: {problem}"
    assert server.process.wait(10) == 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "import os\nos.environ['OPGAUGE_FAKE_IN_USE'] = 'its context is made'",
            "the import has initialised the device: its context is made",
        ),
        (
            "import threading, time\n"
            "threading.Thread(target=time.sleep, args=(60,), daemon=True, name='w').start()",
            "the import left threads running, no fork has them: w",
        ),
        (
            "import os\ndef ones(n): os._exit(5)",
            "a forked process ended with 5",
        ),
        (
            "import os, signal\ndef ones(n): os.kill(os.getpid(), signal.SIGKILL)",
            "a forked process ended with -9",
        ),
    ],
)
def test_a_process_that_cannot_be_forked_says_why(
    start: Start, tmp_path: Path, text: str, problem: str
) -> None:
    write(tmp_path, "torch.py", text)
    assert start(tmp_path, "torch").problem == problem


def test_ready_names_what_was_imported(start: Start, tmp_path: Path) -> None:
    write(tmp_path, "corpus.py", "")
    ready = start(tmp_path, "corpus").ready
    assert ready["problem"] is None
    assert ready["modules"] == ["pytest", "corpus"]
    assert ready["threads"] == 1
    assert ready["seconds"] > 0


def test_databases_opened_by_the_import_are_left_to_the_children(
    start: Start, tmp_path: Path
) -> None:
    write(
        tmp_path,
        "corpus.py",
        "import sqlalchemy\n"
        "engine = sqlalchemy.create_engine('sqlite:///own.db')\n"
        "with engine.begin() as connection:\n"
        "    connection.execute(sqlalchemy.text('create table t (a int)'))\n",
    )
    write(
        tmp_path,
        "test_store.py",
        "import os, sqlalchemy, corpus\n"
        "def opened(): return sum('own.db' in os.path.realpath(f'/proc/self/fd/{fd}')"
        " for fd in os.listdir('/proc/self/fd'))\n"
        "def test_it():\n"
        "    assert opened() == 0\n"
        "    with corpus.engine.begin() as connection:\n"
        "        connection.execute(sqlalchemy.text('insert into t values (1)'))\n"
        "        rows = connection.execute(sqlalchemy.text('select count(*) from t')).scalar()\n"
        "        assert rows == int(os.environ['OPGAUGE_ROWS'])\n",
    )
    server = start(tmp_path, "corpus")
    for rows in ("1", "2"):
        environment = {**server.environment, "OPGAUGE_ROWS": rows}
        child = server.run(tmp_path / "log", "test_store.py", environment=environment)
        assert child.exit_code == 0, child.output


# -- the server itself ----------------------------------------------------------------------------
def test_the_server_ends_when_its_parent_hangs_up(start: Start, tmp_path: Path) -> None:
    server = start(tmp_path)
    assert server.close() == 0


def test_files_and_memory_stay_flat_over_many_children(start: Start, tmp_path: Path) -> None:
    # In place of pytest's own program: what is looked at is the server.
    write(tmp_path, "corpus.py", "import runpy\nrunpy.run_module = lambda *args, **more: None\n")
    server = start(tmp_path, "corpus")
    pid = server.process.pid
    with (tmp_path / "log").open("wb") as log:

        def children(count: int) -> None:
            for _ in range(count):
                answer = server.fork(log.fileno(), log.fileno())
                assert wait_for(answer["pid"]) == 0

        children(50)
        files, memory = idle_files_of(pid), resident_kib(pid)
        children(950)
    assert idle_files_of(pid) == files
    assert resident_kib(pid) - memory < 512
