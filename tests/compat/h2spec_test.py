# SPDX-License-Identifier: Apache-2.0
"""Checks the HTTP/2 of the API server with h2spec, a conformance test of RFC 7540 and RFC 7541.

Environment: COX_BIN, the program under test.
"""

import os
import subprocess
import tempfile
import xml.etree.ElementTree as xml

import compat
import go_program
from cluster import Cluster

MINIMUM = 140  # tests; if h2spec has executed fewer, something is wrong with it
# The server forgets streams that are closed, because an idle connection must cost little. It ignores frames that arrive
# on them: they are legitimate if the server has reset the stream before the client knew. h2spec expects STREAM_CLOSED.
# Some of these tests pass if the second frame arrives before the response is complete.
CLOSED = "(Error Code: STREAM_CLOSED)"
MAX_CLOSED = 8  # tests that expect STREAM_CLOSED
# Other known failures, "section: description", with the reason.
KNOWN_GAPS = {
    "http2/5.1.1: Sends stream identifier that is numerically smaller than previous": "such a stream counts as closed",
}


def run(program, cluster):
    """Returns the tests that passed, and those that failed with their outcome."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        subprocess.run([program, "-h", "127.0.0.1", "-p", str(cluster.port), "-t", "-k", "-P", "/version", "-o", "5",
                        "-j", report], stdout=subprocess.DEVNULL, timeout=1200, check=False)
        passed, failed = set(), {}
        for case in xml.parse(report).getroot().iter("testcase"):
            name = case.get("package") + ": " + case.get("classname")
            wrong = case.find("failure") if case.find("failure") is not None else case.find("error")
            if wrong is not None:
                failed[name] = " ".join((wrong.text or "").split())
            elif case.find("skipped") is None:
                passed.add(name)
    return passed, failed


def main():
    compat.need_program("etcd")
    program = go_program.build("github.com/summerwind/h2spec/cmd/h2spec", module="h2spec", output="h2spec")
    with Cluster(os.environ["COX_BIN"]) as cluster:
        passed, failed = run(program, cluster)
        cluster.check_runs()
    print(f"{len(passed)} tests passed, {len(failed)} failed")
    closed = [name for name, outcome in failed.items() if CLOSED in outcome]
    problems = [f"FAIL {name}: {outcome}" for name, outcome in failed.items() if name not in [*KNOWN_GAPS, *closed]]
    if len(closed) > MAX_CLOSED:
        problems.append(f"{len(closed)} tests that expect STREAM_CLOSED failed")
    problems += [f"passes, but is a known gap: {name}" for name in KNOWN_GAPS if name in passed]
    if len(passed) + len(failed) < MINIMUM:
        problems.append(f"only {len(passed) + len(failed)} tests were executed")
    compat.finish(problems)


if __name__ == "__main__":
    main()
