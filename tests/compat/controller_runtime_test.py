# SPDX-License-Identifier: Apache-2.0
"""Runs an operator made with controller-runtime; envtest starts coxswain as kube-apiserver.

    controller_runtime_test.py [STEP...]

Environment: COX_BIN, the program under test.
"""

import os
import tempfile

import compat
import go_program

# Known failures: step name and reason.
KNOWN_GAPS = {
}


def main():
    etcd = compat.need_program("etcd")
    program = go_program.build("controller-runtime")
    with tempfile.TemporaryDirectory(prefix="cox-envtest-") as assets:
        os.symlink(etcd, os.path.join(assets, "etcd"))
        os.symlink(os.path.abspath(os.environ["COX_BIN"]), os.path.join(assets, "kube-apiserver"))
        # envtest keeps its data and certificates in $TMPDIR.
        failures = compat.run_steps([program], KNOWN_GAPS, {"KUBEBUILDER_ASSETS": assets, "TMPDIR": assets})
    compat.finish(failures)


if __name__ == "__main__":
    main()
