# SPDX-License-Identifier: Apache-2.0
"""Drives the API server with kube-rs: rust_test.py [STEP...]

Environment: COX_BIN, the program under test; COX_LONG=1 enables the test, which is slow to compile.
"""

import os

import compat

CARGO_VERSION = (1, 88)  # the minimum of kube-rs

# Known failures: step name and reason.
KNOWN_GAPS = {
}


def main():
    if os.environ.get("COX_LONG") != "1":
        compat.skip("a test of the long tier: COX_LONG=1 runs it")
    cargo = compat.need_version("cargo", ["--version"], CARGO_VERSION)
    manifest, target = compat.source("rust", "Cargo.toml"), compat.output("rust")
    compat.download("Rust crates", [cargo, "fetch", "--locked", "--manifest-path", manifest])
    compat.build("kube-rs", [cargo, "build", "--locked", "--offline", "--quiet", "--manifest-path", manifest,
                             "--target-dir", target])
    compat.run_with_cluster([os.path.join(target, "debug", "coxswain-compat")], KNOWN_GAPS)


if __name__ == "__main__":
    main()
