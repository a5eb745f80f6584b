# SPDX-License-Identifier: Apache-2.0
"""How much of the machine a test gets, so that times measured on a busy machine can be judged."""

import multiprocessing
import os
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
    with multiprocessing.get_context("spawn").Pool(count) as pool:
        shares = pool.map(_spin, [seconds] * count, chunksize=1)
    return min(1.0, sum(shares) / count)


if __name__ == "__main__":
    print(f"{processor_share():.2f}")
