# SPDX-License-Identifier: Apache-2.0
"""Measures whether the control plane keeps memory, threads or descriptors that it no longer needs.

    memory_bench.py rounds [--rounds N] [--nodes N] [--pods P] [--check]
    memory_bench.py soak [--minutes M] [--nodes N] [--pods P] [--churn R] [--kill-every S] [--out DIR] [--check]

rounds creates and deletes P Pods on N simulated nodes several times, all components in one process. It prints the
resident memory after each deletion, first with the Events of the Pods and then, after the last round, without them.

soak runs the components as processes for M minutes with P Pods per node and R Pod changes per second. Every S seconds
it kills the controllers, the scheduler or the nodes with SIGKILL and starts them again. It prints the slope of the API
server's memory, and the threads and descriptors that it had at most in each third of the time. DIR receives soak.csv.

Environment: COX_BIN, the program under test.
"""

import argparse
import csv
import os
import random
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from cluster import ClusterError, need_program, skip, wait_until  # noqa: E402
from nodes_bench import Bench, Churn, SeparatePlane, UpPlane, usage  # noqa: E402

# The API server keeps the changes of 75 seconds, and looks for older ones every 10 seconds.
SETTLE_SECONDS = 87
ROUNDS_LIMIT_MB = 30
SOAK_LIMIT_MB = 1  # in ten minutes
SOAK_WARM_UP = 1 / 3  # of the time
SAMPLE_SECONDS = 5
SEED = 1


def rounds(options, directory):
    plane = UpPlane(options.binary, directory)
    bench = Bench(options, plane, directory)
    try:
        bench.start_plane()
        bench.start_nodes()
        bench.await_nodes()
        bench.settle(SETTLE_SECONDS)
        first = resident(plane)
        print(f"start: {first:.0f} MB", flush=True)
        api = bench.api()
        api.send("POST", "/api/v1/namespaces", {"metadata": {"name": "rounds"}})
        for number in range(1, options.rounds + 1):
            bench.create_deployment("rounds", "web", options.pods)
            bench.await_pods(options.pods, 120 + options.pods * 0.05)
            most = resident(plane)
            api.send("DELETE", "/apis/apps/v1/namespaces/rounds/deployments/web?propagationPolicy=Background")
            wait_until("the Pods are deleted", lambda: bench.value("pods") == 0, 120 + options.pods * 0.05, between=0.5)
            last = resident(plane)
            print(f"round {number}: {most:.0f} MB with the Pods, {last:.0f} MB without", flush=True)
        bench.settle(SETTLE_SECONDS)
        settled = resident(plane)
        delete_events(api, "rounds")
        bench.settle(SETTLE_SECONDS)
        last = resident(plane)
        print(f"end: {settled:.0f} MB, without Events {last:.0f} MB, {last - first:+.0f} MB")
        if options.check and last - first > ROUNDS_LIMIT_MB:
            sys.exit(f"{last - first:.0f} MB were kept, more than {ROUNDS_LIMIT_MB}")
    finally:
        bench.stop()
        plane.stop()


def delete_events(api, namespace):
    """Repeats the request, because the deletion of many thousands takes longer than a request may last."""
    path = f"/apis/events.k8s.io/v1/namespaces/{namespace}/events"
    for _ in range(20):
        api.send("DELETE", path, ok=(504,))
        if not api.get(path + "?limit=1")["items"]:
            return
    raise ClusterError("the Events are not deleted")


def resident(plane):
    return usage(plane.pids())["coxswain"][0]


def slope(points):
    """Returns the slope of the line through the points with the least squares."""
    count = len(points)
    middle_x, middle_y = (sum(values) / count for values in zip(*points))
    spread = sum((x - middle_x) ** 2 for x, _ in points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / spread


class Watcher(threading.Thread):
    """Records the API server's memory, threads and descriptors."""

    def __init__(self, plane, out):
        super().__init__(daemon=True)
        self._plane, self._end, self._began = plane, threading.Event(), time.monotonic()
        self._file = open(os.path.join(out, "soak.csv"), "w", newline="")
        self._csv = csv.writer(self._file)
        self._csv.writerow(["time", "rss_mb", "threads", "descriptors"])
        self.samples = []

    def run(self):
        while not self._end.wait(SAMPLE_SECONDS):
            pid = self._plane.pids()["apiserver"]
            sample = (time.monotonic() - self._began, usage({"apiserver": pid})["apiserver"][0],
                      len(os.listdir(f"/proc/{pid}/task")), len(os.listdir(f"/proc/{pid}/fd")))
            self.samples.append(sample)
            self._csv.writerow([round(value, 1) for value in sample])
            self._file.flush()

    def finish(self):
        if not self._end.is_set():
            self._end.set()
            self.join(60)
            self._file.close()


def kill_parts(bench, plane, options):
    """Kills a component from time to time and starts it again. Returns how often each was killed.

    On the main thread: the kernel ends a child with the thread that started it.
    """
    chance, kills, end = random.Random(SEED), {}, time.monotonic() + options.minutes * 60
    while time.monotonic() + options.kill_every < end:
        time.sleep(options.kill_every)
        victim = chance.choice(["controller-manager", "scheduler", "nodes"])
        kills[victim] = kills.get(victim, 0) + 1
        if victim == "nodes":
            bench.restart_nodes()
        else:
            plane.restart_part(victim)
    time.sleep(max(0, end - time.monotonic()))
    return kills


def soak(options, directory):
    plane = SeparatePlane(options.binary, directory)
    bench = Bench(options, plane, directory)
    watcher = None
    try:
        bench.start_plane()
        bench.start_nodes()
        bench.await_nodes()
        pods = options.nodes * options.pods
        bench.create_pods("soak", pods, 500)
        bench.await_pods(pods, 120 + pods * 0.05)
        print(f"{pods} Pods are ready; {options.minutes:g} minutes ...", flush=True)
        watcher = Watcher(plane, options.out or directory)
        watcher.start()
        changes = Churn(bench, bench.new_api())
        churn = threading.Thread(target=changes.run, args=(options.minutes * 60, options.churn), daemon=True)
        churn.start()
        kills = kill_parts(bench, plane, options)
        churn.join()
        watcher.finish()
        bench.await_pods(pods, 300)
        report(watcher.samples, kills, changes.deleted, options.check)
    finally:
        if watcher is not None:
            watcher.finish()
        bench.stop()
        plane.stop()


def report(samples, kills, deleted, check):
    warm = samples[int(len(samples) * SOAK_WARM_UP):]
    grown = slope([(at, rss) for at, rss, _, _ in warm]) * 600
    third = max(1, len(samples) // 3)
    most = [tuple(max(sample[column] for sample in samples[start:start + third]) for column in (1, 2, 3))
            for start in range(0, third * 3, third)]
    killed = ", ".join(f"{name} {count} times" for name, count in sorted(kills.items()))
    print(f"killed: {killed}; {deleted} Pods deleted")
    print(f"memory of the API server: {warm[0][1]:.0f} MB, then {warm[-1][1]:.0f} MB, {grown:+.2f} MB in ten minutes")
    for name, column in (("threads", 1), ("descriptors", 2)):
        print(f"{name} at most, by thirds of the time: {', '.join(str(values[column]) for values in most)}")
    if check and grown > SOAK_LIMIT_MB:
        sys.exit(f"the memory of the API server grows by {grown:.2f} MB in ten minutes, more than {SOAK_LIMIT_MB}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["rounds", "soak"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--pods", type=int, help="Pods in each round (2000), or on each node (30)")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--churn", type=float, default=20, help="Pod changes per second (20)")
    parser.add_argument("--kill-every", type=float, default=20, help="seconds between two kills (20)")
    parser.add_argument("--out", help="directory for the CSV file")
    parser.add_argument("--check", action="store_true", help="fail if memory was kept")
    options = parser.parse_args()
    options.binary = os.environ.get("COX_BIN") or skip("COX_BIN does not say where the program is")
    if options.pods is None:
        options.pods = 2000 if options.what == "rounds" else 30
    options.simulate = []
    return options


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # runs the finally blocks
    need_program("etcd")
    need_program("kubectl")
    options = parse()
    if options.out:
        os.makedirs(options.out, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cox-memory-") as directory:
        {"rounds": rounds, "soak": soak}[options.what](options, directory)


if __name__ == "__main__":
    main()
