# SPDX-License-Identifier: Apache-2.0
"""One digest of what a kernel's code says: its syntax tree, those of the kernels that it calls, and
the values of the globals that it uses. Comments, blank lines and line numbers are no part of it, so
that a comment above a kernel does not make its winners useless; Triton's own key has them."""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from .configs import qualified_name

_COMPILER = "triton"
_NO_SOURCE = (OSError, TypeError, SyntaxError, ValueError, AttributeError)
_SCALARS = (bool, int, float, str, bytes, type(None))


def is_jit(value: Any) -> bool:
    return any(part.__name__ in ("JITFunction", "JITCallable") for part in type(value).__mro__)


def _layers(tuner: Any) -> Iterator[Any]:
    """A tuner, what decorates its kernel, and last the kernel; a Python function where none is
    compiled."""
    part = tuner
    while not is_jit(part) and not inspect.isfunction(part) and hasattr(part, "fn"):
        yield part
        part = part.fn
    yield part


def jit_function(tuner: Any) -> Any:
    """The kernel below a tuner and what decorates it."""
    return list(_layers(tuner))[-1]


def rules_of(tuner: Any) -> list[tuple[str, Any]]:
    """The heuristics between a tuner and its kernel: name and function. They set what the tuner
    does not, so that its winners hold only with them."""
    rules: list[tuple[str, Any]] = []
    for part in list(_layers(tuner))[:-1]:
        values = getattr(part, "values", None)
        if isinstance(values, dict):
            rules += sorted(values.items(), key=lambda item: str(item[0]))
    return rules


def kernel_source_hash(kernel: Any, rules: Sequence[tuple[str, Any]] = ()) -> str:
    """Of a JITFunction or a Python function, with its heuristics; "" where its source is not to be
    had."""
    lines: list[str] = []
    seen: set[int] = set()
    try:
        _add_function(kernel, lines, seen)
    except _NO_SOURCE:
        return ""
    for name, rule in rules:
        lines.append(f"rule {name}")
        _add_rule(rule, lines, seen)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()


def _add_rule(rule: Any, lines: list[str], seen: set[int]) -> None:
    """A lambda has no source of its own, only the statement around it: its instructions stand for
    it."""
    if getattr(rule, "__name__", "") != "<lambda>":
        try:
            _add_function(rule, lines, seen)
            return
        except _NO_SOURCE:
            pass
    seen.add(id(rule))
    code = getattr(rule, "__code__", None)
    if code is None:
        lines.append(_object_text(rule))
        return
    lines.append(_code_text(code))
    for name in code.co_names:
        value = getattr(rule, "__globals__", {}).get(name)
        if isinstance(value, _SCALARS):
            lines.append(f"{name} = {value!r}")
        elif inspect.isfunction(value) and id(value) not in seen:
            _add_rule(value, lines, seen)


def _code_text(code: Any) -> str:
    constants = [
        _code_text(item) if inspect.iscode(item) else repr(item) for item in code.co_consts
    ]
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}"


def _add_function(function: Any, lines: list[str], seen: set[int]) -> None:
    name = function.__name__
    if id(function) in seen:
        lines.append(f"again {name}")
        return
    seen.add(id(function))
    tree = ast.parse(_source(function))
    lines.append(f"function {name} noinline={bool(getattr(function, 'noinline', False))}")
    lines.append(_dump(tree))
    scope = _scope(function)
    for dotted in sorted(_global_names(tree.body[0])):
        _add_named(dotted, scope, lines, seen)


def _dump(node: Any) -> str:
    """Without positions, and without empty fields: every Python's own dump has other ones."""
    if isinstance(node, ast.AST):
        fields = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
        return f"{type(node).__name__}({', '.join(f'{name}={_dump(v)}' for name, v in fields)})"
    if isinstance(node, list):
        return f"[{', '.join(map(_dump, node))}]"
    return repr(node)


def _source(function: Any) -> str:
    text = getattr(function, "src", None) or textwrap.dedent(inspect.getsource(function))
    begin = re.search(r"^def\s+\w+\s*\(", text, re.MULTILINE)
    if begin is None:
        raise ValueError("no function in its source")
    return text[begin.start() :]


def _scope(function: Any) -> dict[str, Any]:
    """Globals, and over them what an enclosing function left to it."""
    python = function if inspect.isfunction(function) else getattr(function, "fn", None)
    scope = dict(getattr(function, "__globals__", {}))
    cells = getattr(python, "__closure__", None) or ()
    for name, cell in zip(python.__code__.co_freevars if cells else (), cells, strict=False):
        try:
            scope[name] = cell.cell_contents
        except ValueError:  # not yet assigned
            continue
    return scope


def _dotted(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr}" if base else None
    return None


def _global_names(function: ast.AST) -> set[str]:
    """Names, dotted ones too, that the function reads and does not bind itself."""
    nodes = list(ast.walk(function))
    local = {node.arg for node in nodes if isinstance(node, ast.arg)}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    local |= {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    read = {_dotted(node) for node in nodes if isinstance(node, (ast.Name, ast.Attribute))}
    return {name for name in read if name and name.split(".")[0] not in local}


def _add_named(dotted: str, scope: dict[str, Any], lines: list[str], seen: set[int]) -> None:
    first, *rest = dotted.split(".")
    if first not in scope:
        return
    value = scope[first]
    for name in rest:
        # Members of what is no module belong to its value.
        if not isinstance(value, ModuleType) or not hasattr(value, name):
            return
        value = getattr(value, name)
    if not isinstance(value, ModuleType):
        _add_value(dotted, value, lines, seen)


def _add_value(name: str, value: Any, lines: list[str], seen: set[int]) -> None:
    if type(value).__name__ == "constexpr" and hasattr(value, "value"):
        value = value.value
    if isinstance(value, _SCALARS):
        lines.append(f"{name} = {value!r}")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _add_value(f"{name}[{index}]", item, lines, seen)
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            _add_value(f"{name}[{key!r}]", value[key], lines, seen)
    elif is_jit(value):
        _add_function(value, lines, seen)
    elif _of_compiler(value) or not inspect.isfunction(value):
        lines.append(f"{name} is {_object_text(value)}")
    else:
        _add_function(value, lines, seen)


def _of_compiler(value: Any) -> bool:
    module = getattr(value, "__module__", None) or ""
    return str(module).split(".")[0] == _COMPILER


def _object_text(value: Any) -> str:
    """A dtype or an enumeration's member by its text; never a text with an address in it."""
    if callable(value):
        return qualified_name(value)
    text = str(value)
    return qualified_name(type(value)) if " at 0x" in text else text
