# SPDX-License-Identifier: Apache-2.0
"""How long a report of a whole corpus takes to write, and to open and filter in Chromium.

    .venv/bin/python benchmarks/report/page.py [OPERATORS ROWS]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests/support"))
from browser import Browser  # noqa: E402
from made_reports import make_large_batch  # noqa: E402

BINARY = os.environ.get("OPGAUGE_BIN", str(SOURCE / "build/release/bin/opgauge"))
REPEATS = 5
# From a letter typed to the table drawn: the handler and the layout that it makes necessary.
FILTER = """
const field = document.querySelector("#filter-operator");
const begin = performance.now();
field.value = arguments[0];
field.dispatchEvent(new Event("input", { bubbles: true }));
document.querySelector("#cases").getBoundingClientRect();
return performance.now() - begin;
"""
OPENED = "return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def main() -> int:
    operators, rows = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (1050, 15)
    with tempfile.TemporaryDirectory() as name:
        page = Path(name) / "report.html"
        batch = make_large_batch(Path(name) / "batch", operators, rows)
        begin = time.monotonic()
        subprocess.run([BINARY, "report", str(batch), "--output", str(page)], check=True)
        print(f"{operators * rows} rows written in {time.monotonic() - begin:.1f} s, ", end="")
        print(f"{page.stat().st_size / 1e6:.1f} MB")
        browser = Browser()
        opened, typed, cleared = [], [], []
        for _ in range(REPEATS):
            browser.open(page)
            opened.append(browser.script(OPENED))
            typed.append(browser.script(FILTER, "op_0007"))
            cleared.append(browser.script(FILTER, ""))
        browser.close()
        print(f"opened in {median(opened):.0f} ms, filtered to one operator in ", end="")
        print(f"{median(typed):.0f} ms, to all again in {median(cleared):.0f} ms (of {REPEATS})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
