# SPDX-License-Identifier: Apache-2.0
"""Drives the scripted peer of the SDK's tests with the official Python client: python_streams_test.py PEER

kubectl (integration/kubectl_streams_test.py) forwards ports over SPDY; this client uses WebSocket
channels, as the SDK does.
"""

import subprocess
import sys

import compat
import python_test


def main():
    command = [python_test.python(), compat.source("python", "streams.py"), sys.argv[1]]
    done = subprocess.run(command, timeout=compat.RUN_SECONDS, check=False, preexec_fn=compat.end_with_test)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
