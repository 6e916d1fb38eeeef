# SPDX-License-Identifier: Apache-2.0
"""`python -m opgauge_bridge.device_facts BACKEND`: uses the device once and prints what a fork
server lends to the framework (docs/fork_server.md), as one JSON line at the end of its output."""

from __future__ import annotations

import json
import sys

from . import backends
from .channel import jsonable


def main(arguments: list[str]) -> int:
    facts = backends.facts_to_lend(arguments[0])
    print(json.dumps(jsonable(facts), allow_nan=False), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
