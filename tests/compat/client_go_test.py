# SPDX-License-Identifier: Apache-2.0
"""Drives the API server with client-go, the official Go client: client_go_test.py [STEP...]

Environment: COX_BIN, the program under test.
"""

import compat
import go_program

# Step: why it does not pass yet.
KNOWN_GAPS = {
    **{f"{form}/{step}": why for form in ("json", "protobuf") for step, why in {
        "scale_apply": "server-side apply does not work on the scale subresource",
        "self_reviews": "self subject reviews are not served",
        "create_token": "service account tokens are not issued",
    }.items()},
    "impersonation": "impersonation headers are not heeded",
}


def main():
    program = go_program.build("client-go")
    compat.run_with_cluster([program], KNOWN_GAPS)


if __name__ == "__main__":
    main()
