# SPDX-License-Identifier: Apache-2.0
"""A cluster with each component as a separate process, so that tests can kill it alone.

`coxswain up` makes certificates, kubeconfigs, etcd and containerd. Then it is killed, and its
components are started as separate processes with the same data, etcd and containerd.
"""

import os
import subprocess

import alone
import leftovers
from alone import ADDRESS
from api import CORE, collection, ready
from harness import STARTUP_SECONDS, Server, wait_until
from whole_cluster import Cluster

VICTIMS = ("apiserver", "kubelet", "etcd", "containerd", "controller-manager", "scheduler", "proxy", "dns")
SERVICES, PODS, DNS = "10.96.0.0/16", "10.244.0.0/16", "10.96.0.10"


class SplitCluster(Cluster):
    victims = VICTIMS

    def __enter__(self):
        self._parts, self._commands, self._killed = {}, {}, 0
        super().__enter__()
        try:
            self._split()
        except BaseException as error:
            self.__exit__(type(error))
            raise
        return self

    def __exit__(self, kind, *rest):
        for name in ("dns", "proxy", "kubelet", "scheduler", "controller-manager", "apiserver"):
            if name in self._parts:
                if kind is not None and kind is not SystemExit:
                    print(f"--- the log of {name} ends with:\n{self._parts[name].log_tail(30)}", flush=True)
                self._parts[name].stop()
        super().__exit__(kind, *rest)

    def _split(self):
        self.run_tools("first")  # pulls the sandbox image, which `up` serves
        self.kubectl("delete", "pod", "first", "--wait=false")
        self.gone(CORE, "pods", None)
        for name in ("etcd", "containerd"):
            with open(f"/proc/{self.pid_of(name)}/cmdline", "rb") as file:
                self._commands[name] = [word.decode() for word in file.read().split(b"\0") if word]
        self.kill()
        for name, arguments in self._arguments().items():
            self._commands[name] = [self._binary, name, *arguments]
            self._start(name)
        self._await_ready()

    def _arguments(self):
        pki, data = os.path.join(self.data, "pki"), self.data
        return {
            "apiserver": [
                "--advertise-address", ADDRESS, "--tls-cert-file", f"{pki}/apiserver.crt",
                "--tls-private-key-file", f"{pki}/apiserver.key", "--client-ca-file", f"{pki}/ca.crt",
                "--kubelet-client-certificate", f"{pki}/apiserver-kubelet-client.crt",
                "--kubelet-client-key", f"{pki}/apiserver-kubelet-client.key",
                "--kubelet-certificate-authority", f"{pki}/ca.crt",
                "--kubelet-preferred-address-types", "InternalIP,Hostname",
                "--service-account-issuer", "https://kubernetes.default.svc.cluster.local",
                "--service-account-signing-key-file", f"{pki}/sa.key", "--service-account-key-file", f"{pki}/sa.pub",
                "--service-cluster-ip-range", SERVICES, "--authorization-mode", "Node,RBAC",
                "--enable-admission-plugins", "NodeRestriction", "--allow-privileged",
                "--etcd-servers", self._etcd_url(), "--etcd-cafile", f"{pki}/etcd/ca.crt",
                "--etcd-certfile", f"{pki}/apiserver-etcd-client.crt", "--etcd-keyfile", f"{pki}/apiserver-etcd-client.key"],
            "controller-manager": [
                "--kubeconfig", f"{data}/controller-manager.conf", "--root-ca-file", f"{pki}/ca.crt",
                "--service-account-private-key-file", f"{pki}/sa.key", "--allocate-node-cidrs", "--cluster-cidr", PODS,
                "--use-service-account-credentials",
                # A new leader would have to wait until the lease of the killed one expires.
                "--leader-elect=false"],
            "scheduler": ["--kubeconfig", f"{data}/scheduler.conf", "--leader-elect=false"],
            "kubelet": [
                "--kubeconfig", f"{data}/kubelet.conf", "--node-ip", ADDRESS, "--hostname-override", self.node,
                "--container-runtime-endpoint", f"unix://{data}/run/containerd.sock", "--root-dir", f"{data}/kubelet",
                "--pod-logs-dir", f"{data}/log/pods", "--cluster-dns", DNS, "--client-ca-file", f"{pki}/ca.crt",
                "--cgroup-root", "/" + alone.group(), "--tls-cert-file", f"{pki}/kubelet.crt", "--tls-private-key-file", f"{pki}/kubelet.key"],
            "proxy": ["--kubeconfig", f"{data}/proxy.conf", "--hostname-override", self.node, "--cluster-cidr", PODS],
            "dns": ["--kubeconfig", self.kubeconfig, "--listen", DNS, "--add-addresses"],
        }

    def _etcd_url(self):
        name = "--listen-client-urls="
        return next(word[len(name):] for word in self._commands["etcd"] if word.startswith(name))

    def _start(self, name):
        log = f"{name}-{self._killed}"
        if name in ("etcd", "containerd"):  # in their own session, as `up` starts them
            with open(os.path.join(self.directory, log + ".log"), "wb") as file:
                subprocess.Popen(self._commands[name], stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)
        else:
            self._parts[name] = Server(log, self._commands[name], self.directory)

    def _await_ready(self):
        self.api.until("the node is Ready", collection(CORE, "", "nodes"),
                       lambda nodes: all(ready(each) for each in nodes.values()), STARTUP_SECONDS)
        for part in self._parts.values():
            part.check_runs()

    def strike(self, victim):
        """Kills a component with SIGKILL and starts it again."""
        self._killed += 1
        if victim in self._parts:
            self._parts[victim].process.kill()
            self._parts[victim].process.wait()
        else:
            pid = self.pid_of(victim)
            os.kill(pid, 9)
            wait_until(f"{victim} has ended", lambda: pid not in leftovers.processes(), STARTUP_SECONDS)
        self._start(victim)
