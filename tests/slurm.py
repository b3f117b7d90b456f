"""A SLURM cluster of one node on loopback, started for the tests and stopped after them.

munged, slurmctld and slurmd run from a directory of their own, on free ports, with their own key.
Needs root, as which slurmd may start jobs, and Debian's slurm-wlm and munge or the like of them.
"""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel")
CONFIGURATION = """
ClusterName=test
SlurmctldHost=localhost
AuthType=auth/munge
AuthInfo=socket={home}/munge/socket,cred_expire=5
CredType=cred/munge
SlurmUser=root
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
RequeueExit=75
KillWait=10
SchedulerParameters=batch_sched_delay=0,sched_interval=2
NodeName=localhost CPUs=2
PartitionName=main Nodes=localhost Default=YES
"""
# cred_expire is also how long SLURM waits before it starts a requeued job again (120 s unless set).


@pytest.fixture(scope="session")
def cluster():
    """The environment variables with which SLURM's commands find the cluster."""
    path = os.pathsep.join([os.environ["PATH"], "/usr/sbin"])
    missing = [name for name in PROGRAMS if not shutil.which(name, path=path)]
    if missing or os.getuid() != 0:
        pytest.skip(f"needs root and {', '.join(missing or PROGRAMS)}")
    with contextlib.ExitStack() as stack:
        # Not under pytest's own directory, which munge's user may not enter.
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slurm")))
        configuration = configure(home)
        environment = {"SLURM_CONF": str(configuration), "PATH": path}
        for user, command in daemons(home):
            stack.enter_context(running(user, command, os.environ | environment))
        answer = await_node(os.environ | environment)
        if answer != "idle":
            pytest.skip(f"SLURM does not start here: {answer}")
        yield environment


def configure(home: Path) -> Path:
    """Write the key and slurm.conf; returns the path of the latter."""
    home.chmod(0o755)
    (home / "state").mkdir()
    (home / "spool").mkdir()
    munge = home / "munge"
    munge.mkdir(mode=0o755)
    key = munge / "key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(1024))
    for path in (munge, key):
        shutil.chown(path, "munge", "munge")
    file = home / "slurm.conf"
    file.write_text(CONFIGURATION.format(home=home, ports=free_ports(2)))
    return file


def daemons(home: Path) -> Iterator[tuple[str, list[str]]]:
    """The users and commands of the three daemons, in the foreground."""
    munge = home / "munge"
    files = [f"--{name}-file={munge / name}" for name in ("key", "pid", "log", "seed")]
    yield "munge", ["munged", "--foreground", f"--socket={munge / 'socket'}", *files]
    yield "root", ["slurmctld", "-D"]
    yield "root", ["slurmd", "-D", "-N", "localhost"]


@contextlib.contextmanager
def running(user: str, command: list[str], environment: dict[str, str]):
    """While this lasts, the daemon runs."""
    silent = subprocess.DEVNULL
    process = subprocess.Popen(
        command,
        env=environment,
        stdout=silent,
        stderr=silent,
        user=user,
        group=user,
        extra_groups=[],
    )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def await_node(environment: dict[str, str]) -> str:
    """The node's state once it is "idle", or what it is after 20 s without becoming so."""
    for _ in range(100):
        found = subprocess.run(
            ["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True
        )
        if found.stdout.strip() == "idle":
            break
        time.sleep(0.2)
    return found.stdout.strip() or found.stderr.strip()


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens at."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("localhost", 0))
        return [each.getsockname()[1] for each in sockets]
