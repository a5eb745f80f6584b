# SPDX-License-Identifier: Apache-2.0
"""Measures what nodes cost the control plane: real etcd and processes, TLS, RBAC, the Node authorizer, and simulated
nodes that each have the identity, connection, watches and writes of a kubelet.

    nodes_bench.py [--nodes N] [--pods P] [--minutes M] [--churn R] [--collapse] [--restart] [--out DIR] [--check]

The phases are: nodes (N nodes become Ready), pods (N*P Pods become ready), idle (a minute without changes), churn
(M minutes in which Pods are deleted and replaced), and on request collapse (ten Deployments with N*3 Pods each, created
at once) and restart (the API server is killed and started again).

DIR receives samples.csv (a line every five seconds), requests.csv (requests by verb and resource with their latencies)
and summary.csv (one line, the input of nodes_plot.py). Latencies come from the histograms of the API server: they are
interpolated within a bucket, and the first bucket ends at 5 ms. --check fails if a node became NotReady, a Lease was
late, or Pods did not become ready.

Environment: COX_BIN, the program under test.
"""

import argparse
import contextlib
import csv
import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from cluster import ClusterError, end_with_test, free_ports, need_program, skip, wait_until  # noqa: E402
from machine import machine_speed  # noqa: E402
from metrics import Metrics, quantile  # noqa: E402

SAMPLE_SECONDS = 5
IDLE_SECONDS = 60
PODS_PER_NAMESPACE = 3000
REPLICAS = 500  # of one Deployment
MUTATING = {"POST", "PUT", "PATCH", "DELETE", "APPLY"}
NAMES = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
TICKS = os.sysconf("SC_CLK_TCK")


class Api:
    """One connection to a server, for one thread. It is opened again after an error."""

    def __init__(self, port, token, ca_file=None):
        self._port, self._token, self._connection = port, token, None
        self._tls = ssl.create_default_context(cafile=ca_file)
        if ca_file is None:  # a component with a self-signed certificate
            self._tls.check_hostname, self._tls.verify_mode = False, ssl.CERT_NONE

    def send(self, method, path, body=None, accept="application/json", ok=()):
        """Returns the body of the response. Raises OSError, also for a status of 400 or more that is not in `ok`."""
        reused = self._connection is not None
        try:
            status, data = self._exchange(method, path, body, accept)
        except OSError:
            if not reused or method == "POST":
                raise
            status, data = self._exchange(method, path, body, accept)  # the server had closed the connection
        if status >= 400 and status not in ok:
            raise OSError(f"{method} {path}: {status} {data[:300]!r}")
        return data

    def _exchange(self, method, path, body, accept):
        if self._connection is None:
            self._connection = http.client.HTTPSConnection("127.0.0.1", self._port, timeout=60, context=self._tls)
        try:
            self._connection.request(method, path, None if body is None else json.dumps(body), {
                "Authorization": "Bearer " + self._token, "Accept": accept, "Content-Type": "application/json"})
            answer = self._connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            self._connection = None
            raise OSError(f"{method} {path}: {error}") from error

    def get(self, path, accept="application/json"):
        return json.loads(self.send("GET", path, accept=accept))

    def metrics(self):
        return Metrics(self.send("GET", "/metrics", accept="text/plain").decode())


class Process:
    """A child that is ended by its process ID."""

    def __init__(self, name, arguments, directory):
        self.name, self.log, self._arguments = name, os.path.join(directory, name + ".log"), arguments
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self._child = subprocess.Popen(self._arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                           preexec_fn=end_with_test)
        self.pid = self._child.pid

    def check_runs(self):
        if self._child.poll() is not None:
            with open(self.log, errors="replace") as log:
                raise ClusterError(f"{self.name} ended with {self._child.returncode}:\n{''.join(log.readlines()[-30:])}")

    def stop(self, number=signal.SIGTERM, seconds=30):
        if self._child.poll() is None:
            self._child.send_signal(number)
            try:
                self._child.wait(seconds)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()


class UpPlane:
    """`coxswain up --no-node`: API server, controllers and scheduler in one process."""

    def __init__(self, binary, directory):
        from up_test import ControlPlane
        self._binary, self._directory = binary, directory
        self._plane = ControlPlane(directory)
        self.kubeconfig = self._plane.kubeconfig
        self.port = int(self._plane.flags[self._plane.flags.index("--secure-port") + 1])
        self.ca = os.path.join(self._plane.data, "pki", "ca")
        self.ca_file = self.ca + ".crt"

    def start(self):
        self._plane.up()
        self.token = self._admin_token()

    def _admin_token(self):
        # Components authorize readers of their metrics by token.
        self._plane.kubectl("create", "serviceaccount", "bench")
        self._plane.kubectl("create", "clusterrolebinding", "bench", "--clusterrole=cluster-admin",
                            "--serviceaccount=default:bench")
        return self._plane.kubectl("create", "token", "bench", "--duration=24h").strip()

    def pids(self):
        etcd = self._plane.etcd()
        return {"coxswain": self._plane.process.pid, **({"etcd": etcd[0]} if etcd else {})}

    def restart(self):
        self._plane.end(signal.SIGKILL)
        self._plane.up()

    def stop(self):
        if self._plane.process is not None and self._plane.process.poll() is None:
            self._plane.end(signal.SIGTERM)
        for pid in self._plane.etcd():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


class SeparatePlane:
    """etcd, API server, controllers and scheduler as processes."""

    def __init__(self, binary, directory):
        from certificates import make_ca
        from cluster import ADMIN_TOKEN, Cluster
        make_ca(directory, "client-ca")
        self.ca = os.path.join(directory, "client-ca")
        self._binary, self._directory, self.token, self._parts = binary, directory, ADMIN_TOKEN, []
        self._cluster = Cluster(binary, service_accounts=True, arguments=["--client-ca-file", self.ca + ".crt"])

    def start(self):
        self._cluster.start()
        self.port, self.ca_file, self.kubeconfig = self._cluster.port, self._cluster.ca_file, self._cluster.kubeconfig
        for name, extra in (("controller-manager", ["--root-ca-file", self.ca_file]), ("scheduler", [])):
            arguments = [self._binary, name, "--kubeconfig", self.kubeconfig, "--leader-elect=false", "--secure-port=0",
                         *extra]
            self._parts.append(Process(name, arguments, self._directory))

    def pids(self):
        servers = {server.name: server.process.pid for server in self._cluster._servers}
        return {**servers, **{part.name: part.pid for part in self._parts}}

    def restart_part(self, name):
        part = next(part for part in self._parts if part.name == name)
        part.stop(signal.SIGKILL)
        part.start()

    def restart(self):
        old = next(server for server in self._cluster._servers if server.name == "apiserver")
        old.process.kill()
        old.process.wait()
        self._cluster._servers.remove(old)
        self._cluster._wait_ready(self._cluster._start_apiserver(self._cluster.etcd_url))

    def stop(self):
        for part in reversed(self._parts):
            part.stop()
        self._cluster.stop()


def usage(pids):
    """Returns {process: (resident MB, CPU seconds)}; processes that have ended are left out."""
    found = {}
    for name, pid in pids.items():
        with contextlib.suppress(OSError, IndexError):
            with open(f"/proc/{pid}/status") as status:
                resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
            with open(f"/proc/{pid}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
            found[name] = (resident / 1024, (int(fields[11]) + int(fields[12])) / TICKS)
    return found


def watches_of(metrics):
    return sum(value for labels, value in metrics.series("apiserver_longrunning_requests") if labels["verb"] == "WATCH")


def is_read_of_one(labels):
    return labels["verb"] == "GET" and labels["scope"] == "resource" and labels["resource"] != ""


class Sampler(threading.Thread):
    """Writes a line of samples.csv every few seconds, and the requests of each interval."""

    FIELDS = ["nodes_ready", "pods_ready", "renewals_per_s", "lease_delay_max_s", "renewals_late", "watches_nodes",
              "watches_server", "watchers_terminated", "requests_per_s", "mutating_p50_ms", "mutating_p99_ms",
              "read_p50_ms", "read_p99_ms"]

    def __init__(self, bench, out):
        super().__init__(daemon=True)
        self._bench, self._end = bench, threading.Event()
        self._samples = open(os.path.join(out, "samples.csv"), "w", newline="")
        self._requests = open(os.path.join(out, "requests.csv"), "w", newline="")
        self._columns = None
        self._server, self._nodes, self._at = Metrics(), Metrics(), time.monotonic()
        csv.writer(self._requests).writerow(["time", "phase", "verb", "resource", "count", "p50_ms", "p99_ms"])

    def run(self):
        while not self._end.wait(SAMPLE_SECONDS):
            with contextlib.suppress(OSError):  # the API server is being restarted
                self._sample()

    def finish(self):
        self._end.set()
        self.join(60)
        self._samples.close()
        self._requests.close()

    def _sample(self):
        server, nodes, now = self._bench.server_metrics(), self._bench.node_metrics(), time.monotonic()
        seconds, self._at = now - self._at, now
        changed, self._server = server - self._server, server
        renewed, self._nodes = (nodes - self._nodes).total("coxswain_simulate_lease_renewals_total"), nodes
        used = usage(self._bench.pids())
        mutating = changed.buckets("apiserver_request_duration_seconds", lambda labels: labels["verb"] in MUTATING)
        reads = changed.buckets("apiserver_request_duration_seconds", is_read_of_one)
        values = [nodes.total("coxswain_simulate_nodes_ready"), nodes.total("coxswain_simulate_pods_ready"),
                  renewed / seconds, nodes.total("coxswain_simulate_lease_renewal_delay_max_seconds"),
                  nodes.total("coxswain_simulate_lease_renewals_late_total"), nodes.total("coxswain_simulate_watches"),
                  watches_of(server), server.total("apiserver_terminated_watchers_total"),
                  changed.total("apiserver_request_total") / seconds,
                  *(milliseconds(quantile(buckets, q)) for buckets in (mutating, reads) for q in (0.5, 0.99))]
        if self._columns is None:
            self._columns = sorted(used)
            csv.writer(self._samples).writerow(["time", "phase", *(
                f"{name}_{what}" for name in self._columns for what in ("rss_mb", "cpu_s")), *self.FIELDS])
        elapsed = round(now - self._bench.began, 1)
        csv.writer(self._samples).writerow([elapsed, self._bench.phase, *(
            round(value, 2) for name in self._columns for value in used.get(name, (0, 0))), *(
                round(value, 3) for value in values)])
        self._samples.flush()
        self._write_requests(elapsed, changed)

    def _write_requests(self, elapsed, changed):
        groups = {}
        for labels, value in changed.series("apiserver_request_duration_seconds_bucket"):
            if labels["verb"] in ("WATCH", "CONNECT"):
                continue
            resource = "/".join(filter(None, (labels["resource"], labels["subresource"])))
            sums = groups.setdefault((labels["verb"], resource), {})
            bound = float(labels["le"].replace("+Inf", "inf"))
            sums[bound] = sums.get(bound, 0) + value
        writer = csv.writer(self._requests)
        for (verb, resource), sums in sorted(groups.items()):
            buckets = sorted(sums.items())
            if buckets[-1][1] > 0:
                writer.writerow([elapsed, self._bench.phase, verb, resource, int(buckets[-1][1]),
                                 *(milliseconds(quantile(buckets, q)) for q in (0.5, 0.99))])
        self._requests.flush()


def milliseconds(seconds):
    return 0 if seconds is None else round(seconds * 1000, 2)


class Phase:
    """Resources and requests between the begin and the end of a phase."""

    def __init__(self, bench, name):
        self._bench, self.name = bench, name

    def __enter__(self):
        self._bench.phase = self.name
        print(f"{self.name} ...", flush=True)
        self._server, self._began = self._bench.server_metrics(), time.monotonic()
        self._pids = self._bench.pids()
        self._before = usage(self._pids)
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            return
        self.seconds = time.monotonic() - self._began
        after = usage(self._bench.pids())
        # A process that was started in this phase begins at 0.
        self.cpu = {name: cpu - (self._before[name][1] if name in self._same() else 0)
                    for name, (_, cpu) in after.items()}
        self.rss = {name: rss for name, (rss, _) in after.items()}
        self.grown = {name: rss - self._before.get(name, (0, 0))[0] for name, (rss, _) in after.items()}
        changed = self._bench.server_metrics() - self._server
        duration = "apiserver_request_duration_seconds"
        self.mutating_p99 = milliseconds(quantile(changed.buckets(duration, lambda labels: labels["verb"] in MUTATING), 0.99))
        self.read_p99 = milliseconds(quantile(changed.buckets(duration, is_read_of_one), 0.99))
        self._bench.phase = "between"
        print(f"  {self.seconds:.1f} s; CPU s: {show(self.cpu)}; MB: {show(self.rss, 0)}; p99 ms: mutating "
              f"{self.mutating_p99:.1f}, single reads {self.read_p99:.1f}", flush=True)

    def _same(self):
        """Returns the names of the processes that have run since the begin of the phase."""
        return {name for name, pid in self._bench.pids().items() if self._pids.get(name) == pid}

    def control_cpu(self):
        return sum(value for name, value in self.cpu.items() if name not in ("etcd", "nodes"))

    def control_grown(self):
        return sum(value for name, value in self.grown.items() if name not in ("etcd", "nodes"))


def show(values, digits=1):
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())


class Churn:
    """Deletes Pods at a steady rate; their ReplicaSets create others."""

    def __init__(self, bench, api):
        self._bench, self._api, self._names, self._turn = bench, api, [], 0
        self.deleted = 0

    def run(self, seconds, changes_per_second):
        began = time.monotonic()
        pause = 2 / changes_per_second  # a deletion causes a creation
        while time.monotonic() - began < seconds:
            self._delete_one()
            time.sleep(max(0, began + pause * self.deleted - time.monotonic()))

    def _delete_one(self):
        if not self._names:
            self._refill()
        path = self._names.pop()
        self._api.send("DELETE", path, ok=(404,))
        self.deleted += 1

    def _refill(self):
        namespaces = self._bench.namespaces
        namespace = namespaces[self._turn % len(namespaces)]
        self._turn += 1
        path = f"/api/v1/namespaces/{namespace}/pods"
        found = self._api.get(path + "?limit=500&resourceVersion=0", accept=NAMES)["items"]
        if not found:
            raise ClusterError(f"no Pods in {namespace}")
        self._names = [f"{path}/{item['metadata']['name']}" for item in found[:500]]


class Bench:
    def __init__(self, options, plane, directory):
        self._options, self._plane, self._directory = options, plane, directory
        self.began, self.phase, self.namespaces, self._nodes, self._nodes_port = time.monotonic(), "start", [], None, 0
        self._local = threading.local()

    def pids(self):
        pids = self._plane.pids()
        if self._nodes is not None:
            pids["nodes"] = self._nodes.pid
        return pids

    def new_api(self):
        return Api(self._plane.port, self._plane.token, self._plane.ca_file)

    def api(self):
        """Returns the connection of this thread."""
        if not hasattr(self._local, "api"):
            self._local.api = self.new_api()
            self._local.nodes = Api(self._nodes_port, self._plane.token)
        return self._local.api

    def server_metrics(self):
        return self.api().metrics()

    def node_metrics(self):
        self.api()
        try:
            return self._local.nodes.metrics()
        except OSError:
            return Metrics()

    def value(self, name):
        self._nodes.check_runs()
        return self.node_metrics().total("coxswain_simulate_" + name)

    def start_nodes(self):
        self._nodes = Process("nodes", [
            self._options.binary, "simulate", "--watch-per-node", "--nodes", str(self._options.nodes), "--kubeconfig",
            self._plane.kubeconfig, "--bind-address=127.0.0.1", f"--secure-port={self._nodes_port}",
            "--pods-per-node", str(min(250, max(110, self._options.pods + 60))),
            "--cluster-signing-cert-file", self._plane.ca + ".crt",
            "--cluster-signing-key-file", self._plane.ca + ".key", *self._options.simulate], self._directory)

    def create_pods(self, prefix, total, replicas):
        """Creates Deployments with `total` replicas; each namespace gets at most PODS_PER_NAMESPACE."""
        left, api = total, self.api()
        for number in range((total + PODS_PER_NAMESPACE - 1) // PODS_PER_NAMESPACE):
            namespace = f"{prefix}-{number}"
            self.namespaces.append(namespace)
            api.send("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
            here = min(left, PODS_PER_NAMESPACE)
            left -= here
            for index in range((here + replicas - 1) // replicas):
                self.create_deployment(namespace, f"web-{index}", min(replicas, here - index * replicas))

    def create_deployment(self, namespace, name, replicas):
        labels = {"app": name}
        self.api().send("POST", f"/apis/apps/v1/namespaces/{namespace}/deployments", {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
                "replicas": replicas, "selector": {"matchLabels": labels}, "template": {
                    "metadata": {"labels": labels}, "spec": {"containers": [{
                        "name": "c", "image": "example.com/web",
                        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}}}]}}}})

    def await_pods(self, count, seconds):
        wait_until(f"{count} Pods are ready", lambda: self.value("pods_ready") >= count, seconds, between=0.5)

    def restart_nodes(self):
        self._nodes.stop(signal.SIGKILL)
        self.start_nodes()

    def start_plane(self):
        self._plane.start()
        self._nodes_port = free_ports(1)[0]
        wait_until("the API server answers", lambda: self.server_metrics() is not None, 30)

    def await_nodes(self):
        nodes = self._options.nodes
        wait_until("the nodes are ready", lambda: self.value("nodes_ready") >= nodes, 60 + nodes * 0.1, between=0.2)

    def run(self):
        options, phases = self._options, {}
        self.start_plane()
        empty = usage(self.pids())
        sampler = None
        pods = options.nodes * options.pods
        try:
            with Phase(self, "nodes") as phases["nodes"]:
                self.start_nodes()
                self.await_nodes()
            sampler = Sampler(self, options.out)
            sampler.start()
            self.settle(5)
            with Phase(self, "pods") as phases["pods"]:
                self.create_pods("bench", pods, REPLICAS)
                self.await_pods(pods, 120 + pods * 0.05)
            self.settle(10)
            with Phase(self, "idle") as phases["idle"]:
                self.settle(options.idle)
            self.changes = Churn(self, self.api())
            if options.minutes > 0:
                with Phase(self, "churn") as phases["churn"]:
                    self.changes.run(options.minutes * 60, options.churn)
                self.await_pods(pods, 60)
            if options.collapse:
                self.collapse(phases, pods)
            if options.restart:
                self.restart(phases)
        finally:
            if sampler is not None:
                sampler.finish()
        return self.summary(empty, phases, pods)

    def settle(self, seconds):
        """Waits while nothing is changed."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._nodes.check_runs()
            time.sleep(min(1, max(0, end - time.monotonic())))

    def collapse(self, phases, pods):
        more = self._options.nodes * 3
        for index in range(10):
            self.api().send("POST", "/api/v1/namespaces", {"metadata": {"name": f"collapse-{index}"}})
        with Phase(self, "collapse") as phases["collapse"]:
            for index in range(10):
                self.create_deployment(f"collapse-{index}", "web", more)
            self.await_pods(pods + 10 * more, 120 + more * 0.5)

    def restart(self, phases):
        before = self.value("watches")
        with Phase(self, "restart") as phases["restart"]:
            self._plane.restart()
            wait_until("the watches are open again", lambda: self.value("watches") >= before * 0.999, 180, between=0.5)

    def summary(self, empty, phases, pods):
        options, nodes = self._options, self.node_metrics()
        registered, created, idle = phases["nodes"], phases["pods"], phases["idle"]
        per_pod = 1000 / max(pods, 1)
        node_seconds = options.nodes * idle.seconds
        control = sum(rss for name, (rss, _) in empty.items() if name != "etcd")
        row = {
            "nodes": options.nodes, "pods": pods, "speed": round(machine_speed(), 2),
            "nodes_ready_s": registered.seconds, "pods_ready_s": created.seconds, "pods_per_s": pods / created.seconds,
            "cpu_ms_per_pod_control": created.control_cpu() * per_pod,
            "cpu_ms_per_pod_etcd": created.cpu.get("etcd", 0) * per_pod,
            "cpu_ms_per_pod_nodes": created.cpu["nodes"] * per_pod,
            "cpu_ms_per_node_s_control": idle.control_cpu() * 1000 / node_seconds,
            "cpu_ms_per_node_s_etcd": idle.cpu.get("etcd", 0) * 1000 / node_seconds,
            "cpu_ms_per_node_s_nodes": idle.cpu["nodes"] * 1000 / node_seconds,
            "rss_mb_empty_control": control,
            "rss_kb_per_node_control": registered.control_grown() * 1024 / options.nodes,
            "rss_kb_per_pod_control": created.control_grown() * 1024 / max(pods, 1),
            "rss_mb_nodes": registered.rss["nodes"],
            "rss_mb_nodes_with_pods": created.rss["nodes"],
            "rss_mb_etcd": idle.rss.get("etcd", 0),
        }
        for name in ("pods", "idle", "churn", "collapse", "restart"):
            if name in phases:
                row[f"mutating_p99_ms_{name}"] = phases[name].mutating_p99
                row[f"read_p99_ms_{name}"] = phases[name].read_p99
        if "churn" in phases:
            churn, changes = phases["churn"], max(self.changes.deleted * 2, 1)
            row["changes"] = changes
            row["changes_per_s"] = changes / churn.seconds
            for who, spent, base in (("control", churn.control_cpu(), idle.control_cpu()),
                                     ("etcd", churn.cpu.get("etcd", 0), idle.cpu.get("etcd", 0)),
                                     ("nodes", churn.cpu["nodes"], idle.cpu["nodes"])):
                row[f"cpu_ms_per_change_{who}"] = (spent - base * churn.seconds / idle.seconds) * 1000 / changes
        for name in ("collapse", "restart"):
            if name in phases:
                row[f"{name}_s"] = phases[name].seconds
        row["lease_renewals_late"] = nodes.total("coxswain_simulate_lease_renewals_late_total")
        row["lease_delay_max_s"] = nodes.total("coxswain_simulate_lease_renewal_delay_max_seconds")
        row["nodes_became_not_ready"] = nodes.total("coxswain_simulate_nodes_became_not_ready_total")
        row["watches"] = nodes.total("coxswain_simulate_watches")
        row["watches_expired"] = nodes.total("coxswain_simulate_watch_expired_total")
        row["watches_terminated"] = self.server_metrics().total("apiserver_terminated_watchers_total")
        return {name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()}

    def stop(self):
        if self._nodes is not None:
            self._nodes.stop()


def run(options):
    make = SeparatePlane if options.separate else UpPlane
    with tempfile.TemporaryDirectory(prefix="cox-nodes-") as directory:
        options.out = options.out or directory
        os.makedirs(options.out, exist_ok=True)
        plane = make(options.binary, directory)
        bench = Bench(options, plane, directory)
        try:
            row = bench.run()
            if options.keep:
                input(f"{plane.kubeconfig} {bench.pids()}; Enter ends it. ")
            return row
        finally:
            bench.stop()
            plane.stop()


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--pods", type=int, default=30, help="Pods per node (30)")
    parser.add_argument("--minutes", type=float, default=5, help="duration of the churn (5)")
    parser.add_argument("--churn", type=float, default=20, help="Pod changes per second (20)")
    parser.add_argument("--idle", type=float, default=IDLE_SECONDS, help="seconds without changes (60)")
    parser.add_argument("--collapse", action="store_true", help="create ten Deployments of NODES*3 Pods at once")
    parser.add_argument("--restart", action="store_true", help="kill the API server and start it again")
    parser.add_argument("--separate", action="store_true", help="run API server, controllers and scheduler as processes")
    parser.add_argument("--out", help="directory for the CSV files")
    parser.add_argument("--check", action="store_true", help="fail if nodes were lost or Leases were late")
    parser.add_argument("--keep", action="store_true", help="wait for a line on stdin before stopping the servers")
    parser.add_argument("--simulate", action="append", default=[], help="an additional flag of coxswain simulate")
    options = parser.parse_args()
    options.binary = os.environ.get("COX_BIN") or skip("COX_BIN does not say where the program is")
    return options


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # runs the finally blocks
    need_program("etcd")
    need_program("kubectl")
    options = parse()
    row = run(options)
    width = max(map(len, row))
    for name, value in row.items():
        print(f"{name:{width}}  {value}")
    if os.path.isdir(options.out):
        with open(os.path.join(options.out, "summary.csv"), "w", newline="") as file:
            writer = csv.DictWriter(file, row)
            writer.writeheader()
            writer.writerow(row)
    lost = [f"{name} = {row[name]:g}" for name in ("nodes_became_not_ready", "lease_renewals_late") if row[name] > 0]
    if options.check and lost:
        sys.exit("nodes were not served in time: " + ", ".join(lost))


if __name__ == "__main__":
    main()
