# SPDX-License-Identifier: Apache-2.0
"""Writes the descriptions of types and fields, for `kubectl explain` and the OpenAPI documents.

The texts are upstream's, so they are extracted during the build and never committed.
"""

from import_api import catalog as catalogs
from import_api.catalog import label


def write(catalog, target):
    """Writes one line per item: "apps/v1.Deployment.spec<TAB>text", newlines as \\n.

    The key of a builtin type is its bare name. The fields of an inlined struct also have keys of the outer struct.
    """
    lines = []
    for (path, name), bare in sorted(catalogs.BUILTINS.items(), key=lambda item: item[1]):
        package = catalog.package(path)
        if package and name in package.types and (text := flow(package.types[name].comment)):
            lines.append(f"{bare}\t{escape(text)}")
    for path in catalog.published():
        for name, found in sorted(catalog.package(path).types.items()):
            if name[0].isupper() and not found.alias and (path, name) not in catalogs.BUILTINS:
                lines += _type_lines(catalog, path, name, found)
    target.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def _type_lines(catalog, path, name, found):
    where = f"{label(path)}.{name}"
    if text := flow(found.comment):
        yield f"{where}\t{escape(text)}"
    for field, text in _field_texts(catalog, path, name).items():
        yield f"{where}.{field}\t{escape(text)}"


def _field_texts(catalog, path, name):
    """The descriptions of a struct's fields by JSON name; those of inlined structs yield to its own."""
    try:
        home, file, fields = catalog.struct_fields(path, name)
    except (KeyError, AttributeError):
        return {}
    own, inlined = {}, {}
    for entry in fields:
        if entry.json_name == "-":
            continue
        if entry.json_name:
            if text := flow(entry.comment):
                own[entry.json_name] = text
        elif entry.embedded and (inner := catalog.locate(home, file, entry.type)) != catalogs.TYPE_META:
            inlined |= _field_texts(catalog, *inner)
    return inlined | own


def flow(comment):
    """Joins comment lines as the published OpenAPI does.

    Markers and TODO lines are removed, "---" ends the text, a blank line separates paragraphs, and
    an indented line stays a separate line.
    """
    out = ""
    for line in comment:
        line = line.rstrip()
        if line == "---":
            break
        if line.lstrip().startswith(("+", "TODO")):
            continue
        if not line:
            out = out.rstrip() + "\n\n"
        elif line.startswith((" ", "\t")):
            out = out.rstrip(" ") + ("" if out.endswith("\n") else "\n") + line + "\n"
        else:
            out += line + " "
    return out.strip()


def escape(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
