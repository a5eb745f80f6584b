# SPDX-License-Identifier: Apache-2.0
"""Tests that consist of steps: functions that run in the order they are written, the others also when one fails.

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
    """Those of these names; without names all."""
    return [each for each in STEPS if not names or each.__name__ in names]


def run_steps(world, names=(), check=lambda: None):
    """Gives `world` to each step of these names (none: to all). Returns the names of those that failed.

    What `check` raises, which is called after each step, ends the test: nothing is left to run them against.
    """
    failed = []
    for function in chosen_steps(names):
        began = time.monotonic()
        try:
            function(world)
            print(f"ok   {function.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
        except Exception:  # noqa: BLE001 whatever it is, the other steps run
            failed.append(function.__name__)
            print(f"FAIL {function.__name__}\n{traceback.format_exc()}", flush=True)
        check()
    return failed


def finish(failed):
    """Ends the test, with the names of the steps that failed."""
    print("FAILED: " + ", ".join(failed) if failed else "all steps passed")
    sys.exit(1 if failed else 0)


# --- What steps say ---

def equal(found, wanted):
    assert found == wanted, f"found {found!r}, wanted {wanted!r}"


def has(text, *parts):
    for part in parts:
        assert part in text, f"no {part!r} in:\n{text}"


def lacks(text, *parts):
    for part in parts:
        assert part not in text, f"{part!r} in:\n{text}"
