# SPDX-License-Identifier: Apache-2.0
"""Tests `coxswain up --no-node` and `coxswain down`: start, crash, restart and removal.

Nodes are tested by tests/e2e.
"""

import os
import signal
import subprocess
import tempfile
import time

from cluster import ClusterError, end_with_test, free_port_pair, free_ports, need_program, wait_until

BINARY = os.environ["COX_BIN"]


class ControlPlane:
    def __init__(self, directory):
        self.data = os.path.join(directory, "data")
        self.kubeconfig = os.path.join(self.data, "admin.conf")
        ports = free_ports(3)
        self.flags = ["--no-node", "--data-dir", self.data, "--secure-port", str(ports[0]), "--etcd-port",
                      str(free_port_pair()), "--controller-manager-port", str(ports[1]), "--scheduler-port", str(ports[2])]
        self.process = None
        self.log = os.path.join(directory, "log")

    def up(self):
        began = time.monotonic()
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([BINARY, "up", *self.flags], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.DEVNULL, preexec_fn=end_with_test)

        def ready():
            if self.process.poll() is not None:
                raise ClusterError(f"it ended with {self.process.returncode}: {self.said()}")
            return "The cluster is up" in self.said()

        wait_until("it is up", ready, 60, between=0.02)
        print(f"up after {time.monotonic() - began:.2f} s", flush=True)

    def said(self):
        with open(self.log) as file:
            return file.read()

    def etcd(self):
        """Returns the IDs of the etcd processes with this cluster's data."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().decode(errors="replace").split("\0")
            except OSError:
                continue  # the process has ended
            if os.path.basename(words[0]) == "etcd" and f"--data-dir={self.data}/etcd" in words:
                found.append(int(pid))
        return found

    def kubectl(self, *words):
        return subprocess.check_output(["kubectl", "--kubeconfig", self.kubeconfig, *words], text=True, timeout=30)

    def end(self, number):
        self.process.send_signal(number)
        return self.process.wait(30)

    def down(self, *flags):
        return subprocess.run([BINARY, "down", "--data-dir", self.data, *flags], timeout=60).returncode


def check(what, condition):
    if not condition:
        raise ClusterError(f"not so: {what}")
    print(f"ok: {what}", flush=True)


def story(plane):
    plane.up()
    names = os.listdir(os.path.join(plane.data, "pki"))
    check("keys are kubeadm's, and private", {"ca.crt", "apiserver.crt", "sa.pub", "front-proxy-ca.crt"} <= set(names) and all(
        os.stat(os.path.join(plane.data, "pki", name)).st_mode & 0o777 == 0o600 for name in names if name.endswith(".key")))
    plane.kubectl("create", "deployment", "web", "--image=example.com/web")
    plane.kubectl("wait", "--for=create", "pod", "-l", "app=web", "--timeout=20s")
    check("controllers make a Pod of a Deployment", "web-" in plane.kubectl("get", "pods", "-o", "name"))
    check("the API has endpoints", plane.kubectl("get", "endpointslices", "kubernetes", "-o", "name").strip() != "")

    second = subprocess.run([BINARY, "up", *plane.flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30)
    check("a second one is refused, saying which runs",
          second.returncode == 1 and f"(process {plane.process.pid})" in second.stdout)

    before = plane.etcd()
    plane.end(signal.SIGKILL)
    check("etcd survives", len(before) == 1 and plane.etcd() == before)
    plane.up()
    check("and is taken over", plane.etcd() == before and "etcd found running" in plane.said())
    check("with what it has", "web" in plane.kubectl("get", "deployments", "-o", "name"))

    os.kill(before[0], signal.SIGKILL)
    wait_until("etcd is started again", lambda: plane.etcd() not in ([], before), 20)
    wait_until("the API answers again", lambda: subprocess.run(
        ["kubectl", "--kubeconfig", plane.kubeconfig, "get", "--raw=/readyz"], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, timeout=30).returncode == 0, 30, between=0.2)

    other = os.path.join(os.path.dirname(plane.data), "other")
    os.makedirs(os.path.join(other, "log"))
    os.makedirs(os.path.join(other, "lock"))
    check("down takes no folder that is not a cluster's", all(
        subprocess.run([BINARY, "down", "--data-dir", other, *flags], stderr=subprocess.DEVNULL, timeout=60).returncode == 1
        for flags in ([], ["--keep-data"])) and sorted(os.listdir(other)) == ["lock", "log"])

    check("it ends as asked, with etcd", plane.end(signal.SIGTERM) == 0 and plane.etcd() == [])
    check("data can be kept", plane.down("--keep-data") == 0 and os.path.isdir(os.path.join(plane.data, "etcd")))
    plane.up()
    check("and found again", "web" in plane.kubectl("get", "deployments", "-o", "name"))
    check("down ends what runs", plane.down() == 0 and plane.process.wait(10) == 0 and plane.etcd() == [])
    check("and leaves nothing", not os.path.exists(plane.data))


def main():
    need_program("etcd")
    need_program("kubectl")
    with tempfile.TemporaryDirectory(prefix="cox-up-") as directory:
        plane = ControlPlane(directory)
        try:
            story(plane)
        except BaseException:
            print(f"--- it said:\n{plane.said()}", flush=True)
            raise
        finally:
            if plane.process is not None and plane.process.poll() is None:
                plane.end(signal.SIGKILL)
            for pid in plane.etcd():
                os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
