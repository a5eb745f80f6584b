# SPDX-License-Identifier: Apache-2.0
"""Reads generated.proto: the field numbers and wire types of one Go package.

The files are generated, with one field per line and no nesting, so they are read line by line. An
unknown line is an error, so that no field is lost silently.
"""

import re
from dataclasses import dataclass, field

_PACKAGE = re.compile(r"^package ([\w.]+);$")
_MESSAGE = re.compile(r"^message (\w+) \{$")
_FIELD = re.compile(r"^(optional|repeated|required) ([\w.]+) (\w+) = (\d+)(?: \[.*\])?;$")
_MAP = re.compile(r"^map<(\w+), ([\w.]+)> (\w+) = (\d+)(?: \[.*\])?;$")
_IGNORED = re.compile(r"^(syntax|import|option) ")


class ProtoError(Exception):
    pass


@dataclass
class ProtoField:
    name: str
    number: int
    type: str  # scalar name, or "<proto package>.<Message>"
    repeated: bool = False
    map_key: str = ""  # scalar name of the key when this is a map


@dataclass
class ProtoFile:
    package: str = ""
    messages: dict = field(default_factory=dict)  # message name -> {field name -> ProtoField}


SCALARS = {
    "bool", "bytes", "double", "fixed32", "fixed64", "float", "int32", "int64",
    "sfixed32", "sfixed64", "sint32", "sint64", "string", "uint32", "uint64",
}


def parse(text, where="proto"):
    """Returns the ProtoFile in `text`."""
    out = ProtoFile()
    current = None
    in_comment = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if in_comment or line.startswith("/*"):
            in_comment = not line.endswith("*/")
        elif not line or line.startswith("//") or _IGNORED.match(line):
            continue
        elif match := _PACKAGE.match(line):
            out.package = match[1]
        elif match := _MESSAGE.match(line):
            current = out.messages.setdefault(match[1], {})
        elif line == "}":
            current = None
        elif current is not None and (found := _parse_field(line, out.package)):
            if found.name in current or any(f.number == found.number for f in current.values()):
                raise ProtoError(f"{where}:{number}: name or number used twice: {line}")
            current[found.name] = found
        else:
            raise ProtoError(f"{where}:{number}: not understood: {line}")
    return out


def _parse_field(line, package):
    if match := _FIELD.match(line):
        label, kind, name, number = match.groups()
        return ProtoField(name, int(number), _qualify(kind, package), label == "repeated")
    if match := _MAP.match(line):
        key, value, name, number = match.groups()
        return ProtoField(name, int(number), _qualify(value, package), map_key=key)
    return None


def _qualify(kind, package):
    if kind in SCALARS:
        return kind
    return kind[1:] if kind.startswith(".") else f"{package}.{kind}"
