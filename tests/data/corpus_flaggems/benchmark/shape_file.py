# SPDX-License-Identifier: Apache-2.0
"""Just enough YAML for shape files: names, and below them `shapes` as lists in either notation.
No YAML library is needed to run this corpus."""

import json


def _entry(lines):
    """The shapes among the indented lines of one name."""
    shapes, inside = [], False
    for line in lines:
        key, colon, value = line.strip().partition(":")
        if line.strip().startswith("-"):
            item = line.strip()
            if inside and "[" in item:
                shapes.append(tuple(json.loads(item[item.index("[") :])))
            elif inside and item.startswith("- -"):
                shapes.append((int(item[3:]),))
            elif inside:
                shapes[-1] += (int(item[1:]),)
        elif colon:
            inside = key == "shapes"
            if inside and value.strip():
                shapes = [tuple(shape) for shape in json.loads(value)]
    return shapes


def read(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip() for line in file if line.strip() and not line.startswith("#")]
    blocks, name = {}, None
    for line in lines:
        if not line[0].isspace() and not line.startswith("-"):
            name = line.split(":")[0].strip("\"'")
            blocks[name] = []
        elif name is not None:
            blocks[name].append(line)
    return {name: _entry(block) for name, block in blocks.items()}
