# SPDX-License-Identifier: Apache-2.0
"""Builds the programs of the Go modules in go/, coredns/ and helm/."""

import os

import compat

GO_VERSION = (1, 26)  # the minimum of client-go, see go/go.mod


def build(name, module="go", output=None):
    """Returns the path of the built program.

    `name` is a folder in the module or a package that the module requires.
    """
    go = compat.need_version("go", ["env", "GOVERSION"], GO_VERSION)
    # Use the user's module cache and build cache; -mod=readonly keeps go.sum unchanged.
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly", "GOWORK": "off"}
    compat.download("Go modules", [go, "mod", "download"], cwd=compat.source(module), env=environment)
    program = compat.output("go", output or name)
    # Compiling the client dominates a first run, so leave out debug data and version stamps.
    compat.build(output or name, [go, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-p", "2", "-o", program,
                        name if "." in name else "./" + name], cwd=compat.source(module), env=environment)
    return program
