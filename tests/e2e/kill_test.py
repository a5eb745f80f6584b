# SPDX-License-Identifier: Apache-2.0
"""Kills components of a cluster at random moments; it must always reach the declared state.

    kill_test.py up|split [SEED]

up: all components run in the process of `coxswain up`; split: each in its own process.

Each round declares a change (an image, a number of replicas, a deleted Pod), kills a component
while the change is carried out, and waits for the declared state. Containers of unchanged Pods must
never be restarted. At the end everything is deleted, and no resources may remain on the node. There
are 3 rounds, or 50 if COX_LONG is set.

Environment: COX_BIN, the program under test.
"""

import os
import random
import sys
import time

import alone
import leftovers
from api import APPS, CORE, DISCOVERY, collection, container_statuses, ready
from harness import ClusterError, wait_until
from split_cluster import SplitCluster
from whole_cluster import Cluster, pod_template

ROUNDS = 50 if os.environ.get("COX_LONG") else 3
HEAL_SECONDS = 120


class Declared:
    """The desired state; applied with retries until the API server accepts it."""

    def __init__(self, cluster):
        self._cluster = cluster
        self.replicas, self.version = 3, "v1"

    def declare(self):
        def said():
            try:
                self._cluster.apply(self.deployment())
                return True
            except ClusterError:
                return False  # the API server is not available
        wait_until("the API server listens", said, HEAL_SECONDS, between=0.2)

    def deployment(self):
        probe = {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
            "replicas": self.replicas, "selector": {"matchLabels": {"app": "web"}},
            "template": pod_template("web", self._cluster.image(f"web:{self.version}"), readinessProbe=probe)}}

    def await_reached(self):
        """Waits until exactly the declared Pods run and are the endpoints of the Service."""
        image = self._cluster.image(f"web:{self.version}")

        def as_declared(pods):
            return (len(pods) == self.replicas and all(
                ready(pod) and pod["spec"]["containers"][0]["image"] == image for pod in pods.values()) and list(pods.values()))
        pods = self._cluster.api.until(f"{self.replicas} Pods of {self.version}",
                                       collection(CORE, "default", "pods", "app=web"), as_declared, HEAL_SECONDS)
        self._cluster.endpoints("web", [pod["status"]["podIP"] for pod in pods], HEAL_SECONDS)
        for pod in pods:
            answer = wait_until(f"{pod['metadata']['name']} answers", lambda p=pod: self._cluster.inside(
                "client-0", f"timeout 2 wget -qO- http://{p['status']['podIP']}:8080/version", check=False).strip() == self.version, 30)
            assert answer


def change(declared, cluster, chance):
    """Declares a random change and returns its name."""
    what = chance.choice(("roll", "scale", "delete"))
    if what == "roll":
        declared.version = "v2" if declared.version == "v1" else "v1"
    elif what == "scale":
        declared.replicas = chance.choice([n for n in (1, 2, 3, 4, 5) if n != declared.replicas])
    else:
        cluster.kubectl("delete", "pod", "-l", "app=web", "--wait=false")
    declared.declare()
    return what


def steady(cluster):
    """Returns IDs and restart counts of the containers that must not change, by Pod."""
    pods = cluster.pods("app=steady", 2, seconds=HEAL_SECONDS)
    return {name: [(each["containerID"], each["restartCount"]) for each in container_statuses(pod)]
            for name, pod in pods.items()}


def rounds(cluster, chance):
    for i in range(2):
        cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"client-{i}", "labels": {"app": "steady"}},
                       "spec": pod_template("steady", cluster.image("tools:1"))["spec"]})
    before = steady(cluster)
    declared = Declared(cluster)
    declared.declare()
    cluster.kubectl("expose", "deployment", "web", "--port=80", "--target-port=8080")
    declared.await_reached()
    for number in range(ROUNDS):
        victim = cluster.victims[number % len(cluster.victims)]
        what = change(declared, cluster, chance)
        moment = chance.uniform(0, 2)
        time.sleep(moment)
        began = time.monotonic()
        cluster.strike(victim)
        declared.declare()
        declared.await_reached()
        print(f"  {number + 1}/{ROUNDS}: {what}, {victim} killed after {moment:.2f} s; as declared after "
              f"{time.monotonic() - began:.2f} s", flush=True)
        assert steady(cluster) == before, "containers were restarted because something else was"


def empties(cluster):
    cluster.kubectl("delete", "deployment/web", "service/web", "pod/client-0", "pod/client-1", "--wait=false")
    cluster.gone(CORE, "pods", None, HEAL_SECONDS)
    cluster.gone(APPS, "replicasets", None, HEAL_SECONDS)
    cluster.gone(DISCOVERY, "endpointslices", "kubernetes.io/service-name=web")
    leftovers.await_none_of_pods(60)


def main():
    alone.enter()
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10 ** 6)
    print(f"seed {seed}", flush=True)
    with (SplitCluster if sys.argv[1:2] == ["split"] else Cluster)() as cluster:
        rounds(cluster, random.Random(seed))
        empties(cluster)
    print("PASS")


if __name__ == "__main__":
    main()
