#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target for an equal part of SECONDS: `run.sh 60`. They are built by the preset asan,
# together with the unit tests under the sanitizers.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
targets=$(find tests/fuzz -name 'fuzz_*.cpp' | wc -l)

cmake --preset asan -DOPGAUGE_FUZZ_SECONDS=$((seconds / targets)) >/dev/null
cmake --build --preset asan --target fuzzers
ctest --test-dir build/asan -L fuzz --output-on-failure --no-tests=error
