# SPDX-License-Identifier: Apache-2.0
"""A complete cluster with real components: a registry, and a node started by `coxswain up`.

    alone.enter()
    with Cluster() as cluster:
        cluster.kubectl("create", "deployment", "web", "--image", cluster.image("web:v1"))
        cluster.pods("app=web", 1)

The end of the block runs `coxswain down`, and fails if that leaves resources on the machine.
"""

import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import time

import alone
import leftovers
from api import CORE, DISCOVERY, Api, collection, ready
from harness import ClusterError, Server, wait_until
from images import Registry

UP_SECONDS = 60
DOWN_SECONDS = 60


class Cluster:
    """API client, kubectl and the processes of `coxswain up`. `up_arguments` are additional
    arguments of `up`. The default registry has the images of images.py."""

    victims = ("everything", "containerd", "etcd")  # arguments of strike()

    def __init__(self, up_arguments=(), registry=None):
        self.directory = alone.directory()
        self.data = alone.data_directory()
        self.kubeconfig = os.path.join(self.directory, "admin.conf")
        self._binary = os.environ["COX_BIN"]
        self._up_arguments = list(up_arguments)
        self._registry = registry or Registry(self.directory)
        self._starts = 0
        self.server = None
        self.api = None

    def __enter__(self):
        self._before = leftovers.snapshot()
        try:
            self._registry.start()
            self.ready_seconds = self.up()
        except BaseException:
            self.print_logs()
            self._registry.stop()
            raise
        return self

    def __exit__(self, kind, *_):
        if kind is not None and kind is not SystemExit:
            self.print_state()
        try:
            left = self.down()
        finally:
            self._registry.stop()
        if kind is None and left:
            raise ClusterError("`coxswain down` left behind:\n  " + "\n  ".join(left))

    # --- Processes ---

    def up(self):
        """Starts or restarts the cluster. Returns the seconds from the command to a Ready node."""
        self._starts += 1
        began = time.monotonic()
        self.server = Server(f"up-{self._starts}", [
            self._binary, "up", "--data-dir", self.data, "--kubeconfig", self.kubeconfig, *self._up_arguments],
            self.directory)

        def usable():
            self.server.check_runs()
            return os.path.exists(self.kubeconfig)

        wait_until("the kubeconfig is written", usable, UP_SECONDS, between=0.01)
        self.api = Api(self.kubeconfig, self.directory)
        node = self.api.until("the node is Ready", collection(CORE, "", "nodes"),
                              lambda nodes: [each for each in nodes.values() if ready(each)], UP_SECONDS)[0]
        seconds = time.monotonic() - began
        self.node = node["metadata"]["name"]
        return seconds

    def kill(self):
        """Kills the process with all components; containers, etcd and containerd keep running."""
        self.server.process.kill()
        self.server.process.wait()

    def strike(self, victim):
        """Kills one component with SIGKILL; returns when it runs again."""
        if victim == "everything":  # the process with all components in it
            self.kill()
            self.up()
            return
        pid = self.pid_of(victim)
        os.kill(pid, 9)

        def restarted():
            self.server.check_runs()
            with contextlib.suppress(ClusterError):
                return self.pid_of(victim) != pid
            return False
        wait_until(f"{victim} runs again", restarted, UP_SECONDS)

    def down(self):
        """Runs `coxswain down`; returns the resources that it left."""
        self._run_down()
        return [line for line in leftovers.new_since(self._before) if "registry" not in line]

    def down_keeping_data(self):
        self._run_down("--keep-data")

    def _run_down(self, *flags):
        if self.server and self.server.process.poll() is None:
            self.server.process.send_signal(signal.SIGTERM)
            try:
                self.server.process.wait(DOWN_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
                raise ClusterError(f"`coxswain up` does not end:\n{self.server.log_tail()}") from None
        result = subprocess.run([self._binary, "down", "--data-dir", self.data, *flags], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, timeout=DOWN_SECONDS)
        if result.returncode != 0:
            raise ClusterError(f"`coxswain down` ended with {result.returncode}:\n{result.stdout}")

    def pid_of(self, program):
        """Returns the process ID of etcd or containerd of this cluster."""
        for pid, line in leftovers.processes().items():
            words = line.split(" ")
            if os.path.basename(words[0]) == program and self.data in line:
                return pid
        raise ClusterError(f"no {program} runs for this cluster")

    def print_logs(self):
        if self.server:
            code = self.server.process.poll()
            print("--- `coxswain up` " + ("runs" if code is None else f"has ended with {code}"))
            print(f"--- the log of `coxswain up` ends with:\n{self.server.log_tail(60)}", flush=True)
        for path in glob.glob(os.path.join(self.data, "log", "*.log")):
            with open(path, errors="replace") as file:
                print(f"--- {os.path.basename(path)} ends with:\n" + "".join(file.readlines()[-15:]), flush=True)

    def print_state(self):
        """Prints logs and objects, to diagnose a failed test."""
        self.print_logs()
        for words in (["get", "all,endpointslices,nodes", "-A", "-o", "wide"],
                      ["get", "events", "-A", "--sort-by=.metadata.creationTimestamp"], ["describe", "pods", "-n", "default"]):
            with contextlib.suppress(Exception):
                print(f"--- kubectl {' '.join(words)}\n{self.kubectl(*words, check=False, seconds=20)}", flush=True)

    # --- Operations for tests ---

    def private_registry(self, users):
        """Returns a registry with the images of the cluster that requires credentials; `users`: lines of htpasswd."""
        return self._registry.with_users(os.path.join(self.directory, "private"), users)

    def image(self, name):
        return self._registry.image(name)

    def kubectl(self, *words, check=True, seconds=60, given=None):
        """Returns the output of kubectl. If it fails, raises ClusterError; with check=False,
        returns all output."""
        result = self.kubectl_result(*words, seconds=seconds, given=given)
        if check and result.returncode != 0:
            raise ClusterError(f"kubectl {' '.join(words)} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
        return result.stdout if result.returncode == 0 else result.stdout + result.stderr

    def kubectl_result(self, *words, seconds=60, given=None):
        return subprocess.run(["kubectl", "--kubeconfig", self.kubeconfig, *words], input=given, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds)

    @contextlib.contextmanager
    def kubectl_running(self, *words):
        """Runs kubectl during the block; its output can be read line by line."""
        process = subprocess.Popen(["kubectl", "--kubeconfig", self.kubeconfig, *words], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def apply(self, *objects):
        self.kubectl("apply", "-f", "-", given=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def pods(self, labels, count, seconds=60, condition=ready, what="Ready"):
        """Waits until `count` Pods with these labels meet the condition; returns them by name."""
        def done(pods):
            return len(pods) == count and all(condition(pod) for pod in pods.values()) and (dict(pods) or True)
        found = self.api.until(f"{count} Pods {labels} {what}", collection(CORE, "default", "pods", labels), done, seconds)
        return found if isinstance(found, dict) else {}

    def pod(self, name, condition=ready, seconds=60, what="Ready"):
        return self.api.until(f"Pod {name} {what}", f"{CORE}/namespaces/default/pods?fieldSelector=metadata.name%3D{name}",
                              lambda pods: pods if name in pods and condition(pods[name]) else None, seconds)[name]

    def gone(self, group, resource, labels, seconds=60):
        self.api.until(f"no {resource} {labels}", collection(group, "default", resource, labels),
                       lambda objects: not objects, seconds)

    def endpoints(self, service, addresses, seconds=30):
        """Waits until exactly these addresses are ready in the Service's EndpointSlices."""
        wanted = sorted(addresses)

        def same(slices):
            found = [address for each in slices.values() for endpoint in each.get("endpoints") or []
                     if endpoint.get("conditions", {}).get("ready") for address in endpoint["addresses"]]
            return sorted(found) == wanted
        self.api.until(f"endpoints of {service} are {wanted}",
                       collection(DISCOVERY, "default", "endpointslices", f"kubernetes.io/service-name={service}"), same, seconds)

    def run_tools(self, name="client"):
        """Starts a Pod for shell commands; returns when it is Ready."""
        self.kubectl("run", name, "--image", self.image("tools:1"), "--restart=Never")
        return self.pod(name)

    def inside(self, pod, script, check=True, seconds=60, container=None):
        """Returns the output of a shell script that runs in a Pod."""
        choose = ["-c", container] if container else []
        return self.kubectl("exec", pod, *choose, "--", "sh", "-c", script, check=check, seconds=seconds)

    def fetch(self, pod, url, seconds=2):
        """Returns the body of an HTTP response, requested from inside a Pod."""
        return self.inside(pod, f"timeout {seconds} wget -qO- {url}").strip()

    def process_in(self, pod, command):
        """Returns the host process ID of the Pod's process with `command` in its command line."""
        for pid, line in leftovers.processes().items():
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if f"HOSTNAME={pod}".encode() in file.read().split(b"\0") and command in line:
                        return pid
        raise ClusterError(f"no process {command} in Pod {pod}")

    def events_of(self, name):
        return [each for each in self.api.items(collection(CORE, "default", "events"))
                if each["involvedObject"]["name"] == name]


def pod_template(app, image, **container):
    """Returns a Pod template with one container and a short grace period."""
    return {"metadata": {"labels": {"app": app}}, "spec": {"terminationGracePeriodSeconds": 5,
                                                            "containers": [{"name": app, "image": image, **container}]}}


def forwarded_port(line):
    """Returns the local port from the first line of `kubectl port-forward`."""
    found = re.search(r"127\.0\.0\.1:(\d+) ->", line)
    if not found:
        raise ClusterError(f"port-forward says: {line}")
    return int(found.group(1))


def run_steps(steps, cluster, chosen):
    """Runs the functions in order and prints their times. `chosen`: names of steps; empty: all."""
    for step in steps:
        if chosen and step.__name__ not in chosen:
            continue
        began = time.monotonic()
        print(f"{step.__name__} ...", flush=True)
        step(cluster)
        print(f"{step.__name__}: {time.monotonic() - began:.2f} s  {(step.__doc__ or '').strip().splitlines()[0]}", flush=True)
