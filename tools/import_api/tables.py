# SPDX-License-Identifier: Apache-2.0
"""The tables of one group version, and their text form (see api/README.md for the grammar)."""

import json
from dataclasses import dataclass, field

HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# Written by tools/import-api; do not edit. The format is described in api/README.md.
"""

# Types written without a package, because C++ code defines their wire forms.
BUILTINS = {"Quantity", "Time", "MicroTime", "Duration", "IntOrString", "RawExtension",
            "FieldsV1", "any"}
SCALARS = {"bool", "int32", "int64", "float64", "string", "bytes"}

_FLAGS = ("inline", "omitempty", "omitzero", "required", "atomic", "granular")
# Attributes of a field in the order they are written.
_ORDER = ("inline", "omitempty", "omitzero", "required", "default", "list", "keys", "atomic", "granular",
          "patch", "mergeKey", "wire")


@dataclass
class Field:
    name: str
    number: int  # 0: not in protobuf
    type: str
    attributes: dict = field(default_factory=dict)  # name -> value; True for a flag


@dataclass
class Struct:
    name: str
    typemeta: bool = False
    atomic: bool = False
    codec: str = ""
    fields: list = field(default_factory=list)


@dataclass
class Enum:
    name: str
    base: str
    closed: bool = False
    values: list = field(default_factory=list)  # (constant name, value)


@dataclass
class GroupVersion:
    group: str  # "core" for the empty group
    version: str
    package: str = ""  # proto package
    messages: bool = False  # messages of a gRPC service, without an API group
    kinds: dict = field(default_factory=dict)  # name -> discovery.Resource or None
    aliases: dict = field(default_factory=dict)  # name -> type of another group version
    enums: dict = field(default_factory=dict)
    lists: dict = field(default_factory=dict)  # name -> element type
    structs: dict = field(default_factory=dict)


def render(tables):
    """The text of one .api file."""
    head = f"messages {tables.version}" if tables.messages else \
        f"group {tables.group} {tables.version}"
    out = [HEADER.rstrip("\n"), head, f"package {tables.package}", ""]
    for name in sorted(tables.kinds):
        out.append(f"kind {name}")
        if tables.kinds[name]:
            out += _resource_lines(tables.kinds[name])
    for name in sorted(tables.aliases):
        out.append(f"alias {name} {tables.aliases[name]}")
    for name in sorted(tables.enums):
        enum = tables.enums[name]
        out += ["", f"enum {name} {enum.base}" + (" closed" if enum.closed else "")]
        out += [f"  {constant} {json.dumps(value)}" for constant, value in enum.values]
    if tables.lists:
        out.append("")
    out += [f"list {name} {tables.lists[name]}" for name in sorted(tables.lists)]
    for name in sorted(tables.structs):
        out += ["", _struct_line(tables.structs[name])]
        out += [_field_line(entry) for entry in tables.structs[name].fields]
    return "\n".join(out) + "\n"


def _resource_lines(resource):
    lines = [f"  plural {resource.plural}"]
    if resource.singular:
        lines.append(f"  singular {resource.singular}")
    if resource.short:
        lines.append("  short " + " ".join(resource.short))
    if resource.categories:
        lines.append("  categories " + " ".join(resource.categories))
    lines += [f"  scope {resource.scope}", "  verbs " + " ".join(resource.verbs)]
    for sub in sorted(resource.subresources, key=lambda entry: entry.name):
        where = f"{sub.group or 'core'}/{sub.version}"
        lines.append(f"  subresource {sub.name} {where} {sub.kind} " + " ".join(sub.verbs))
    return lines


def _struct_line(struct):
    words = ["struct", struct.name]
    words += [flag for flag in ("typemeta", "atomic") if getattr(struct, flag)]
    if struct.codec:
        words.append(f"codec={struct.codec}")
    return " ".join(words)


def _field_line(entry):
    words = [entry.name, str(entry.number), entry.type]
    unknown = set(entry.attributes) - set(_ORDER)
    if unknown:
        raise ValueError(f"{entry.name}: unknown attributes {unknown}")
    for key in _ORDER:
        value = entry.attributes.get(key)
        if value is None or value is False:
            continue
        words.append(key if key in _FLAGS else f"{key}={value}")
    return "  " + " ".join(words)


def compact_json(value):
    """JSON without any space, so that it stays one word of a line."""
    return json.dumps(value, separators=(",", ":")).replace(" ", "\\u0020")


def parse(text):
    """Parses the text of one .api file. Resource lines are checked, but not stored."""
    tables = None
    block = None
    for number, raw in enumerate(text.splitlines(), 1):
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        words = raw.split()
        try:
            if raw.startswith("  "):
                _parse_inner(block, words, raw)
            elif words[0] == "group":
                tables = GroupVersion(words[1], words[2])
            elif words[0] == "messages":
                tables = GroupVersion("", words[1], messages=True)
            else:
                block = _parse_outer(tables, words)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as cause:
            raise ValueError(f"line {number}: {raw}: {cause}") from cause
    return tables


def _parse_outer(tables, words):
    keyword, name, *rest = words
    if keyword == "package":
        tables.package = name
        return None
    if keyword == "kind":
        tables.kinds[name] = None
        return "kind"
    if keyword == "alias":
        tables.aliases[name] = rest[0]
        return None
    if keyword == "enum":
        return tables.enums.setdefault(name, Enum(name, rest[0], "closed" in rest[1:]))
    if keyword == "list":
        tables.lists[name] = rest[0]
        return None
    if keyword == "struct":
        attributes = _attributes(rest)
        return tables.structs.setdefault(name, Struct(name, **attributes))
    raise ValueError("unknown keyword")


def _parse_inner(block, words, raw):
    if isinstance(block, Struct):
        block.fields.append(Field(words[0], int(words[1]), words[2], _attributes(words[3:])))
    elif isinstance(block, Enum):
        block.values.append((words[0], json.loads(raw.strip().split(" ", 1)[1])))
    elif block != "kind" or words[0] not in ("plural", "singular", "short", "categories",
                                             "scope", "verbs", "subresource"):
        raise ValueError("unexpected line")


def _attributes(words):
    out = {}
    for word in words:
        key, equals, value = word.partition("=")
        out[key] = value if equals else True
    return out
