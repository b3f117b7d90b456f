"""Sweeps on SLURM: what is asked of it, and what is told of what it says."""

import dataclasses
import pickle
import signal
import types
from pathlib import Path

import pytest
import stubs

from seqlab.build import ConfigError
from seqlab.config import defaults, from_json, to_json
from seqlab.sweep import sbatch, slurm, squeue
from seqlab.sweep.job import STALLS, Job, patiently
from seqlab.sweep.plan import points
from seqlab.train import interrupt
from seqlab.train.directory import RunDirectory

COMMANDS = {
    "sbatch": 'echo >> n; n=$(wc -l < n); cp "$1" submitted_$n; echo "Submitted batch job $n"',
    "srun": "exit 0",
    "squeue": "if [ -e silent ]; then exit 1; fi; cat queue 2>/dev/null",
    "scancel": 'echo "$@" >> cancelled',
}


class Fake:
    """Stands for a cluster: its queue is a file, and time passes when the launcher sleeps."""

    def __init__(self, home: Path, root: Path, count: int):
        self.home, self.root, self.points = home, root, stubs.sweep(count)
        self.script = []

    def queue(self, start: str = "noon", **states: str) -> None:
        """a1_0="RUNNING": a job is in this state since `start`; those not named have left."""
        lines = [f"{job[1:]} {state} {start}\n" for job, state in states.items()]
        (self.home / "queue").write_text("".join(lines))

    def status(self, number: int) -> dict:
        return self.run(number).status

    def run(self, number: int) -> RunDirectory:
        return RunDirectory(self.root / self.points[number].id)

    def cancelled(self) -> str:
        file = self.home / "cancelled"
        return file.read_text() if file.exists() else ""

    def sleep(self, seconds: float) -> None:
        assert 0 < seconds <= slurm.LATEST
        self.script.pop(0)()

    def then(self, *script) -> None:
        """What happens between the looks of the launcher, one function after the other."""
        self.script += script


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """SLURM's commands as scripts, for three points."""
    home = tmp_path / "bin"
    home.mkdir()
    for name, text in COMMANDS.items():
        (home / name).write_text(f"#!/bin/sh\ncd {home}\n{text}\n")
        (home / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{home}:/usr/bin:/bin")
    found = Fake(home, tmp_path / "exp" / "runs", 3)
    monkeypatch.setattr(slurm, "time", types.SimpleNamespace(sleep=found.sleep))
    return found


def cluster_of(**changes):
    config = defaults()
    config.cluster.update(changes)
    return config.to_dict()["cluster"]


def script(**changes):
    """The lines of the sbatch script for these settings."""
    from submitit.slurm.slurm import _make_sbatch_string

    asked = sbatch.parameters(cluster_of(**changes), 5, "exp")
    return _make_sbatch_string("train", "/logs", **asked).splitlines()


def test_one_node_is_one_task_with_all_its_gpus():
    lines = script(gpus=4, cpus=8, memory="64GB", partition="gpu", minutes=90, save_seconds=200)
    for line in (
        "--nodes=1",
        "--ntasks-per-node=1",
        "--gpus-per-node=4",
        "--cpus-per-task=8",
        "--mem=64GB",
        "--partition=gpu",
        "--time=90",
        "--signal=USR2@200",
        "--requeue",
    ):
        assert f"#SBATCH {line}" in lines
    assert "--cpus-per-task=8 train" in lines[-1]


def test_on_several_nodes_every_gpu_has_a_process():
    lines = script(nodes=2, gpus=4)
    assert "#SBATCH --nodes=2" in lines
    assert "#SBATCH --ntasks-per-node=4" in lines
    assert "--kill-on-bad-exit=1" in lines[-1]
    assert "#SBATCH --ntasks-per-node=1" in script(nodes=2)


def test_what_is_not_set_is_left_to_the_cluster():
    text = "\n".join(script())
    assert not any(word in text for word in ("partition", "gpus", "mem"))


def test_further_options_of_sbatch():
    lines = script(options={"account": "lab", "qos": "low", "exclusive": True})
    for line in ("--account=lab", "--qos=low", "--exclusive"):
        assert f"#SBATCH {line}" in lines


@pytest.mark.parametrize(
    ("option", "says"),
    [("time", "cluster.minutes"), ("gpus-per-node", "cluster.gpus"), ("no-requeue", "requeueing")],
)
def test_options_that_other_keys_set_are_refused(option, says):
    with pytest.raises(ConfigError, match=rf"options\.{option}.*{says}"):
        script(options={option: 1})


def test_as_many_points_at_a_time_as_asked():
    assert sbatch.parameters(cluster_of(), 5, "exp")["array_parallelism"] == 5
    assert sbatch.parameters(cluster_of(concurrent=2), 5, "exp")["array_parallelism"] == 2


def test_one_array_for_each_setting(fake, capsys):
    settings = [{"seed": 0}, {"seed": 1, "cluster.gpus": 1}, {"seed": 2}]
    fake.points = points(defaults(), settings)
    fake.queue(a1_0="PENDING", a1_1="PENDING", a2="PENDING")
    fake.then(*[lambda n=n: fake.run(n).update(state="done", step=1000) for n in range(3)])
    assert slurm.run(fake.points, fake.root).summary() == "3 points: 3 trained"
    assert [fake.status(n)["job"] for n in range(3)] == ["1_0", "2", "1_1"]
    assert "--array=0-1%2" in (fake.home / "submitted_1").read_text()
    assert "--gpus-per-node=1" in (fake.home / "submitted_2").read_text()
    assert 'trap "" USR2; exec' in (fake.home / "submitted_2").read_text()
    assert "submitted as job array 1: 2 points" in capsys.readouterr().err


def test_what_happens_is_told_when_it_happens(fake, capsys):
    told = []

    def start():
        fake.queue(a1_0="RUNNING", a1_1="RUNNING", a1_2="PENDING")

    def stop_one():
        told.append(capsys.readouterr().err)
        fake.run(1).update(step=2)
        fake.queue(a1_0="RUNNING", a1_1="PENDING", a1_2="PENDING")

    def fail():
        told.append(capsys.readouterr().err)
        fake.run(0).update(state="failed", traceback="Traceback\n  a.py\nValueError: broken")
        fake.queue(a1_1="RUNNING", a1_2="PENDING")

    def end():
        told.append(capsys.readouterr().err)
        fake.queue(a1_2="RUNNING")
        fake.run(1).update(state="done", step=4)
        fake.run(2).update(state="done", step=2, diverged={"step": 3, "layer": "decoder/0"})

    fake.then(start, stop_one, fail, end)
    outcome = slurm.run(fake.points, fake.root)
    told.append(capsys.readouterr().err)
    assert outcome.exit_status == 1
    assert outcome.summary() == "3 points: 2 trained, 1 failed"
    running, stopped, failed, ended = told
    assert running.count("started, job 1_") == 2
    assert f"[2/3] {fake.points[1].id}: stopped by SLURM, saved at step 2, queued again" in stopped
    assert "ValueError: broken" in failed
    assert str(fake.run(0).status_path) in failed
    assert "done, step 4" in ended
    assert "diverged at step 3 (decoder/0)" in ended


def test_a_stop_between_two_looks_is_told_as_well(fake, capsys):
    fake.points = fake.points[:1]
    fake.queue(a1="RUNNING")
    fake.then(
        lambda: fake.queue(a1="RUNNING", start="later"),
        lambda: fake.run(0).update(state="done", step=4),
    )
    slurm.run(fake.points, fake.root)
    told = capsys.readouterr().err
    assert told.count("stopped by SLURM, queued again") == 1
    assert told.count("started, job 1") == 2


def test_on_failure_stop_leaves_running_jobs_and_cancels_the_rest(fake):
    def start():
        fake.queue(a1_0="RUNNING", a1_1="RUNNING", a1_2="PENDING")

    def fail():
        fake.run(0).update(state="failed", traceback="ValueError")

    def end():
        assert fake.cancelled() == "--state=PENDING 1_2\n"
        fake.queue()
        fake.run(1).update(state="done", step=4)

    fake.then(start, fail, end, lambda: None)
    outcome = slurm.run(fake.points, fake.root, "stop")
    assert outcome.summary() == "3 points: 1 trained, 1 failed, 1 not started"
    assert fake.status(2) == {"format": 1, "state": "pending", "step": 0}
    assert fake.cancelled().count("\n") == 1


def test_a_job_that_vanishes_has_failed_with_its_log(fake, capsys):
    def kill():
        fake.run(0).update(state="running", step=2)
        fake.run(1).update(state="done", step=4)
        fake.run(2).update(state="done", step=4)
        log = fake.root.parent / "slurm" / "1_0_0_log.out"
        log.write_text("one\n" * 9 + "Out Of Memory\n")
        fake.queue()

    def silence():
        (fake.home / "silent").touch()

    fake.queue(a1_0="RUNNING", a1_1="RUNNING", a1_2="RUNNING")
    fake.then(silence, *[lambda: None] * 9, kill, (fake.home / "silent").unlink, lambda: None)
    assert slurm.run(fake.points, fake.root).failed == [fake.points[0].id]
    assert not fake.script  # SLURM was silent for nine looks, which means nothing
    told = capsys.readouterr().err
    assert "job 1_0 left the queue without a word" in told
    assert told.count("    one") == 4
    assert "Out Of Memory" in told
    assert "1_0_0_log.out" in told
    assert fake.status(0)["state"] == "failed"
    fake.queue()
    fake.then(lambda: fake.run(0).update(state="done", step=4))
    fake.queue(a2="RUNNING")
    assert slurm.run(fake.points, fake.root).summary() == "3 points: 1 trained, 2 already done"


def test_queued_points_are_waited_for_and_not_submitted_again(fake, capsys):
    def interrupt():
        raise KeyboardInterrupt

    fake.then(interrupt)
    fake.queue(a1_0="RUNNING", a1_1="RUNNING", a1_2="PENDING")
    with pytest.raises(KeyboardInterrupt):
        slurm.run(fake.points, fake.root)
    assert "scancel 1 ends them" in capsys.readouterr().err
    fake.then(*[lambda n=n: fake.run(n).update(state="done", step=4) for n in range(3)])
    assert slurm.run(fake.points, fake.root).summary() == "3 points: 3 trained"
    assert not (fake.home / "submitted_2").exists()
    told = capsys.readouterr().err
    assert told.count("in the queue already, job 1_") == 3
    assert slurm.run(fake.points, fake.root).summary() == "all points done (3)"


def test_a_point_that_was_queued_with_fewer_steps_goes_on_afterwards(fake):
    def end(step, **queue):
        fake.run(0).update(state="done", step=step)
        fake.queue(**queue)

    fake.points = fake.points[:1]
    fake.queue(a1="RUNNING")
    fake.then(
        lambda: end(3, a1="COMPLETING"), lambda: end(3, a2="RUNNING"), lambda: None, lambda: end(4)
    )
    assert slurm.run(fake.points, fake.root).trained == [fake.points[0].id]
    assert fake.status(0)["job"] == "2"


def test_a_point_of_another_process_is_waited_for(fake):
    fake.points = fake.points[:1]
    with fake.run(0).lock():
        fake.then(lambda: None, lambda: fake.run(0).update(state="done", step=4))
        assert slurm.run(fake.points, fake.root).elsewhere == [fake.points[0].id]
    assert not (fake.home / "submitted_1").exists()


def test_no_slurm_and_no_submitit_are_said_so(fake, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "submitit", None)
    with pytest.raises(ConfigError, match="pip install"):
        slurm.run(fake.points, fake.root)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ConfigError, match="there is no sbatch"):
        slurm.run(fake.points, fake.root)


def test_what_sbatch_refuses_is_passed_on(fake):
    (fake.home / "sbatch").write_text("#!/bin/sh\necho 'invalid partition: gpuu' >&2; exit 1\n")
    with pytest.raises(ConfigError, match="invalid partition: gpuu"):
        slurm.run(fake.points, fake.root)
    assert fake.status(0) == {"format": 1, "state": "pending", "step": 0}


def test_the_queue_of_jobs_that_slurm_has_forgotten_is_empty(fake):
    text = "#!/bin/sh\necho 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1\n"
    (fake.home / "squeue").write_text(text)
    assert squeue.look_up(["17_3"]) == {}


def test_a_job_is_text_and_numbers(tmp_path):
    config = defaults().to_dict()
    job = Job("a", to_json(config), str(tmp_path), "[1/1] a")
    assert {type(value) for value in dataclasses.astuple(job)} == {str, int}
    assert pickle.loads(pickle.dumps(job)) == job
    assert from_json(job.config) == config


def test_a_job_goes_on_as_long_as_it_gets_further(tmp_path):
    run = RunDirectory.create(tmp_path / "a", defaults().to_dict())
    job = Job("a", "{}", str(tmp_path), "[1/1] a")
    for step in range(1, 3 * STALLS):
        run.update(step=step)
        job = job.checkpoint().function
    assert (job.step, job.stalls) == (step, 0)
    for _ in range(STALLS - 1):
        job = job.checkpoint().function
    assert job.checkpoint() is None
    assert run.status["state"] == "failed"
    assert "cluster.minutes" in run.status["traceback"]


def test_signals_that_follow_each_other_leave_a_mark_only():
    before = [signal.getsignal(each) for each in interrupt.SIGNALS]
    with interrupt.catch(), patiently() as come:
        signal.raise_signal(signal.SIGTERM)
        assert interrupt.asked()
        assert come == {signal.SIGTERM}
        signal.raise_signal(signal.SIGUSR2)
        signal.raise_signal(signal.SIGUSR2)
        assert come == {signal.SIGTERM, signal.SIGUSR2}
    assert [signal.getsignal(each) for each in interrupt.SIGNALS] == before
