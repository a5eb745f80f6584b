# SPDX-License-Identifier: Apache-2.0
"""Compares JSON and protobuf documents with the tables and collects mismatches (for tests)."""

import re

from import_api import tables

# The JSON types a builtin may have.
_BUILTIN_JSON = {
    "Quantity": (str, int), "Time": (str, type(None)), "MicroTime": (str, type(None)),
    "Duration": (str,), "IntOrString": (str, int), "RawExtension": (dict, type(None)),
    "FieldsV1": (dict,), "any": (object,),
}
_SCALAR_JSON = {"bool": bool, "int32": int, "int64": int, "float64": (int, float), "string": str,
                "bytes": str}
_VARINT, _FIXED64, _BYTES = 0, 1, 2
_SCALAR_WIRE = {"bool": _VARINT, "int32": _VARINT, "int64": _VARINT, "float64": _FIXED64,
                "string": _BYTES, "bytes": _BYTES}


class Walker:
    """`all_tables` maps "apps/v1" to a GroupVersion. Mismatches are collected in `problems`."""

    def __init__(self, all_tables):
        self.tables = all_tables
        self.problems = []

    def find(self, home, word):
        """(home of the type, its Struct, Enum or list element type or None)."""
        where, dot, name = word.rpartition(".")
        where = where if dot else home
        entry = self.tables[where]
        return where, (entry.structs.get(name) or entry.enums.get(name) or entry.lists.get(name))

    def json_fields(self, home, struct):
        """JSON name -> (home, Field), inlined structs included."""
        out = {}
        for field in struct.fields:
            if "inline" in field.attributes:
                out |= self.json_fields(*self.find(home, field.type.lstrip("*")))
            else:
                out[field.name] = (home, field)
        return out

    def json(self, where, home, kind, value):
        """Checks that the JSON `value` fits the type word `kind`."""
        kind = kind.removeprefix("*")
        if kind.startswith("[]") or kind.startswith("map["):
            self._json_container(where, home, kind, value)
        elif kind in tables.BUILTINS:
            self._expect(where, isinstance(value, _BUILTIN_JSON[kind]), f"{value!r} is no {kind}")
        elif kind in tables.SCALARS:
            fits = isinstance(value, _SCALAR_JSON[kind]) and (
                kind == "bool" or not isinstance(value, bool))
            self._expect(where, fits, f"{value!r} is no {kind}")
        else:
            target_home, target = self.find(home, kind)
            if isinstance(target, tables.Enum):
                self.json(where, target_home, target.base, value)
            elif isinstance(target, str):
                self.json(where, target_home, "[]" + target, value)
            elif target is None:
                self._expect(where, False, f"unknown type {kind}")
            elif not target.codec:
                self.json_struct(where, target_home, target, value)

    def _json_container(self, where, home, kind, value):
        if value is None:
            return
        if kind.startswith("[]"):
            self._expect(where, isinstance(value, list), "is no list")
            for entry in value if isinstance(value, list) else ():
                self.json(where + "[]", home, kind[2:], entry)
            return
        self._expect(where, isinstance(value, dict), "is no map")
        for entry in value.values() if isinstance(value, dict) else ():
            self.json(where + "{}", home, kind.split("]", 1)[1], entry)

    def json_struct(self, where, home, struct, value):
        if not isinstance(value, dict):
            self._expect(where, False, f"{value!r} is no {struct.name}")
            return
        fields = self.json_fields(home, struct)
        for key, entry in value.items():
            if key in fields:
                field_home, field = fields[key]
                self.json(f"{where}.{key}", field_home, field.type, entry)
            else:
                self._expect(where, struct.typemeta and key in ("kind", "apiVersion"),
                             f"unknown field {key}")

    def proto_struct(self, where, home, struct, data):
        """Checks that each field of the encoded message is known and has the right wire type."""
        fields = {field.number: field for field in struct.fields}
        for number, wire, payload in decode(data):
            field = fields.get(number)
            self._expect(where, field, f"unknown number {number}")
            if field:
                self._proto_value(f"{where}.{field.name}", home, field.type, wire, payload)

    def _proto_value(self, where, home, kind, wire, payload):
        kind = re.sub(r"^\*?(\[\])?\*?", "", kind)
        if kind.startswith("map["):
            entry = {number: (inner, data) for number, inner, data in decode(payload)}
            self._expect(where, set(entry) <= {1, 2}, "is no map entry")
            if 2 in entry:
                self._proto_value(where + "{}", home, kind.split("]", 1)[1], *entry[2])
            return
        if kind in tables.SCALARS:
            self._expect(where, wire == _SCALAR_WIRE[kind], f"wire type {wire} for {kind}")
            return
        if kind in tables.BUILTINS:
            self._expect(where, wire == _BYTES, f"wire type {wire} for {kind}")
            return
        target_home, target = self.find(home, kind)
        if isinstance(target, tables.Enum):
            self._proto_value(where, target_home, target.base, wire, payload)
        elif wire != _BYTES:
            self._expect(where, False, f"wire type {wire} for {kind}")
        elif isinstance(target, str):
            for number, inner, data in decode(payload):
                self._expect(where, number == 1, f"unknown number {number}")
                self._proto_value(where + "[]", target_home, target, inner, data)
        else:
            self.proto_struct(where, target_home, target, payload)

    def _expect(self, where, fits, message):
        if not fits:
            self.problems.append(f"{where}: {message}")


def decode(data):
    """Yields (number, wire type, payload) of each field of an encoded message."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            payload, at = _varint(data, at)
        elif wire == _FIXED64:
            payload, at = data[at:at + 8], at + 8
        elif wire == _BYTES:
            size, at = _varint(data, at)
            payload, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {wire}")
        yield number, wire, payload


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
