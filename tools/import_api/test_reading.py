# SPDX-License-Identifier: Apache-2.0
"""Tests of the readers of the inputs and of the text form of the tables."""

import io
import json
import tempfile
import unittest
from pathlib import Path

from import_api import cli, descriptions, gosource, proto, tables
from import_api.discovery import Discovery, Resource, Subresource
from import_api.report import Report


class ProtoTest(unittest.TestCase):
    def test_reads_fields_maps_and_foreign_types(self):
        file = proto.parse("""
/* licence
*/
syntax = "proto2";
package k8s.io.api.x.v1;
import "k8s.io/other/generated.proto";
option go_package = "k8s.io/api/x/v1";
// text
message A {
  // text
  optional string name = 1;
  repeated B items = 2;
  map<string, .k8s.io.other.Q> limits = 15 [deprecated=true];
}
message Empty {
}
""")
        self.assertEqual(file.package, "k8s.io.api.x.v1")
        self.assertEqual(file.messages["Empty"], {})
        self.assertEqual(list(file.messages["A"].values()), [
            proto.ProtoField("name", 1, "string"),
            proto.ProtoField("items", 2, "k8s.io.api.x.v1.B", repeated=True),
            proto.ProtoField("limits", 15, "k8s.io.other.Q", map_key="string")])

    def test_refuses_what_it_does_not_know(self):
        for line in ("oneof x {", "optional string a = x;", "reserved 4;"):
            with self.subTest(line), self.assertRaises(proto.ProtoError):
                proto.parse("package p;\nmessage A {\n  " + line + "\n}\n")

    def test_refuses_a_number_or_name_used_twice(self):
        for second in ("optional string b = 1;", "optional string a = 2;"):
            with self.subTest(second), self.assertRaises(proto.ProtoError):
                proto.parse("message A {\noptional string a = 1;\n" + second + "\n}\n")


class GoSourceTest(unittest.TestCase):
    def load(self, text, name="types.go"):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / name).write_text(text, encoding="utf-8")
            return gosource.load("k8s.io/api/x/v1", Path(folder))

    def test_reads_structs_with_tags_and_markers(self):
        package = self.load("""package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/api/core/v1"
)

// +genclient

// A is a thing.
// +structType=atomic
type A struct {
	metav1.TypeMeta `json:",inline"`
	/*
		old note
	*/

	// lost, a blank line follows

	// +listType=map
	// +listMapKey=a
	// +listMapKey=b
	Items []v1.Thing `json:"items,omitempty" protobuf:"bytes,2,rep,name=items"` // note
	ch    chan int
}

type Empty struct{}
type Other = v1.Other // note
""")
        found = package.types["A"]
        self.assertEqual(gosource.markers(found.comment), {"structType": ["atomic"]})
        self.assertEqual(gosource.markers(found.detached), {"genclient": [""]})
        meta, items = found.fields
        self.assertTrue(meta.embedded)
        self.assertEqual((meta.name, meta.json_name, meta.json_options),
                         ("TypeMeta", "", ["inline"]))
        self.assertEqual((items.name, items.type, items.json_name),
                         ("Items", "[]v1.Thing", "items"))
        self.assertEqual(gosource.markers(items.comment),
                         {"listType": ["map"], "listMapKey": ["a", "b"]})
        self.assertEqual(package.types["Empty"].fields, [])
        self.assertTrue(package.types["Other"].alias)
        self.assertEqual(package.imports["types.go"]["v1"], "k8s.io/api/core/v1")

    def test_reads_constants_and_skips_function_bodies(self):
        package = self.load("""package v1

const One Kind = "http://a" // note

const (
	// text
	Two   Kind = Prefix + "2"
	Three      = Kind("3")
)

func f() {
	const Four Kind = "4"
}
""")
        self.assertEqual({c.name: (c.type, c.expression) for c in package.constants.values()}, {
            "One": ("Kind", '"http://a"'), "Two": ("Kind", 'Prefix + "2"'),
            "Three": ("Kind", '"3"')})

    def test_refuses_a_tagged_field_it_cannot_read(self):
        with self.assertRaises(ValueError):
            self.load('package v1\n\ntype A struct {\n\tA, B string `json:"a"`\n}\n')

    def test_ignores_generated_and_test_files(self):
        for name in ("zz_generated.go", "generated.pb.go", "types_test.go"):
            with self.subTest(name):
                self.assertEqual(self.load("package v1\n\ntype A string\n", name).types, {})


class DiscoveryTest(unittest.TestCase):
    def test_reads_resources_and_puts_the_preferred_version_first(self):
        files = {
            "api.json": {"versions": ["v1"]},
            "apis.json": {"groups": [{"name": "g", "versions": [
                {"version": "v1"}, {"version": "v2"}], "preferredVersion": {"version": "v2"}}]},
            "api__v1.json": {"resources": []},
            "apis__g__v1.json": {"resources": []},
            "apis__g__v2.json": {"resources": [
                {"name": "as/own", "kind": "A", "namespaced": True, "verbs": ["get"],
                 "singularName": ""},
                {"name": "as/core", "kind": "C", "namespaced": True, "verbs": ["get"],
                 "singularName": "", "version": "v1"},
                {"name": "as", "kind": "A", "namespaced": True, "verbs": ["list"],
                 "singularName": "a", "shortNames": ["x"]}]},
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, content in files.items():
                (Path(folder) / name).write_text(json.dumps(content), encoding="utf-8")
            found = Discovery(folder)
        self.assertEqual(found.groups, [("", ["v1"]), ("g", ["v2", "v1"])])
        self.assertEqual(found.resources, {("g", "v2", "A"): Resource(
            "as", "a", ["x"], [], "namespaced", ["list"],
            [Subresource("own", "g", "v2", "A", ["get"]),
             Subresource("core", "", "v1", "C", ["get"])])})


class TablesTest(unittest.TestCase):
    def test_text_survives_a_round_trip(self):
        made = tables.GroupVersion("apps", "v1", "k8s.io.api.apps.v1")
        made.kinds = {"A": None}
        made.aliases = {"Old": "meta/v1.Table"}
        made.enums = {"E": tables.Enum("E", "string", True, [("X", ""), ("Y", "a b # c")])}
        made.lists = {"L": "string"}
        made.structs = {"A": tables.Struct("A", typemeta=True, codec="json", fields=[
            tables.Field("metadata", 1, "meta/v1.ObjectMeta", {"omitempty": True}),
            tables.Field("$x", 0, "map[string]L", {
                "required": True, "default": tables.compact_json({"a b": 1}), "keys": "a,b"})])}
        text = tables.render(made)
        self.assertEqual(tables.parse(text), made)
        self.assertIn('\n  $x 0 map[string]L required default={"a\\u0020b":1} keys=a,b\n', text)

    def test_writes_what_is_served(self):
        made = tables.GroupVersion("g", "v1", kinds={"A": Resource(
            "as", "", [], ["all"], "cluster", ["get", "list"],
            [Subresource("status", "", "v1", "A", ["get"])])})
        self.assertIn("kind A\n  plural as\n  categories all\n  scope cluster\n  verbs get list\n"
                      "  subresource status core/v1 A get\n", tables.render(made))

    def test_refuses_broken_lines(self):
        for line in ("structure A", "  a 1 string", "struct A\n  a x string", "struct A\n  a 1",
                     "struct A wrong=1", "enum A string\n  X y", "kind A\n  wrong a"):
            with self.subTest(line), self.assertRaises(ValueError):
                tables.parse("group g v1\n" + line + "\n")

    def test_refuses_to_write_unknown_attributes(self):
        made = tables.GroupVersion("g", "v1", structs={"A": tables.Struct("A", fields=[
            tables.Field("a", 1, "string", {"new": True})])})
        with self.assertRaises(ValueError):
            tables.render(made)


class GroupsTest(unittest.TestCase):
    def test_lists_served_groups_in_order_then_the_others_by_priority(self):
        made = {name: tables.GroupVersion(group, name.split("/")[1]) for name, group in (
            ("core/v1", "core"), ("x/v1", "x.io"), ("x/v1alpha1", "x.io"), ("x/v1beta1", "x.io"),
            ("x/v1beta2", "x.io"))}
        discovery = Discovery()
        discovery.groups = [("", ["v1"]), ("x.io", ["v1"])]
        report = Report(io.StringIO())
        text = cli.render_groups(made, discovery, report)
        self.assertEqual(text[len(tables.HEADER):], "group core core v1\ngroup x.io x v1\n"
                         "unserved\ngroup x.io x v1beta2 v1beta1 v1alpha1\n")
        discovery.groups.append(("y.io", ["v1"]))
        cli.render_groups(made, discovery, report)
        self.assertEqual(len(report.errors), 1)


class DescriptionsTest(unittest.TestCase):
    def test_flows_text_and_drops_markers(self):
        cases = (
            (["One", "two.", "+optional", "TODO: later", "---", "hidden"], "One two."),
            (["One.", "", "Two."], "One.\n\nTwo."),
            (["List:", "  - a", "  - b", "end"], "List:\n  - a\n  - b\nend"),
            ([], ""),
        )
        for comment, expected in cases:
            with self.subTest(comment):
                self.assertEqual(descriptions.flow(comment), expected)

    def test_escapes_so_that_an_item_stays_one_line(self):
        self.assertEqual(descriptions.escape("a\\n\nb\tc"), "a\\\\n\\nb\\tc")


if __name__ == "__main__":
    unittest.main()
