#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-format 14 on every C++ file of the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z -co --exclude-standard '*.cpp' '*.h' | xargs -0 clang-format-14 --dry-run -Werror
