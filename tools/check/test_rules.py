#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the rules: each passes on a good tree and reports violations."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
GOOD = {
    "layers.txt": "# comment\nbase :\nobject : base\ninclude : base object\n",
    "CMakeLists.txt": "# SPDX-License-Identifier: Apache-2.0\nadd_subdirectory(src/base)\n",
    "src/base/CMakeLists.txt":
        "# SPDX-License-Identifier: Apache-2.0\ncox_sources(base\n  SOURCES\n    a.cc  # why\n  TESTS\n    a_test.cc\n)\n",
    "src/base/a.h": SPDX + "#pragma once\nnamespace cox {\nint A();\n}  // namespace cox\n",
    "src/base/a.cc": SPDX + '#include "base/a.h"\n\nnamespace cox {\nint A() { return 1; }\n}  // namespace cox\n',
    "src/base/a_test.cc": SPDX + '#include "base/a.h"\n',
    ".clang-format": "BasedOnStyle: Google\n",
}


class RuleTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copytree(HERE, self.root / "tools/check", ignore=shutil.ignore_patterns("__pycache__", "*.allow"))
        for name in ("sizes.allow", "banned.allow"):
            self.write(f"tools/check/{name}", "")
        for name, text in GOOD.items():
            self.write(name, text)
        self.write(".gitignore", "__pycache__/\nignored/\n")
        subprocess.run(["git", "init", "-q", self.root], check=True)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_rule(self, rule, *options):
        done = subprocess.run([self.root / "tools/check" / rule, *options], cwd=self.root, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        return done.returncode, done.stdout

    def assert_clean(self, rule):
        self.assertEqual((0, ""), self.run_rule(rule))

    def assert_finds(self, rule, *texts):
        code, output = self.run_rule(rule)
        self.assertEqual(1, code, output)
        for text in texts:
            self.assertIn(text, output)
        self.assertIn("--> ", output, "a rule prints advice on the repair")

    def test_a_good_tree_passes(self):
        for rule in ("spdx", "words", "layers", "sizes", "listed", "banned", "format"):
            with self.subTest(rule):
                self.assert_clean(rule)

    def test_ignored_files_are_not_looked_at(self):
        self.write("ignored/a.cc", "int  x;")
        for rule in ("spdx", "listed", "format"):
            self.assert_clean(rule)

    def test_spdx_finds_and_fixes_a_missing_line(self):
        self.write("src/base/a.h", "#pragma once\n")
        self.write("tools/x.py", "#!/usr/bin/env python3\npass\n")
        self.assert_finds("spdx", "src/base/a.h:1", "tools/x.py:2")
        self.run_rule("spdx", "--fix")
        self.assert_clean("spdx")
        self.assertEqual("#!/usr/bin/env python3\n# SPDX-License-Identifier: Apache-2.0\npass\n",
                         (self.root / "tools/x.py").read_text())

    def test_words_finds_paths_and_hosts(self):
        self.write("README.md", "see /wo" + "rk/x\nfine: dns.example.com, /registry/wo" + "rk/x\nget it at deb" + ".somewhere.org\n")
        self.assert_finds("words", "README.md:1: a path", "README.md:3: a package host")
        self.assertNotIn("README.md:2", self.run_rule("words")[1])

    def test_layers_hold(self):
        for include, message in {
                "object/x.h": 'base may not include "object/x.h"',
                "api/core/v1.h": "layer object",
                "coxswain/client.h": "layer include",
                "a.h": "write the path from there",
                "nowhere/x.h": "does not start with a folder",
        }.items():
            with self.subTest(include):
                self.write("src/base/a.cc", SPDX + f'#include "{include}"\n')
                self.assert_finds("layers", message)
        self.write("src/base/a.cc", SPDX + "#include <object/x.h>\n// #include \"object/x.h\"\n")
        self.assert_clean("layers")

    def test_layers_must_be_declared_low_to_high(self):
        self.write("layers.txt", "base : object\nobject :\n")
        self.assert_finds("layers", "layers.txt:1: base names object")
        self.write("src/other/x.h", SPDX)
        self.assert_finds("layers", "src/other has no line")

    def test_folders_of_a_module_have_an_order(self):
        self.write("layers.txt", "base :\n  low < .\n    < high\nobject : base\ninclude : base object\n")
        self.write("src/base/high/x.h", SPDX + '#include "base/a.h"\n#include "base/low/y.h"\n')
        self.write("src/base/low/y_test.cc", SPDX + '#include "base/high/x.h"\n')
        self.assert_clean("layers")
        self.write("src/base/low/y.h", SPDX + '#include "base/a.h"\n')
        self.assert_finds("layers", 'src/base/low/y.h:2: low may not include "base/a.h": . is above it')
        self.write("src/base/low/y.h", SPDX)
        self.write("src/base/new/z.h", SPDX + '#include "base/low/y.h"\n')
        self.assert_finds("layers", "src/base/new/z.h:2: the folder new is missing in layers.txt")

    def test_folders_do_not_include_each_other_in_a_cycle(self):
        self.write("src/base/one/x.h", SPDX + '#include "base/two/deep/y.h"\n')
        self.write("src/base/two/deep/y.h", SPDX + '#include "base/three/z.h"\n')
        self.write("src/base/three/z.h", SPDX)
        self.write("src/base/three/z_test.cc", SPDX + '#include "base/one/x.h"\n')
        self.assert_clean("layers")
        self.write("src/base/three/z.cc", SPDX + '#include "base/one/x.h"\n')
        self.assert_finds("layers", "src/base/one/x.h:2: ", "src/base/two/deep/y.h:2: ",
                          'src/base/three/z.cc:2: "base/one/x.h" is part of a cycle: ')

    def test_only_tests_include_the_folder_testing(self):
        self.write("src/base/testing/fake.h", SPDX + '#include "base/a.h"\n')
        self.write("src/base/a_test.cc", SPDX + '#include "base/testing/fake.h"\n')
        self.assert_clean("layers")
        self.write("src/base/a.h", SPDX + '#include "base/testing/fake.h"\n')
        self.assert_finds("layers", 'src/base/a.h:2: "base/testing/fake.h" is for tests only')

    def test_sizes_of_files(self):
        self.write("src/base/a.h", SPDX + "\n" * 399)
        self.assert_clean("sizes")
        self.write("src/base/a.h", SPDX + "\n" * 400)
        self.assert_finds("sizes", "401 lines, limit 400")
        self.write("tools/check/sizes.allow", "file src/base/a.h it is a list of facts\n")
        self.assert_clean("sizes")

    def test_sizes_of_functions(self):
        body = "  f();\n" * 99
        for head, name in {
                "int F() ": "F", "void C::M(int a, int b) const noexcept ": "C::M",
                "template <typename T>\nauto G(T t) -> int ": "G",
                "C::C() : a_{1}, b_(2) ": "", "TEST(Suite, Name) ": "Suite.Name",
                "struct S {\n  void M() ": "M",
        }.items():
            with self.subTest(head):
                closing = "}\n};\n" if head.startswith("struct") else "}\n"
                self.write("src/base/a.cc", SPDX + f"namespace x {{\n{head}{{\n{body}{closing}}}\n")
                self.assert_finds("sizes", f"{name} has 101 lines")

    def test_what_is_not_a_function_may_be_long(self):
        rows = '    {"a", {1, 2}},\n' * 150
        lines = "  f(); // {\n" * 60
        for text in (
                f"const T kTable[] = {{\n{rows}}};\n",
                f"void F() {{\n{lines}  const T table[] = {{\n{rows}  }};\n  for (auto& t : table) {{\n  }}\n}}\n",
                f"void F() {{\n  Run({{\n{rows}  }});\n}}\n",
                f"namespace {{\nclass C {{\n{'  int a_;' + chr(10)}" + "  void M();\n" * 150 + "};\n}\n",
                'void F() {\n  const char* s = R"(' + "{\n" * 150 + ')";\n}\n',
                'void F() {\n  Parse(R"x(' + "{\n" * 150 + ')x", 1);\n}\n',
        ):
            with self.subTest(text[:40]):
                self.write("src/base/a.cc", SPDX + text)
                self.assert_clean("sizes")

    def test_blocks_in_functions_count(self):
        for opening in ("if (x) {", "else {", "do {", "for (;;) {", "auto f = [&](int x) {", "switch (x) {\n    case 1: {"):
            with self.subTest(opening):
                closing = "  }\n" * opening.count("{")
                self.write("src/base/a.cc", SPDX + f"void F() {{\n  {opening}\n" + "    f();\n" * 100 + closing + "}\n")
                self.assert_finds("sizes", "F has 10")

    def test_an_allowance_that_is_not_needed_is_found(self):
        for rule, line in {"sizes": "file src/base/a.h because\n", "banned": "new src/base/a.h because\n"}.items():
            self.write(f"tools/check/{rule}.allow", line)
            self.assert_finds(rule, "not needed any more")

    def test_an_allowance_without_reason_is_refused(self):
        self.write("tools/check/sizes.allow", "file src/base/a.h\n")
        code, output = self.run_rule("sizes")
        self.assertEqual(1, code)
        self.assertIn("give a reason", output)

    def test_listed(self):
        listing = GOOD["src/base/CMakeLists.txt"]
        for text, message in {
                listing.replace("a.cc", ""): "src/base/a.cc: is in no list",
                listing.replace("a_test.cc", ""): "src/base/a_test.cc: is in no list",
                listing.replace("TESTS", ""): "a_test.cc: is built by src/base/CMakeLists.txt, but not as a test",
                listing.replace("a.cc", "a.cc a.cc"): "is in 2 lists",
                listing.replace("a.cc", "a.cc b.cc"): "names b.cc, which does not exist",
                listing.replace("    a.cc  # why", "    # a.cc"): "src/base/a.cc: is in no list",
        }.items():
            with self.subTest(message):
                self.write("src/base/CMakeLists.txt", text)
                self.assert_finds("listed", message)
        self.write("src/base/CMakeLists.txt", listing)
        self.write("src/lost/CMakeLists.txt", "")
        self.assert_finds("listed", "src/lost/CMakeLists.txt: no add_subdirectory leads here")

    def test_banned_calls(self):
        for line, rule in {
                "auto t = std::chrono::steady_clock::now();": "clock", "long t = time(nullptr);": "clock",
                "std::this_thread::sleep_for(1s);": "sleep", "usleep(3);": "sleep", "std::regex r;": "regex",
                "auto* p = new Foo;": "new", "delete p;": "new", "delete[] p;": "new", "new (p) Foo();": "new",
                "t.detach();": "detach", "std::cout << 1;": "stdout", 'printf("x");': "stdout",
                'system("ls");': "shell", 'std::system("ls");': "shell", "throw 1;": "throw",
        }.items():
            with self.subTest(line):
                self.write("src/object/x.cc", SPDX + line + "\n")
                self.assert_finds("banned", f"[{rule}]")

    def test_what_only_looks_banned_passes(self):
        self.write("src/object/x.cc", SPDX + "\n".join([
            "// a new sleep_for in a comment", 'auto s = "throw new std::regex";', "Foo(const Foo&) = delete;",
            "int new_value = renew(1);", "void* operator new(size_t);", "clock.time(0);", "int x = 1'000'000;",
            "file_system(x);", "snprintf(b, 1, f);", "e.time (x);"]) + "\n")
        self.assert_clean("banned")

    def test_base_may_read_the_clock(self):
        self.write("src/base/a.cc", SPDX + "auto t = std::chrono::steady_clock::now();\n")
        self.assert_clean("banned")

    def test_format_finds_and_fixes(self):
        self.write("src/base/a.cc", SPDX + "int  x ;\n")
        self.assert_finds("format", "src/base/a.cc:2: not formatted")
        self.run_rule("format", "--fix")
        self.assert_clean("format")

    def test_headers_compile_alone(self):
        self.write("build/release/compile_commands.json", "[]")
        self.assert_clean("headers")
        self.write("src/base/a.h", SPDX + "#pragma once\nstd::string A();\n")
        self.assert_finds("headers", "src/base/a.h: does not compile alone")

    def test_all_runs_the_rules_and_fails_if_one_does(self):
        code, output = self.run_rule("all", "spdx", "layers")
        self.assertEqual(0, code, output)
        self.write("src/base/a.h", "#pragma once\n")
        code, output = self.run_rule("all", "spdx", "layers")
        self.assertEqual(1, code)
        self.assertRegex(output, r"FAIL spdx .*\n.*src/base/a\.h(.|\n)*ok   layers")
        self.assertIn("failed: spdx", output)


if __name__ == "__main__":
    unittest.main()
