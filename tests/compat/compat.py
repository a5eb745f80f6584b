# SPDX-License-Identifier: Apache-2.0
"""Shared helpers of the compat tests, which build programs and check their output.

A program gets the server from $KUBECONFIG, prints "ok NAME" or "FAIL NAME: why" for each of its
steps and "steps: N" at the end. The test is skipped if a toolchain is missing or a registry cannot
be reached; any later error, including a compiler error, fails it.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))

from cluster import Cluster, end_with_test, need_program, skip  # noqa: E402 (needs the path above)

# The sum is below the TIMEOUT of the tests; the limits allow for other builds on the same machine.
DOWNLOAD_SECONDS = 300
BUILD_SECONDS = 1000
RUN_SECONDS = 600

_PR_SET_PDEATHSIG = 1


def source(*names):
    """Returns a path in this folder."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), *names)


def output(*names):
    """Returns a path in the working directory of the test, which is in the build tree."""
    path = os.path.join(os.getcwd(), *names)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def need_version(program, arguments, wanted):
    """Skips the test unless `program` is installed in at least version `wanted`, a tuple."""
    path = need_program(program)
    said = subprocess.run([path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    digits = "".join(c if c.isdigit() or c == "." else " " for c in said.stdout).split()
    version = tuple(int(part) for part in digits[0].split(".") if part) if digits else ()
    if said.returncode != 0 or version < wanted:
        skip(f"{program} {'.'.join(map(str, wanted))} or newer is needed, not {said.stdout.strip()}")
    return path


def download(what, command, **options):
    """Runs a command that downloads dependencies; skips the test if it fails or takes too long."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=DOWNLOAD_SECONDS, preexec_fn=end_with_test, **options)
    except subprocess.TimeoutExpired:
        skip(f"{what} were not downloaded within {DOWNLOAD_SECONDS} s")
    if done.returncode != 0:
        print(done.stdout)
        skip(f"{what} could not be downloaded")
    print(f"{what}: {time.monotonic() - start:.1f} s", flush=True)


def build(what, command, **options):
    start = time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=BUILD_SECONDS, check=False,
                          preexec_fn=end_with_test, **options)
    if done.returncode != 0:
        sys.exit(f"FAIL: {what} was not built: exit {done.returncode}")
    print(f"{what} built: {time.monotonic() - start:.1f} s", flush=True)


def _environment(extra):
    # Keep out the caller's own clusters, and proxies, which must not be used for a local server.
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith("KUBE") and not key.lower().endswith("_proxy")}
    return {**kept, **extra}


def end_softly_with_test():
    """For preexec_fn: sends SIGTERM, so that the program can stop its own children."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _step_name(line):
    return line.split(":")[0].split()[1]


def judge(lines, code, known_gaps, chosen):
    """Returns the problems of a run: unknown failures, wrong known gaps, an incomplete run.

    lines, code: the output and exit code of the program. chosen: the requested steps; empty: all.
    """
    passed = [_step_name(line) for line in lines if line.startswith("ok ")]
    failed = {_step_name(line): line for line in lines if line.startswith("FAIL ")}
    problems = [line for name, line in failed.items() if name not in known_gaps]
    problems += [f"{name} is a known gap that works: remove it from the list" for name in passed if name in known_gaps]
    problems += [f"{name} is a known gap, but there is no such step" for name in known_gaps
                 if not chosen and name not in passed and name not in failed]
    count = len(passed) + len(failed)
    if count == 0 or [line for line in lines if line.startswith("steps: ")] != [f"steps: {count}"]:
        problems.append("the program did not reach its end, or there is no such step")
    if code != (1 if failed else 0):
        problems.append(f"the program ended with {code}")
    gaps = len([name for name in failed if name in known_gaps])
    print(f"\n{len(passed)} steps passed, {gaps} known gaps, {len(problems)} failures")
    return problems


def _show(line, known_gaps):
    gap = known_gaps.get(_step_name(line)) if line.startswith("FAIL ") else None
    print(f"gap  {_step_name(line)} ({gap}): {line[:300]}" if gap else line, flush=True)


def run_steps(command, known_gaps, environment=None):
    """Runs a program with the test's arguments, which are step names. Returns the problems.

    known_gaps: step name and reason. When such a step passes, the test fails until it is removed
    from the list.
    """
    lines, start = [], time.monotonic()
    with subprocess.Popen([*command, *sys.argv[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          env=_environment(environment or {}), preexec_fn=end_softly_with_test) as program:
        limit = threading.Timer(RUN_SECONDS, program.terminate)
        limit.start()
        try:
            for line in program.stdout:
                lines.append(line.rstrip("\n"))
                _show(lines[-1], known_gaps)
            code = program.wait()
        finally:
            limit.cancel()
            program.terminate()
    print(f"{time.monotonic() - start:.1f} s")
    return judge(lines, code, known_gaps, sys.argv[1:])


def run_with_cluster(command, known_gaps, environment=None):
    """Calls run_steps with a new cluster, then exits."""
    need_program("etcd")
    with Cluster(os.environ["COX_BIN"]) as cluster:
        failures = run_steps(command, known_gaps, {"KUBECONFIG": cluster.kubeconfig, **(environment or {})})
        cluster.check_runs()
    finish(failures)


def finish(failures):
    for each in failures:
        print(each)
    sys.exit(1 if failures else 0)
