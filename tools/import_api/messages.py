# SPDX-License-Identifier: Apache-2.0
"""Generates tables from a hand-written proto3 file: messages of a gRPC service, not API objects.

Their C++ structs and protobuf codec are the same as for API objects, with these differences:
  - a message field is a pointer, because proto3 distinguishes an absent message from an empty one;
  - unsigned numbers become int64, whose varints are the same (above 2^63 the bits are kept);
  - enums are numbers, and their constants lose the common prefix;
  - messages and fields for Windows are omitted.
"""

import re

from import_api import tables
from import_api.proto import ProtoError

_PACKAGE = re.compile(r"^package ([\w.]+);$")
_OPEN = re.compile(r"^(message|enum|service) (\w+) ?\{(\}?)$")
_VALUE = re.compile(r"^(\w+) *= *(\d+);$")
_FIELD = re.compile(r"^(repeated )?([\w.]+) (\w+) *= *(\d+) ?(?:\[.*\])?;$")
_MAP = re.compile(r"^map<string, ?([\w.]+)> (\w+) = (\d+) ?(?:\[.*\])?;$")
_IGNORED = re.compile(r"^(syntax |import |option |rpc |//|$)")

_SCALARS = {"bool": "bool", "bytes": "bytes", "double": "float64", "int32": "int32",
            "int64": "int64", "string": "string", "uint32": "int64", "uint64": "int64"}


def parse(text, version, where="proto"):
    """Returns the tables of the proto3 file `text`. Raises ProtoError on an unknown line."""
    out = tables.GroupVersion("", version, messages=True)
    stack = []
    in_comment = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("//")[0].strip()
        if in_comment or line.startswith("/*"):
            in_comment = not line.endswith("*/")
        elif _IGNORED.match(line):
            continue
        elif match := _PACKAGE.match(line):
            out.package = match[1]
        elif match := _OPEN.match(line):
            block = _open(out, match[1], match[2])
            if not match[3]:
                stack.append(block)
        elif line == "}" and stack:
            stack.pop()
        elif not stack or not _inner(stack[-1], line):
            raise ProtoError(f"{where}:{number}: not understood: {line}")
    _finish(out, where)
    return out


def _open(out, keyword, name):
    if keyword == "message":
        return out.structs.setdefault(name, tables.Struct(name))
    if keyword == "enum":
        return out.enums.setdefault(name, tables.Enum(name, "int32"))
    return None


def _inner(block, line):
    if isinstance(block, tables.Enum):
        match = _VALUE.match(line)
        if match:
            block.values.append((match[1], int(match[2])))
        return match
    if isinstance(block, tables.Struct):
        if match := _FIELD.match(line):
            block.fields.append(tables.Field(
                match[3], int(match[4]), ("[]" if match[1] else "") + match[2]))
        elif match := _MAP.match(line):
            block.fields.append(tables.Field(match[2], int(match[3]), f"map[string]{match[1]}"))
        return match
    return None


def _finish(out, where):
    for name in [name for name in out.structs if name.startswith("Windows")]:
        del out.structs[name]
    for struct in out.structs.values():
        struct.fields = [entry for entry in struct.fields if "Windows" not in entry.type]
        for entry in struct.fields:
            container, word = re.match(r"(\[\]|map\[string\])?(\w+)$", entry.type).groups("")
            if word in _SCALARS:
                entry.type = container + _SCALARS[word]
            elif word in out.structs:
                entry.type = (container or "*") + word
            elif word not in out.enums:
                raise ProtoError(f"{where}: {struct.name}.{entry.name}: unknown type {word}")
    for enum in out.enums.values():
        enum.values = _constants(enum.values)


def _constants(values):
    """CONTAINER_RUNNING, CONTAINER_EXITED become Running, Exited."""
    words = [[part.capitalize() if part.isupper() else part for part in name.split("_")]
             for name, _ in values]
    shared = len(values) > 1 and all(
        len(parts) > 1 and parts[0] == words[0][0] for parts in words)
    return [("".join(parts[1:] if shared else parts), number)
            for parts, (_, number) in zip(words, values)]
