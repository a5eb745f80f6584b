# SPDX-License-Identifier: Apache-2.0
"""Features of a node: jobs, probes, volumes, init containers, scheduling failures, draining.

    node_test.py [STEP...]

Environment: COX_BIN, the program under test.
"""

import base64
import sys
import time
import urllib.error
import urllib.request

import alone
import leftovers
from api import CORE, collection, condition_of, container_statuses, is_true, ready
from harness import wait_until
from whole_cluster import Cluster, run_steps

BATCH = "/apis/batch/v1"
USER = "ali:$2b$05$abcdefghijklmnopqrstuutXu9KzOt.1yBoZUeFWoT/914/JfszCO"  # the password is open-sesame


def pod_object(name, containers, labels=None, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {}},
            "spec": {"containers": containers, "terminationGracePeriodSeconds": 3, **spec}}


def container(cluster, name="main", image="tools:1", script=None, **more):
    command = {"command": ["sh", "-c", script]} if script else {}
    return {"name": name, "image": cluster.image(image), **command, **more}


def forever(script=""):
    """Returns a script that runs until SIGTERM."""
    return f"{script}\ntrap 'exit 0' TERM; while true; do sleep 3600 & wait $!; done"


def status_of(pod, name="main"):
    return next((each for each in container_statuses(pod) if each["name"] == name), {})


def removed(cluster, *names):
    cluster.kubectl("delete", "pod", *names, "--wait=false")
    for name in names:
        cluster.api.until(f"Pod {name} is gone", collection(CORE, "default", "pods"), lambda pods, n=name: n not in pods, 30)


def job_with_failures(cluster):
    """A failing Job is retried with growing backoff until its limit; a successful one completes"""
    cluster.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "fails"}, "spec": {
        "backoffLimit": 1, "template": {"spec": {"restartPolicy": "Never",
                                                 "containers": [container(cluster, image="crash:1")]}}}},
                  {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "works"}, "spec": {
                      "parallelism": 2, "completions": 3, "template": {"spec": {
                          "restartPolicy": "Never", "containers": [container(cluster, script="echo done")]}}}})
    jobs = collection(BATCH, "default", "jobs")
    works = cluster.api.until("the Job completes", jobs, lambda found: found.get("works") if is_true(
        found.get("works", {}), "Complete") else None, 60)
    assert works["status"]["succeeded"] == 3, works["status"]
    assert "completionTime" in works["status"], works["status"]
    fails = cluster.api.until("the Job fails", jobs, lambda found: found.get("fails") if is_true(
        found.get("fails", {}), "Failed") else None, 90)
    assert condition_of(fails, "Failed")["reason"] == "BackoffLimitExceeded", fails["status"]
    assert fails["status"]["failed"] == 2, fails["status"]
    pods = cluster.api.items(collection(CORE, "default", "pods", "job-name=fails"))
    assert [status_of(pod)["state"]["terminated"]["exitCode"] for pod in pods] == [3, 3], pods
    made = sorted(pod["metadata"]["creationTimestamp"] for pod in pods)
    assert made[0] != made[1], "no pause between the attempts"
    assert cluster.kubectl("logs", pods[0]["metadata"]["name"]) == "about to crash\n"
    cluster.kubectl("delete", "job", "fails", "works")
    cluster.gone(CORE, "pods", "batch.kubernetes.io/job-name")


def liveness(cluster):
    """A failing liveness probe restarts its container, with an event"""
    cluster.apply(pod_object("alive", [container(cluster, script=forever("touch /tmp/alive"), livenessProbe={
        "exec": {"command": ["cat", "/tmp/alive"]}, "periodSeconds": 1, "failureThreshold": 2})]))
    cluster.pod("alive")
    cluster.inside("alive", "rm /tmp/alive")
    began = time.monotonic()
    pod = cluster.pod("alive", lambda each: status_of(each).get("restartCount") == 1 and ready(each), 40, "restarted")
    print(f"  Ready again {time.monotonic() - began:.2f} s after the probe began to fail")
    assert "terminated" in status_of(pod)["lastState"], status_of(pod)
    reasons = {each["reason"]: each["message"] for each in cluster.events_of("alive")}
    assert "Liveness probe failed" in reasons["Unhealthy"], reasons
    assert "failed liveness probe, will be restarted" in reasons["Killing"], reasons
    removed(cluster, "alive")


def readiness(cluster):
    """A failing readiness probe removes its Pod from the Service; nothing is restarted"""
    probe = {"exec": {"command": ["cat", "/www/index.html"]}, "periodSeconds": 1, "failureThreshold": 1}
    for name in ("one", "two"):
        cluster.apply(pod_object(name, [container(cluster, image="web:v1", readinessProbe=probe)], {"app": "either"}))
    cluster.apply({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "either"},
                   "spec": {"selector": {"app": "either"}, "ports": [{"port": 80, "targetPort": 8080}]}})
    address = {name: cluster.pod(name)["status"]["podIP"] for name in ("one", "two")}
    cluster.endpoints("either", address.values())
    cluster.inside("one", "mv /www/index.html /www/moved")
    began = time.monotonic()
    cluster.endpoints("either", [address["two"]])
    print(f"  out of the Service {time.monotonic() - began:.2f} s after the probe began to fail")
    answers = wait_until("only the other one answers", lambda: (lambda lines: lines if set(lines) == {"two v1"} else None)(
        cluster.inside("client", "for i in $(seq 20); do timeout 2 wget -qO- http://either/; done", check=False).splitlines()), 10)
    assert len(answers) == 20, answers
    cluster.inside("one", "mv /www/moved /www/index.html")
    cluster.endpoints("either", address.values())
    assert status_of(cluster.pod("one"))["restartCount"] == 0
    cluster.kubectl("delete", "service", "either")
    removed(cluster, "one", "two")


def config_and_secrets(cluster):
    """A ConfigMap volume is updated after changes; a Secret works as variable and as file"""
    cluster.kubectl("create", "configmap", "settings", "--from-literal=color=red")
    cluster.kubectl("create", "secret", "generic", "login", "--from-literal=password=s3cret")
    cluster.apply(pod_object("reader", [container(
        cluster, env=[{"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "login", "key": "password"}}},
                      {"name": "COLOR", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "color"}}},
                      {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        volumeMounts=[{"name": "settings", "mountPath": "/settings"}, {"name": "login", "mountPath": "/login"},
                      {"name": "self", "mountPath": "/self"}])],
        {"team": "blue"},
        volumes=[{"name": "settings", "configMap": {"name": "settings"}},
                 {"name": "login", "secret": {"secretName": "login", "defaultMode": 0o400}},
                 {"name": "self", "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}}]))
    cluster.pod("reader")
    assert cluster.inside("reader", "echo $PASSWORD $COLOR $NODE").split() == ["s3cret", "red", cluster.node]
    assert cluster.inside("reader", "cat /settings/color /login/password") == "reds3cret"
    assert cluster.inside("reader", "stat -L -c %a /login/password").strip() == "400"
    assert cluster.inside("reader", "cat /self/labels").strip() == 'team="blue"'
    token = "/var/run/secrets/kubernetes.io/serviceaccount/token"
    assert len(cluster.inside("reader", f"cat {token}").split(".")) == 3, "no service account token"
    cluster.kubectl("patch", "configmap", "settings", "-p", '{"data":{"color":"green"}}')
    cluster.kubectl("patch", "secret", "login", "-p",
                    '{"data":{"password":"%s"}}' % base64.b64encode(b"changed").decode())
    began = time.monotonic()
    # Upstream takes up to 90 s; the kubelet here watches the objects.
    wait_until("the volumes have changed", lambda: cluster.inside(
        "reader", "cat /settings/color /login/password") == "greenchanged", 100, between=0.2)
    print(f"  seen in the volumes after {time.monotonic() - began:.2f} s")
    assert cluster.inside("reader", "echo $PASSWORD $COLOR").split() == ["s3cret", "red"], "variables stay"
    cluster.kubectl("delete", "configmap/settings", "secret/login")
    removed(cluster, "reader")


def init_and_sidecar(cluster):
    """Init containers run in order; a sidecar runs beside the others and ends after them"""
    log = {"name": "log", "mountPath": "/log"}
    cluster.apply(pod_object(
        "ordered",
        [container(cluster, script=forever("echo main >> /log/order").replace(
            "'exit 0'", "'echo main-ends >> /log/order; exit 0'"), volumeMounts=[log])],
        initContainers=[container(cluster, "first", script="echo first >> /log/order", volumeMounts=[log]),
                        container(cluster, "beside", script=forever("echo beside >> /log/order").replace(
                            "'exit 0'", "'echo beside-ends >> /log/order; exit 0'"), restartPolicy="Always", volumeMounts=[log]),
                        container(cluster, "last", script="echo last >> /log/order", volumeMounts=[log])],
        volumes=[{"name": "log", "hostPath": {"path": cluster.directory + "/order", "type": "DirectoryOrCreate"}}]))
    pod = cluster.pod("ordered")
    assert status_of(pod, "first")["state"]["terminated"]["reason"] == "Completed", status_of(pod, "first")
    assert "running" in status_of(pod, "beside")["state"], status_of(pod, "beside")
    def order():
        with open(cluster.directory + "/order/order") as file:
            return file.read().split()
    # A sidecar counts as started when its process runs, so the order of two lines is undefined.
    assert order()[0] == "first" and order()[-1] == "main" and sorted(order()[1:3]) == ["beside", "last"], order()
    removed(cluster, "ordered")
    assert order()[4:] == ["main-ends", "beside-ends"], order()


def crash_loop(cluster):
    """A container that crashes repeatedly is restarted with growing backoff"""
    cluster.apply(pod_object("crashes", [container(cluster, image="crash:1")]))
    pod = cluster.pod("crashes", lambda each: status_of(each).get("state", {}).get("waiting", {}).get("reason")
                      == "CrashLoopBackOff", 30, "in CrashLoopBackOff")
    assert status_of(pod)["lastState"]["terminated"]["exitCode"] == 3, status_of(pod)
    assert cluster.kubectl("logs", "crashes", "--previous") == "about to crash\n"
    again = cluster.pod("crashes", lambda each: status_of(each)["restartCount"] >= 2, 40, "restarted twice")
    assert status_of(again)["restartCount"] == 2
    removed(cluster, "crashes")


def pending(cluster):
    """A Pod that fits on no node stays pending, and its events contain the reason"""
    cluster.apply(pod_object("huge", [container(cluster, resources={"requests": {"cpu": "1000"}})]),
                  pod_object("picky", [container(cluster)], nodeSelector={"disk": "none"}))
    for name, why in (("huge", "0/1 nodes are available: 1 Insufficient cpu"),
                      ("picky", "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector")):
        pod = cluster.pod(name, lambda each: condition_of(each, "PodScheduled").get("reason") == "Unschedulable", 20,
                          "known to be unschedulable")
        assert pod["status"]["phase"] == "Pending"
        assert condition_of(pod, "PodScheduled")["message"].startswith(why), condition_of(pod, "PodScheduled")
        events = wait_until(f"events of {name}", lambda n=name: [
            each["message"] for each in cluster.events_of(n) if each["reason"] == "FailedScheduling"], 10)
        assert events[0].startswith(why), events
        assert why in cluster.kubectl("describe", "pod", name)
    cluster.kubectl("label", "node", cluster.node, "disk=none")
    cluster.pod("picky")
    cluster.kubectl("label", "node", cluster.node, "disk-")
    removed(cluster, "huge", "picky")


def cordon_and_drain(cluster):
    """A cordoned node gets no new Pods; drain removes its Pods; uncordon allows Pods again"""
    cluster.kubectl("create", "deployment", "moved", "--image", cluster.image("tools:1"), "--replicas=2")
    before = cluster.pods("app=moved", 2)
    cluster.kubectl("cordon", cluster.node)
    cluster.kubectl("scale", "deployment/moved", "--replicas=3")
    def one_pending(pods):
        return [each for each in pods.values() if "unschedulable" in condition_of(each, "PodScheduled").get("message", "")]
    cluster.api.until("the third waits", collection(CORE, "default", "pods", "app=moved"), one_pending, 20)
    cluster.kubectl("drain", cluster.node, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=60s", seconds=70)
    pods = cluster.api.items(collection(CORE, "default", "pods", "app=moved"))
    assert not set(before) & {pod["metadata"]["name"] for pod in pods}, "drained Pods are still there"
    assert all("nodeName" not in pod["spec"] for pod in pods), "a drained node got Pods"
    cluster.kubectl("uncordon", cluster.node)
    cluster.pods("app=moved", 3)
    cluster.kubectl("delete", "deployment", "moved")
    cluster.gone(CORE, "pods", "app=moved")


def sysctls(cluster):
    """Safe sysctls are set; a Pod with another one is rejected"""
    def with_sysctl(name, sysctl, value):
        return pod_object(name, [container(cluster, script=forever())],
                          securityContext={"sysctls": [{"name": sysctl, "value": value}]})
    cluster.apply(with_sysctl("safe", "net.ipv4.ip_unprivileged_port_start", "80"),
                  with_sysctl("unsafe", "net.core.somaxconn", "1024"))
    cluster.pod("safe")
    text = cluster.kubectl("exec", "safe", "--", "cat", "/proc/sys/net/ipv4/ip_unprivileged_port_start")
    assert text.strip() == "80", text
    failed = cluster.api.until("the Pod is rejected", collection(CORE, "default", "pods"), lambda pods: pods["unsafe"]
                               if pods["unsafe"]["status"]["phase"] == "Failed" else None, 20)
    assert failed["status"]["reason"] == "SysctlForbidden", failed["status"]
    assert 'forbidden sysctl: "net.core.somaxconn" not allowlisted' in failed["status"]["message"], failed["status"]
    removed(cluster, "safe", "unsafe")


def private_images(cluster):
    """A Pod needs its own credential for a private image, even if the image is on the node"""
    registry = cluster.private_registry(USER)
    registry.start()
    image = registry.image("tools:1")

    def secret(name, password):
        cluster.kubectl("create", "secret", "docker-registry", name, "--docker-server", registry.address,
                        "--docker-username=ali", f"--docker-password={password}")

    def pod(name, *secrets):
        cluster.apply(pod_object(name, [{"name": "main", "image": image}],
                                 imagePullSecrets=[{"name": each} for each in secrets]))

    def refused(name):
        def waiting(found):
            reason = status_of(found).get("state", {}).get("waiting", {}).get("reason")
            return reason in ("ErrImagePull", "ImagePullBackOff")
        cluster.pod(name, waiting, what="without image")

    try:
        secret("right", "open-sesame")
        secret("same", "open-sesame")
        secret("wrong", "guess")
        pod("owner", "right")
        cluster.pod("owner")
        pod("thief")
        pod("guesser", "wrong")
        refused("thief")
        refused("guesser")
    finally:
        registry.stop()
    # What the kubelet has verified before, it accepts without the registry: a known Secret, and an equal one.
    pod("again", "right")
    pod("friend", "wrong", "same")
    cluster.pod("again")
    cluster.pod("friend")
    removed(cluster, "owner", "thief", "guesser", "again", "friend")


def health_ports(cluster):
    """Health ports serve health and nothing else (CVE-2019-11248)"""
    def code(port, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as response:
                return response.status
        except urllib.error.HTTPError as error:
            return error.code
    for port in (10248, 10256):
        assert code(port, "/healthz") == 200, port
        for path in ("/debug/pprof/", "/debug/pprof/goroutine", "/debug/flags/v", "/metrics", "/configz", "/pods", "/"):
            assert code(port, path) == 404, (port, path, code(port, path))


def nothing_left(cluster):
    """No resources of the Pods remain on the node"""
    cluster.kubectl("delete", "pods", "--all", "--wait=false")
    cluster.gone(CORE, "pods", None)
    leftovers.await_none_of_pods(20)


STEPS = (health_ports, pending, sysctls, private_images, job_with_failures, liveness, readiness, config_and_secrets,
         init_and_sidecar, crash_loop, cordon_and_drain, nothing_left)


def main():
    alone.enter()
    with Cluster() as cluster:
        cluster.run_tools()
        run_steps(STEPS, cluster, sys.argv[1:])
    print("PASS")


if __name__ == "__main__":
    main()
