# SPDX-License-Identifier: Apache-2.0
"""A control plane for fault injection: etcd members and an API server that tests kill and pause."""

import http.client
import json
import os
import shutil
import signal
import ssl
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import cluster  # noqa: E402  (a sibling folder, not a package)
from cluster import ClusterError, wait_until  # noqa: E402
from etcd_gateway import EtcdGateway  # noqa: E402

TOKEN = "robustness-admin"
REQUEST_SECONDS = 15


class Process:
    """A child process that can be restarted with the same arguments."""

    def __init__(self, name, arguments, directory):
        self.name = name
        self._arguments = arguments
        self._directory = directory
        self._server = None
        self._starts = 0

    def start(self):
        self._starts += 1
        self._server = cluster._Server(f"{self.name}-{self._starts}", self._arguments, self._directory)

    @property
    def pid(self):
        return self._server.process.pid

    def check_runs(self):
        self._server.check_runs()

    def log_tail(self):
        return self._server.log_tail() if self._server else ""

    def kill(self):
        """Sends SIGKILL and waits for the process to end."""
        self._server.process.kill()
        self._server.process.wait()

    def pause(self):
        self._server.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self._server.process.send_signal(signal.SIGCONT)

    def stop(self):
        if self._server and self._server.process.poll() is None:
            self.resume()
            self._server.stop()


class Etcd(EtcdGateway, Process):
    """One member of an etcd cluster."""

    def __init__(self, name, ports, all_members, directory, quota=0):
        client, peer = (f"http://127.0.0.1:{port}" for port in ports)
        EtcdGateway.__init__(self, client)
        Process.__init__(self, name, [
            cluster.need_program("etcd"), f"--name={name}", f"--data-dir={directory}/{name}.data",
            f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster={all_members}", "--unsafe-no-fsync", "--log-level=error",
            "--heartbeat-interval=100", "--election-timeout=1000",
        ] + ([f"--quota-backend-bytes={quota}"] if quota else []), directory)


class Plane:
    """`with Plane(binary, members=3) as plane` starts all processes, and stops them at its end."""

    def __init__(self, binary, members=1, quota=0, flags=()):
        self._binary = binary
        self._count = members
        self._quota = quota
        self._flags = list(flags)

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # runs __exit__
        self.directory = tempfile.mkdtemp(prefix="cox-robustness-")
        self.members, self.server = [], None
        try:
            self._start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind, *_):
        if kind is not None and kind is not SystemExit and self.server:
            print(f"the API server's log ends with:\n{self.server.log_tail()}", flush=True)
        for process in [self.server] + self.members:
            if process:
                process.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _start(self):
        ports = cluster.free_ports(2 * self._count + 1)
        self.port = ports.pop()
        pairs = [ports[2 * i:2 * i + 2] for i in range(self._count)]
        everybody = ",".join(f"m{i}=http://127.0.0.1:{p[1]}" for i, p in enumerate(pairs))
        self.members = [Etcd(f"m{i}", p, everybody, self.directory, self._quota) for i, p in enumerate(pairs)]
        for member in self.members:
            member.start()
        for member in self.members:
            wait_until(f"{member.name} is healthy", member.healthy, cluster.STARTUP_SECONDS)
        with open(os.path.join(self.directory, "tokens.csv"), "w") as file:
            file.write(f'{TOKEN},admin,admin-uid,"system:masters"\n')
        self.server = Process("apiserver", [
            self._binary, "apiserver", "--etcd-servers", ",".join(m.url for m in self.members),
            "--secure-port", str(self.port), "--bind-address", "127.0.0.1",
            "--cert-dir", os.path.join(self.directory, "certs"),
            "--token-auth-file", os.path.join(self.directory, "tokens.csv"),
            "--authorization-mode", "Node,RBAC", "--service-cluster-ip-range", "10.96.0.0/16",
            "--disable-admission-plugins", "ServiceAccount"] + self._flags, self.directory)
        self.server.start()
        self.await_ready(cluster.STARTUP_SECONDS)

    @property
    def etcd(self):
        return self.members[0]

    def connect(self, seconds=REQUEST_SECONDS):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=seconds, context=context)

    def ready(self):
        try:
            connection = self.connect(3)
            connection.request("GET", "/readyz", headers=auth())
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False

    def await_ready(self, seconds):
        """Waits until /readyz returns ok. Returns the seconds that this took."""
        began = time.monotonic()

        def look():
            self.server.check_runs()
            return self.ready()

        wait_until("the API server is ready", look, seconds, between=0.02)
        return time.monotonic() - began


def auth(**more):
    return {"Authorization": f"Bearer {TOKEN}", **more}


def request(connection, method, path, body=None):
    """Returns status and decoded response. Raises OSError or HTTPException on failure."""
    headers = auth(**({"Content-Type": "application/json"} if body is not None else {}))
    connection.request(method, path, body=json.dumps(body) if body is not None else None, headers=headers)
    answer = connection.getresponse()
    text = answer.read()
    return answer.status, json.loads(text) if text[:1] == b"{" else text


__all__ = ["ClusterError", "Etcd", "Plane", "auth", "request", "wait_until"]
