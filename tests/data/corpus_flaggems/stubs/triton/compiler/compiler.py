# SPDX-License-Identifier: Apache-2.0
from collections import namedtuple


class CompiledKernel:
    """The newest form: metadata is a tuple class of its own, and has no cluster dimensions."""

    def __init__(self, metadata):
        self.metadata = namedtuple("KernelMetadata", sorted(metadata))(**metadata)
