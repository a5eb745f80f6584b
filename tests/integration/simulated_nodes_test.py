# SPDX-License-Identifier: Apache-2.0
"""Tests `coxswain simulate --watch-per-node` with the API server, controllers and scheduler: each node uses its own
identity, has the watches of a real node, and survives a restart of the API server."""

import json
import os
import ssl
import tempfile
import urllib.request

from certificates import make_ca
from cluster import ADMIN_TOKEN, Cluster, ClusterError, free_ports, wait_until
from metrics import Metrics

BINARY = os.environ["COX_BIN"]
NODES = 50
PODS = 150
POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  verbs: [create, update, patch, delete]
  resources:
  - {group: "", resources: [nodes, nodes/status, pods, pods/status]}
  - {group: coordination.k8s.io, resources: [leases]}
- level: None
"""
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
# The watches that each node has; ConfigMaps: kube-root-ca.crt, if it has a Pod.
EVERY_NODE = ("pods", "nodes", "services", "endpointslices")


def check(what, condition):
    if not condition:
        raise ClusterError(f"not so: {what}")
    print(f"ok: {what}", flush=True)


class Plane(Cluster):
    """A control plane that trusts its own CA for clients and records who writes nodes and Pods."""

    def __init__(self, directory):
        make_ca(directory, "client-ca")
        self.client_ca = os.path.join(directory, "client-ca")
        policy = os.path.join(directory, "policy.yaml")
        with open(policy, "w", encoding="utf-8") as file:
            file.write(POLICY)
        self.audit_log = os.path.join(directory, "audit.log")
        super().__init__(BINARY, service_accounts=True, arguments=[
            "--client-ca-file", self.client_ca + ".crt", "--audit-policy-file", policy,
            "--audit-log-path", self.audit_log])

    def run(self, name, *arguments):
        return self._spawn(name, [BINARY, name, "--kubeconfig", self.kubeconfig, *arguments])

    def restart_apiserver(self):
        """Kills the API server and starts it again, on the same port."""
        old = next(server for server in self._servers if server.name == "apiserver")
        old.process.kill()
        old.process.wait()
        self._servers.remove(old)
        self._wait_ready(self._start_apiserver(self.etcd_url))

    def send(self, method, path, body=None, kind="application/json", url=None, text=False):
        request = urllib.request.Request(
            (url or self.url) + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + ADMIN_TOKEN, "Content-Type": kind})
        tls = ssl.create_default_context(cafile=self.ca_file)
        if url is not None:  # a component with a self-signed certificate
            tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        with urllib.request.urlopen(request, timeout=60, context=tls) as answer:
            data = answer.read().decode()
            return data if text else json.loads(data)

    def watches(self):
        """Returns the number of open watches of the server by resource."""
        found = {}
        for labels, value in Metrics(self.send("GET", "/metrics", text=True)).series("apiserver_longrunning_requests"):
            if labels["verb"] == "WATCH":
                found[labels["resource"]] = found.get(labels["resource"], 0) + value
        return found

    def audited(self):
        """Returns (user, verb, resource or resource/subresource) of the successful writes."""
        with open(self.audit_log, encoding="utf-8") as log:
            for line in log:
                event = json.loads(line)
                reference = event["objectRef"]
                if event["responseStatus"]["code"] < 300:
                    resource = "/".join(filter(None, (reference["resource"], reference.get("subresource"))))
                    yield event["user"]["username"], event["verb"], resource, reference.get("name", "")


class Nodes:
    """The simulated nodes and their metrics."""

    def __init__(self, plane):
        self._plane, port = plane, free_ports(1)[0]
        self._url = f"https://127.0.0.1:{port}"
        self.server = plane.run(
            "simulate", "--watch-per-node", "--nodes", str(NODES), "--bind-address=127.0.0.1", f"--secure-port={port}",
            "--cluster-signing-cert-file", plane.client_ca + ".crt", "--cluster-signing-key-file", plane.client_ca + ".key")

    def metrics(self):
        self.server.check_runs()
        try:
            return Metrics(self._plane.send("GET", "/metrics", url=self._url, text=True))
        except OSError:
            return Metrics()  # not listening yet, or the API server cannot authorize

    def value(self, name, **labels):
        return self.metrics().total("coxswain_simulate_" + name, **labels)


def deployment(replicas):
    labels = {"app": "web"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "example.com/web"}]}}}}


def check_writers(plane):
    users = {}
    for user, verb, resource, name in plane.audited():
        if resource == "pods/status" or (verb == "patch" and resource == "nodes/status"):
            users.setdefault(resource, set()).add(user)
        if resource == "leases" and name.startswith("sim-"):
            check_owner = users.setdefault("leases", set())
            check_owner.add(user == "system:node:" + name)
    # Controllers mark Pods of lost nodes; none was lost.
    check("only nodes wrote the status of Pods", users["pods/status"] and
          all(user.startswith("system:node:sim-") for user in users["pods/status"]))
    check("each Lease was written by its node", users["leases"] == {True})
    deleted = {user for user, verb, resource, _ in plane.audited() if (verb, resource) == ("delete", "pods")}
    check("nodes deleted their Pods", sum(user.startswith("system:node:sim-") for user in deleted) > NODES // 2)


def story(plane):
    plane.run("controller-manager", "--leader-elect=false", "--secure-port=0", "--root-ca-file", plane.ca_file)
    plane.run("scheduler", "--leader-elect=false", "--secure-port=0")
    wait_until("the root CA is published", lambda: any(
        item["metadata"]["name"] == "kube-root-ca.crt"
        for item in plane.send("GET", "/api/v1/namespaces/default/configmaps")["items"]), 60, 0.2)
    wait_until("the service account exists", lambda: plane.send(
        "GET", "/api/v1/namespaces/default/serviceaccounts")["items"], 60, 0.2)
    before = plane.watches()
    nodes = Nodes(plane)
    wait_until("all nodes are ready", lambda: nodes.value("nodes_ready") == NODES, 60, 0.2)
    plane.send("POST", DEPLOYMENTS, deployment(PODS))
    wait_until("all Pods are ready", lambda: plane.send("GET", DEPLOYMENTS + "/web")["status"].get(
        "readyReplicas", 0) == PODS, 120, 0.2)
    check("the nodes see that too", wait_until("Pods", lambda: nodes.value("pods_ready") == PODS, 30))

    def more(resource):
        return plane.watches().get(resource, 0) - before.get(resource, 0)

    for resource in EVERY_NODE:
        wait_until(f"each node watches {resource}", lambda r=resource: more(r) == NODES, 30, 0.2)
    running = {pod["spec"]["nodeName"] for pod in plane.send("GET", "/api/v1/namespaces/default/pods")["items"]}
    wait_until("nodes with Pods watch kube-root-ca.crt", lambda: more("configmaps") == len(running), 60, 0.2)
    check("the number of watches is as expected", True)
    check("the nodes count the same watches", nodes.value("watches") == NODES * len(EVERY_NODE) + len(running))

    plane.send("DELETE", DEPLOYMENTS + "/web")
    wait_until("all Pods are gone", lambda: not plane.send("GET", "/api/v1/namespaces/default/pods")["items"], 120, 0.2)
    wait_until("the watches of ConfigMaps end", lambda: more("configmaps") == 0, 30, 0.2)
    check_writers(plane)
    check("no node became NotReady, and no Lease was late", nodes.value("nodes_became_not_ready_total") == 0 and
          nodes.value("lease_renewals_late_total") == 0)
    check("Leases are renewed", wait_until("renewals", lambda: nodes.value("lease_renewals_total") >= 2 * NODES, 60, 0.5))

    check("no Pod write failed", all(
        labels["code"] in ("200", "404", "409") for labels, _ in nodes.metrics().series("coxswain_simulate_requests_total")
        if labels["request"] in ("pod_status", "pod_delete")))

    plane.restart_apiserver()
    wait_until("all watches are open again", lambda: all(more(resource) == NODES for resource in EVERY_NODE), 120, 0.5)
    check("watches resume after a restart of the API server",
          nodes.value("watch_restarts_total") + nodes.value("watch_relists_total") >= NODES * len(EVERY_NODE))
    plane.send("POST", DEPLOYMENTS, deployment(NODES))
    wait_until("Pods run again", lambda: plane.send("GET", DEPLOYMENTS + "/web")["status"].get(
        "readyReplicas", 0) == NODES, 120, 0.2)
    check("and Pods run again", True)


def main():
    with tempfile.TemporaryDirectory(prefix="cox-simulate-") as directory:
        with Plane(directory) as plane:
            story(plane)


if __name__ == "__main__":
    main()
