# SPDX-License-Identifier: Apache-2.0
"""Drives the API server with the official JavaScript client: javascript_test.py [STEP...]

Environment: COX_BIN, the program under test.
"""

import filecmp
import os
import shutil

import compat

NODE_VERSION = (20,)  # see javascript/package.json

# Known failures: step name and reason.
KNOWN_GAPS = {
}


def program():
    """Returns the path of the program, next to its packages, where Node resolves them.

    The packages are reinstalled when the lock file changes.
    """
    npm = compat.need_program("npm")
    folder = compat.output("javascript")
    os.makedirs(folder, exist_ok=True)
    wanted, installed = compat.source("javascript", "package-lock.json"), os.path.join(folder, "installed.json")
    for name in ("client.js", "package.json", "package-lock.json"):
        shutil.copyfile(compat.source("javascript", name), os.path.join(folder, name))
    if not os.path.exists(installed) or not filecmp.cmp(wanted, installed, shallow=False):
        compat.download("JavaScript packages", [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder)
        shutil.copyfile(wanted, installed)
    return os.path.join(folder, "client.js")


def main():
    node = compat.need_version("node", ["--version"], NODE_VERSION)
    compat.run_with_cluster([node, program()], KNOWN_GAPS)


if __name__ == "__main__":
    main()
