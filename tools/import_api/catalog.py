# SPDX-License-Identifier: Apache-2.0
"""Finds packages in the source trees and resolves Go types across them."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from import_api import gosource, proto

# Import path patterns below k8s.io of the packages that become tables.
PUBLISHED = (
    "api/*/v*",
    "apimachinery/pkg/apis/meta/v*",
    "apiextensions-apiserver/pkg/apis/apiextensions/v*",
    "kube-aggregator/pkg/apis/apiregistration/v*",
    "metrics/pkg/apis/metrics/v1beta1",
)

_META = "k8s.io/apimachinery/pkg/apis/meta/v1"
BUILTINS = {
    ("k8s.io/apimachinery/pkg/api/resource", "Quantity"): "Quantity",
    ("k8s.io/apimachinery/pkg/util/intstr", "IntOrString"): "IntOrString",
    ("k8s.io/apimachinery/pkg/runtime", "RawExtension"): "RawExtension",
    (_META, "Time"): "Time",
    (_META, "MicroTime"): "MicroTime",
    (_META, "Duration"): "Duration",
    (_META, "FieldsV1"): "FieldsV1",
}
# Go scalar -> (scalar in tables, proto scalar)
SCALARS = {
    "bool": ("bool", "bool"), "string": ("string", "string"), "float64": ("float64", "double"),
    "int32": ("int32", "int32"), "int64": ("int64", "int64"),
}
TYPE_META = (_META, "TypeMeta")


@dataclass(frozen=True)
class Type:
    """A resolved Go type. `of` is its element; `path` and `name` identify a named type.

    kind: pointer, slice, map, scalar, bytes, any, builtin, struct, enum, list
    """
    kind: str
    name: str = ""
    path: str = ""
    of: "Type" = None
    key: "Type" = None


class Catalog:
    """All packages below the given roots. A root is the folder of the import path `prefix`."""

    def __init__(self, roots):
        self.roots = roots  # [(import path prefix, Path)]
        self._packages = {}
        self._protos = {}
        self._published = set(self.published())

    def directory(self, path):
        for prefix, root in self.roots:
            if path == prefix or path.startswith(prefix + "/"):
                directory = root / path[len(prefix):].lstrip("/")
                if directory.is_dir():
                    return directory
        return None

    def published(self):
        """Import paths of all packages that become tables, sorted."""
        found = set()
        for prefix, root in self.roots:
            for pattern in PUBLISHED:
                pattern = "k8s.io/" + pattern
                if prefix == "k8s.io":
                    relative = pattern[len("k8s.io/"):]
                elif pattern.startswith(prefix + "/"):
                    relative = pattern[len(prefix) + 1:]
                else:
                    continue
                for file in root.glob(relative + "/generated.proto"):
                    found.add(f"{prefix}/{file.parent.relative_to(root).as_posix()}")
        return sorted(found)

    def package(self, path):
        """The Go package, or None if no root contains it."""
        if path not in self._packages:
            directory = self.directory(path)
            self._packages[path] = gosource.load(path, directory) if directory else None
        return self._packages[path]

    def proto(self, path):
        """The ProtoFile of a package; empty if it has none."""
        if path not in self._protos:
            file = (self.directory(path) or Path()) / "generated.proto"
            self._protos[path] = proto.ProtoFile()
            if file.is_file():
                self._protos[path] = proto.parse(file.read_text(encoding="utf-8"), path)
        return self._protos[path]

    def resolve(self, path, file, expression):
        """The Type of `expression` in `file` of package `path`."""
        if expression.startswith("*"):
            return Type("pointer", of=self.resolve(path, file, expression[1:]))
        if expression in ("[]byte", "[]uint8"):
            return Type("bytes")
        if expression.startswith("[]"):
            return Type("slice", of=self.resolve(path, file, expression[2:]))
        if match := re.match(r"^map\[([\w.]+)\](.+)$", expression):
            return Type("map", key=self.resolve(path, file, match[1]),
                        of=self.resolve(path, file, match[2]))
        if expression in SCALARS:
            return Type("scalar", SCALARS[expression][0])
        if expression in ("interface{}", "any"):
            return Type("any", "any")
        return self._named(*self.locate(path, file, expression))

    def locate(self, path, file, expression):
        """(import path, name) of a possibly qualified type or constant name."""
        package, dot, name = expression.rpartition(".")
        if not dot:
            return path, name
        return self.package(path).imports[file][package], name

    def _named(self, path, name):
        if builtin := BUILTINS.get((path, name)):
            return Type("builtin", builtin, path)
        package = self.package(path)
        found = package and package.types.get(name)
        if not found:
            raise KeyError(f"{path}.{name} is not in the sources")
        if found.fields is not None:
            return Type("struct", name, path)
        target = self.resolve(path, found.file, found.target)
        if found.alias:
            return target
        if target.kind == "struct":  # type T other.T: a separate struct with the same fields
            return Type("struct", name, path)
        if target.kind == "scalar":
            # Named scalars of packages without tables (UID, NodeName) are replaced by their base.
            return Type("enum", name, path, of=target) if path in self._published else target
        if target.kind == "slice" and name in self.proto(path).messages:
            return Type("list", name, path, of=target.of)
        return target  # a named map or slice is replaced by its definition

    def struct_fields(self, path, name):
        """(package path, file, fields) of a struct, following `type T other.T`."""
        found = self.package(path).types[name]
        if found.fields is not None:
            return path, found.file, found.fields
        return self.struct_fields(*self.locate(path, found.file, found.target))

    def constant(self, path, file, expression):
        """The value of a constant expression: strings, numbers, booleans, sums, references."""
        parts = re.findall(r'"(?:[^"\\]|\\.)*"|[\w.\-]+|\+', expression)
        if len(parts) > 1:
            values = [self.constant(path, file, part) for part in parts if part != "+"]
            return "".join(values)
        if re.match(r'^("|-?\d+$|true$|false$)', expression):
            return json.loads(expression)
        where, name = self.locate(path, file, expression)
        found = self.package(where).constants[name]
        return self.constant(where, found.file, found.expression)


def label(path):
    """k8s.io/api/apps/v1 -> apps/v1, the name of a table file."""
    return "/".join(path.split("/")[-2:])
