# SPDX-License-Identifier: Apache-2.0
"""Reads the declarations of one Go package: structs with their tags, named types, constants.

The sources are formatted by gofmt, so declarations start in column one and each line has one struct
field. Function bodies are skipped. Comments are kept for their +markers and for descriptions.
"""

import re
from dataclasses import dataclass, field

_IMPORT = re.compile(r'^(?:import )?\s*(?:(\w+|\.|_) )?"([^"]+)"$')
_STRUCT = re.compile(r"^type (\w+) struct ?\{(\})?")
_NAMED = re.compile(r"^type (\w+) (= )?([^\s/{]+(?:\{\})?)(?:\s*//.*)?$")
_CONST_ONE = re.compile(r"^const (.*)$")
_CONST = re.compile(r"^(\w+)(?:\s+([\w.]+))?\s*=\s*(.+?)\s*$")
_FIELD = re.compile(r"^(?:(\w+)\s+)?([\w.*\[\]]+(?:\{\})?)(?:\s+`([^`]*)`)?\s*(?://.*)?$")
_TAG = re.compile(r'(\w+):"((?:[^"\\]|\\.)*)"')
_REGISTERED = re.compile(r"&(\w+)\{\}")
_MARKER = re.compile(r"^\+([\w:.\-()]+)(?:=(.*))?$")


@dataclass
class GoField:
    name: str  # Go name; for an embedded field, the name of its type
    type: str  # Go type expression
    tags: dict
    comment: list
    embedded: bool = False

    @property
    def json_name(self):
        return self.tags.get("json", "").split(",")[0]

    @property
    def json_options(self):
        return self.tags.get("json", "").split(",")[1:]


@dataclass
class GoType:
    name: str
    file: str
    comment: list
    detached: list  # comments above `comment`, separated from it by blank lines
    fields: list = None  # if it is a struct
    target: str = ""  # type expression of any other type
    alias: bool = False


@dataclass
class GoConst:
    name: str
    type: str
    expression: str
    file: str


@dataclass
class GoPackage:
    path: str
    types: dict = field(default_factory=dict)
    constants: dict = field(default_factory=dict)
    imports: dict = field(default_factory=dict)  # file -> {local name -> import path}
    registered: set = field(default_factory=set)  # types added to the scheme as kinds


def markers(comment):
    """The +markers of a comment: name -> list of values ("" for a marker without value)."""
    out = {}
    for line in comment:
        if match := _MARKER.match(line.strip()):
            out.setdefault(match[1], []).append((match[2] or "").strip())
    return out


def load(path, directory):
    """Reads the package with import path `path` from the files of `directory`."""
    package = GoPackage(path)
    for file in sorted(directory.glob("*.go")):
        if file.name.endswith("_test.go") or file.name.startswith(("zz_", "generated.")):
            continue
        text = file.read_text(encoding="utf-8")
        _Reader(package, file.name, text).read()
        if file.name == "register.go":
            package.registered.update(_REGISTERED.findall(text))
    return package


class _Reader:
    def __init__(self, package, file, text):
        self.package = package
        self.file = file
        self.lines = text.splitlines()
        self.at = 0
        # The current comment, and the comments before it: a blank line may separate markers from
        # their declaration.
        self.comment = []
        self.detached = []

    def read(self):
        self.package.imports.setdefault(self.file, {})
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            if line.startswith("//"):
                self.comment.append(_text(line))
            elif not line:
                self.detached += self.comment
                self.comment = []
            else:
                self._declaration(line)
                self.comment, self.detached = [], []

    def _declaration(self, line):
        if line.startswith("/*"):
            while "*/" not in self.lines[self.at - 1]:
                self.at += 1
        elif line.startswith("import"):
            self._imports(line)
        elif match := _STRUCT.match(line):
            fields = [] if match[2] else self._fields()
            self._add_type(GoType(match[1], self.file, self.comment, self.detached, fields))
        elif match := _NAMED.match(line):
            self._add_type(GoType(match[1], self.file, self.comment, self.detached, None,
                                  match[3], bool(match[2])))
        elif line == "const (":
            self._constants()
        elif match := _CONST_ONE.match(line):
            self._constant(match[1])
        elif line.endswith(("{", "(")):
            self._skip_block()

    def _add_type(self, found):
        self.package.types[found.name] = found

    def _imports(self, line):
        block = []
        if line == "import (":
            while self.lines[self.at] != ")":
                block.append(self.lines[self.at])
                self.at += 1
        else:
            block.append(line)
        for entry in block:
            if match := _IMPORT.match(entry.strip()):
                local = match[1] or match[2].rsplit("/", 1)[-1]
                self.package.imports[self.file][local] = match[2]

    def _fields(self):
        fields, comment = [], []
        while self.lines[self.at] != "}":
            line = self.lines[self.at].strip()
            self.at += 1
            if line.startswith("//"):
                comment.append(_text(line))
                continue
            if not line:
                # As in Go's parser, a comment above a blank line does not belong to the field below.
                comment = []
                continue
            if line.startswith("/*"):
                comment = self._block_comment(line)
                continue
            match = _FIELD.match(line)
            if not match and "`" not in line:
                continue  # channels, functions: never part of an API type
            if not match:
                raise ValueError(f"{self.package.path}/{self.file}:{self.at}: {line}")
            name, kind, tag = match.groups()
            embedded = name is None
            name = name or kind.lstrip("*").rsplit(".", 1)[-1]
            fields.append(GoField(name, kind, dict(_TAG.findall(tag or "")), comment, embedded))
            comment = []
        self.at += 1
        return fields

    def _block_comment(self, line):
        out = [line[2:].strip()]
        while not out[-1].endswith("*/"):
            out.append(self.lines[self.at].strip())
            self.at += 1
        return [text for text in (*out[:-1], out[-1][:-2].strip()) if text]

    def _constants(self):
        while self.lines[self.at] != ")":
            line = self.lines[self.at].strip()
            self.at += 1
            if line and not line.startswith("//"):
                self._constant(line)

    def _constant(self, text):
        if match := _CONST.match(_without_comment(text)):
            name, kind, expression = match.groups()
            if cast := re.match(r'^([\w.]+)\(("[^"]*")\)$', expression):
                kind, expression = kind or cast[1], cast[2]
            self.package.constants[name] = GoConst(name, kind or "", expression, self.file)

    def _skip_block(self):
        while self.at < len(self.lines) and not self.lines[self.at].startswith(("}", ")")):
            self.at += 1
        self.at += 1


def _text(line):
    text = line.strip()[2:]
    return text[1:] if text.startswith(" ") else text


def _without_comment(text):
    """`text` up to a // that is not inside a string."""
    quoted = False
    for index, char in enumerate(text):
        if char == '"' and text[index - 1:index] != "\\":
            quoted = not quoted
        elif not quoted and text.startswith("//", index):
            return text[:index]
    return text
