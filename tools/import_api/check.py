# SPDX-License-Identifier: Apache-2.0
"""Compares tables with the OpenAPI file and with each other."""

from import_api.tables import BUILTINS, SCALARS


class Checker:
    """`tables` maps "apps/v1" to a GroupVersion, `paths` maps it to the Go import path."""

    def __init__(self, tables, paths, openapi, report):
        self.tables = tables
        self.paths = paths
        self.openapi = openapi
        self.report = report

    def run(self):
        for name, group_version in sorted(self.tables.items()):
            for struct in group_version.structs.values():
                for field in struct.fields:
                    self._check_reference(name, struct, field)
                definition = self.openapi.definition(self.paths[name], struct.name)
                if definition and not struct.codec:
                    self._check_definition(name, group_version, struct, definition)

    def find(self, home, reference):
        """(table name, GroupVersion, type name) of a type word without *, [] and map."""
        where, dot, name = reference.rpartition(".")
        return (where if dot else home), self.tables.get(where if dot else home), name

    def _check_reference(self, home, struct, field):
        for word in field.type.replace("*", "").replace("[]", "").replace("map[", "").split("]"):
            if word in BUILTINS or word in SCALARS:
                continue
            _, target, name = self.find(home, word)
            if target is None or not (name in target.structs or name in target.enums
                                      or name in target.lists):
                self.report.error(f"{home}.{struct.name}.{field.name}", f"unknown type {word}")

    def json_fields(self, home, struct):
        """(table name, Field) of all JSON fields, inlined structs included."""
        for field in struct.fields:
            if "inline" not in field.attributes:
                yield home, field
                continue
            where, target, name = self.find(home, field.type.lstrip("*"))
            yield from self.json_fields(where, target.structs[name])

    def _check_definition(self, home, group_version, struct, definition):
        where = f"{home}.{struct.name}"
        properties = definition.get("properties", {})
        fields = {field.name: field for _, field in self.json_fields(home, struct)}
        known = set(fields) | ({"kind", "apiVersion"} if struct.typemeta else set())
        if known != set(properties):
            different = sorted(known ^ set(properties))
            self.report.error(where, f"fields differ from OpenAPI: {different}")
            return
        for field in fields.values():
            self._check_field(f"{where}.{field.name}", field, properties[field.name],
                              field.name in definition.get("required", []))
        self._same(where, "atomic", struct.atomic or None,
                   definition.get("x-kubernetes-map-type") == "atomic" or None)
        if struct.name in group_version.kinds:
            self._check_kind(where, group_version, struct, definition)

    def _check_field(self, where, field, schema, required):
        get = field.attributes.get
        self._same(where, "required", get("required"), required or None)
        self._same(where, "list", get("list"), schema.get("x-kubernetes-list-type"))
        self._same(where, "keys", get("keys"),
                   ",".join(schema.get("x-kubernetes-list-map-keys", [])) or None)
        self._same(where, "atomic", get("atomic"),
                   schema.get("x-kubernetes-map-type") == "atomic" or None)
        if get("granular"):
            self._same(where, "granular", "granular", schema.get("x-kubernetes-map-type"))
        self._same(where, "patch", get("patch"), schema.get("x-kubernetes-patch-strategy"))
        self._same(where, "mergeKey", get("mergeKey"), schema.get("x-kubernetes-patch-merge-key"))
        shape = _shape(field.type)
        published = _published_shape(schema)
        if shape and shape != published:
            self.report.error(where, f"is {field.type} here, {published} in OpenAPI")

    def _check_kind(self, where, group_version, struct, definition):
        group = "" if group_version.group == "core" else group_version.group
        own = {"group": group, "version": group_version.version, "kind": struct.name}
        published = definition.get("x-kubernetes-group-version-kind", [])
        if group != "meta.k8s.io" and own not in published:
            self.report.warn(where, "is a kind here but OpenAPI gives it no group version kind")

    def _same(self, where, attribute, mine, published):
        if mine != published:
            self.report.error(where, f"{attribute}: sources say {mine}, OpenAPI says {published}")


def _shape(text):
    text = text.lstrip("*")
    if text.startswith("[]"):
        return "array"
    if text.startswith("map["):
        return "map"
    return {"bool": "boolean", "int32": "int32", "int64": "int64", "float64": "double",
            "string": "string", "bytes": "byte"}.get(text, "")


def _published_shape(schema):
    if "additionalProperties" in schema:
        return "map"
    return schema.get("format") or schema.get("type", "$ref")
