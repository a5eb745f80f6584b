# SPDX-License-Identifier: Apache-2.0
"""Runs the replay of the recorded exchanges, without the warnings that upstream does not have.

    replay_reference.py FOLDER [ARGUMENTS...]

FOLDER contains the program `replay`, which gets the arguments. Warnings about parts of a request
that are not implemented (docs/differences.md) are removed from the responses before the comparison.
"""

import importlib.machinery
import importlib.util
import os
import re
import sys

NOT_IMPLEMENTED = re.compile(r'299 - ".*: not implemented: .*"')


def comparable(headers):
    return [(name, value) for name, value in headers
            if name.lower() != "warning" or not NOT_IMPLEMENTED.fullmatch(value)]


def load(folder):
    """Imports the program, whose responses then lack these warnings."""
    loader = importlib.machinery.SourceFileLoader("replay", os.path.join(folder, "replay"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("replay", loader))
    loader.exec_module(module)

    class Response(module.Response):
        def __init__(self, status, headers, data):
            super().__init__(status, comparable(headers), data)

    module.Response = Response
    return module


def main():
    sys.dont_write_bytecode = True
    replay = load(sys.argv[1])
    del sys.argv[1]
    sys.exit(replay.main())


if __name__ == "__main__":
    main()
