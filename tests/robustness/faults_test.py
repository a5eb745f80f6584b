#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Injects faults into etcd and the API server while clients write and watch.

Checked at the end of each part: no acknowledged write is lost; no watcher missed an event, or
received one twice or out of order (watchers resume from the last resource version and list again
only after 410); all watchers received the same events; and the API server is ready within 2 s after
etcd is healthy again (6 s in the short form).

    COX_BIN=build/release/src/cmd/coxswain tests/robustness/faults_test.py [PART...]

The short form takes about a minute. COX_LONG=1 repeats each fault many times.
"""

import os
import sys
import threading
import time

import plane as planes
from history import History
from plane import Plane, wait_until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import cluster  # noqa: E402
import machine  # noqa: E402

LONG = os.environ.get("COX_LONG") == "1"
# The limit for the server to be ready again. The long form checks every recovery. The short form
# runs in parallel with other tests: it checks the fastest recovery of each part, scaled by the
# speed of the machine.
READY_SECONDS = 2 if LONG else 6
ROUNDS = 20 if LONG else 2
PAUSE_SECONDS = 10 if LONG else 4
# Writes that must succeed after each fault.
SOME_WRITES = 40


class Faults:
    """The faults that can be injected into one control plane with its clients."""

    def __init__(self, plane, history):
        self.plane = plane
        self.history = history
        self.recoveries = []  # seconds

    def recover(self, what):
        """Waits until the server is ready and accepts writes, and records the time to readiness."""
        took = self.plane.await_ready(90)
        self.recoveries.append(took)
        if LONG and took > READY_SECONDS:
            raise AssertionError(f"{what}: ready only after {took:.1f} s")
        got = self.history.await_progress(SOME_WRITES, 90)
        if got < SOME_WRITES:
            raise AssertionError(f"{what}: only {got} writes in 90 s")

    def etcd_killed(self):
        for _ in range(ROUNDS):
            self.plane.etcd.kill()
            time.sleep(0.3)  # so that requests reach a closed port
            self.plane.etcd.start()
            wait_until("etcd is healthy", self.plane.etcd.healthy, 90, between=0.01)
            self.recover("etcd killed")

    def etcd_stopped(self):
        for _ in range(max(1, ROUNDS // 4)):
            self.plane.etcd.pause()
            time.sleep(PAUSE_SECONDS)
            self.plane.etcd.resume()
            wait_until("etcd is healthy", self.plane.etcd.healthy, 90, between=0.01)
            self.recover("etcd stopped")

    def server_killed(self):
        for _ in range(ROUNDS):
            self.plane.server.kill()
            self.plane.server.start()
            self.recover("API server killed")

    def compaction(self):
        """Compacts etcd every 200 ms, so that some clients must list again."""
        done = threading.Event()

        def compact():
            while not done.wait(0.2):
                self.plane.etcd.compact()

        thread = threading.Thread(target=compact, daemon=True)
        thread.start()
        try:
            for _ in range(ROUNDS):
                got = self.history.await_progress(SOME_WRITES, 90)
                if got < SOME_WRITES:
                    raise AssertionError(f"compaction: only {got} writes in 90 s")
                # The restarted server finds a compacted store at a later revision: clients cannot
                # resume their watches and must get 410.
                self.plane.server.kill()
                self.plane.etcd.put("/robustness/time", b"goes on")
                self.plane.etcd.compact()
                self.plane.server.start()
                self.recover("API server killed while etcd is compacted")
        finally:
            done.set()
            thread.join()

    def leader_change(self):
        for _ in range(ROUNDS):
            leader = wait_until("a leader", lambda: next((m for m in self.plane.members if m.leads()), None), 30)
            leader.kill()
            others = [m for m in self.plane.members if m is not leader]
            wait_until("another leader", lambda: any(m.leads() for m in others), 30, between=0.01)
            self.recover("leader killed")
            leader.start()
            wait_until("the member is back", leader.healthy, 30)

    def database_full(self):
        """Writers fill the database until etcd raises NOSPACE; then space is freed."""
        for writer in self.history.writers:
            writer.padding = 200_000
        wait_until("writes are refused", lambda: any(w.refused for w in self.history.writers), 60)
        status, _ = planes.request(self.plane.connect(), "GET", "/api/v1/namespaces/default")
        if status != 200:
            raise AssertionError(f"a full database must still be readable: {status}")
        for writer in self.history.writers:
            writer.padding = 10
        etcd = self.plane.etcd
        etcd.compact()
        etcd.call("/v3/maintenance/defragment")
        for alarm in etcd.call("/v3/maintenance/alarm", action="GET").get("alarms", []):
            etcd.call("/v3/maintenance/alarm", action="DEACTIVATE", memberID=alarm["memberID"], alarm="NOSPACE")
        self.recover("database full")


# Name, number of members, quota, number of watchers, faults in order. In the short form, the part
# with large objects has few watchers, because each of them receives every object.
PARTS = [
    ("one-member", 1, 0, 100, ["etcd_killed", "server_killed", "etcd_stopped"]),
    ("compaction", 1, 0, 100, ["compaction"]),
    ("three-members", 3, 0, 100, ["leader_change"]),
    ("full", 1, 24 * 1024 * 1024, 100 if LONG else 10, ["database_full"]),
]


def run_part(binary, name, members, quota, watchers, faults):
    began = time.monotonic()
    with Plane(binary, members=members, quota=quota) as plane:
        with History(plane, watchers=watchers) as history:
            made = Faults(plane, history)
            history.await_progress(SOME_WRITES, 90)
            for fault in faults:
                getattr(made, fault)()
            complaints = history.finish()
            fastest = min(made.recoveries)
            if not LONG and machine.is_too_slow(fastest, READY_SECONDS):
                complaints.append(f"the fastest recovery took {fastest:.1f} s")
            attempts = sum(w.attempts for w in history.writers)
            print(f"{name}: {history.acknowledged()} of {attempts} writes acknowledged, "
                  f"{sum(len(w.events) for w in history.watchers)} events, "
                  f"{sum(w.resumes for w in history.watchers)} watches, "
                  f"{sum(len(w.lists) for w in history.watchers) - watchers} relists, "
                  f"ready after {max(made.recoveries):.2f} s at most, {time.monotonic() - began:.0f} s", flush=True)
    for complaint in complaints:
        print(f"{name}: {complaint}", flush=True)
    return not complaints


def main():
    binary = os.environ.get("COX_BIN") or cluster.skip("COX_BIN names no program")
    cluster.need_program("etcd")
    wanted = sys.argv[1:]
    good = True
    for part in PARTS:
        if not wanted or part[0] in wanted:
            good = run_part(binary, *part) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
