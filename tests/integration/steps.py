# SPDX-License-Identifier: Apache-2.0
"""Tests that consist of steps: functions that run in source order, also after a failed one.

    @step
    def pods_are_listed(cluster):
        equal(cluster.names("pods"), ["web"])

    finish(run_steps(cluster, sys.argv[1:], cluster.check_runs))
"""

import sys
import time
import traceback

STEPS = []


def step(function):
    STEPS.append(function)
    return function


def chosen_steps(names):
    """Returns the steps with these names, or all steps if there are no names."""
    return [each for each in STEPS if not names or each.__name__ in names]


def run_steps(world, names=(), check=lambda: None):
    """Calls the steps of these names (none: all) with `world`. Returns the names of failed steps.

    `check` is called after each step. An exception of `check` ends the test: a server has ended.
    """
    failed = []
    for function in chosen_steps(names):
        began = time.monotonic()
        try:
            function(world)
            print(f"ok   {function.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
        except Exception:  # noqa: BLE001 the other steps run after any failure
            failed.append(function.__name__)
            print(f"FAIL {function.__name__}\n{traceback.format_exc()}", flush=True)
        check()
    return failed


def finish(failed):
    """Prints the names of the failed steps and exits."""
    print("FAILED: " + ", ".join(failed) if failed else "all steps passed")
    sys.exit(1 if failed else 0)


# --- Assertions for steps ---

def equal(found, wanted):
    assert found == wanted, f"found {found!r}, wanted {wanted!r}"


def has(text, *parts):
    for part in parts:
        assert part in text, f"no {part!r} in:\n{text}"


def lacks(text, *parts):
    for part in parts:
        assert part not in text, f"{part!r} in:\n{text}"
