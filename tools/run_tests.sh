#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every check and test, each step with its name and time. Called by `make test`.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${1:-$(nproc)}

step() {
    local name=$1 begin=$SECONDS
    shift
    printf '\n== %s\n' "$name"
    "$@"
    printf '== %s: %d s\n' "$name" $((SECONDS - begin))
}

build_dev() {
    cmake --preset dev >/dev/null
    cmake --build --preset dev -j "$jobs"
}

build_asan() {
    cmake --preset asan >/dev/null
    cmake --build --preset asan -j "$jobs"
}

export OPGAUGE_BIN=$PWD/build/dev/bin/opgauge
step 'format' tools/check_format.sh
step 'layers and names' python3 tools/check_layers.py
step 'ruff' .venv/bin/python -m ruff check -q --config python/pyproject.toml python tools tests benchmarks
step 'build (dev)' build_dev
step 'C++ tests' ctest --preset dev -j "$jobs"
step 'Triton wheels' tools/triton_wheels.sh
step 'Python tests' .venv/bin/python -m pytest -q -p no:cacheprovider python/tests tools/tests tests/integration tests/golden
step 'build (asan)' build_asan
step 'C++ unit tests under ASan and UBSan' ctest --preset asan -j "$jobs"
step 'fuzz' tests/fuzz/run.sh 60
