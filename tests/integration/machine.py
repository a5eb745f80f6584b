# SPDX-License-Identifier: Apache-2.0
"""How fast the machine is at the moment, so that times can be judged on a busy machine.

    machine.py          prints the speed: 1.00 on the quiet reference machine
    machine.py --steal  prints the processor time that the host has withheld since boot, in seconds
"""

import os
import subprocess
import sys
import time

# How often one processor of the quiet reference machine does the unit of work in a second.
REFERENCE_RATE = 2400


def _count_work(seconds):
    """Units of work per second of real time on one processor."""
    began, count = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        sum(range(20000))
        count += 1
    return count / (time.monotonic() - began)


def machine_speed(seconds=0.5):
    """The speed of the processors relative to the quiet reference machine, at most 1. It is about 0.5 beside one
    busy process per processor, and as much when another machine uses the same cores. A time divided by it is what
    to expect now. Work is counted, because the CPU time of a process includes time in which its processor was slow."""
    count = len(os.sched_getaffinity(0))
    # Processes of their own that are gone afterwards, not threads, which share one lock.
    command = [sys.executable, "-S", "-B", os.path.abspath(__file__), "--count", str(seconds)]
    working = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    return min(1.0, sum(float(each.communicate()[0]) for each in working) / count / REFERENCE_RATE)


def stolen_seconds():
    """Processor time since boot in which the host ran something else although this machine had work."""
    with open("/proc/stat") as stat:
        return int(stat.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--count"]:
        print(_count_work(float(sys.argv[2])))
    else:
        print(f"{stolen_seconds():.0f}" if sys.argv[1:] == ["--steal"] else f"{machine_speed():.2f}")
