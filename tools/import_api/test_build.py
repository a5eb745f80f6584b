# SPDX-License-Identifier: Apache-2.0
"""Tests of build.py and check.py with a small example package, including contradictions."""

import io
import tempfile
import unittest
from pathlib import Path

from import_api import descriptions, tables
from import_api.build import Builder
from import_api.catalog import Catalog
from import_api.check import Checker
from import_api.discovery import Discovery
from import_api.openapi import OpenAPI
from import_api.report import Report

PATH = "k8s.io/api/ships/v1"

REGISTER = """package v1

const GroupName = "ships.example"

func f() {
	g(&Ship{})
}
"""

TYPES = """package v1

import (
	"k8s.io/apimachinery/pkg/types"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Ship is a kind.
type Ship struct {
	Hull `json:",inline" protobuf:"bytes,3,opt,name=hull"`
	// +optional
	// +default="red"
	Colour *Colour `json:"colour,omitempty" protobuf:"bytes,1,opt,name=colour"`
	// +listType=map
	// +listMapKey=name
	Masts []Mast `json:"masts" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,2,rep"`
	Extra map[string]Words `json:"extra,omitempty" protobuf:"bytes,4,rep,name=extra"`
	Limits Limits `json:"limits,omitempty" protobuf:"bytes,5,rep,name=limits"`
	// +default=ref(Blue)
	Inner JSONOnly `json:"inner,omitempty"`
	Hidden bool `json:"-"`
}

type Hull struct {
	UID types.UID `json:"uid" protobuf:"bytes,1,opt,name=uid"`
}

// +structType=atomic
type Mast struct {
	// +required
	Name string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
}

type JSONOnly struct {
	Rate *float64 `json:"rate,omitempty"`
}

type Words []string
type Limits map[Colour]int32

// +enum
type Colour string

const (
	Red  Colour = "red"
	Blue Colour = Deep + "blue"
	Deep        = "deep "
)
"""

PROTO = """package k8s.io.api.ships.v1;
message Hull {
  optional string uid = 1;
}
message Mast {
  optional string name = 1;
}
message Ship {
  optional string colour = 1;
  repeated Mast masts = 2;
  optional Hull hull = 3;
  map<string, Words> extra = 4;
  map<string, int32> limits = 5;
}
message Words {
  repeated string items = 1;
}
"""

EXPECTED = """group ships.example v1
package k8s.io.api.ships.v1

kind Ship

enum Colour string closed
  Red "red"
  Blue "deep blue"

list Words string

struct Hull
  uid 1 string required

struct JSONOnly
  rate 0 *float64 omitempty

struct Mast atomic
  name 1 string omitempty required

struct Ship
  hull 3 Hull inline
  colour 1 *Colour omitempty default="red"
  masts 2 []Mast required list=map keys=name patch=merge mergeKey=name
  extra 4 map[string]Words omitempty
  limits 5 map[Colour]int32 omitempty
  inner 0 JSONOnly omitempty default="deep\\u0020blue"
"""


class BuildTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.report = Report(io.StringIO())

    def build(self, types=TYPES, proto=PROTO):
        ships, uid = self.root / "api/ships/v1", self.root / "apimachinery/pkg/types"
        for directory in (ships, uid):
            directory.mkdir(parents=True, exist_ok=True)
        (ships / "types.go").write_text(types, encoding="utf-8")
        (ships / "register.go").write_text(REGISTER, encoding="utf-8")
        (ships / "generated.proto").write_text(proto, encoding="utf-8")
        (uid / "uid.go").write_text("package types\n\ntype UID string\n", encoding="utf-8")
        catalog = Catalog([("k8s.io", self.root)])
        self.assertEqual(catalog.published(), [PATH])
        return Builder(catalog, PATH, Discovery(), self.report).build()

    def check(self, made, definitions):
        openapi = OpenAPI()
        openapi.definitions = definitions
        Checker({"ships/v1": made}, {"ships/v1": PATH}, openapi, self.report).run()

    def test_merges_go_and_proto(self):
        made = self.build()
        self.assertEqual(tables.render(made)[len(tables.HEADER):], EXPECTED)
        self.check(made, {})
        self.assertEqual((self.report.errors, self.report.warnings), ([], []))

    def test_fields_of_an_inlined_struct_have_descriptions_of_the_outer_struct(self):
        self.build(TYPES.replace("\tUID types.UID", "\t// UID is the number of the ship.\n\tUID types.UID"))
        target = self.root / "descriptions.tsv"
        descriptions.write(Catalog([("k8s.io", self.root)]), target)
        found = dict(line.split("\t") for line in target.read_text(encoding="utf-8").splitlines())
        self.assertEqual(found["ships/v1.Ship"], "Ship is a kind.")
        self.assertEqual(found["ships/v1.Hull.uid"], "UID is the number of the ship.")
        self.assertEqual(found["ships/v1.Ship.uid"], "UID is the number of the ship.")

    def test_a_root_may_stand_for_one_module(self):
        self.build()
        catalog = Catalog([("k8s.io/api", self.root / "api")])
        self.assertEqual(catalog.published(), [PATH])
        self.assertEqual(catalog.directory(PATH), self.root / "api/ships/v1")

    def test_contradictions_between_go_and_proto_are_errors(self):
        cases = {
            "number": ("optional string colour = 1;", "optional string colour = 9;"),
            "field only in proto": ("message Hull {", "message Hull {\n  optional bool new = 7;"),
            "field only in Go": ("  optional string uid = 1;\n", ""),
            "message only in proto": ("message Hull {", "message New {\n}\nmessage Hull {"),
            "not repeated": ("repeated Mast", "optional Mast"),
            "other message": ("repeated Mast", "repeated Hull"),
        }
        for name, (old, new) in cases.items():
            with self.subTest(name):
                self.report.errors.clear()
                self.build(proto=PROTO.replace(old, new))
                self.assertEqual(len(self.report.errors), 1, self.report.errors)

    def test_an_unusual_scalar_is_noted(self):
        made = self.build(proto=PROTO.replace("map<string, int32>", "map<string, sint32>"))
        field = next(f for f in made.structs["Ship"].fields if f.name == "limits")
        self.assertEqual(field.attributes["wire"], "sint32")

    def test_contradictions_with_openapi_are_errors(self):
        mast = {"properties": {"name": {"type": "string"}}, "required": ["name"],
                "x-kubernetes-map-type": "atomic"}
        cases = {
            "same": ({}, 0),
            "required": ({"required": []}, 1),
            "atomic": ({"x-kubernetes-map-type": "granular"}, 1),
            "properties": ({"properties": {}}, 1),
            "type": ({"properties": {"name": {"type": "integer", "format": "int32"}}}, 1),
            "list": ({"properties": {"name": {"type": "string",
                                              "x-kubernetes-list-type": "set"}}}, 1),
        }
        made = self.build()
        for name, (change, errors) in cases.items():
            with self.subTest(name):
                self.report.errors.clear()
                self.check(made, {"io.k8s.api.ships.v1.Mast": mast | change})
                self.assertEqual(len(self.report.errors), errors, self.report.errors)

    def test_a_reference_to_nowhere_is_an_error(self):
        made = self.build()
        made.structs["Hull"].fields[0].type = "[]other/v1.Thing"
        self.check(made, {})
        self.assertEqual(len(self.report.errors), 1)


if __name__ == "__main__":
    unittest.main()
