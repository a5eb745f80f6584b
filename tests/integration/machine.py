# SPDX-License-Identifier: Apache-2.0
"""Measures how fast the machine is now, so that tests can judge times on a busy machine.

    machine.py                         prints the speed: 1.00 on the quiet reference machine
    machine.py --state                 prints a state of the machine for --too-busy-since
    machine.py --too-busy-since STATE  exits with 0 if the machine was too busy since then to measure times, else with 1
"""

import os
import subprocess
import sys
import time

# Units of work per second that one processor of the quiet reference machine does.
REFERENCE_RATE = 2400
# Below this speed, and above this share of stolen processor time, the figures of an unchanged program vary by more than
# their limits allow.
MIN_SPEED = 0.4
MAX_STOLEN_SHARE = 0.1
# A wait never takes longer than its limit divided by this.
_LEAST_SPEED = 0.05


def _count_work(seconds):
    """Units of work per second of real time on one processor."""
    began, count = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        sum(range(20000))
        count += 1
    return count / (time.monotonic() - began)


def machine_speed(seconds=0.5):
    """Returns the speed of the processors relative to the quiet reference machine, at most 1. It is
    about 0.5 beside one busy process per processor, or when another virtual machine uses the same
    cores. A time of the reference machine divided by it is the expected time. Work is counted,
    because the CPU time of a process includes time in which its processor was slow."""
    count = len(os.sched_getaffinity(0))
    # Separate processes, because threads would share the interpreter lock.
    command = [sys.executable, "-S", "-B", os.path.abspath(__file__), "--count", str(seconds)]
    working = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    return min(1.0, sum(float(each.communicate()[0]) for each in working) / count / REFERENCE_RATE)


class Deadline:
    """The end of a wait that would take at most `seconds` on the quiet reference machine. It is
    later on a slow machine; the speed is measured when `seconds` have passed."""

    def __init__(self, seconds):
        self._seconds = seconds
        self._began = time.monotonic()
        self._end = self._began + seconds

    def left(self):
        """The seconds that are left; 0 once the deadline has passed."""
        if time.monotonic() >= self._end:
            self._end = self._began + self._seconds / max(machine_speed(), _LEAST_SPEED)
        return max(0, self._end - time.monotonic())


def is_too_slow(seconds, limit):
    """True if a time that was just measured exceeds the limit for the quiet reference machine, scaled by the speed of
    this one."""
    return seconds > limit and seconds > limit / machine_speed()


def _stolen_seconds():
    """Processor time since boot in which the host ran something else although this machine had work."""
    with open("/proc/stat") as stat:
        return int(stat.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def _state():
    return f"{machine_speed():.2f} {_stolen_seconds():.2f} {time.monotonic():.2f}"


def too_busy(before, after, processors):
    """Returns true if the machine was too busy between two states. Prints the reason."""
    (speed, stolen, began), (end_speed, end_stolen, ended) = ([float(n) for n in text.split()] for text in (before, after))
    share = (end_stolen - stolen) / max(ended - began, 0.01) / processors
    slowest = min(speed, end_speed)
    print(f"machine speed {slowest:.2f} (at least {MIN_SPEED} needed), the host withheld {share:.0%} of the processors "
          f"(at most {MAX_STOLEN_SHARE:.0%} allowed)")
    return slowest < MIN_SPEED or share > MAX_STOLEN_SHARE


def main(arguments):
    if arguments[:1] == ["--count"]:
        print(_count_work(float(arguments[1])))
    elif arguments == ["--state"]:
        print(_state())
    elif arguments[:1] == ["--too-busy-since"]:
        return 0 if too_busy(arguments[1], _state(), os.cpu_count()) else 1
    else:
        print(f"{machine_speed():.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
