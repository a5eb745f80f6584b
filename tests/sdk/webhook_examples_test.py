#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the admission webhook examples as processes against the built API server, with kubectl.

    webhook_examples_test.py SIDECAR_INJECTOR POD_PRESET

Environment: COX_BIN, the program under test. Pods are never run, because there are no nodes.
"""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from cluster import Cluster, free_ports, need_program, wait_until  # noqa: E402

SECONDS = 60


class Kubectl:
    def __init__(self, cluster):
        self._program = need_program("kubectl")
        self._environment = {**os.environ, "KUBECONFIG": cluster.kubeconfig, "HOME": cluster.path("home")}

    def __call__(self, *arguments, given=None, fails=False):
        done = subprocess.run([self._program, *arguments], env=self._environment, text=True, capture_output=True,
                              input=given, timeout=SECONDS)
        assert (done.returncode != 0) == fails, (arguments, done.stdout, done.stderr)
        return done.stdout + done.stderr if fails else done.stdout

    def create(self, *objects):
        return self("create", "-f", "-", given="\n---\n".join(json.dumps(each) for each in objects))

    def get(self, kind, name, namespace):
        return json.loads(self("get", kind, name, "-n", namespace, "-o", "json"))

    def warnings(self, *arguments, given):
        done = subprocess.run([self._program, *arguments], env=self._environment, text=True, capture_output=True,
                              input=given, timeout=SECONDS)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stderr


def pod(name, namespace, labels=None, annotations=None, **container):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "labels": labels or {}, "annotations": annotations or {}},
            "spec": {"containers": [{"name": "main", "image": "main:v1", **container}]}}


def names(items):
    return [item["name"] for item in items]


class Program:
    """An example program, with flags that make it reachable on the loopback interface."""

    def __init__(self, cluster, binary, *more):
        self.name = os.path.basename(binary)
        self.port = free_ports(1)[0]
        self._server = cluster._spawn(self.name, [
            binary, f"--kubeconfig={cluster.kubeconfig}", "--metrics-bind-address=0",
            f"--health-probe-bind-address=127.0.0.1:{free_ports(1)[0]}", f"--webhook-bind-address=127.0.0.1:{self.port}",
            f"--webhook-url=https://127.0.0.1:{self.port}", f"--service=default/{self.name}", *more])

    def wait(self, kubectl):
        """Waits until the program has registered its webhooks."""
        def registered():
            self._server.check_runs()
            found = kubectl("get", "mutatingwebhookconfigurations", "-o",
                            "jsonpath={.items[?(@.metadata.name==\"" + self.name + "\")].webhooks[*].clientConfig.caBundle}")
            return found
        wait_until(f"{self.name} is registered", registered, SECONDS)


def test_sidecar_injector(cluster, kubectl, binary):
    program = Program(cluster, binary, "--proxy-image=proxy:v2", "--init-image=init:v1")
    kubectl.create(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mesh", "labels": {"sidecar.example.com/inject": "enabled"}}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "plain"}})
    program.wait(kubectl)

    def injected(tries=iter(range(10000))):
        # The API server reads new webhook configurations with a delay.
        name = f"first-{next(tries)}"
        kubectl.create(pod(name, "mesh"))
        return names(kubectl.get("pod", name, "mesh")["spec"]["containers"]) == ["proxy", "main"]
    wait_until("Pods get the proxy", injected, SECONDS)

    kubectl.create(pod("app", "mesh"), pod("out", "mesh", annotations={"sidecar.example.com/inject": "false"}),
                   pod("app", "plain"))
    app = kubectl.get("pod", "app", "mesh")
    assert names(app["spec"]["containers"]) == ["proxy", "main"], app["spec"]
    assert app["spec"]["containers"][0]["image"] == "proxy:v2"
    assert names(app["spec"]["initContainers"]) == ["proxy-init"], app["spec"]
    assert app["metadata"]["annotations"]["sidecar.example.com/injected"] == "proxy:v2"
    assert names(kubectl.get("pod", "out", "mesh")["spec"]["containers"]) == ["main"]
    assert names(kubectl.get("pod", "app", "plain")["spec"]["containers"]) == ["main"]

    # A deleted configuration is created again.
    kubectl("delete", "mutatingwebhookconfiguration", "sidecar-injector")
    program.wait(kubectl)


def preset(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "shop", "labels": {"podpreset.example.com/preset": "true"}},
            "data": data}


def test_pod_preset(cluster, kubectl, binary):
    program = Program(cluster, binary)
    kubectl.create(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        preset("database", selector="matchLabels: {role: frontend}", env='- {name: DB_PORT, value: "6379"}',
               volumes="- {name: cache, emptyDir: {}}", volumeMounts="- {name: cache, mountPath: /cache}"))
    program.wait(kubectl)

    def merged(tries=iter(range(10000))):
        name = f"first-{next(tries)}"
        kubectl.create(pod(name, "shop", {"role": "frontend"}))
        return "env" in kubectl.get("pod", name, "shop")["spec"]["containers"][0]
    wait_until("presets are merged", merged, SECONDS)

    # The Pod template of a controller is not modified; Pods are.
    template = pod("web", "shop", {"role": "frontend"})
    kubectl.create({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "shop"},
                    "spec": {"selector": {"matchLabels": {"role": "frontend"}},
                             "template": {"metadata": {"labels": {"role": "frontend"}}, "spec": template["spec"]}}},
                   template, pod("back", "shop", {"role": "backend"}),
                   pod("alone", "shop", {"role": "frontend"}, {"podpreset.example.com/exclude": "true"}))
    web = kubectl.get("pod", "web", "shop")
    version = kubectl.get("configmap", "database", "shop")["metadata"]["resourceVersion"]
    assert web["spec"]["containers"][0]["env"] == [{"name": "DB_PORT", "value": "6379"}], web["spec"]
    assert "cache" in names(web["spec"]["volumes"])
    assert web["metadata"]["annotations"]["podpreset.example.com/database"] == version
    controller = kubectl.get("replicaset", "web", "shop")["spec"]["template"]["spec"]
    assert "env" not in controller["containers"][0], controller
    for name in ("back", "alone"):
        assert "env" not in kubectl.get("pod", name, "shop")["spec"]["containers"][0]

    # A preset that conflicts with the Pod is not merged; the response contains a warning.
    clash = pod("clash", "shop", {"role": "frontend"}, env=[{"name": "DB_PORT", "value": "1"}])
    warning = kubectl.warnings("create", "-f", "-", given=json.dumps(clash))
    assert "presets were not merged" in warning, warning
    left = kubectl.get("pod", "clash", "shop")
    assert left["spec"]["containers"][0]["env"] == [{"name": "DB_PORT", "value": "1"}]
    assert "podpreset.example.com/database" not in left["metadata"].get("annotations", {})

    def told():
        events = json.loads(kubectl("get", "events", "-n", "shop", "-o", "json"))["items"]
        return [event for event in events if event["reason"] == "PresetConflict"
                and event["involvedObject"]["name"] == "database" and "clash" in event["message"]]
    wait_until("there is an event about the conflict", told, SECONDS)


def main():
    sidecar_injector, pod_preset = sys.argv[1:3]
    need_program("kubectl")
    with Cluster(os.environ["COX_BIN"]) as cluster:
        kubectl = Kubectl(cluster)
        test_sidecar_injector(cluster, kubectl, sidecar_injector)
        print("sidecar-injector: ok")
        test_pod_preset(cluster, kubectl, pod_preset)
        print("pod-preset: ok")


if __name__ == "__main__":
    main()
