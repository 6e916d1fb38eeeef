#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that are missing: `install_deps.sh build [test]`. Where nothing is
# missing it needs neither root nor a network.
set -euo pipefail

build=(g++ make cmake ninja-build pkg-config git ccache libfmt-dev libexpected-dev libcli11-dev
       nlohmann-json3-dev libyaml-cpp-dev libhwloc-dev libssl-dev libboost-dev libdnnl-dev
       libopenblas-dev ocl-icd-opencl-dev libsqlite3-dev libsqlitecpp-dev libjs-chart.js)
test=(libgtest-dev libgmock-dev clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev python3
      python3-venv chromium chromium-driver slurm-wlm munge)

wanted=()
for set in "$@"; do
    case "$set" in
        build) wanted+=("${build[@]}") ;;
        test) wanted+=("${test[@]}") ;;
        *) echo "install_deps.sh: unknown set '$set'; known: build, test" >&2; exit 2 ;;
    esac
done

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
    echo "install_deps.sh: no apt-get here; install the equivalents of: ${missing[*]}" >&2
    exit 4
fi
sudo=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "install_deps.sh: not root and no sudo; install as root: apt-get install ${missing[*]}" >&2
        exit 4
    fi
    sudo=(sudo)
fi
echo "installing: ${missing[*]}"
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
