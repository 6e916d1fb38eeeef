# SPDX-License-Identifier: Apache-2.0
"""A tuner's configuration as the channel carries it, and back to the tuner's own object."""

from __future__ import annotations

import json
import math
import operator
import sys
from typing import Any

Fields = dict[str, Any]


def qualified_name(value: Any) -> str:
    """Of a function or class by itself, of any other object by its class."""
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"


def plain(value: Any) -> Any:
    """A member of a key or a configuration as JSON: texts, numbers, else the object's own text (a
    dtype), or what it is where that text would change from process to process."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if hasattr(value, "__index__"):
        return operator.index(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if callable(value):
        return qualified_name(value)
    text = str(value)
    return qualified_name(value) if " at 0x" in text else text


def is_scalar(value: Any) -> bool:
    """What a corpus's store can keep; other fields are missing in what is imported from it."""
    return isinstance(value, (bool, int, float, str))


def fields_of(config: Any) -> Fields:
    """An absent field and one that is None mean the same to every Triton."""
    if isinstance(config, dict):
        return {name: plain(value) for name, value in config.items() if value is not None}
    items = config.all_kwargs().items()
    return {name: plain(value) for name, value in items if value is not None}


def text_of(fields: Fields) -> str:
    return json.dumps(fields, sort_keys=True)


def matches(config: Any, fields: Fields) -> bool:
    """Whether `fields` mean this configuration. They may lack what is no scalar."""
    own = fields_of(config)
    if any(name not in own or own[name] != value for name, value in fields.items()):
        return False
    values = config if isinstance(config, dict) else config.all_kwargs()
    return all(name in fields or not is_scalar(values[name]) for name in own)


def _shared_hook(tuner: Any) -> Any:
    """The pre-hook that all configurations of a tuner have; its own for proposed ones else."""
    hooks = {id(config.pre_hook): config.pre_hook for config in tuner.configs}
    if len(hooks) == 1 and None not in hooks.values():
        return next(iter(hooks.values()))
    return getattr(tuner, "_flagtune_pre_hook", None)


def _value(tuner: Any, name: str, value: Any) -> Any:
    """The object whose text the channel carried, where another configuration has it."""
    if isinstance(value, (str, list)):
        for config in tuner.configs:
            own = config.all_kwargs().get(name)
            if not is_scalar(own) and own is not None and plain(own) == value:
                return own
    return value


def build(fields: Fields, pre_hook: Any = None) -> Any:
    """A configuration made anew: launch options by their names, the rest for the kernel."""
    config_class = sys.modules["triton"].Config
    config = config_class({}, pre_hook=pre_hook)
    options = set(vars(config)) - {"kwargs", "pre_hook"}
    launch = {name: value for name, value in fields.items() if name in options}
    kernel = {name: value for name, value in fields.items() if name not in options}
    return config_class(kernel, pre_hook=pre_hook, **launch)


def own_config(tuner: Any, fields: Fields) -> Any:
    """The tuner's own object, or its pre-hook is lost; a new one where its list has none."""
    for config in tuner.configs:
        if matches(config, fields):
            return config
    values = {name: _value(tuner, name, value) for name, value in fields.items()}
    return build(values, _shared_hook(tuner))
