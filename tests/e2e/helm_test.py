# SPDX-License-Identifier: Apache-2.0
"""Helm installs, upgrades, rolls back and uninstalls a small chart, hooks and waiting included.

    helm_test.py [STEP...]

Environment: COX_BIN, the program under test.
"""

import json
import os
import subprocess
import sys

import alone
from api import APPS, CORE, collection
from harness import ClusterError
from whole_cluster import Cluster, run_steps

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compat"))

import go_program  # noqa: E402 (needs the path above)

CHART = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chart")
PROGRAM = "COX_HELM"


def helm_result(cluster, *words):
    home = os.path.join(cluster.directory, "helm")
    return subprocess.run([os.environ[PROGRAM], "--kubeconfig", cluster.kubeconfig, *words], text=True, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "HOME": home})


def helm(cluster, *words):
    result = helm_result(cluster, *words)
    if result.returncode != 0:
        raise ClusterError(f"helm {' '.join(words)} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def values(cluster, **more):
    chosen = {"image": cluster.image("web:v1"), "tools": cluster.image("tools:1"), **more}
    return [word for name, value in chosen.items() for word in ("--set", f"{name}={value}")]


def release(cluster):
    return json.loads(helm(cluster, "status", "shop", "-o", "json"))


def served(cluster):
    """Returns the answer of the Pods, and the value of $GREETING in one of them."""
    (pod, *_) = cluster.pods("app=shop", int(cluster.api.get(
        f"{APPS}/namespaces/default/deployments/shop")["spec"]["replicas"]))
    return cluster.fetch("client", "http://shop/version"), cluster.inside(pod, "echo $GREETING").strip()


def installs(cluster):
    """install --wait: the hook runs first, the Pods are Ready"""
    cluster.run_tools()
    helm(cluster, "install", "shop", CHART, "--wait", "--timeout", "60s", *values(cluster))
    assert release(cluster)["info"]["status"] == "deployed", release(cluster)
    assert served(cluster) == ("v1", "hello"), served(cluster)
    assert cluster.kubectl("logs", "-l", "hook=shop").strip() == "before revision 1"
    assert [each["name"] for each in json.loads(helm(cluster, "list", "-o", "json"))] == ["shop"]


def upgrades(cluster):
    """upgrade --wait: a new image, one more replica, another greeting"""
    helm(cluster, "upgrade", "shop", CHART, "--wait", "--timeout", "60s",
         *values(cluster, image=cluster.image("web:v2"), replicas=3, greeting="again"))
    assert served(cluster) == ("v2", "again"), served(cluster)
    assert len(cluster.pods("app=shop", 3)) == 3
    assert cluster.kubectl("logs", "-l", "hook=shop").strip() == "before revision 2"


def fails_and_stays(cluster):
    """An upgrade that cannot become Ready fails after its timeout, and the old Pods keep serving"""
    failed = helm_result(cluster, "upgrade", "shop", CHART, "--wait", "--timeout", "5s",
                         *values(cluster, image=cluster.image("web:none")))
    assert failed.returncode != 0, failed.stdout
    assert release(cluster)["info"]["status"] == "failed", release(cluster)
    assert cluster.fetch("client", "http://shop/version") == "v2"


def rolls_back(cluster):
    """rollback to the first revision; the history lists all revisions"""
    helm(cluster, "rollback", "shop", "1", "--wait", "--timeout", "60s")
    assert served(cluster) == ("v1", "hello"), served(cluster)
    history = json.loads(helm(cluster, "history", "shop", "-o", "json"))
    assert [(each["revision"], each["status"]) for each in history] == [
        (1, "superseded"), (2, "superseded"), (3, "failed"), (4, "deployed")], history


def uninstalls(cluster):
    """uninstall --wait: removes the chart's objects, but not the hook's Job"""
    helm(cluster, "uninstall", "shop", "--wait", "--timeout", "60s")
    for group, resource in ((APPS, "deployments"), (APPS, "replicasets"), (CORE, "pods"), (CORE, "services"),
                            (CORE, "configmaps")):
        cluster.gone(group, resource, "app=shop")
    cluster.gone(CORE, "secrets", "owner=helm")
    assert cluster.api.items(collection("/apis/batch/v1", "default", "jobs")), "Helm keeps hooks"


STEPS = (installs, upgrades, fails_and_stays, rolls_back, uninstalls)


def main():
    if not os.environ.get(alone.MARK):  # outside of the namespaces, where downloads are possible
        os.environ[PROGRAM] = go_program.build("helm.sh/helm/v4/cmd/helm", module="helm", output="helm")
    alone.enter()
    with Cluster() as cluster:
        run_steps(STEPS, cluster, sys.argv[1:])
    print("PASS")


if __name__ == "__main__":
    main()
