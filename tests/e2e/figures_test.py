# SPDX-License-Identifier: Apache-2.0
"""Measures resource usage and speed of a small cluster from outside.

    figures_test.py

Prints a table of figures with their targets. Fails if a figure exceeds its target by more than
half. Times until the cluster reaches a state are compared with the target divided by the speed of
the machine. The delay from a container's exit to its status in the API is compared with the time in
which containerd itself handled the same exit.

Environment: COX_BIN, the program under test.
"""

import contextlib
import glob
import os
import re
import subprocess
import threading
import time

import alone
import leftovers
from api import CORE, collection, container_statuses
from harness import end_with_test, machine_speed
from whole_cluster import Cluster

TOLERANCE = 1.5
IDLE_SECONDS = 20
SETTLE_SECONDS = 8
PODS, CONTAINERS = 5, 10  # containers per Pod; the exit of each is measured
EXIT_MILLISECONDS = 150
# Multiples of containerd's own time, about 26 ms on a quiet machine: stricter there than 150 ms.
EXIT_TIMES = 3


class Figures:
    def __init__(self):
        self._missed = []

    def add(self, name, value, unit, wanted, speed=1.0):
        """`speed` is the speed of the machine, for a figure that depends on it."""
        self.show(name, value, unit, wanted)
        if value * speed > wanted * TOLERANCE:
            self._missed.append(name)

    @staticmethod
    def show(name, value, unit, wanted):
        good = value <= wanted
        print(f"  {name:58} {value:9.2f} {unit:4} (wanted <= {wanted:g}){'' if good else '  MISSED'}", flush=True)

    def check(self):
        assert not self._missed, f"more than half beyond the target: {', '.join(self._missed)}"


def resident_megabytes(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Rss:")) / 1024


def cpu_seconds(pid):
    """Returns the CPU seconds of all current threads of a process, without ended ones."""
    spent = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with contextlib.suppress(OSError), open(path) as file:
            spent += int(file.read().split()[0])
    return spent / 1e9


def pod_object(cluster, name, containers=1, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
        "terminationGracePeriodSeconds": 1, **spec,
        "containers": [{"name": f"c{i}", "image": cluster.image("tools:1")} for i in range(containers)]}}


def starts(figures, cluster):
    speed = machine_speed()
    print(f"  speed of the machine: {speed:.2f}")
    figures.add("command to node Ready, empty machine", cluster.ready_seconds, "s", 3, speed)
    cluster.run_tools("first")  # pulls the image
    cluster.kubectl("delete", "pod", "first", "--wait=false")
    cluster.gone(CORE, "pods", None)
    cluster.down_keeping_data()
    began = time.monotonic()
    figures.add("command to node Ready, again", cluster.up(), "s", 3, speed)
    status, body = cluster.api.call("POST", collection(CORE, "default", "pods"), pod_object(cluster, "second"))
    assert status == 201, body
    cluster.pod("second", lambda pod: pod.get("status", {}).get("phase") == "Running", what="Running")
    figures.add("command to first Pod Running, image present", time.monotonic() - began, "s", 5, speed)


def idle(figures, cluster):
    time.sleep(SETTLE_SECONDS)
    own, etcd = cluster.server.process.pid, cluster.pid_of("etcd")
    before = cpu_seconds(own), cpu_seconds(etcd), time.monotonic()
    time.sleep(IDLE_SECONDS)
    seconds = time.monotonic() - before[2]
    figures.add("resident: everything but etcd and containerd", resident_megabytes(own), "MB", 110)
    figures.add("resident: with etcd", resident_megabytes(own) + resident_megabytes(etcd), "MB", 150)
    figures.add("idle: everything but etcd and containerd", 100 * (cpu_seconds(own) - before[0]) / seconds, "%", 1)
    print(f"  idle: etcd {100 * (cpu_seconds(etcd) - before[1]) / seconds:.2f} % of a core")


def _watch_exits(cluster, seen):
    """Records when the API first reported each container as terminated."""
    path = collection(CORE, "default", "pods")
    version = cluster.api.get(path)["metadata"]["resourceVersion"]
    for _, pod in cluster.api.watch(path, version, 300):
        now = time.monotonic()
        for status in container_statuses(pod):
            if "terminated" in (status.get("state") or {}):
                seen.setdefault(status["containerID"].split("//")[1], now)


@contextlib.contextmanager
def _runtime_ends(cluster):
    """Yields {container ID: time of containerd's last start or delete event}."""
    seen = {}
    process = subprocess.Popen(["ctr", "--address", f"{cluster.data}/run/containerd.sock", "--namespace", "k8s.io", "events"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, preexec_fn=end_with_test)

    def read():
        for line in process.stdout:
            found = re.search(r' /tasks/(?:start|delete) .*"container_id":"(\w+)"', line)
            if found:
                seen[found.group(1)] = time.monotonic()
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield seen
    finally:
        process.kill()
        process.wait()
        reader.join()


def _main_process(container_id):
    """Returns the process ID of the container's main process."""
    for pid, line in leftovers.processes().items():
        try:
            with open(f"/proc/{pid}/cgroup") as file:
                if container_id in file.read() and "/main.sh" in line:
                    return pid
        except OSError:
            pass
    raise AssertionError(f"no process in container {container_id}")


def percentile(values, share):
    return sorted(values)[int(share * (len(values) - 1))]


def exits(figures, cluster):
    with _runtime_ends(cluster) as runtime_ends:
        _exits(figures, cluster, runtime_ends)


def _exits(figures, cluster, runtime_ends):
    for i in range(PODS):
        status, body = cluster.api.call("POST", collection(CORE, "default", "pods"),
                                        pod_object(cluster, f"exits-{i}", CONTAINERS, restartPolicy="Never"))
        assert status == 201, body
    pids = {}
    for i in range(PODS):
        for status in container_statuses(cluster.pod(f"exits-{i}", seconds=120)):
            identity = status["containerID"].split("//")[1]
            pids[identity] = _main_process(identity)
    assert runtime_ends, "containerd tells nothing"
    runtime_ends.clear()
    seen = {}
    threading.Thread(target=_watch_exits, args=(cluster, seen), daemon=True).start()
    time.sleep(1)  # the watch starts, and the last Pod becomes Ready
    delays, runtime_delays = [], []
    for identity, pid in pids.items():
        began = time.monotonic()
        os.kill(pid, 9)
        while identity not in seen or identity not in runtime_ends:
            assert time.monotonic() - began < 20, f"the exit of {identity} was not reported"
            time.sleep(0.001)
        delays.append(1000 * (seen[identity] - began))
        runtime_delays.append(1000 * (runtime_ends[identity] - began))
        time.sleep(0.05)
    p99, runtime_p99 = percentile(delays, 0.99), percentile(runtime_delays, 0.99)
    print(f"  container exit to status: median {percentile(delays, 0.5):.0f} ms of {len(delays)}; containerd alone: "
          f"median {percentile(runtime_delays, 0.5):.0f}, p99 {runtime_p99:.0f} ms")
    figures.show("container exit to status in the API, p99", p99, "ms", EXIT_MILLISECONDS)
    figures.add("the same, by containerd's own time for it", p99 / runtime_p99, "x", EXIT_TIMES)


def main():
    alone.enter()
    figures = Figures()
    with Cluster() as cluster:
        for part in (starts, idle, exits):
            part(figures, cluster)
    figures.check()
    print("PASS")


if __name__ == "__main__":
    main()
