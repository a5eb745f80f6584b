#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the installed SDK outside of the source tree.

After cmake --install, new operators find it with find_package, build and pass their tests. Types
generated from a CustomResourceDefinition produce the same definition again.
"""

import pathlib
import subprocess
import sys
import tempfile

ROUND_TRIP = """cmake_minimum_required(VERSION 3.25)
project(round-trip LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(Coxswain REQUIRED)
coxswain_types(backups FROM "${CRDS}" NAMESPACE demo STEMS backup_v1)
coxswain_crds(again LIBRARY backups HEADERS backup_v1.h KINDS demo::v1::Backup OUTPUT crds.yaml)
"""


def run(*command, cwd=None):
    print("+", " ".join(str(word) for word in command), flush=True)
    subprocess.run([str(word) for word in command], cwd=cwd, check=True, timeout=900)


def build(source, prefix, *options):
    folder = source / "build"
    run("cmake", "-S", source, "-B", folder, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -Wall -Wextra -Werror", *options)
    run("cmake", "--build", folder)
    return folder


def main():
    build_folder = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="cox-package-") as scratch:
        root = pathlib.Path(scratch)
        prefix = root / "prefix"
        run("cmake", "--install", build_folder, "--prefix", prefix)
        program = prefix / "bin" / "coxswain"

        run(program, "new", "operator", "config-counter", cwd=root)
        folder = build(root / "config-counter", prefix)
        run("ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error")
        run(folder / "config-counter", "--help")

        run(program, "new", "operator", "backup-operator", "--group", "example.com", "--kind", "Backup", cwd=root)
        folder = build(root / "backup-operator", prefix)
        run("ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error")

        # Generate structs from the built definition, and a definition from the structs.
        definition = folder / "deploy" / "crds.yaml"
        again = root / "round-trip"
        again.mkdir()
        (again / "CMakeLists.txt").write_text(ROUND_TRIP)
        folder = build(again, prefix, f"-DCRDS={definition}")
        first, second = definition.read_text(), (folder / "crds.yaml").read_text()
        if first != second:
            print(f"the definition changed on its way through C++:\n{first}\n{second}")
            return 1
    print("ok")
    return 0


sys.exit(main())
