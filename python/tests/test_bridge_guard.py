# SPDX-License-Identifier: Apache-2.0
"""The device message of each backend, as a framework of that vendor would have it."""

from __future__ import annotations

import json
import platform
import sys
from typing import Any

import pytest

from fake_parent import Message, job, run_corpus
from opgauge_bridge.backends import rocm

H200 = {
    "name": "NVIDIA H200",
    "uuid": "0a1b2c3d-0000-1111-2222-333344445555",
    "total_memory": 150_000_000_000,
    "pci_domain_id": 0,
    "pci_bus_id": 0x4B,
    "pci_device_id": 0,
}


def device_of(
    backend: str,
    torch: dict[str, Any] | None = None,
    planned: dict[str, Any] | None = None,
    **environment: str,
) -> Message:
    variables = {"FAKE_TORCH": json.dumps(torch or {}), **environment}
    hello = job(backend=backend, device=planned or {})
    child = run_corpus(
        "test_abs.py::test_abs",
        rules={"hello": hello, "device": {"type": "stop", "reason": "enough is known"}},
        environment=variables,
    )
    assert child.exit_code == 87, child.output
    return child.one("device")


def test_cuda_tells_uuid_address_and_memory() -> None:
    device = device_of("cuda", {"cuda": "12.8", "version": "2.9.0", "devices": [H200]})
    assert device["backend"] == "cuda"
    assert device["count"] == 1
    assert device["name"] == "NVIDIA H200"
    assert device["uuid"] == "0a1b2c3d-0000-1111-2222-333344445555"
    assert device["pci_id"] == "0000:4b:00.0"
    assert device["memory_total_bytes"] == 150_000_000_000
    assert device["runtime"] == "CUDA 12.8"
    assert device["torch"] == "2.9.0"
    assert device["python"] == platform.python_version()
    assert device["corpus"] == {"flag_gems": "9.9.0"}
    assert "problem" not in device


def test_cuda_of_an_older_torch_leaves_out_what_it_does_not_know() -> None:
    device = device_of("cuda", {"cuda": "11.8", "devices": [{"name": "NVIDIA A100"}]})
    assert (device["name"], device["uuid"], device["pci_id"]) == ("NVIDIA A100", None, None)


def test_no_visible_device_is_a_count_of_zero() -> None:
    device = device_of("cuda", {"cuda": "12.8", "devices": []})
    assert (device["backend"], device["count"]) == ("cuda", 0)
    assert "name" not in device


def test_a_torch_for_the_processor_only_is_a_problem_and_no_backend() -> None:
    device = device_of("cuda", {})
    assert device["backend"] == "unknown"
    assert device["count"] is None
    assert device["problem"] == "this torch is built without CUDA"


def test_where_cuda_is_planned_a_hip_build_says_that_it_is_one() -> None:
    assert device_of("cuda", {"hip": "6.4", "devices": [{}]})["backend"] == "rocm"


def test_where_rocm_is_planned_a_cuda_build_says_that_it_is_one() -> None:
    device = device_of("rocm", {"cuda": "12.8", "devices": [H200]})
    assert (device["backend"], device["problem"]) == ("cuda", "torch has no HIP")


def test_hygons_build_is_not_taken_for_amds() -> None:
    torch = {"hip": "5.7", "version": "2.5.1+das.dtk2504", "devices": [{}]}
    device = device_of("rocm", torch)
    assert (device["backend"], device["vendor"]) == ("hygon", "Hygon")


def test_a_driver_that_raises_is_a_problem_in_its_own_words() -> None:
    # The stand-in has no property `name` to give.
    device = device_of("musa", {"modules": ["musa"], "devices": [3]})
    assert device["backend"] == "unknown"
    assert device["problem"].startswith("TypeError: ")


def test_musa_is_asked_through_its_own_module() -> None:
    torch = {"modules": ["musa"], "devices": [{"name": "MTT S5000", "uuid": "ab-cd"}]}
    device = device_of("musa", torch)
    assert (device["backend"], device["name"], device["uuid"]) == ("musa", "MTT S5000", "ab-cd")
    missing = device_of("musa", {})
    assert missing["problem"] == "torch has no module musa: torch_musa is not loaded"


def test_ascend_tells_name_and_memory_and_no_uuid() -> None:
    torch = {"modules": ["npu"], "devices": [{"name": "Ascend910B4", "total_memory": 32 << 30}]}
    device = device_of("ascend", torch)
    assert (device["backend"], device["name"]) == ("ascend", "Ascend910B4")
    assert device["memory_total_bytes"] == 32 << 30
    assert "uuid" not in device
    assert device_of("ascend", {})["problem"].startswith("torch has no module npu")


def test_an_unknown_backend_is_a_problem() -> None:
    device = device_of("abacus")
    assert device["problem"] == "the bridge knows no backend abacus"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/cpuinfo")
def test_the_processor_needs_no_framework() -> None:
    device = device_of("cpu")
    assert (device["backend"], device["count"]) == ("cpu", 1)
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    assert device["name"] == (names[0] if names else "CPU")


# -- the fake backend masks like a runtime --------------------------------------------------------
DEVICES = json.dumps([{"name": "One", "uuid": "FAKE-1"}, {"name": "Two", "uuid": "FAKE-2"}])


@pytest.mark.parametrize(
    ("mask", "count", "uuid"),
    [
        ("FAKE-2", 1, "FAKE-2"),
        ("1,0", 2, "FAKE-2"),
        ("0,7,1", 1, "FAKE-1"),
        ("", 0, None),
    ],
)
def test_the_fake_runtime_obeys_its_mask(mask: str, count: int, uuid: str | None) -> None:
    device = device_of("fake", OPGAUGE_FAKE_DEVICES=DEVICES, FAKE_VISIBLE_DEVICES=mask)
    assert (device["count"], device.get("uuid")) == (count, uuid)


def test_the_fake_runtime_can_be_made_to_see_another_device() -> None:
    device = device_of("fake", OPGAUGE_FAKE_SEEN='{"uuid": "FAKE-9", "count": 2}')
    assert (device["count"], device["uuid"], device["name"]) == (2, "FAKE-9", "Fake Accelerator")


# -- AMD's two spellings --------------------------------------------------------------------------
# Bytes of the text "a1b2c3d4e5f60718", in torch's grouping.
SEEN = "61316232-6333-6434-6535-663630373138"


@pytest.mark.parametrize(
    ("planned", "spelled"),
    [
        ("", "GPU-a1b2c3d4e5f60718"),
        ("GPU-a1b2c3d4e5f60718", "GPU-a1b2c3d4e5f60718"),
        ("a1ff74a1-0000-1000-80b2-c3d4e5f60718", "a1ff74a1-0000-1000-80b2-c3d4e5f60718"),
        # Another device's: the difference must stay.
        ("a1ff74a1-0000-1000-80b2-c3d4e5f60719", "GPU-a1b2c3d4e5f60718"),
    ],
)
def test_amds_uuid_is_spelled_as_the_plan_spells_it(planned: str, spelled: str) -> None:
    assert rocm.spell_uuid(SEEN, planned) == spelled


def test_amds_cards_without_a_number_of_their_own_have_no_uuid() -> None:
    # rocminfo calls them GPU-XX.
    assert rocm.spell_uuid("58580000-0000-0000-0000-000000000000", "") is None
    assert rocm.spell_uuid("61310000-0000-0000-0000-000000000000", "") is None


def test_amds_uuid_in_another_form_is_left_alone() -> None:
    assert rocm.spell_uuid("ffee0000-0000-0000-0000-000000000001", "") == (
        "ffee0000-0000-0000-0000-000000000001"
    )


def test_amds_device_message_is_compared_in_the_plans_spelling() -> None:
    planned = {"uuid": "a1ff74a1-0000-1000-80b2-c3d4e5f60718"}
    torch = {"hip": "6.4", "devices": [{"name": "AMD Instinct MI300X", "uuid": SEEN}]}
    device = device_of("rocm", torch, planned)
    assert (device["backend"], device["uuid"]) == ("rocm", planned["uuid"])
