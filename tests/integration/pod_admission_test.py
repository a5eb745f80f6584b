# SPDX-License-Identifier: Apache-2.0
"""Admission of Pods, with kubectl: Pod Security Standards, LimitRanges, service accounts.

    pod_admission_test.py

Environment: COX_BIN, the program under test.
"""

import json
import os

from cluster import Cluster, need_program
from kubectl_test import Kubectl, deployment, equal, has, lacks, pod

SERVICE_ACCOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
RESTRICTED = {"allowPrivilegeEscalation": False, "runAsNonRoot": True, "capabilities": {"drop": ["ALL"]},
              "seccompProfile": {"type": "RuntimeDefault"}}


def restricted_pod(name):
    return pod(name, containers=[{"name": "main", "image": "registry.example.com/app:1", "securityContext": RESTRICTED}])


def pod_security(kubectl):
    k = kubectl("security")
    k.make(pod("plain"), pod("reckless", hostNetwork=True), restricted_pod("careful"))
    # A stricter label keeps existing Pods; the response warns about those that violate it.
    text = k("label", "namespace", "security", "pod-security.kubernetes.io/enforce=restricted", "--dry-run=server")
    has(text, 'existing pods in namespace "security" violate the new PodSecurity enforce level "restricted:latest"',
        "plain: allowPrivilegeEscalation != false", "reckless: host namespaces")
    lacks(text, "careful")
    lacks(k("get", "namespace", "security", "-o", "yaml"), "pod-security")
    k("label", "namespace", "security", "pod-security.kubernetes.io/enforce=restricted")
    wait_enforced(k)
    k.make(restricted_pod("careful-2"))
    # Workload objects only get a warning. Labels and deletion of existing Pods are always allowed.
    has(k.make(deployment("web")), 'Warning: would violate PodSecurity "restricted:latest"', "deployment.apps/web created")
    k("label", "pod", "reckless", "still=here")
    k("delete", "pod", "reckless", "--grace-period=0", "--force")
    has(k("label", "namespace", "security", "pod-security.kubernetes.io/enforce=strict", "--overwrite", code=1),
        "must be one of privileged, baseline, restricted")


def wait_enforced(k):
    # Admission reads namespaces from the server's watch cache, which lags behind the write.
    for attempt in range(50):
        text = k("create", "-f", "-", stdin=json.dumps(pod(f"refused-{attempt}")), code=None)
        if "forbidden: violates PodSecurity" in text:
            return has(text, "runAsNonRoot != true")
    raise AssertionError("a Pod that violates the standard is still let in:\n" + text)


def limit_ranges(kubectl):
    k = kubectl("limits")
    k.make({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": [
        {"type": "Container", "default": {"cpu": "500m"}, "defaultRequest": {"cpu": "100m"}, "max": {"cpu": "1"}}]}})
    k.make(pod("modest"))  # immediately: the LimitRange also applies in a new namespace
    made = k.json("get", "pod", "modest")
    equal(made["spec"]["containers"][0]["resources"], {"limits": {"cpu": "500m"}, "requests": {"cpu": "100m"}})
    has(made["metadata"]["annotations"]["kubernetes.io/limit-ranger"], "cpu request for container main")
    greedy = pod("greedy")
    greedy["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "2"}}
    has(k("create", "-f", "-", stdin=json.dumps(greedy), code=1), "maximum cpu usage per Container is 1, but limit is 2")


def service_accounts(kubectl):
    k = kubectl("accounts", account=False)
    has(k("create", "-f", "-", stdin=json.dumps(pod("homeless")), code=1),
        'error looking up service account accounts/default: serviceaccount "default" not found')
    k.make({"apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": "default", "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}})
    k.make(pod("citizen"))
    spec = k.json("get", "pod", "citizen")["spec"]
    equal(spec["serviceAccountName"], "default")
    volume = spec["volumes"][0]
    has(volume["name"], "kube-api-access-")
    equal(volume["projected"]["sources"][0], {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}})
    equal(spec["containers"][0]["volumeMounts"],
          [{"name": volume["name"], "readOnly": True, "mountPath": SERVICE_ACCOUNT_PATH}])
    # Ephemeral containers cannot reference secrets that the account may not mount (CVE-2023-2728).
    debugged = k.json("get", "pod", "citizen")
    debugged["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "registry.example.com/app:1",
                                                "envFrom": [{"secretRef": {"name": "treasure"}}]}]
    text = k("replace", "--raw", "/api/v1/namespaces/accounts/pods/citizen/ephemeralcontainers", "-f", "-",
             stdin=json.dumps(debugged), code=1)
    has(text, "ephemeral container debug with envFrom referencing secret.secretName=\"treasure\" is not allowed")


def main():
    program = need_program("kubectl")
    with Cluster(os.environ["COX_BIN"], service_accounts=True) as cluster:
        os.makedirs(cluster.path("home"))

        def kubectl(namespace, account=True):
            k = Kubectl(program, cluster, namespace)
            k("create", "namespace", namespace)
            if account:
                k("create", "serviceaccount", "default")
            return k

        for part in (pod_security, limit_ranges, service_accounts):
            part(kubectl)
            cluster.check_runs()
            print(f"ok   {part.__name__}", flush=True)


if __name__ == "__main__":
    main()
