#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks the Triton wheels that the tuning hooks are tested on: `triton_wheels.sh [VERSION...]`, by
# default all of them, each into .triton/VERSION. Does nothing for those that are there.
set -euo pipefail
cd "$(dirname "$0")/.."

# The last release of each minor version.
versions=(3.2.0 3.3.1 3.4.0 3.5.1 3.6.0)
[ $# -eq 0 ] || versions=("$@")
python=.venv/bin/python

# The Python code and the compiler's library; no assembler, profiler or headers.
unpack() {
    "$python" - "$1" "$2" <<'PYTHON'
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in wheel.namelist():
        if name.endswith(".py") or ".dist-info/" in name or "/libtriton." in name:
            wheel.extract(name, sys.argv[2])
PYTHON
}

mkdir -p .triton
for version in "${versions[@]}"; do
    [ -d ".triton/$version" ] && continue
    begin=$SECONDS
    part=$(mktemp -d ".triton/part.XXXXXX")
    trap 'rm -rf "$part"' EXIT
    if ! "$python" -m pip download -q --disable-pip-version-check --no-cache-dir --no-deps \
        --only-binary :all: -d "$part" "triton==$version"; then
        echo "triton_wheels.sh: cannot download triton $version with $("$python" -V); check the network and that this version has a wheel for it" >&2
        exit 4
    fi
    unpack "$part"/triton-*.whl "$part/content"
    # Another process may have been faster.
    mv -T "$part/content" ".triton/$version" 2>/dev/null || [ -d ".triton/$version" ]
    rm -rf "$part"
    echo "triton $version: $((SECONDS - begin)) s"
done
