# SPDX-License-Identifier: Apache-2.0
"""A stand-in for flag_gems: its context makes the stand-in operators take another time."""

import os

import torch
from torch import _script

if os.environ.get("FAKE_NO_GEMS"):
    raise RuntimeError("no device found for any vendor")

__version__ = "9.9.0"
device = "cuda"
vendor_name = "nobody"


class use_gems:
    def __init__(self, exclude=None, include=None):
        self.exclude = exclude

    def __enter__(self):
        _script.gems_active += 1

    def __exit__(self, *details):
        _script.gems_active -= 1


convert_weight = torch.operator("convert_weight", gems=True)
