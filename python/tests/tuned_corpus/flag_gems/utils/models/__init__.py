# SPDX-License-Identifier: Apache-2.0
from .sql import SQLPersistantModel

__all__ = ["SQLPersistantModel"]
