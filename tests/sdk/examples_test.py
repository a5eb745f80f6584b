#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the example programs with a kubeconfig against the built API server.

    examples_test.py --configmap-controller PROGRAM --metadata-watcher PROGRAM

Environment: COX_BIN, the API server.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from cluster import Cluster, end_with_test, need_program, wait_until  # noqa: E402

WITHIN = 30  # seconds, on a busy machine
IDLE_KILOBYTES = 8 * 1024


class Operator:
    """A running example. At the end of the block it gets SIGTERM and must exit with 0."""

    def __init__(self, program, cluster, *arguments):
        self.log = tempfile.NamedTemporaryFile("r+", suffix=".log")
        with open(self.log.name, "w") as log:
            self.process = subprocess.Popen(
                [program, "--kubeconfig", cluster.kubeconfig, "--metrics-bind-address", "127.0.0.1:0",
                 "--health-probe-bind-address", "127.0.0.1:0", *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=end_with_test)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(WITHIN)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if kind is None:
            assert self.process.returncode == 0, f"ended with {self.process.returncode}:\n{self.text()}"
        else:
            print(self.text(), flush=True)

    def text(self):
        with open(self.log.name) as log:
            return log.read()

    def port(self, what):
        def find():
            assert self.process.poll() is None, self.text()
            return re.search(rf'"Serving {what}".* port=(\d+)', self.text())
        return int(wait_until(f"it serves {what}", find, WITHIN).group(1))

    def fetch(self, what, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port(what)}{path}", timeout=10) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            return f"{error.code} {error.read().decode()}"

    def kilobytes(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))


class Kubectl:
    def __init__(self, cluster):
        self._command = [need_program("kubectl"), "--kubeconfig", cluster.kubeconfig]

    def __call__(self, *arguments, data=None):
        done = subprocess.run([*self._command, *arguments], input=data, capture_output=True, text=True)
        assert done.returncode == 0, f"kubectl {arguments}: {done.stderr}"
        return done.stdout

    def get(self, *arguments):
        done = subprocess.run([*self._command, "get", *arguments, "-o", "json"], capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None


def copies_follow_their_original(program, cluster, kubectl):
    for namespace in ("team-a", "team-b", "team-c"):
        kubectl("create", "namespace", namespace)
    kubectl("create", "configmap", "settings", "--from-literal=color=red")
    kubectl("create", "configmap", "settings", "-n", "team-c", "--from-literal=color=mine")

    def data(namespace):
        found = kubectl.get("configmap", "settings", "-n", namespace)
        return found and found.get("data")

    with Operator(program, cluster) as operator:
        kubectl("annotate", "configmap", "settings", "example.com/copy-to=team-a,team-b,team-c")
        for namespace in ("team-a", "team-b"):
            wait_until(f"a copy in {namespace}", lambda: data(namespace) == {"color": "red"}, WITHIN)
        kubectl("patch", "configmap", "settings", "-p", '{"data":{"color":"blue","size":"9"}}')
        wait_until("the copy follows", lambda: data("team-a") == {"color": "blue", "size": "9"}, WITHIN)
        kubectl("patch", "configmap", "settings", "-n", "team-a", "-p", '{"data":{"color":"edited"}}')
        wait_until("the copy is put right", lambda: data("team-a")["color"] == "blue", WITHIN)
        kubectl("delete", "configmap", "settings", "-n", "team-b")
        wait_until("the copy is made again", lambda: data("team-b"), WITHIN)
        assert data("team-c") == {"color": "mine"}, "what is no copy is left alone"
        wait_until("an event says so", lambda: "NameTaken" in kubectl("get", "events", "-n", "default"), WITHIN)
        kubectl("annotate", "--overwrite", "configmap", "settings", "example.com/copy-to=team-a")
        wait_until("the copy is removed", lambda: data("team-b") is None, WITHIN)
        assert operator.fetch("health probes", "/healthz") == "ok"
        assert operator.fetch("health probes", "/readyz?verbose") == "[+]ping ok\nreadyz check passed\n"
        metrics = operator.fetch("metrics", "/metrics")
        for name in ('controller_runtime_reconcile_total{controller="configmap",result="success"}',
                     'workqueue_depth{controller="configmap",name="configmap",priority="0"}', "rest_client_requests_total"):
            assert name in metrics, f"{name} is not in\n{metrics}"
    # Changes made while the program does not run are handled after its restart.
    kubectl("delete", "configmap", "settings")
    with Operator(program, cluster):
        wait_until("the last copy is removed", lambda: data("team-a") is None, WITHIN)
    assert data("team-c") == {"color": "mine"}


def idles_in_little_memory(program, cluster, check_memory):
    with Operator(program, cluster) as operator:
        wait_until("it works", lambda: "Starting workers" in operator.text(), WITHIN)
        # Memory that only the start needs is returned after some seconds.
        if check_memory:
            wait_until(f"at most {IDLE_KILOBYTES} kB", lambda: operator.kilobytes() <= IDLE_KILOBYTES, WITHIN)
        print(f"idle: {operator.kilobytes()} kB of resident memory")


def wrong_flags_are_told(program, cluster, _):
    done = subprocess.run([program, "--no-such-flag"], capture_output=True, text=True)
    assert done.returncode == 2 and "--no-such-flag" in done.stderr, done
    done = subprocess.run([program, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "--leader-elect" in done.stdout, done
    done = subprocess.run([program, "--kubeconfig", "/nowhere"], capture_output=True, text=True)
    assert done.returncode == 1 and "/nowhere" in done.stderr, done


def leaders_follow_each_other(program, cluster, kubectl):
    def holder():
        lease = kubectl.get("lease", "copier")
        return lease and lease["spec"].get("holderIdentity")
    with Operator(program, cluster, "--leader-elect") as first:
        wait_until("the first leads", lambda: "Starting workers" in first.text(), WITHIN)
        leader = holder()
        with Operator(program, cluster, "--leader-elect") as second:
            wait_until("the second waits", lambda: "Waiting to lead" in second.text(), WITHIN)
            assert "Starting workers" not in second.text()
            first.process.send_signal(signal.SIGTERM)
            wait_until("the second leads", lambda: "Starting workers" in second.text(), WITHIN)
            assert holder() != leader


def metadata_is_counted(program, cluster, kubectl):
    with Operator(program, cluster, "--watch", "v1/Secret", "--label", "tier") as operator:
        kubectl("create", "secret", "generic", "one", "--from-literal=password=unseen")
        kubectl("label", "secret", "one", "tier=front")
        wait_until("it is counted", lambda: 'watched_objects{namespace="default",value="front"} 1'
                   in operator.fetch("metrics", "/metrics"), WITHIN)
        kubectl("delete", "secret", "one")
        wait_until("it is counted no more", lambda: 'watched_objects{namespace="default",value="front"} 0'
                   in operator.fetch("metrics", "/metrics"), WITHIN)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--configmap-controller", required=True)
    parser.add_argument("--metadata-watcher", required=True)
    parser.add_argument("--check-memory", action="store_true", help="check the resident memory of the idle example")
    programs = parser.parse_args()
    copier, watcher = programs.configmap_controller, programs.metadata_watcher
    with Cluster(os.environ["COX_BIN"]) as cluster:
        kubectl = Kubectl(cluster)
        for test, program, given in ((copies_follow_their_original, copier, kubectl),
                                     (idles_in_little_memory, copier, programs.check_memory),
                                     (wrong_flags_are_told, copier, None),
                                     (leaders_follow_each_other, copier, kubectl),
                                     (metadata_is_counted, watcher, kubectl)):
            test(program, cluster, given)
            print(f"ok: {test.__name__}", flush=True)


main()
