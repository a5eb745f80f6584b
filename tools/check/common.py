# SPDX-License-Identifier: Apache-2.0
"""Functions shared by the rules: the list of files, C++ without its comments and strings, the report.

A rule is an executable beside this file. It accepts --fix, --base REV and --all, and may ignore them.
It prints one line per finding and advice on the repair, and exits with 1 if there are findings.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

CPP = (".h", ".cc")
JOBS = os.cpu_count() or 2


def git(*args, check=True):
    done = subprocess.run(["git", *args], capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        sys.exit(f"git {' '.join(args)}: {done.stderr.strip()}")
    return done.stdout if done.returncode == 0 else ""


def enter_root():
    """Changes to the root of the tree, because rules print paths relative to it."""
    os.chdir(git("rev-parse", "--show-toplevel").strip())


def files(*suffixes, under=()):
    """Tracked and new files of the tree, without ignored files, sorted."""
    names = git("ls-files", "-co", "--exclude-standard", "-z").split("\0")
    return sorted(
        n for n in set(names)
        if n and os.path.isfile(n) and not os.path.islink(n)
        and (not suffixes or n.endswith(tuple(suffixes)))
        and (not under or n.startswith(tuple(u + "/" for u in under))))


def read_layers(text):
    """The layers of layers.txt, low to high, each with the names of the layers that it may use."""
    layers = {}
    for line in text.splitlines():
        name, colon, below = line.split("#")[0].partition(":")
        if colon:
            layers[name.strip()] = below.split()
    return layers


def changed(base):
    """Files that differ from `base`, committed or not; None if there is no revision to compare with."""
    if not git("rev-parse", "--verify", "-q", "HEAD", check=False):
        return None
    if not base:
        head = git("rev-parse", "HEAD").strip()
        base = git("merge-base", "HEAD", "origin/main", check=False).strip()
        if not base or base == head:
            base = git("rev-parse", "--verify", "-q", "HEAD~1", check=False).strip()
        if not base:
            return None
    names = git("diff", "--name-only", "-z", base).split("\0")
    names += git("ls-files", "-o", "--exclude-standard", "-z").split("\0")
    return sorted(n for n in set(names) if n and os.path.isfile(n))


def arguments(doc):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true", help="repair findings automatically where possible")
    parser.add_argument("--base", metavar="REV", help="the revision to compare with")
    parser.add_argument("--all", action="store_true", help="check every file, not only changed files")
    args = parser.parse_args()
    enter_root()
    return args


class Report:
    def __init__(self, advice):
        self.advice = advice
        self.findings = []

    def add(self, path, line, text):
        self.findings.append(f"{path}:{line}: {text}" if line else f"{path}: {text}")

    def exit(self):
        if self.findings:
            print("\n".join(self.findings))
            print(f"--> {self.advice}")
            sys.exit(1)
        sys.exit(0)


def allowed(path):
    """An allow list: lines `<key> <path> <reason>`; a line without a reason is an error."""
    entries = {}
    for number, line in enumerate(read(path).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split(None, 2)
        if len(parts) < 3:
            sys.exit(f"{path}:{number}: give a reason: <key> <path> <reason>")
        entries[(parts[0], parts[1])] = parts[2]
    return entries


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")


_TOKENS = re.compile(
    r'//[^\n]*(?:\\\n[^\n]*)*'                         # line comment
    r'|/\*.*?\*/'                                      # block comment
    r'|R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)"'     # raw string
    r'|"(?:\\.|[^"\\\n])*"'                            # string
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",           # character, not a digit separator
    re.DOTALL)


def code(text, raw=('"', '"')):
    """C++ with comments and the contents of literals blanked; lines and columns stay.

    `raw` contains the two delimiters that are written around blanked raw strings.
    """
    def blank(match):
        found = match.group(0)
        if found.startswith("/"):
            return re.sub(r"[^\n]", " ", found)
        if found.startswith("R"):
            return raw[0] + re.sub(r"[^\n]", " ", found[1:-1]) + raw[1]
        return found[0] + " " * (len(found) - 2) + found[-1]
    return _TOKENS.sub(blank, text)


def parallel(work, items):
    """[work(item) for item in items], on one thread per processor."""
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(work, items))


def clang_tool(name):
    """The name of an installed clang tool: version 16, which formats the tree, or else the next newer one."""
    for version in range(16, 24):
        if shutil.which(f"{name}-{version}"):
            return f"{name}-{version}"
    sys.exit(f"{name} is missing: run tools/dev/setup --build")


def compile_commands():
    """(directory, compile commands) of the first configured build. $COX_BUILD takes precedence."""
    folders = [os.environ.get("COX_BUILD", "")] + [f"build/{p}" for p in ("release", "debug", "asan", "tsan")]
    for folder in filter(None, folders):
        path = pathlib.Path(folder, "compile_commands.json")
        if path.exists():
            return path.parent, json.loads(path.read_text())
    sys.exit("no configured build: run cmake --preset release && cmake --build --preset release")
