# SPDX-License-Identifier: Apache-2.0
"""Tests of messages.py: messages of a gRPC service in a proto3 file."""

import unittest

from import_api import messages, tables
from import_api.proto import ProtoError

_TEXT = """
/* licence
*/
syntax = "proto3";
package runtime.v1;
option go_package = "x";

// text
service S {
    // text
    rpc Get(GetRequest) returns (GetResponse) {}
}
message GetRequest {}
message GetResponse {
    Inner inner = 1;  // text
    repeated Inner more = 2;
    map<string,string> labels = 3;
    uint64 size = 4 [deprecated=true];
    State state = 5;
    WindowsThing windows = 6;
    enum Mode {
        RuntimeDefault = 0;
    }
    Mode mode = 7;
}
message Inner{
    repeated int64 groups = 1;
    uint32 attempt  = 2 ;
    double average = 3;
}
message WindowsThing { 
    string name = 1;
}
enum State {
    CONTAINER_CREATED = 0;
    CONTAINER_RUNNING   = 1;
}
""".replace("{ \n", "{\n")


class MessagesTest(unittest.TestCase):
    def test_fields(self):
        made = messages.parse(_TEXT, "v1")
        self.assertEqual(made.package, "runtime.v1")
        self.assertEqual(list(made.structs), ["GetRequest", "GetResponse", "Inner"])
        self.assertEqual([(f.name, f.number, f.type) for f in made.structs["GetResponse"].fields], [
            ("inner", 1, "*Inner"), ("more", 2, "[]Inner"), ("labels", 3, "map[string]string"),
            ("size", 4, "int64"), ("state", 5, "State"), ("mode", 7, "Mode")])
        self.assertEqual([f.type for f in made.structs["Inner"].fields],
                         ["[]int64", "int64", "float64"])

    def test_enums(self):
        made = messages.parse(_TEXT, "v1")
        self.assertEqual(made.enums["State"].values, [("Created", 0), ("Running", 1)])
        self.assertEqual(made.enums["Mode"].values, [("RuntimeDefault", 0)])
        self.assertEqual(made.enums["Mode"].base, "int32")

    def test_text_is_read_back(self):
        made = messages.parse(_TEXT, "v1")
        self.assertEqual(tables.parse(tables.render(made)), made)

    def test_unknown_lines_and_types_are_errors(self):
        for text in ("message A {\n  oneof x {\n", "message A {\n  B b = 1;\n}\n", "extend A {\n"):
            with self.assertRaises(ProtoError):
                messages.parse(text, "v1")


if __name__ == "__main__":
    unittest.main()
