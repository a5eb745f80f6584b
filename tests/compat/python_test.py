# SPDX-License-Identifier: Apache-2.0
"""Drives the API server with the official Python client: python_test.py [STEP...]

Environment: COX_BIN, the program under test.
"""

import fcntl
import filecmp
import importlib.util
import os
import shutil
import sys

import compat

# Known failures: step name and reason.
KNOWN_GAPS = {
}


def python():
    """Returns the interpreter of a virtual environment that contains the client.

    The environment is rebuilt when requirements.txt changes.
    """
    wanted, folder = compat.source("python", "requirements.txt"), compat.output("python")
    installed, program = os.path.join(folder, "installed.txt"), os.path.join(folder, "bin", "python")
    # Two tests use the environment and can run at the same time.
    with open(folder + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(installed) and filecmp.cmp(wanted, installed, shallow=False):
            return program
        if importlib.util.find_spec("pip") is None:
            compat.skip(f"{sys.executable} has no pip")
        # Use the system's pip, which is much faster than installing pip in the environment.
        compat.build("the virtual environment", [sys.executable, "-m", "venv", "--clear", "--without-pip", folder])
        compat.download("Python packages", [
            sys.executable, "-m", "pip", "--python", program, "install", "--disable-pip-version-check", "--no-input",
            "--no-compile", "--only-binary=:all:", "--requirement", wanted])
        shutil.copyfile(wanted, installed)
    return program


def main():
    compat.run_with_cluster([python(), compat.source("python", "client.py")], KNOWN_GAPS)


if __name__ == "__main__":
    main()
