#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets with clang and runs all of them for SECONDS in all: `run.sh 60`.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-60}
targets=$(find tests/fuzz -name 'fuzz_*.cpp' | wc -l)

cmake -S . -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++-14 \
    -DOPGAUGE_BUILD_FUZZERS=ON -DOPGAUGE_BUILD_OPERATORS=OFF \
    -DOPGAUGE_SANITIZE=fuzzer-no-link,address,undefined \
    -DOPGAUGE_FUZZ_SECONDS=$((seconds / targets)) >/dev/null
cmake --build build/fuzz --target fuzzers
ctest --test-dir build/fuzz -L fuzz --output-on-failure --no-tests=error
