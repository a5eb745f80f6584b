# SPDX-License-Identifier: Apache-2.0
"""Drives the API server with client-go, the official Go client: client_go_test.py [STEP...]

Environment: COX_BIN, the program under test.
"""

import compat
import go_program

# Known failures: step name and reason.
KNOWN_GAPS = {
}


def main():
    program = go_program.build("client-go")
    compat.run_with_cluster([program], KNOWN_GAPS)


if __name__ == "__main__":
    main()
