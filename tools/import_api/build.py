# SPDX-License-Identifier: Apache-2.0
"""Merges generated.proto and the Go sources of one group version."""

import json

from import_api import catalog as catalogs
from import_api import tables
from import_api.catalog import label
from import_api.gosource import markers

# Structs whose JSON form differs from their fields. The import fails if one of them disappears.
CODECS = {
    "JSON": "json",
    "JSONSchemaPropsOrArray": "schemaOrArray",
    "JSONSchemaPropsOrBool": "schemaOrBool",
    "JSONSchemaPropsOrStringArray": "schemaOrStringArray",
}
_CODEC_PACKAGE = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/"
_OBJECT = "k8s.io/apimachinery/pkg/runtime.Object"
# Proto messages that only builtin types use.
_BUILTIN_MESSAGES = {"Time", "MicroTime", "Timestamp", "Duration", "FieldsV1"}


class Builder:
    """Builds the tables of one package."""

    def __init__(self, catalog, path, discovery, report):
        self.catalog = catalog
        self.path = path
        self.discovery = discovery
        self.report = report
        self.package = catalog.package(path)
        self.proto = catalog.proto(path)

    def build(self):
        constant = self.package.constants["GroupName"]
        group = self.catalog.constant(self.path, constant.file, constant.expression)
        version = self.path.rsplit("/", 1)[-1]
        self.out = tables.GroupVersion(group or "core", version, self.proto.package)
        for name, found in sorted(self.package.types.items()):
            if name[0].isupper() and (self.path, name) not in catalogs.BUILTINS:
                self._type(name, found, group)
        self._reach_json_only()
        self._check_messages()
        return self.out

    def _type(self, name, found, group):
        if found.fields is None and found.target.startswith(("func", "interface", "chan")):
            return
        try:
            resolved = self.catalog.resolve(self.path, found.file, name)
        except KeyError:
            return  # a helper type of a package that is not part of the sources
        if found.alias:
            if resolved.kind == "struct" and self._is_kind(resolved.path, resolved.name):
                self.out.aliases[name] = self._text(resolved)
        elif resolved.kind == "enum":
            self.out.enums[name] = self._enum(name, found, resolved)
        elif resolved.kind == "list":
            self.out.lists[name] = self._text(resolved.of)
        elif resolved.kind == "struct":
            is_kind = self._is_kind(self.path, name)
            if is_kind:
                self.out.kinds[name] = self.discovery.resources.get(
                    (group, self.out.version, name))
            if is_kind or name in self.proto.messages and name not in _BUILTIN_MESSAGES:
                self.out.structs[name] = self._struct(name, found)

    def _is_kind(self, path, name):
        """Kinds are the generated runtime.Objects that a package registers with its scheme."""
        package = self.catalog.package(path)
        found = package.types[name]
        interfaces = markers(found.detached + found.comment).get("k8s:deepcopy-gen:interfaces", [])
        return name in package.registered and any(_OBJECT in value for value in interfaces)

    def _reach_json_only(self):
        """Adds structs without a proto message that a struct in the tables refers to."""
        pending = list(self.out.structs.values())
        while pending:
            for entry in pending.pop().fields:
                name = entry.type.replace("*", "").rsplit("]", 1)[-1]
                found = self.package.types.get(name)
                if found and found.fields is not None and name not in self.out.structs \
                        and name not in tables.BUILTINS:
                    self.out.structs[name] = self._struct(name, found)
                    pending.append(self.out.structs[name])

    def _enum(self, name, found, resolved):
        enum = tables.Enum(name, resolved.of.name, "enum" in markers(found.comment))
        for constant in self.package.constants.values():
            if not constant.type:
                continue
            if constant.type.startswith(tuple(catalogs.SCALARS)) or constant.type[0].islower():
                continue
            kind = self.catalog.resolve(self.path, constant.file, constant.type)
            if (kind.path, kind.name) == (self.path, name):
                value = self.catalog.constant(self.path, constant.file, constant.expression)
                enum.values.append((constant.name, value))
        return enum

    def _struct(self, name, found):
        home, file, fields = self.catalog.struct_fields(self.path, name)
        struct = tables.Struct(name, atomic="atomic" in markers(found.comment).get(
            "structType", []) + markers(found.comment).get("mapType", []))
        if self.path.startswith(_CODEC_PACKAGE):
            struct.codec = CODECS.get(name, "")
        message = dict(self.proto.messages.get(name, {}))
        for entry in fields:
            kind = self.catalog.resolve(home, file, entry.type)
            if entry.embedded and (kind.path, kind.name) == catalogs.TYPE_META:
                struct.typemeta = True
                continue
            made = self._field(name, struct, entry, kind, home, file, message)
            if made:
                struct.fields.append(made)
        for left in message.values():
            self.report.error(self._where(name), f"proto field {left.name} is not in Go")
        return struct

    def _field(self, owner, struct, entry, kind, home, file, message):
        where = self._where(owner, entry.name)
        tag = self._proto_tag(entry)
        wire = message.pop(tag.get("name", ""), None)
        if struct.codec or entry.json_name == "-":
            name = wire.name if wire else ""
        else:
            name = entry.json_name or ("" if entry.embedded else entry.name)
        inline = not name and entry.embedded
        if inline:
            name = wire.name if wire else entry.name[:1].lower() + entry.name[1:]
        if not name:
            return None
        if not struct.codec and not inline and not entry.json_name:
            self.report.warn(where, "has no JSON name; its Go name is used")
        attributes = {} if struct.codec else self._attributes(where, entry, home, file)
        if inline:
            attributes["inline"] = True
        if wire:
            self._check_wire(where, kind, wire, attributes)
            if tag.get("number") != wire.number:
                self.report.error(
                    where, f"number {tag.get('number')} in Go, {wire.number} in proto")
        elif tag and self.proto.messages.get(owner) is not None:
            self.report.error(where, "has a protobuf tag but is not in generated.proto")
        return tables.Field(name, wire.number if wire else 0, self._text(kind), attributes)

    def _attributes(self, where, entry, home, file):
        marks = markers(entry.comment)
        out = {option: True for option in entry.json_options if option in ("omitempty", "omitzero")}
        self._list_attributes(where, entry, marks, out)
        if "atomic" in marks.get("mapType", []) + marks.get("structType", []):
            out["atomic"] = True
        elif "granular" in marks.get("structType", []):
            out["granular"] = True
        if marks.get("default"):
            out["default"] = tables.compact_json(self._default(where, marks, home, file))
        for tag, attribute in (("patchStrategy", "patch"), ("patchMergeKey", "mergeKey")):
            value = entry.tags.get(tag, "")
            marked = ",".join(marks.get(tag, []))
            if marked and marked != value:
                self.report.warn(where, f"{tag} is {value!r} in the tag, {marked!r} in the marker")
            if value or marked:
                out[attribute] = value or marked
        if _is_required(entry, marks):
            out["required"] = True
        return out

    def _list_attributes(self, where, entry, marks, out):
        # There are older and newer markers; the OpenAPI file is generated from the older ones.
        kinds = marks.get("listType") or ([entry.tags["listType"]] if "listType" in entry.tags
                                          else [])
        keys = marks.get("listMapKey", [])
        newer = marks.get("k8s:listType")
        if newer and kinds and newer[-1] != kinds[-1]:
            self.report.warn(where, f"+listType={kinds[-1]} but +k8s:listType={newer[-1]}")
        if kinds:
            out["list"] = kinds[-1]
        if keys:
            out["keys"] = ",".join(keys)

    def _default(self, where, marks, home, file):
        text = marks["default"][-1]
        if text.startswith("ref("):
            return self.catalog.constant(home, file, text[4:-1])
        try:
            return json.loads(text)
        except ValueError:
            self.report.error(where, f"default {text} is not JSON")
            return None

    def _proto_tag(self, entry):
        words = entry.tags.get("protobuf", "").split(",")
        if len(words) < 2:
            return {}
        tag = {"number": int(words[1])}
        tag.update(word.split("=", 1) for word in words if word.startswith("name="))
        tag.setdefault("name", entry.name[:1].lower() + entry.name[1:])
        return tag

    def _check_wire(self, where, kind, wire, attributes):
        """Compares the Go type with the proto type; records an unexpected scalar type."""
        if kind.kind == "pointer":
            kind = kind.of
        if (kind.kind == "map") != bool(wire.map_key) or (kind.kind == "slice") != wire.repeated:
            self.report.error(where, f"Go {kind.kind} does not fit proto {wire}")
            return
        if kind.kind in ("map", "slice"):
            kind = kind.of
            if kind.kind == "pointer":
                kind = kind.of
        expected = self._proto_type(kind)
        if wire.type == expected:
            return
        if kind.kind in ("scalar", "enum"):
            attributes["wire"] = wire.type
            self.report.warn(where, f"is {wire.type} in proto, {expected} expected")
        else:
            self.report.error(where, f"is {wire.type} in proto, {expected} expected")

    def _proto_type(self, kind):
        if kind.kind == "enum":
            kind = kind.of
        if kind.kind == "scalar":
            return next(wire for name, wire in catalogs.SCALARS.values() if name == kind.name)
        if kind.kind == "bytes":
            return "bytes"
        return f"{self.catalog.proto(kind.path).package}.{kind.name}"

    def _text(self, kind):
        if kind.kind == "pointer":
            return "*" + self._text(kind.of)
        if kind.kind == "slice":
            return "[]" + self._text(kind.of)
        if kind.kind == "map":
            return f"map[{self._text(kind.key)}]{self._text(kind.of)}"
        if kind.kind == "bytes":
            return "bytes"
        if kind.kind in ("scalar", "any", "builtin") or kind.path == self.path:
            return kind.name
        return f"{label(kind.path)}.{kind.name}"

    def _check_messages(self):
        made = set(self.out.structs) | set(self.out.lists)
        for name in sorted(set(self.proto.messages) - made - _BUILTIN_MESSAGES):
            self.report.error(self._where(name), "is in generated.proto but not in the tables")
        for name in CODECS if self.path.startswith(_CODEC_PACKAGE) else ():
            if name not in self.out.structs:
                self.report.error(self._where(name), "has a codec here but is not in the sources")

    def _where(self, *names):
        return f"{label(self.path)}.{'.'.join(names)}"


def _is_required(entry, marks):
    """Applies the rule of the published OpenAPI; check.py compares the results."""
    if "inline" in entry.json_options or "required" in marks:
        return "required" in marks
    optional = "optional" in marks or "k8s:optional" in marks
    return not optional and not {"omitempty", "omitzero"} & set(entry.json_options)
