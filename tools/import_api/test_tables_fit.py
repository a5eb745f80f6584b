# SPDX-License-Identifier: Apache-2.0
"""Tests that the committed tables match the reference data; skipped with a message if it is absent."""

import json
import re
import unittest
from pathlib import Path

from import_api import tables
from import_api.walk import Walker, decode

_CHECKOUT = Path(__file__).resolve().parents[2]
_DATA = _CHECKOUT.parent / "shared" / "data"


def _load():
    api = _CHECKOUT / "api"
    return {path.relative_to(api).as_posix()[:-len(".api")]: tables.parse(
        path.read_text(encoding="utf-8")) for path in sorted(api.glob("*/*.api"))}


def _need(test, name):
    if not (_DATA / name).is_dir():
        test.skipTest(f"reference data {name} is not here")
    return _DATA / name


class WalkerTest(unittest.TestCase):
    """The walker reports each kind of mismatch, so that the tests below can fail."""

    def setUp(self):
        self.walker = Walker({"a/v1": tables.parse("""group a v1
enum E string
list L string
struct S typemeta
  hull 1 Hull inline
  e 2 E
  ns 3 []int32
  m 4 map[string]L
  q 5 *Quantity
struct Hull
  ok 1 bool
""")})
        self.struct = self.walker.tables["a/v1"].structs["S"]

    def test_json(self):
        cases = (
            ({"kind": "S", "ok": True, "e": "x", "ns": [1], "m": {"k": ["v"]}, "q": "1"}, 0),
            ({"ns": None, "q": 1}, 0), ({"hull": {}}, 1), ({"ok": 1}, 1), ({"e": 1}, 1),
            ({"ns": 1}, 1), ({"ns": [True]}, 1), ({"m": []}, 1), ({"m": {"k": "v"}}, 1),
            ({"q": {}}, 1), ([], 1))
        for value, problems in cases:
            with self.subTest(value):
                self.walker.problems.clear()
                self.walker.json_struct("S", "a/v1", self.struct, value)
                self.assertEqual(len(self.walker.problems), problems, self.walker.problems)

    def test_protobuf(self):
        cases = (
            (b"\x0a\x02\x08\x01" b"\x12\x01x" b"\x18\x96\x01", 0),
            (b"\x22\x08\x0a\x01k\x12\x03\x0a\x01v", 0),
            (b"\x22\x08\x0a\x01k\x12\x03\x12\x01v", 1),  # a list has items = 1 only
            (b"\x10\x01", 1), (b"\x0a\x02\x10\x01", 1), (b"\x32\x00", 1), (b"\x28\x01", 1))
        for data, problems in cases:
            with self.subTest(data):
                self.walker.problems.clear()
                self.walker.proto_struct("S", "a/v1", self.struct, data)
                self.assertEqual(len(self.walker.problems), problems, self.walker.problems)


class TablesFitTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tables = _load()
        cls.by_group = {(entry.group, entry.version): name for name, entry in cls.tables.items()}

    def test_tables_hold_no_number_or_name_twice(self):
        for home, entry in self.tables.items():
            for struct in entry.structs.values():
                names = [field.name for field in struct.fields]
                numbers = [field.number for field in struct.fields if field.number]
                with self.subTest(f"{home}.{struct.name}"):
                    self.assertEqual(len(names), len(set(names)))
                    self.assertEqual(len(numbers), len(set(numbers)))

    def test_every_type_word_leads_somewhere(self):
        walker = Walker(self.tables)
        for home, entry in self.tables.items():
            for struct in entry.structs.values():
                for field in struct.fields:
                    for word in re.findall(r"[\w/.\-]+", field.type.replace("map[", "[")):
                        if word not in tables.SCALARS | tables.BUILTINS:
                            self.assertTrue(walker.find(home, word)[1], f"{home} {word}")

    def test_every_kind_is_a_struct(self):
        for home, entry in self.tables.items():
            for kind in entry.kinds:
                self.assertIn(kind, entry.structs, home)

    def _golden(self, suffix):
        for path in sorted(_need(self, "api-golden").glob("*" + suffix)):
            group, version, kind = re.match(r"(.+)\.(v\w+)\.(\w+)\.\w+$", path.name).groups()
            home = self.by_group[group, version]
            if kind not in self.tables[home].kinds:
                home = "meta/v1"  # the kinds that every group version has
            self.assertIn(kind, self.tables[home].kinds, path.name)
            yield path, home, self.tables[home].structs[kind]

    def test_golden_json_is_explained(self):
        for path, home, struct in self._golden(".json"):
            walker = Walker(self.tables)
            walker.json_struct(path.stem, home, struct, json.loads(path.read_text("utf-8")))
            with self.subTest(path.name):
                self.assertEqual(walker.problems, [])

    def test_golden_json_is_complete(self):
        """The golden objects set every field of their kind, so each field of the tables must occur."""
        for path, home, struct in self._golden(".json"):
            walker = Walker(self.tables)
            expected = set(walker.json_fields(home, struct))
            with self.subTest(path.name):
                self.assertEqual(expected - set(json.loads(path.read_text("utf-8"))), set())

    def test_golden_protobuf_is_explained(self):
        for path, home, struct in self._golden(".pb"):
            data = path.read_bytes()
            self.assertEqual(data[:4], b"k8s\0")
            raw = next((load for number, _, load in decode(data[4:]) if number == 2), b"")
            walker = Walker(self.tables)
            walker.proto_struct(path.stem, home, struct, raw)
            with self.subTest(path.name):
                self.assertEqual(walker.problems, [])

    def test_served_group_versions_and_kinds_are_there(self):
        for path in sorted(_need(self, "discovery").glob("api*__*.json")):
            document = json.loads(path.read_text("utf-8"))
            if document["kind"] != "APIResourceList":
                continue
            group, _, version = document["groupVersion"].rpartition("/")
            for resource in document["resources"]:
                where = (resource.get("group", ""), resource["version"]) \
                    if "version" in resource else (group, version)
                home = self.by_group[where[0] or "core", where[1]]
                with self.subTest(f"{path.name} {resource['name']}"):
                    self.assertIn(resource["kind"], self.tables[home].kinds)

    def test_published_defaults_agree(self):
        folder = _need(self, "openapi/v3")
        for path in sorted(folder.glob("*__*_openapi.json")):
            schemas = json.loads(path.read_text("utf-8")).get("components", {}).get("schemas", {})
            for name, schema in schemas.items():
                home = "/".join(name.split(".")[-3:-1])
                struct = self.tables.get(home) and self.tables[home].structs.get(
                    name.rsplit(".", 1)[-1])
                if struct and not struct.codec:
                    with self.subTest(name):
                        self._compare(home, struct, schema)

    def _compare(self, home, struct, schema):
        walker = Walker(self.tables)
        fields = walker.json_fields(home, struct)
        for name, published in schema.get("properties", {}).items():
            if name not in fields:
                continue
            field = fields[name][1]
            default = published.get("default")
            if default not in (None, "", 0, False, {}):
                self.assertEqual(json.loads(field.attributes.get("default", "null")), default, name)
            elif "default" in field.attributes:
                self.assertEqual(json.loads(field.attributes["default"]), default, name)


if __name__ == "__main__":
    unittest.main()
