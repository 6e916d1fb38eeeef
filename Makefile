# Two commands matter: `make demo` and `make test`. Everything else is a part of them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
PYTHON := .venv/bin/python

.PHONY: demo test deps test-deps build install format tidy asan bench fuzz clean

# Installs what is missing, builds, measures on the embedded default and prints the latency table.
demo: build
	build/release/bin/opgauge run mm --dtypes float32

# Installs what tests need, builds, runs every test.
test: test-deps
	tools/run_tests.sh $(JOBS)

deps:
	tools/install_deps.sh build

test-deps:
	tools/install_deps.sh build test
	tools/venv.sh

build: deps
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

install: build
	cmake --install build/release --prefix $(PREFIX)

format:
	git ls-files -co --exclude-standard '*.cpp' '*.h' | xargs clang-format-14 -i

tidy: test-deps
	cmake --preset tidy
	cmake --build --preset tidy -j $(JOBS)

asan: test-deps
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS)
	ctest --preset asan -j $(JOBS)

bench: build
	benchmarks/run.sh

fuzz: test-deps
	tests/fuzz/run.sh 3600

clean:
	rm -rf build .venv .triton
