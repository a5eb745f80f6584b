# SPDX-License-Identifier: Apache-2.0
"""Reads discovery documents stored as files (api__v1.json, apis.json, apis__<group>__<v>.json)."""

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Subresource:
    name: str
    group: str
    version: str
    kind: str
    verbs: list


@dataclass
class Resource:
    plural: str
    singular: str
    short: list
    categories: list
    scope: str
    verbs: list
    subresources: list = field(default_factory=list)


class Discovery:
    """Group names are as served: the empty string is the core group."""

    def __init__(self, directory=None):
        self.groups = []  # (group, [version, ...]) in served order, preferred version first
        self.resources = {}  # (group, version, kind) -> Resource
        if directory:
            self._load(Path(directory))

    def _load(self, directory):
        self.groups.append(("", _read(directory / "api.json")["versions"]))
        for group in _read(directory / "apis.json")["groups"]:
            versions = [entry["version"] for entry in group["versions"]]
            preferred = group["preferredVersion"]["version"]
            versions.sort(key=lambda version: version != preferred)
            self.groups.append((group["name"], versions))
        for group, versions in self.groups:
            for version in versions:
                name = f"apis__{group}__{version}.json" if group else f"api__{version}.json"
                self._load_resources(group, version, _read(directory / name)["resources"])

    def _load_resources(self, group, version, entries):
        by_plural = {}
        for entry in entries:
            if "/" in entry["name"]:
                continue
            resource = Resource(
                plural=entry["name"], singular=entry["singularName"],
                short=entry.get("shortNames", []), categories=entry.get("categories", []),
                scope="namespaced" if entry["namespaced"] else "cluster", verbs=entry["verbs"])
            by_plural[entry["name"]] = resource
            self.resources[group, version, entry["kind"]] = resource
        for entry in entries:
            plural, slash, name = entry["name"].partition("/")
            if not slash:
                continue
            # An entry with a version has a kind of another group version; without a group it is core.
            where = (entry.get("group", ""), entry["version"]) if "version" in entry else (
                group, version)
            by_plural[plural].subresources.append(
                Subresource(name, *where, entry["kind"], entry["verbs"]))


def _read(path):
    return json.loads(path.read_text(encoding="utf-8"))
