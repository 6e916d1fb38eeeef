# SPDX-License-Identifier: Apache-2.0
"""What a corpus measures, as cases and sides: by value, on a corpus of FlagGems' structure."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from fake_parent import DATA, USUAL, Child, Message, run_child, run_corpus

ELEMENTS_OF_ABS = (64 * 64, 1024 * 1024, 16 * 128 * 64 * 60)


def cases_of(child: Child) -> list[Message]:
    return [message["case"] for message in child.of("case_begin")]


def times_of(child: Child) -> list[tuple[str, list[float | None]]]:
    return [(message["side"], message["values_ns"]) for message in child.of("samples")]


@functools.cache
def _usual(node: str) -> Child:
    return run_corpus(node, "--dtypes", "float16")


def run_one(node: str, *arguments: str, **options: Any) -> Child:
    """Only float16, and one child for all tests that ask the same of it."""
    if not arguments and not options:
        return _usual(node)
    return run_corpus(node, "--dtypes", "float16", *arguments, **options)


def test_each_input_is_a_case_with_the_times_of_both_sides() -> None:
    child = run_one("test_abs.py::test_abs")
    assert [case["shapes"] for case in cases_of(child)] == [
        [[64, 64]],
        [[1024, 1024]],
        [[16, 128, 64, 60]],
    ]
    assert [message["index"] for message in child.of("case_begin")] == [1, 2, 3]
    expected = []
    for elements in ELEMENTS_OF_ABS:
        expected += [("base", [float(elements)]), ("candidate", [elements * 0.25])]
    assert [(side, [pytest.approx(value) for value in values]) for side, values in expected] == (
        times_of(child)
    )
    assert [message["status"] for message in child.of("case_end")] == ["ok"] * 3


def test_a_case_names_operator_dtype_and_node() -> None:
    case = cases_of(run_one("test_abs.py::test_abs"))[0]
    assert case == {
        "operator": "abs",
        "dtype": "float16",
        "shapes": [[64, 64]],
        "layout": None,
        "attributes": {},
        "node": "benchmark/test_abs.py::test_abs",
    }


def test_a_sample_is_complete_and_names_its_timer_with_the_settings_it_was_called_with() -> None:
    child = run_one("test_abs.py::test_abs", "--warmup", "7", "--iter", "11")
    sample = child.of("samples")[0]
    assert (sample["timer"], sample["complete"], sample["calls_per_sample"]) == ("direct", True, 1)
    assert sample["settings"] == {
        "mode": "kernel",
        "warmup": 7,
        "rep": 11,
        "quantiles": None,
        "return_mode": "median",
    }
    assert {message["timer"] for message in child.of("side_begin")} == {"direct"}


def test_every_dtype_of_a_test_has_its_cases() -> None:
    dtypes = [case["dtype"] for case in cases_of(run_corpus("test_abs.py::test_abs"))]
    assert dtypes == ["float16"] * 3 + ["float32"] * 3 + ["bfloat16"] * 3


def test_the_work_of_a_case_is_what_the_corpus_computes() -> None:
    child = run_one("test_mm.py")
    assert [message["work"] for message in child.of("case_end")] == [
        {"flops": 2.0 * size**3} for size in (16, 64, 128, 256, 512)
    ]


def test_strides_are_told_where_a_tensor_is_not_contiguous() -> None:
    child = run_corpus("test_mm.py", "--dtypes", "float16", "--level", "comprehensive")
    cases = cases_of(child)
    assert len(cases) == 10
    assert cases[0]["layout"] is None
    assert cases[5]["layout"] == [None, [1, 16]]
    assert cases[5]["shapes"] == cases[0]["shapes"]


def test_keyword_arguments_are_attributes_and_scalars_stand_among_the_shapes() -> None:
    case = cases_of(run_one("test_add.py"))[0]
    assert case["shapes"] == [[32, 32], 0.5]
    assert case["attributes"] == {"alpha": 2, "out": [32, 32]}


def test_tensors_in_a_list_are_lists_of_sizes() -> None:
    # The test defines its class only while it runs.
    case = cases_of(run_one("test_local_class.py"))[0]
    assert (case["operator"], case["dtype"]) == ("local_class", "float16")
    assert case["shapes"] == [[2], [[2, 3], [2, 5]], 1]


def test_backward_is_another_operator() -> None:
    child = run_corpus("test_abs.py::test_abs_backward")
    assert {case["operator"] for case in cases_of(child)} == {"abs_backward"}
    assert times_of(child)[0] == ("base", [4096.0])


# -- tests that do not run like the others --------------------------------------------------------
def test_a_subclass_that_measures_through_its_parent_measures_once() -> None:
    child = run_one("test_index_fill.py")
    assert [case["shapes"] for case in cases_of(child)] == [
        [[64, 16], 0, [1], 3.5],
        [[64, 16], 0, [64], 3.5],
        [[32, 16], 0, [1], 3.5],
        [[32, 16], 0, [32], 3.5],
    ]
    assert cases_of(child)[0]["attributes"] == {"dtypes": {"2": "int32"}}
    assert times_of(child)[:2] == [("base", [1024.0]), ("candidate", [512.0])]
    assert len(times_of(child)) == 8


def test_a_run_of_its_own_with_an_input_for_each_side_gives_whole_rows() -> None:
    child = run_corpus("test_convert_weight.py")
    assert [case["shapes"] for case in cases_of(child)] == [[[16, 64], 8], [[32, 128], 8]]
    assert [case["dtype"] for case in cases_of(child)] == ["uint8"] * 2
    # The candidate's own input is twice as large, and its operator takes half of the time.
    assert times_of(child) == [
        ("base", [1024.0]),
        ("candidate", [1024.0]),
        ("base", [4096.0]),
        ("candidate", [4096.0]),
    ]


def test_a_run_of_its_own_without_unpacking_gives_whole_rows() -> None:
    child = run_one("test_dequant_mm.py")
    assert [case["shapes"] for case in cases_of(child)] == [
        [[4, 16], [16, 8], 2],
        [[4, 16], [16, 8], 4],
    ]
    assert times_of(child) == [("base", [128.0]), ("candidate", [64.0])] * 2


@pytest.mark.parametrize(("metric", "side"), [("latency_base", "base"), ("latency", "candidate")])
@pytest.mark.parametrize("node", ["test_dequant_mm.py", "test_add.py"])
def test_one_wanted_side_stays_one_side_of_each_case(node: str, metric: str, side: str) -> None:
    # The one has a function of its own for the candidate, the other switches the dispatch.
    child = run_one(node, "--metrics", metric)
    assert len(cases_of(child)) == 2
    assert [found for found, _ in times_of(child)] == [side, side]


def test_a_mixin_with_its_own_run_and_inputs_is_seen() -> None:
    child = run_one("test_mv_parallel.py")
    cases = cases_of(child)
    assert [case["shapes"] for case in cases] == [[[4], [8, 8], [8]], [[4], [16, 16], [16]]]
    assert {(case["operator"], case["dtype"]) for case in cases} == {("mv", "float16")}
    assert times_of(child)[:2] == [("base", [64.0]), ("candidate", [64.0])]


# -- what goes wrong ------------------------------------------------------------------------------
def test_a_failure_in_case_4_keeps_the_cases_before_it() -> None:
    child = run_one("test_mm.py", environment={"FAKE_FAIL_CASE": "4"})
    ends = child.of("case_end")
    assert [message["status"] for message in ends] == ["ok", "ok", "ok", "failed"]
    assert ends[3]["error"] == {"kind": "error", "message": "RuntimeError: kernel refused case 4"}
    # The reference of the failed case had been measured.
    assert times_of(child)[-1] == ("base", [65536.0])
    end = child.one("test_end")
    assert (end["outcome"], end["reason"]) == ("failed", "Failed: kernel refused case 4")
    assert child.one("bye")["exit"] == 1


def test_an_out_of_memory_is_named_as_such() -> None:
    child = run_one("test_mm.py", environment={"FAKE_OOM_CASE": "2"})
    assert child.of("case_end")[1]["error"] == {
        "kind": "oom",
        "message": "OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    }


def test_a_killed_child_leaves_the_case_open_and_the_rows_before_it() -> None:
    child = run_one("test_mm.py", environment={"FAKE_KILL_CASE": "3"})
    assert child.exit_code == -9
    assert len(child.of("case_end")) == 2
    assert child.types()[-2:] == ["side_end", "side_begin"]
    assert child.messages[-1]["side"] == "candidate"


def test_a_time_that_is_not_a_number_is_null() -> None:
    child = run_one("test_abs.py::test_abs", environment={"FAKE_NAN_CASE": "2"})
    assert times_of(child)[3] == ("candidate", [None])
    assert child.of("case_end")[1]["status"] == "ok"


def test_an_input_that_cannot_be_made_is_a_failed_case() -> None:
    # Two tensors an input: the third input's second one.
    child = run_one("test_mm.py", environment={"FAKE_FAIL_TENSOR": "6"})
    assert [message["status"] for message in child.of("case_end")] == ["ok", "ok", "failed"]
    case = cases_of(child)[2]
    assert (case["operator"], case["dtype"], case["shapes"]) == ("mm", "float16", [])
    assert case["attributes"] == {"input": "not made"}
    error = child.of("case_end")[2]["error"]
    assert error == {"kind": "error", "message": "RuntimeError: this tensor cannot be made"}


def test_a_dtype_that_the_operator_lacks_is_an_event_with_the_dtypes_it_has() -> None:
    child = run_one("test_bitwise_not.py")
    (event,) = [m for m in child.of("event") if m["name"] == "dtype_not_supported"]
    assert event["operator"] == "bitwise_not"
    assert event["dtypes"] == ["int16", "int32"]
    assert "can't be supported by this op 'bitwise_not'" in event["message"]
    end = child.one("test_end")
    assert end["outcome"] == "failed"
    assert end["reason"].startswith("ValueError: Given dtype(s) 'torch.float16'")
    assert child.of("case_begin") == []


@pytest.mark.parametrize(
    ("node", "own", "measured"),
    [
        ("test_bitwise_not.py", ["int16", "int32"], ["int16"]),
        ("test_mm.py", ["float16", "float32", "bfloat16"], ["float16"]),
        ("test_convert_weight.py", ["uint8"], ["uint8"]),
    ],
)
def test_the_first_dtype_is_float16_or_the_operators_own_first(
    node: str, own: list[str], measured: list[str]
) -> None:
    job = {**USUAL["hello"], "select": {"dtypes": "first"}}
    child = run_corpus(node, rules={"hello": job})
    assert child.one("test_end")["dtypes"] == own
    assert sorted({case["dtype"] for case in cases_of(child)}) == measured


def skip_the_second(message: Message) -> Message:
    second = message["index"] == 2
    return {"type": "skip", "reason": "quarantined"} if second else USUAL["case_begin"]


def test_a_skipped_case_is_not_measured_and_not_ended() -> None:
    child = run_one("test_mm.py", rules={"case_begin": skip_the_second})
    assert len(child.of("case_begin")) == 5
    assert len(child.of("case_end")) == 4
    assert len(times_of(child)) == 8
    begins = [i for i, name in enumerate(child.types()) if name == "case_begin"]
    assert begins[2] == begins[1] + 1
    assert child.one("test_end")["outcome"] == "passed"
    assert child.output.count("nan") > 0


# -- a corpus without a benchmark class -----------------------------------------------------------
@pytest.fixture(scope="module")
def lone() -> Child:
    return run_child(DATA / "corpus_do_bench", "test_softmax.py")


def test_each_do_bench_is_a_case_with_one_side(lone: Child) -> None:
    found = [(case["operator"], case["attributes"]) for case in cases_of(lone)]
    assert found == [
        ("softmax", {"rows": 4, "call": 1}),
        ("softmax", {"rows": 4, "call": 2}),
        ("softmax", {"rows": 8, "call": 1}),
        ("softmax", {"rows": 8, "call": 2}),
        ("plain", {"call": 1}),
        ("fails", {"call": 1}),
    ]
    assert {side for side, _ in times_of(lone)} == {"candidate"}


def test_an_autotuners_own_timings_are_no_cases(lone: Child) -> None:
    # Each of the two first calls of softmax's test times two configurations.
    assert len([case for case in cases_of(lone) if case["operator"] == "softmax"]) == 4


def test_of_quantiles_the_median_is_the_sample(lone: Child) -> None:
    sample = lone.of("samples")[1]
    assert sample["values_ns"] == [pytest.approx(4 * 256)]
    assert sample["settings"]["quantiles"] == [0.5, 0.2, 0.8]
    assert sample["settings"]["warmup"] == 5


def test_a_timer_that_returns_all_samples_gives_all(lone: Child) -> None:
    assert lone.of("samples")[4]["values_ns"] == [pytest.approx(16), pytest.approx(32)]


def test_a_lone_call_that_raises_is_a_failed_case(lone: Child) -> None:
    end = lone.of("case_end")[-1]
    assert end["status"] == "failed"
    assert end["error"]["message"] == "RuntimeError: no kernel for this size"


def test_skipped_lone_calls_return_what_the_caller_unpacks() -> None:
    child = run_child(
        DATA / "corpus_do_bench",
        "test_softmax.py",
        rules={"case_begin": {"type": "skip", "reason": "x"}},
    )
    assert [message["outcome"] for message in child.of("test_end")] == ["passed"] * 4
    assert child.of("samples", "case_end") == []


def test_a_test_that_skips_itself_while_it_is_measured_is_a_skipped_case(tmp_path: Any) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest, triton\n"
        "def test_it():\n"
        "    triton.testing.do_bench(lambda: pytest.skip('not on this device'))\n"
    )
    child = run_child(tmp_path, "test_it.py")
    end = child.one("case_end")
    assert end["status"] == "skipped"
    assert end["error"]["message"] == "Skipped: not on this device"
    assert child.one("test_end")["outcome"] == "skipped"


def test_more_samples_than_a_line_holds_come_in_parts(tmp_path: Any) -> None:
    (tmp_path / "test_it.py").write_text(
        "import triton\n"
        "triton.testing.do_bench = lambda fn: [1.0 / 3] * 50_000\n"
        "def test_it():\n"
        "    assert len(triton.testing.do_bench(None)) == 50_000\n"
    )
    more = {"type": "more", "samples": 1, "calls_per_sample": 1}

    def answer(message: Message) -> Message:
        return {"type": "enough"} if message["complete"] else more

    child = run_child(tmp_path, "test_it.py", rules={"samples": answer})
    parts = child.of("samples")
    assert [len(part["values_ns"]) for part in parts] == [20_000, 20_000, 10_000]
    assert [part["complete"] for part in parts] == [False, False, True]
    assert child.one("test_end")["outcome"] == "passed"


def test_a_case_that_is_only_tuned_makes_one_call_of_the_candidate() -> None:
    answer = {"type": "measure", "timer": "direct", "sides": ["candidate"], "tune_only": True}
    child = run_one("test_abs.py::test_abs", rules={"case_begin": answer})
    assert child.of("side_begin", "samples", "side_end") == []
    assert [message["status"] for message in child.of("case_end")] == ["ok"] * 3
    assert child.one("test_end")["outcome"] == "passed"
    assert child.exit_code == 0


def test_a_lone_do_bench_that_is_only_tuned_is_called_and_not_timed() -> None:
    answer = {"type": "measure", "timer": "direct", "sides": ["candidate"], "tune_only": True}
    usual = run_child(DATA / "corpus_do_bench", "test_softmax.py")
    child = run_child(DATA / "corpus_do_bench", "test_softmax.py", rules={"case_begin": answer})
    assert child.of("side_begin", "samples") == []
    statuses = [message["status"] for message in child.of("case_end")]
    assert statuses == [message["status"] for message in usual.of("case_end")]
    assert "ok" in statuses
