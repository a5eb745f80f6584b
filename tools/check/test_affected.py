# SPDX-License-Identifier: Apache-2.0
"""Tests of .ci/affected: which layers the sanitizer phases of CI test after a change."""

import importlib.machinery
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load(path):
    loader = importlib.machinery.SourceFileLoader("affected", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("affected", loader))
    loader.exec_module(module)
    return module


AFFECTED = load(ROOT / ".ci" / "affected")
LAYERS = AFFECTED.common.read_layers("""
# low to high
base    :
net     : base
object  : base
include : base object
sdk     : base net object include
dns     : base sdk   # and nothing else
""")


EVERY = "base;net;object;include;sdk;dns;tests"


class AffectedTest(unittest.TestCase):
    def check(self, files, expected):
        self.assertEqual(";".join(AFFECTED.affected(LAYERS, files)), expected, files)

    def test_table(self):
        for files, expected in [
                ([], ""),
                (["README.md", "docs/up.md", "tests/e2e/story_test.py", "tools/check/words"], ""),
                (["src/dns/zone/zone.cc"], "dns;tests"),
                (["src/net/tcp.h"], "net;sdk;dns;tests"),
                (["src/base/clock.h"], EVERY),
                (["src/dns/CMakeLists.txt", "docs/up.md"], "dns;tests"),
                (["api/core/v1.api"], "object;include;sdk;dns;tests"),
                (["include/coxswain/client.h"], "include;sdk;dns;tests"),
                (["src/object/patch/testdata/json.json"], "object;include;sdk;dns;tests"),
                (["tests/sdk/cache_test.cc"], "tests"),
                (["examples/pod-preset/main.cc"], "tests"),
                (["CMakeLists.txt"], EVERY),
                (["cmake/CoxModule.cmake", "src/dns/dns.cc"], EVERY),
                (["tools/gen/header.cc"], EVERY),
                (["layers.txt"], EVERY),
                (["tests/paths/paths.h"], EVERY),
                (["tests/fuzz/json_fuzz.cc"], EVERY),
                ([".ci/run"], EVERY)]:
            with self.subTest(files):
                self.check(files, expected)

    def test_the_layers_of_the_tree(self):
        layers = AFFECTED.common.read_layers((ROOT / "layers.txt").read_text())
        self.assertEqual(AFFECTED.affected(layers, ["src/base/clock.cc"]), list(layers) + ["tests"])


if __name__ == "__main__":
    unittest.main()
