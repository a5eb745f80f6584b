# SPDX-License-Identifier: Apache-2.0
"""How much of the machine a test gets, so that times measured on a busy machine can be judged.

    machine.py      prints the share
"""

import os
import subprocess
import sys
import time


def _spin(seconds):
    began, spent = time.monotonic(), time.process_time()
    while time.monotonic() - began < seconds:
        pass
    return (time.process_time() - spent) / (time.monotonic() - began)


def processor_share(seconds=0.5):
    """The share of the processors that a program gets right now: about 1 on a quiet machine, 0.5 beside one busy
    process per processor, 0.3 with a quota of 0.6 of two processors. A time divided by this is what to expect here."""
    count = len(os.sched_getaffinity(0))
    # Processes of their own that are gone afterwards, not threads, which share one lock.
    command = [sys.executable, "-S", "-B", os.path.abspath(__file__), "--spin", str(seconds)]
    spinning = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    return min(1.0, sum(float(each.communicate()[0]) for each in spinning) / count)


if __name__ == "__main__":
    print(_spin(float(sys.argv[2])) if sys.argv[1:2] == ["--spin"] else f"{processor_share():.2f}")
