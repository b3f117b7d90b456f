"""Who gets which cores and which GPU."""

import os
import subprocess

import pytest

from seqlab.sweep import shares
from seqlab.sweep.shares import divide, gpus, listed_gpus

LIST = """GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5e2bca-0bd6)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-9f1a)
"""
PARTS = """GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5e2bca-0bd6)
  MIG 3g.20gb     Device  0: (UUID: MIG-aaaa)
  MIG 3g.20gb     Device  1: (UUID: MIG-bbbb)
"""


@pytest.mark.parametrize(
    ("jobs", "cores", "expected"),
    [
        (2, [0, 1, 2, 3], [(0, 1), (2, 3)]),
        (3, [4, 5, 6, 7, 8, 9, 10], [(4, 5), (6, 7), (8, 9, 10)]),
        (3, [0, 5], [(0,), (5,), (0,)]),
        (2, [], [(), ()]),
    ],
)
def test_cores_are_divided(jobs, cores, expected):
    assert [share.cores for share in divide(jobs, cores, [], {})] == expected


def test_a_gpu_for_each():
    found = divide(2, [0, 1], ["a", "b"], {})
    assert [dict(share.environment) for share in found] == [
        {"CUDA_VISIBLE_DEVICES": "a"},
        {"CUDA_VISIBLE_DEVICES": "b"},
    ]


def test_workers_that_share_a_gpu_share_its_memory():
    found = [dict(share.environment) for share in divide(3, [], ["a", "b"], {})]
    assert [each["CUDA_VISIBLE_DEVICES"] for each in found] == ["a", "b", "a"]
    assert found[0]["XLA_CLIENT_MEM_FRACTION"] == found[2]["XLA_CLIENT_MEM_FRACTION"] == "0.450"
    assert "XLA_CLIENT_MEM_FRACTION" not in found[1]
    own = divide(3, [], ["a", "b"], {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.2"})
    assert all("XLA_CLIENT_MEM_FRACTION" not in share.environment for share in own)


def test_gpus_are_those_that_are_visible(monkeypatch):
    assert gpus({"CUDA_VISIBLE_DEVICES": "2, 3"}) == ["2", "3"]
    assert gpus({"CUDA_VISIBLE_DEVICES": ""}) == []
    assert gpus({"CUDA_VISIBLE_DEVICES": "-1"}) == []
    assert gpus({"CUDA_VISIBLE_DEVICES": "0", "JAX_PLATFORMS": "cpu"}) == []
    assert gpus({"CUDA_VISIBLE_DEVICES": "0", "JAX_PLATFORMS": "cuda,cpu"}) == ["0"]

    def smi(command, **options):
        return subprocess.CompletedProcess(command, 0, stdout=LIST)

    monkeypatch.setattr(subprocess, "run", smi)
    assert gpus({}) == ["GPU-5d5e2bca-0bd6", "GPU-9f1a"]


def test_no_tool_no_gpu(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert gpus({}) == []


def test_parts_of_gpus_count_where_there_are_any():
    assert listed_gpus(PARTS) == ["MIG-aaaa", "MIG-bbbb"]
    assert listed_gpus("") == []


def test_this_machine():
    found = shares.shares(2, {"JAX_PLATFORMS": "cpu"})
    assert {core for share in found for core in share.cores} == os.sched_getaffinity(0)
