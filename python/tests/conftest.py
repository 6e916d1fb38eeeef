# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

# The package under test and this folder's helpers need no installation.
for folder in (Path(__file__).parent, Path(__file__).parents[1]):
    sys.path.insert(0, str(folder))
