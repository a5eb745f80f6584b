# SPDX-License-Identifier: Apache-2.0
"""One Pod beside 500 containers whose probes do not end and that ignore SIGTERM.

    hostile_pods_test.py [PODS]

The probe period of that Pod and the duration of its termination must stay within 10 %, and the number of threads must
not grow with the hostile containers. Each of the PODS hostile Pods (default 10) has 50 containers.

Environment: COX_BIN, the program under test.
"""

import http.server
import os
import socket
import sys
import threading
import time

import alone
import leftovers
from api import CORE, collection
from harness import wait_until
from whole_cluster import Cluster

CONTAINERS = 50  # per hostile Pod
PERIOD = 2  # of the healthy Pod's probe, in seconds
END = 10  # the time that the healthy Pod takes to end after SIGTERM
TOLERANCE = 0.1
HOUR = 3600
MORE_THREADS = 12  # allowed growth; the worker pools of the kubelet start threads on demand


class Recorder:
    """An HTTP server that records when it gets requests."""

    def __init__(self):
        times = self.times = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                times.append(time.monotonic())
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def gaps(self, count):
        """Waits for `count` further requests; returns the times between them."""
        first = len(self.times)
        wait_until(f"{count} probes", lambda: len(self.times) > first + count, 3 * PERIOD * (count + 1))
        times = self.times[first:first + count + 1]
        return [later - earlier for earlier, later in zip(times, times[1:])]


class SilentServer:
    """Accepts connections and sends nothing. With accepts=False, connection attempts do not end either."""

    def __init__(self, accepts):
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(1000 if accepts else 0)
        self.port = self._listener.getsockname()[1]
        self.connections = []
        if accepts:
            threading.Thread(target=self._accept, daemon=True).start()
            return
        # Fills the queue of the listener, so that the kernel drops further SYN packets.
        for _ in range(4):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", self.port))
            self.connections.append(client)

    def _accept(self):
        while True:
            self.connections.append(self._listener.accept()[0])


class HostilePods:
    def __init__(self, cluster, count):
        self._cluster = cluster
        self._names = [f"hostile-{number}" for number in range(count)]
        self._silent, self._full = SilentServer(True), SilentServer(False)
        self._signals = os.path.join(cluster.directory, "signals")  # one file per container that got SIGTERM
        os.makedirs(self._signals)
        self._total = count * CONTAINERS
        self._progress = None
        with open("/proc/sys/net/ipv4/tcp_syn_retries", "w") as file:
            file.write("60")  # so that connection attempts do not end during the test

    def start(self):
        """Returns when all of their probes are in progress."""
        for name in self._names:
            self._cluster.apply({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "hostile"}},
                "spec": {"terminationGracePeriodSeconds": HOUR, "restartPolicy": "Never",
                         "automountServiceAccountToken": False,
                         "containers": [self._container(name, number) for number in range(CONTAINERS)],
                         "volumes": [{"name": "signals", "hostPath": {"path": self._signals}}]}})
        wait_until("all hostile probes are in progress", self._all_probed, 400, between=3)

    def delete(self):
        """Returns when all containers have received SIGTERM."""
        self._cluster.kubectl("delete", "pod", *self._names, "--wait=false")
        wait_until("all containers have received SIGTERM", lambda: len(os.listdir(self._signals)) == self._total, 200,
                   between=0.5)

    def kill(self):
        self._cluster.kubectl("delete", "pod", *self._names, "--wait=false", "--grace-period=0", "--force")
        self._cluster.gone(CORE, "pods", "app=hostile", 200)

    def _container(self, pod, number):
        probes = ({"httpGet": {"host": "127.0.0.1", "port": self._silent.port}},
                  {"httpGet": {"host": "127.0.0.1", "port": self._silent.port, "scheme": "HTTPS"}},
                  {"tcpSocket": {"host": "127.0.0.1", "port": self._full.port}},
                  {"exec": {"command": ["sleep", "123456"]}})
        return {"name": f"c{number}", "image": self._cluster.image("tools:1"),
                "command": ["sh", "-c", f"trap 'touch /signals/{pod}-{number}' TERM; "
                                        "while true; do sleep 1000000 & wait $!; done"],
                "readinessProbe": {**probes[number % len(probes)], "timeoutSeconds": HOUR},
                "volumeMounts": [{"name": "signals", "mountPath": "/signals"}]}

    def _all_probed(self):
        progress = {
            "requests": len(self._silent.connections),
            "connections": connections_in_progress(self._full.port),
            "commands": sum(line.startswith("sleep 123456") for line in leftovers.processes().values())}
        if progress != self._progress:
            print(f"  in progress: {progress}", flush=True)
        self._progress = progress
        kinds = [sum(number % 4 == kind for number in range(CONTAINERS)) * len(self._names) for kind in range(4)]
        return list(progress.values()) == [kinds[0] + kinds[1], kinds[2], kinds[3]]


def connections_in_progress(port):
    """Returns the number of sockets in the state SYN_SENT to a port of this host, without those of this process."""
    with open("/proc/net/tcp") as file:
        lines = [line.split() for line in file.readlines()[1:]]
    own = 0
    for number in os.listdir("/proc/self/fd"):
        with_link = f"/proc/self/fd/{number}"
        if os.path.exists(with_link) and os.readlink(with_link).startswith("socket:"):
            inode = os.readlink(with_link)[8:-1]
            own += any(line[9] == inode and line[3] == "02" for line in lines)
    return sum(line[2].endswith(f":{port:04X}") and line[3] == "02" for line in lines) - own


def healthy_pod(cluster, name, recorder):
    script = f"trap 'sleep {END}; exit 0' TERM; while true; do sleep 1000000 & wait $!; done"
    cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
        "terminationGracePeriodSeconds": HOUR, "containers": [{
            "name": "main", "image": cluster.image("tools:1"), "command": ["sh", "-c", script],
            "livenessProbe": {"httpGet": {"host": "127.0.0.1", "port": recorder.port}, "periodSeconds": PERIOD}}]}})
    cluster.pod(name)


def termination_seconds(cluster, name):
    began = time.monotonic()
    cluster.kubectl("delete", "pod", name, "--wait=false")
    cluster.api.until(f"Pod {name} is gone", collection(CORE, "default", "pods"), lambda pods: name not in pods, 6 * END)
    return time.monotonic() - began


def threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def check_period(recorder, when):
    gaps = recorder.gaps(5)
    print(f"  {when}: probe period {min(gaps):.3f} to {max(gaps):.3f} s", flush=True)
    assert all(abs(gap - PERIOD) <= TOLERANCE * PERIOD for gap in gaps), gaps


def main():
    pods = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    alone.enter()
    with Cluster() as cluster:
        recorder, before = Recorder(), Recorder()
        healthy_pod(cluster, "alone", before)
        check_period(before, "alone")
        usual = termination_seconds(cluster, "alone")
        healthy_pod(cluster, "healthy", recorder)
        few = threads(cluster.server.process.pid)

        hostile, began = HostilePods(cluster, pods), time.monotonic()
        hostile.start()
        print(f"  {pods * CONTAINERS} containers with probes that do not end after {time.monotonic() - began:.0f} s", flush=True)
        check_period(recorder, "beside hostile probes")
        hostile.delete()
        check_period(recorder, "beside containers that do not end")
        many = threads(cluster.server.process.pid)
        seconds = termination_seconds(cluster, "healthy")
        print(f"  termination {seconds:.2f} s, alone {usual:.2f} s; {many} threads, alone {few}", flush=True)
        assert abs(seconds - usual) <= TOLERANCE * usual, (seconds, usual)
        assert many <= few + MORE_THREADS, (few, many)
        began = time.monotonic()
        hostile.kill()
        print(f"  all hostile Pods removed after {time.monotonic() - began:.0f} s", flush=True)
        leftovers.await_none_of_pods(60)
    print("PASS")


if __name__ == "__main__":
    main()
