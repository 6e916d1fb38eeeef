#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes .venv with the pinned Python packages of the tests; does nothing where it is up to date.
set -euo pipefail
cd "$(dirname "$0")/.."

requirements=python/requirements-test.txt
stamp=.venv/.requirements
digest=$(sha256sum "$requirements" | cut -d' ' -f1)
[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$digest" ] && exit 0

# Debian's own interpreter: one that happens to come first on PATH may lack ensurepip.
python=/usr/bin/python3
[ -x "$python" ] || python=python3
rm -rf .venv
if ! "$python" -m venv .venv; then
    echo "venv.sh: $python cannot make a virtual environment; install python3-venv" >&2
    exit 4
fi
.venv/bin/python -m pip install -q --disable-pip-version-check -r "$requirements"
echo "$digest" > "$stamp"
