# SPDX-License-Identifier: Apache-2.0
"""Builds the programs of the Go modules in go/, coredns/ and helm/."""

import os

import compat

GO_VERSION = (1, 26)  # what client-go asks for, see go/go.mod


def build(name, module="go", output=None):
    """The path of the built program: `name` is its folder in that module, or a package that the module requires."""
    go = compat.need_version("go", ["env", "GOVERSION"], GO_VERSION)
    # The module and the caches are the user's own; -mod=readonly is what keeps go.sum as it is.
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
    compat.download("Go modules", [go, "mod", "download"], cwd=compat.source(module), env=environment)
    program = compat.output("go", output or name)
    # Compiling the client is most of the time of a first run: no debug data, no version stamps.
    compat.build(output or name, [go, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-p", "2", "-o", program,
                        name if "." in name else "./" + name], cwd=compat.source(module), env=environment)
    return program
