# SPDX-License-Identifier: Apache-2.0
"""Reads the definitions of an OpenAPI v2 file."""

import json


class OpenAPI:
    def __init__(self, path=None):
        self.definitions = {}
        if path:
            with open(path, encoding="utf-8") as file:
                self.definitions = json.load(file)["definitions"]

    def definition(self, go_path, name):
        """The definition of a Go type ("k8s.io/api/apps/v1", "Deployment"), or None."""
        host, _, rest = go_path.partition("/")
        prefix = ".".join(reversed(host.split(".")))
        return self.definitions.get(f"{prefix}.{rest.replace('/', '.')}.{name}")
