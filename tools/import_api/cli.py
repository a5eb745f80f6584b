# SPDX-License-Identifier: Apache-2.0
"""The command line: reads all inputs and writes api/ or the descriptions."""

import argparse
import re
import sys
from pathlib import Path

from import_api import descriptions, messages, tables
from import_api.build import Builder
from import_api.catalog import Catalog, label
from import_api.check import Checker
from import_api.discovery import Discovery
from import_api.openapi import OpenAPI
from import_api.report import Report

DEFAULT_SOURCE = "/usr/share/gocode/src/k8s.io"


def main(argv=None):
    options = _options(argv)
    if options.cri:
        made = messages.parse(options.cri.read_text(encoding="utf-8"), "v1", options.cri.name)
        _write(options.out, {"cri/v1.api": tables.render(made)})
        return 0
    report = Report()
    catalog = Catalog([_root(source) for source in options.source or [DEFAULT_SOURCE]])
    if not catalog.published():
        report.error("sources", "hold no API package; install golang-k8s-api-dev or use --source")
    elif options.descriptions:
        descriptions.write(catalog, options.descriptions)
    else:
        _import(options, catalog, report)
    if report.errors:
        print(f"import-api: {len(report.errors)} errors, nothing written", file=sys.stderr)
        return 1
    return 0


def _options(argv):
    parser = argparse.ArgumentParser(
        prog="import-api", description="Writes the API tables from the published definitions.")
    parser.add_argument("--source", action="append", metavar="[NAME=]DIR",
                        help="folder of k8s.io, or with NAME of k8s.io/NAME; can be "
                             f"repeated (default: {DEFAULT_SOURCE})")
    parser.add_argument("--openapi", metavar="FILE", help="OpenAPI v2 file to compare with")
    parser.add_argument("--discovery", metavar="DIR", help="folder with discovery documents")
    parser.add_argument("--out", metavar="DIR", type=Path,
                        default=Path(__file__).resolve().parents[2] / "api",
                        help="folder to write to (default: api/ of this checkout)")
    parser.add_argument("--descriptions", metavar="OUT", type=Path,
                        help="write field descriptions to this file instead of tables")
    parser.add_argument("--cri", metavar="FILE", type=Path,
                        help="api.proto of the container runtime interface: only write cri/v1.api")
    options = parser.parse_args(argv)
    if not options.cri and not options.descriptions and not (options.openapi and options.discovery):
        parser.error("--openapi and --discovery are needed to write tables")
    return options


def _root(source):
    name, equals, directory = source.partition("=")
    return (f"k8s.io/{name}", Path(directory)) if equals else ("k8s.io", Path(source))


def _import(options, catalog, report):
    discovery = Discovery(options.discovery)
    paths = {label(path): path for path in catalog.published()}
    made = {name: Builder(catalog, path, discovery, report).build()
            for name, path in paths.items()}
    Checker(made, paths, OpenAPI(options.openapi), report).run()
    groups = render_groups(made, discovery, report)
    if report.errors:
        return
    files = {f"{name}.api": tables.render(made[name]) for name in made} | {"groups.api": groups}
    _remove_others(options.out, files)
    _write(options.out, files)


def _remove_others(out, files):
    """Removes .api files that are no longer generated, except those that --cri writes."""
    for old in out.rglob("*.api"):
        if old.relative_to(out).as_posix() not in files and old.parent.name != "cri":
            old.unlink()


def _write(out, files):
    for name, text in files.items():
        target = out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


def render_groups(made, discovery, report):
    """The text of groups.api."""
    folders = {(entry.group, entry.version): name.split("/")[0] for name, entry in made.items()}
    lines = [tables.HEADER.rstrip("\n")]
    left = dict(folders)
    for group, versions in discovery.groups:
        group = group or "core"
        for version in versions:
            if left.pop((group, version), None) is None:
                report.error(f"{group}/{version}", "is served but not in the sources")
        folder = folders.get((group, versions[0]), "?")
        lines.append(" ".join(["group", group, folder, *versions]))
    lines.append("unserved")
    unserved = {}
    for (group, version), folder in left.items():
        unserved.setdefault((group, folder), []).append(version)
    for (group, folder), versions in sorted(unserved.items()):
        versions.sort(key=version_priority)
        lines.append(" ".join(["group", group, folder, *versions]))
    return "\n".join(lines) + "\n"


def version_priority(version):
    """Sort key: v2, v1, v1beta2, v1beta1, v1alpha1."""
    major, stage, minor = re.match(r"v(\d+)(?:(alpha|beta)(\d+))?$", version).groups()
    return ({None: 0, "beta": 1, "alpha": 2}[stage], -int(major), -int(minor or 0))
