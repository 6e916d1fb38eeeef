#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A throwaway Slurm on one host for tests: munged, slurmctld and a slurmd a node, on 127.0.0.1 only
and with every file below one folder. Needs the Debian packages slurm-wlm and munge.

    tests/slurm/cluster.py up FOLDER      # prints the line that a shell needs
    tests/slurm/cluster.py down FOLDER
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sinfo", "scontrol", "sbatch", "squeue", "scancel")
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# Of what a job leaves behind: a process with this variable belongs to the cluster of that file.
CONF = "SLURM_CONF"


def missing() -> str | None:
    """Why no cluster can be started here, or None."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if absent:
        return f"not installed: {', '.join(absent)} (packages slurm-wlm, munge)"
    # The daemons listen on what the host's own name means; only the hosts file is asked.
    for name in {os.uname().nodename, os.uname().nodename.split(".")[0]}:
        told = subprocess.run(["getent", "-s", "hosts:files", "ahostsv4", name],
                              capture_output=True, text=True, check=False).stdout
        if not told.startswith("127."):
            return f"the hosts file does not map this host's name '{name}' to 127.0.0.1"
    return None


@dataclass
class Node:
    """A node with so many devices of one gres; flags say which variables Slurm sets for it."""

    gres: str = "gpu"
    type: str = ""
    count: int = 2
    flags: str = ""

    def spec(self) -> str:
        kind = f"{self.type}:" if self.type else ""
        return f"{self.gres}:{kind}{self.count}"


@dataclass
class Cluster:
    folder: Path
    nodes: list[Node] = field(default_factory=lambda: [Node(), Node()])
    max_array_size: int = 10001
    min_job_age: int = 300
    pids: dict[str, int] = field(default_factory=dict)

    @property
    def conf(self) -> Path:
        return self.folder / "slurm.conf"

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": PATH, "HOME": str(self.folder), "LANG": "C", CONF: str(self.conf)}

    def call(self, *words: str, timeout: float = 30) -> str:
        """Output of a Slurm command, whatever it returned."""
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True,
                              timeout=timeout, check=False)
        return done.stdout

    def up(self) -> None:
        for name in ("log", "state", "dev", "munge", "pid"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        (self.folder / "munge").chmod(0o755)
        try:
            self._start_munge()
            self._write_config(_free_ports(len(self.nodes) + 1))
            self.start_controller()
            for index in range(1, len(self.nodes) + 1):
                self.start_node(index)
            self._wait_until_idle()
        except BaseException:
            self.down()
            raise

    def start_controller(self) -> None:
        self._start("slurmctld", "slurmctld", "-D", "-i", "-f", str(self.conf))

    def start_node(self, index: int) -> None:
        (self.folder / f"spool/n{index}").mkdir(parents=True, exist_ok=True)
        self._start(f"n{index}", "slurmd", "-D", "-N", f"n{index}", "-f", str(self.conf))

    def signal(self, daemon: str, number: int) -> None:
        os.kill(self.pids[daemon], number)

    def down(self) -> None:
        for daemon in self.pids:
            self._signal_if_there(daemon, signal.SIGCONT)
        if "slurmctld" in self.pids and self._alive(self.pids["slurmctld"]):
            with_jobs = self.call("squeue", "-h", "-o", "%A").split()
            if with_jobs:
                self.call("scancel", "--full", *with_jobs)
                _until(lambda: not self.call("squeue", "-h", "-o", "%A").strip(), 6)
        for daemon in sorted(self.pids, key=["munged", "slurmctld"].__contains__):
            if daemon != "munged":
                self._end(daemon)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in self._left_behind():
                _kill(pid, number)
            if not _until(lambda: not self._left_behind(), 2):
                continue
            break
        self._end("munged")

    # ---- parts --------------------------------------------------------------------------------

    def _start_munge(self) -> None:
        key = self.folder / "munge/munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self._start("munged", "munged", "--foreground", f"--socket={self.folder}/munge/munge.sock",
                    f"--key-file={key}", f"--pid-file={self.folder}/pid/munged.pid",
                    f"--log-file={self.folder}/log/munged.log",
                    f"--seed-file={self.folder}/munge/munged.seed", "--num-threads=2")
        socket_file = self.folder / "munge/munge.sock"
        if not _until(socket_file.exists, 10):
            raise RuntimeError(f"munged did not start; see {self.folder}/log")

    def _write_config(self, ports: list[int]) -> None:
        host, me = os.uname().nodename.split(".")[0], pwd.getpwuid(os.getuid()).pw_name
        plugins = next(Path("/usr/lib").glob("*/slurm-wlm"))
        d = self.folder
        lines = f"""\
ClusterName=throwaway
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={me}
SlurmdUser={me}
AuthType=auth/munge
AuthInfo=socket={d}/munge/munge.sock,cred_expire=5
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={d}/state
SlurmdSpoolDir={d}/spool/%n
SlurmctldPidFile={d}/pid/slurmctld.pid
SlurmdPidFile={d}/pid/slurmd.%n.pid
SlurmctldLogFile={d}/log/slurmctld.log
SlurmdLogFile={d}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
EpilogMsgTime=0
ReturnToService=2
SlurmdParameters=config_overrides
SlurmctldTimeout=30
SlurmdTimeout=30
InactiveLimit=0
MessageTimeout=10
KillWait=5
MinJobAge={self.min_job_age}
MaxArraySize={self.max_array_size}
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MailProg=/bin/true
PluginDir={plugins}
PlugStackConfig={d}/plugstack.conf
TmpFS={d}
GresTypes={",".join(sorted({node.gres for node in self.nodes}))}
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=60 State=UP
"""
        gres = ""
        for i, node in enumerate(self.nodes, 1):
            lines += (f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[i]} "
                      f"CPUs=8 RealMemory=4000 Gres={node.spec()} State=UNKNOWN\n")
            kind = f" Type={node.type}" if node.type else ""
            flags = f" Flags={node.flags}" if node.flags else ""
            files = f"{d}/dev/d[0-{node.count - 1}]"
            gres += f"NodeName=n{i} Name={node.gres}{kind} File={files}{flags}\n"
        for index in range(max(node.count for node in self.nodes)):
            (d / f"dev/d{index}").symlink_to("/dev/null")  # a plain file is refused
        self.conf.write_text(lines)
        (d / "gres.conf").write_text(gres)
        (d / "plugstack.conf").write_text("")
        (d / "cgroup.conf").write_text("CgroupAutomount=no\n")

    def _start(self, name: str, program: str, *words: str) -> None:
        path = shutil.which(program, path=PATH)
        assert path is not None
        with (self.folder / f"log/{name}.out").open("ab") as out:
            process = subprocess.Popen([path, *words], env=self.environment, stdout=out, stderr=out,
                                       stdin=subprocess.DEVNULL, start_new_session=True)
        self.pids[name] = process.pid
        (self.folder / "pid/started.json").write_text(json.dumps(self.pids))

    def _wait_until_idle(self) -> None:
        def idle() -> bool:
            told = self.call("sinfo", "-h", "-N", "-o", "%N %t").splitlines()
            return len({line for line in told if line.endswith(" idle")}) == len(self.nodes)

        if not _until(idle, 30):
            raise RuntimeError(f"nodes not idle: {self.call('sinfo', '-R')}; see {self.folder}/log")

    def _alive(self, pid: int) -> bool:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return False
        return stat.rsplit(")", 1)[1].split()[0] != "Z" and self._is_ours(pid)

    def _is_ours(self, pid: int) -> bool:
        try:
            environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            return False
        return f"{CONF}={self.conf}".encode() in environ

    def _left_behind(self) -> list[int]:
        """Slurm's own processes and jobs' of this cluster, whoever is their parent."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) in self.pids.values():
                continue
            pid = int(entry.name)
            try:
                environ = (entry / "environ").read_bytes()
                comm = (entry / "comm").read_text()
            except OSError:
                continue
            part = b"SLURM_JOB_ID=" in environ or comm.startswith("slurm")
            if part and self._alive(pid):
                found.append(pid)
        return found

    def _signal_if_there(self, daemon: str, number: int) -> None:
        if self._alive(self.pids[daemon]):
            _kill(self.pids[daemon], number)

    def _end(self, daemon: str) -> None:
        if daemon not in self.pids:
            return
        for number, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 5)):
            self._signal_if_there(daemon, number)
            if _until(lambda: not self._alive(self.pids[daemon]), seconds):
                return


def _kill(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _until(condition, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()


def main() -> int:
    action, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    cluster = Cluster(folder, [Node("gpu", "a", 2, "nvidia_gpu_env"),
                               Node("gpu", "b", 2, "amd_gpu_env"), Node("npu")])
    if action == "up":
        if why := missing():
            print(f"cluster.py: {why}", file=sys.stderr)
            return 77
        cluster.up()
        print(f"export {CONF}={cluster.conf}")
        return 0
    cluster.pids = json.loads((folder / "pid/started.json").read_text())
    cluster.down()
    return 0


if __name__ == "__main__":
    sys.exit(main())
