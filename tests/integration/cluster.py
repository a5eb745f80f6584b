# SPDX-License-Identifier: Apache-2.0
"""A control plane for tests: a real etcd and the built API server in a temporary directory.

    with Cluster(binary) as cluster:
        run(["kubectl", "get", "ns"], env={"KUBECONFIG": cluster.kubeconfig})

The end of the block stops only the processes that it started, by process ID, also after an
exception. If the test itself is killed, the kernel kills its children, so no test leaves a server
behind.
"""

import contextlib
import ctypes
import fcntl
import glob
import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import machine

SKIP = 77  # SKIP_RETURN_CODE of ctest
STARTUP_SECONDS = 60
STOP_SECONDS = 15
ADMIN_TOKEN = "integration-admin"
TOKENS = f'{ADMIN_TOKEN},admin,admin-uid,"system:masters"\n'

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


class ClusterError(Exception):
    """The control plane did not start, or a process ended early. Contains the end of its log."""


def end_with_test():
    """For preexec_fn: the kernel kills the child when the test ends, even by SIGKILL."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIP)


def need_program(name):
    """Returns the path of `name`; skips the test if it is not installed."""
    return shutil.which(name) or skip(f"{name} is not installed")


def wait_until(what, condition, seconds, between=0.05):
    """Polls until `condition` returns a true value, and returns that. Raises ClusterError after
    `seconds`, scaled by the speed of the machine."""
    deadline = machine.Deadline(seconds)
    while True:
        value = condition()
        if value:
            return value
        if not deadline.left():
            raise ClusterError(f"{what}: not within {seconds} s of a machine at full speed")
        time.sleep(between)


# The kernel takes the local ports of outgoing connections from net.ipv4.ip_local_port_range, which begins above these.
_PORTS = range(20000, 32000)
_PORT_LOCKS = f"/tmp/coxswain-test-ports-{os.getuid()}"
_leased = []  # file descriptors; their locks are released when this process ends


def _lease_port(port):
    """Reserves `port` against other tests until this process ends. False if it is in use or reserved."""
    lock = os.open(os.path.join(_PORT_LOCKS, str(port)), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
    except OSError:
        os.close(lock)
        return False
    _leased.append(lock)
    return True


def free_ports(count):
    """Returns loopback ports for servers of this test, reserved against other tests. FreePort() of
    src/storage/testing/child.cc uses the same lock files."""
    found = []
    for port in _port_candidates():
        if _lease_port(port):
            found.append(port)
        if len(found) == count:
            return found
    raise ClusterError(f"no {count} free ports in {_PORTS}")


def free_port_pair():
    """Returns the first of two adjacent free ports, for etcd of `coxswain up`."""
    for port in _port_candidates():
        if _lease_port(port) and _lease_port(port + 1):
            return port
    raise ClusterError(f"no two adjacent free ports in {_PORTS}")


def _port_candidates():
    os.makedirs(_PORT_LOCKS, mode=0o700, exist_ok=True)
    return random.sample(_PORTS, len(_PORTS))


class _Server:
    """One child process with its log file."""

    def __init__(self, name, arguments, directory):
        self.name = name
        self.log = os.path.join(directory, name + ".log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=end_with_test)

    def check_runs(self):
        code = self.process.poll()
        if code is not None:
            raise ClusterError(f"{self.name} ended with {code}:\n{self.log_tail()}")

    def log_tail(self, lines=30):
        with open(self.log, errors="replace") as log:
            return "".join(log.readlines()[-lines:])

    def stop(self):
        """Sends SIGTERM, and SIGKILL after STOP_SECONDS. Returns true if the exit was clean."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                print(f"{self.name} does not end; its threads: {', '.join(self._threads())}", flush=True)
                self.process.kill()
                self.process.wait()
        return self.process.returncode in (0, -signal.SIGTERM)

    def _threads(self):
        for names in sorted(glob.glob(f"/proc/{self.process.pid}/task/*/comm")):
            with contextlib.suppress(OSError), open(names) as comm, open(names.replace("comm", "wchan")) as wchan:
                yield f"{comm.read().strip()} ({wchan.read().strip()})"


class Cluster:
    """etcd and an API server that share a temporary directory.

    url          https://127.0.0.1:PORT
    etcd_url     http://127.0.0.1:PORT of the etcd behind it
    ca_file      the certificate of the server, which is its own CA
    token_file   the users, one per line: token,user,uid,"groups"
    kubeconfig   a file for kubectl: user admin, namespace default

    The admission plugin ServiceAccount is disabled unless `service_accounts` is set, because no
    controller creates the service account "default" that every Pod would need.
    """

    def __init__(self, binary, token_file=None, arguments=(), service_accounts=False):
        """`arguments` are additional API server flags; {dir} in them stands for the directory."""
        self._binary = binary
        self._given_tokens = token_file
        self._arguments = arguments
        self._plugins_off = [] if service_accounts else ["--disable-admission-plugins", "ServiceAccount"]
        self._servers = []
        self._directory = None

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # runs __exit__
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind, *_):
        clean = self.stop()
        if kind is None and not clean:
            raise ClusterError("a server did not stop cleanly, see above")

    def start(self):
        self._directory = tempfile.mkdtemp(prefix="cox-integration-")
        client_port, peer_port, self.port = free_ports(3)
        self.url = f"https://127.0.0.1:{self.port}"
        self.token_file = self._given_tokens or self._write("tokens.csv", TOKENS)
        self.etcd_url = self._start_etcd(client_port, peer_port)
        server = self._start_apiserver(self.etcd_url)
        self.ca_file = os.path.join(self._directory, "certs", "apiserver.crt")
        self._wait_ready(server)
        self.kubeconfig = self._write("kubeconfig", json.dumps(self._kubeconfig()))

    def path(self, name):
        """Returns a path for a file of the test, which is removed with the cluster."""
        return os.path.join(self._directory, name)

    def check_runs(self):
        for server in self._servers:
            server.check_runs()

    def stop(self):
        """Stops the servers, last started first. Returns true if all exits were clean."""
        clean = True
        while self._servers:
            server = self._servers.pop()
            if not server.stop():
                clean = False
                print(f"{server.name} ended with {server.process.returncode}:\n{server.log_tail()}", flush=True)
        if self._directory:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None
        return clean

    def _start_etcd(self, client_port, peer_port):
        client, peer = f"http://127.0.0.1:{client_port}", f"http://127.0.0.1:{peer_port}"
        etcd = self._spawn("etcd", [
            need_program("etcd"), "--name=test", f"--data-dir={self.path('etcd')}",
            f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=test={peer}", "--unsafe-no-fsync", "--log-level=warn"])
        wait_until("etcd is healthy", lambda: self._answers(etcd, client + "/health", b'"true"'), STARTUP_SECONDS)
        return client

    def _make_service_account_key(self):
        # An RSA key, as in most clusters. Without it the server generates a key of another type.
        openssl = shutil.which("openssl")
        if openssl:
            os.makedirs(self.path("certs"), exist_ok=True)
            subprocess.run([openssl, "genrsa", "-out", self.path("certs/service-account.key"), "2048"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _start_apiserver(self, etcd):
        self._make_service_account_key()
        # The flags with which the reference exchanges were recorded, apart from addresses.
        return self._spawn("apiserver", [
            self._binary, "apiserver", "--etcd-servers", etcd, "--secure-port", str(self.port),
            "--bind-address", "127.0.0.1", "--cert-dir", self.path("certs"),
            "--token-auth-file", self.token_file, "--authorization-mode", "Node,RBAC",
            "--service-cluster-ip-range", "10.96.0.0/16", "--allow-privileged",
            "--enable-admission-plugins", "NodeRestriction", *self._plugins_off,
            *(argument.replace("{dir}", self._directory) for argument in self._arguments)])

    def _wait_ready(self, server):
        wait_until("the API server is ready",
                   lambda: self._answers(server, self.url + "/readyz", b"ok"), STARTUP_SECONDS)

    def _answers(self, server, url, text):
        server.check_runs()
        tls = None
        try:
            if url.startswith("https"):
                tls = ssl.create_default_context(cafile=self.ca_file)
            with urllib.request.urlopen(url, timeout=5, context=tls) as answer:
                return answer.status == 200 and text in answer.read()
        except (urllib.error.URLError, OSError):  # not yet listening, not yet ready, no certificate yet
            return False

    def _spawn(self, name, arguments):
        server = _Server(name, arguments, self._directory)
        self._servers.append(server)
        return server

    def _write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def _kubeconfig(self):
        return {
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": self.url, "certificate-authority": self.ca_file}}],
            "users": [{"name": "admin", "user": {"token": ADMIN_TOKEN}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin", "namespace": "default"}}],
        }
