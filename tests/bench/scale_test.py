# SPDX-License-Identifier: Apache-2.0
"""Measures Pods per second through the control plane: real processes and etcd, simulated nodes.

    scale_test.py [--check] [--short] [--nodes N] [--pods N] [--replicas N] [--only bind|create|deployment]

bind        existing Pods, from the start of the scheduler until all are bound
create      Pods that are created while the scheduler runs, from the first request until all are
            bound; the nodes do not start them, because only scheduling is measured
deployment  a Deployment scaled from 0, until all replicas are ready (needs the controller manager)

Prints Pods per second and the CPU seconds of every process for each. --check fails if a rate is
below its target, scaled by the speed of the machine before and after; --short runs fewer Pods and
nodes, with lower targets.
"""

import argparse
import json
import os
import re
import socket
import ssl
import sys
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from cluster import ADMIN_TOKEN, Cluster, free_ports, skip, wait_until  # noqa: E402
from machine import machine_speed  # noqa: E402

# Target rates in Pods per second: for a full run, and for a short one.
TARGETS = {"bind": (800, 200), "create": (800, 150), "deployment": (400, 80)}
CONNECTIONS = 32  # with fewer connections the servers wait for the client
SCHEDULED = "/api/v1/namespaces/default/events?fieldSelector=reason=Scheduled"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


class Plane(Cluster):
    """A control plane with nodes; processes started with run() are stopped with it."""

    def __init__(self, binary, controllers):
        # Without the node lifecycle controller the taint of new nodes would never be removed.
        off = "ServiceAccount" + ("" if controllers else ",TaintNodesByCondition")
        super().__init__(binary, arguments=["--disable-admission-plugins", off], service_accounts=True)
        self._binary_path = binary
        self.pids = {}

    def start(self):
        super().start()
        for server in self._servers:
            self.pids[server.name] = server.process.pid

    def run(self, name, *arguments):
        server = self._spawn(name, [self._binary_path, name, "--kubeconfig", self.kubeconfig, *arguments])
        self.pids[name] = server.process.pid
        return server

    def cpu(self):
        """Returns CPU seconds by process; "load" is this process, which generates the load."""
        tick = os.sysconf("SC_CLK_TCK")
        seconds = {"load": time.process_time()}
        for name, pid in self.pids.items():
            with open(f"/proc/{pid}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
            seconds[name] = (int(fields[11]) + int(fields[12])) / tick
        return seconds

    def memory(self):
        """Returns the resident memory in MB by process."""
        sizes = {}
        for name, pid in self.pids.items():
            with open(f"/proc/{pid}/status") as status:
                sizes[name] = int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) // 1024
        return sizes

    def tls(self):
        return ssl.create_default_context(cafile=self.ca_file)

    def ask(self, method, path, body=None, kind="application/json", accept="application/json"):
        request = urllib.request.Request(
            self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + ADMIN_TOKEN, "Content-Type": kind, "Accept": accept})
        with urllib.request.urlopen(request, timeout=60, context=self.tls()) as answer:
            return json.load(answer)

    def count(self, path):
        """Returns the number of objects. With a selector it reads all of them, else only one."""
        if "?" in path:
            return len(self.ask("GET", path, accept=METADATA_LIST)["items"])
        answer = self.ask("GET", path + "?limit=1")
        return len(answer["items"]) + answer["metadata"].get("remainingItemCount", 0)


class Connection:
    """Sends prepared requests one after another, with as little client CPU time as possible."""

    def __init__(self, plane):
        raw = socket.create_connection(("127.0.0.1", plane.port))
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = plane.tls().wrap_socket(raw, server_hostname="127.0.0.1")
        self._rest = b""

    def send(self, request):
        self._socket.sendall(request)
        data = self._rest
        while b"\r\n\r\n" not in data:
            data += self._receive()
        head, data = data.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 20"):
            raise RuntimeError(head.decode() + data.decode(errors="replace"))
        length = int(re.search(rb"(?i)\r\ncontent-length: *(\d+)", head).group(1))
        while len(data) < length:
            data += self._receive()
        self._rest = data[length:]

    def _receive(self):
        data = self._socket.recv(65536)
        if not data:
            raise RuntimeError("the API server closed the connection")
        return data


def pod_request(name, delay):
    body = json.dumps({
        "apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": name, "labels": {"app": "scale"}, "annotations": {"coxswain.dev/startup-delay": delay}},
        "spec": {"terminationGracePeriodSeconds": 0, "containers": [
            {"name": "c", "image": "registry.example/pause:1",
             "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}}}]}}).encode()
    return (f"POST /api/v1/namespaces/default/pods HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {ADMIN_TOKEN}\r\n"
            "Accept: application/vnd.kubernetes.protobuf\r\n"  # as most clients; never decoded
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body


def create_pods(plane, prefix, count, delay="0s"):
    """`delay`: the time from binding to Running."""
    requests = [pod_request(f"{prefix}-{i}", delay) for i in range(count)]
    failures = []

    def work(part):
        try:
            connection = Connection(plane)
            for request in requests[part::CONNECTIONS]:
                connection.send(request)
        except Exception as error:  # raised again below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def start_scheduler(plane):
    port = free_ports(1)[0]
    server = plane.run("scheduler", "--leader-elect=false", "--bind-address=127.0.0.1", f"--secure-port={port}")
    insecure = ssl.create_default_context()  # the certificate is self-signed
    insecure.check_hostname = False
    insecure.verify_mode = ssl.CERT_NONE

    def scheduled():
        server.check_runs()
        request = urllib.request.Request(f"https://127.0.0.1:{port}/metrics",
                                         headers={"Authorization": "Bearer " + ADMIN_TOKEN})
        try:
            with urllib.request.urlopen(request, timeout=10, context=insecure) as answer:
                text = answer.read().decode()
        except OSError:
            return 0
        return sum(int(float(n)) for n in re.findall(
            r'scheduler_schedule_attempts_total\{[^}]*result="scheduled"[^}]*\} ([0-9.e+]+)', text))
    return scheduled


class Measure:
    """Measures one scenario and prints the results."""

    def __init__(self, plane, name, pods):
        self._plane, self.name, self._pods = plane, name, pods

    def __enter__(self):
        self._before = self._plane.cpu()
        self._begun = time.monotonic()
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            return
        took = time.monotonic() - self._begun
        self.rate = self._pods / took
        print(f"{self.name}: {self._pods} Pods in {took:.2f} s, {self.rate:.0f} Pods/s")
        spent = {name: seconds - self._before.get(name, 0) for name, seconds in self._plane.cpu().items()}
        print("  CPU s: " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in spent.items()))
        print("  MB:    " + ", ".join(f"{name} {size}" for name, size in self._plane.memory().items()), flush=True)


def delete_pods(plane):
    plane.ask("DELETE", "/api/v1/namespaces/default/pods?gracePeriodSeconds=0")
    wait_until("the Pods are gone", lambda: plane.count("/api/v1/namespaces/default/pods") == 0, 120)


def measure(plane, options, rates):
    pods = options.pods
    scheduled = None
    if "bind" in options.only:
        create_pods(plane, "bind", pods)
        with Measure(plane, "bind", pods) as bind:
            scheduled = start_scheduler(plane)
            wait_until("all Pods are bound", lambda: scheduled() >= pods, 120)
        rates["bind"] = bind.rate
        wait_until("all Pods run", lambda: plane.count(
            "/api/v1/namespaces/default/pods?fieldSelector=status.phase=Running") == pods, 120, 0.5)
        wait_until("each Pod has its event", lambda: plane.count(SCHEDULED) >= pods, 60, 0.5)
        delete_pods(plane)
    scheduled = scheduled or start_scheduler(plane)
    if "create" in options.only:
        already = scheduled()
        with Measure(plane, "create", pods) as create:
            create_pods(plane, "create", pods, delay="1h")
            wait_until("all Pods are bound", lambda: scheduled() >= already + pods, 120)
        rates["create"] = create.rate
        delete_pods(plane)
    if "deployment" in options.only:
        rates["deployment"] = measure_deployment(plane, options.replicas)


def measure_deployment(plane, replicas):
    labels = {"app": "scale"}
    path = "/apis/apps/v1/namespaces/default/deployments"
    plane.ask("POST", path, {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "c", "image": "registry.example/pause:1"}]}}}})
    wait_until("the Deployment is observed",
               lambda: plane.ask("GET", path + "/web")["status"].get("observedGeneration", 0) >= 1, 60)
    with Measure(plane, "deployment", replicas) as scale:
        plane.ask("PATCH", path + "/web/scale", {"spec": {"replicas": replicas}}, "application/merge-patch+json")
        wait_until("all replicas are ready",
                   lambda: plane.ask("GET", path + "/web")["status"].get("readyReplicas", 0) == replicas, 180)
    return scale.rate


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--pods", type=int)
    parser.add_argument("--replicas", type=int)
    parser.add_argument("--only", action="append", choices=sorted(TARGETS))
    parser.add_argument("--keep", action="store_true", help="wait for a line on stdin before stopping the servers")
    options = parser.parse_args()
    options.nodes = options.nodes or (200 if options.short else 1000)
    options.pods = options.pods or (1000 if options.short else 5000)
    options.replicas = options.replicas or (500 if options.short else 2000)
    options.only = options.only or list(TARGETS)
    binary = os.environ.get("COX_BIN") or skip("COX_BIN does not say where the program is")
    rates = {}
    speed = machine_speed()
    controllers = "deployment" in options.only
    with Plane(binary, controllers) as plane:
        if controllers:
            plane.run("controller-manager", "--leader-elect=false", "--secure-port=0")
        begun = time.monotonic()
        plane.run("simulate", "--nodes", str(options.nodes))
        wait_until("all nodes are there", lambda: plane.count("/api/v1/nodes") == options.nodes, 120)
        print(f"{options.nodes} nodes registered after {time.monotonic() - begun:.1f} s", flush=True)
        wait_until("all nodes are without taints", lambda: not any(
            node["spec"].get("taints") for node in plane.ask("GET", "/api/v1/nodes?limit=0")["items"]), 120, 0.5)
        measure(plane, options, rates)
        if options.keep:
            input(f"{plane.kubeconfig} {plane.pids}; Enter ends it. ")
    speed = min(speed, machine_speed())
    print(f"speed of the machine: {speed:.2f}")
    missed = [f"{name}: {rate:.0f} Pods/s, target {TARGETS[name][options.short]} x {speed:.2f}"
              for name, rate in rates.items() if rate < TARGETS[name][options.short] * speed]
    if options.check and missed:
        sys.exit("below target: " + "; ".join(missed))


if __name__ == "__main__":
    main()
