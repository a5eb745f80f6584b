# SPDX-License-Identifier: Apache-2.0
"""The lifecycle of a Deployment, with real etcd, containerd, registry and kubectl.

    story_test.py [STEP...]

Environment: COX_BIN, the program under test.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request

import alone
import leftovers
from api import APPS, CORE, DISCOVERY, collection, condition_of, container_statuses, ready
from harness import wait_until
from timeline import Timeline
from whole_cluster import Cluster, forwarded_port, run_steps

REPLICAS = 3
# Sends requests in a loop; prints the number of answers of v1, of v2, and of failures.
LOAD = """
ok1=0; ok2=0; bad=0
while [ ! -e /tmp/stop ]; do
  case "$(timeout 3 wget -qO- http://TARGET/version 2>>/tmp/load.err)" in
    v1) ok1=$((ok1+1));; v2) ok2=$((ok2+1));; *) bad=$((bad+1)); date >> /tmp/load.err;;
  esac
done
echo $ok1 $ok2 $bad
"""


def deployment(cluster):
    return cluster.api.get(f"{APPS}/namespaces/default/deployments/web")


def running(pod):
    return container_statuses(pod)[0]


def becomes_pods(cluster):
    """Deployment, ReplicaSet, Pods, bound, running, Ready; each by the responsible component"""
    cluster.timeline = Timeline(cluster.api)
    cluster.kubectl("create", "deployment", "web", "--image", cluster.image("web:v1"), f"--replicas={REPLICAS}", "--port=8080")
    began = time.monotonic()
    pods = cluster.pods("app=web", REPLICAS)
    print(f"  {REPLICAS} Pods Ready {time.monotonic() - began:.2f} s after the command")
    sets = cluster.api.items(collection(APPS, "default", "replicasets", "app=web"))
    assert [each["metadata"]["ownerReferences"][0]["name"] for each in sets] == ["web"], sets
    for pod in pods.values():
        assert pod["metadata"]["ownerReferences"][0]["uid"] == sets[0]["metadata"]["uid"], pod
        assert pod["spec"]["nodeName"] == cluster.node, pod
        assert pod["status"]["podIP"], pod
    assert len({pod["status"]["podIP"] for pod in pods.values()}) == REPLICAS
    cluster.kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    status = deployment(cluster)["status"]
    assert (status["observedGeneration"], status["readyReplicas"]) == (1, REPLICAS), status
    assert condition_of(deployment(cluster), "Available")["status"] == "True"
    cluster.timeline.assert_order(("deployment/web made",), ("replicaset/", "made for Deployment/web"),
                                  ("pod/", "made for ReplicaSet/"), ("pod/", "nodeName="), ("pod/", "phase=Running"),
                                  ("pod/", "Ready=True"), ("deployment/web", f"readyReplicas={REPLICAS}"))
    for reason in ("ScalingReplicaSet", "SuccessfulCreate", "Scheduled", "Created", "Started"):
        assert cluster.timeline.first("event Normal " + reason) is not None, f"no event {reason}"
    cluster.timeline.print()


def reached_by_service(cluster):
    """Endpoints; all three Pods answer through DNS name and cluster IP, from another Pod"""
    cluster.kubectl("expose", "deployment", "web", "--port=80", "--target-port=8080")
    pods = cluster.pods("app=web", REPLICAS)
    cluster.endpoints("web", [pod["status"]["podIP"] for pod in pods.values()])
    cluster.vip = cluster.api.get(f"{CORE}/namespaces/default/services/web")["spec"]["clusterIP"]
    cluster.run_tools()
    for target in (cluster.vip, "web", "web.default.svc.cluster.local"):
        def answers(target=target):
            lines = cluster.inside("client", f"for i in $(seq 40); do timeout 2 wget -qO- http://{target}/; done",
                                   check=False).splitlines()
            return lines if len(lines) == 40 else None
        lines = wait_until(f"{target} answers", answers, 20)
        assert {line.split(" ")[0] for line in lines} == set(pods), f"{target}: {lines}"
        assert all(line.endswith(" v1") for line in lines), lines


def streams(cluster):
    """kubectl logs -f, exec, port-forward, cp"""
    pod = next(iter(cluster.pods("app=web", REPLICAS)))
    with cluster.kubectl_running("logs", "-f", pod) as logs:
        assert logs.stdout.readline() == "serving v1\n"
        cluster.inside(pod, "echo later > /proc/1/fd/1")
        assert logs.stdout.readline() == "later\n"
    assert cluster.inside(pod, "hostname").strip() == pod
    assert cluster.kubectl_result("exec", pod, "--", "sh", "-c", "exit 7").returncode == 7
    assert cluster.kubectl("exec", "-i", pod, "--", "tr", "a-z", "A-Z", given="shout\n") == "SHOUT\n"
    with cluster.kubectl_running("port-forward", f"pod/{pod}", ":8080") as forward:
        port = forwarded_port(forward.stdout.readline())
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
            assert answer.read().decode() == f"{pod} v1\n"
    there, back = os.path.join(cluster.directory, "there"), os.path.join(cluster.directory, "back")
    content = os.urandom(300_000)
    with open(there, "wb") as file:
        file.write(content)
    cluster.kubectl("cp", there, f"{pod}:/tmp/copy")
    cluster.kubectl("cp", f"{pod}:/tmp/copy", back)
    with open(back, "rb") as file:
        assert file.read() == content


def killed_container(cluster):
    """A container that is killed is restarted in its Pod"""
    name, pod = next(iter(cluster.pods("app=web", REPLICAS).items()))
    os.kill(cluster.process_in(name, "/main.sh"), 9)
    began = time.monotonic()
    after = cluster.pod(name, lambda each: running(each)["restartCount"] == 1 and ready(each), what="restarted")
    print(f"  Ready again {time.monotonic() - began:.2f} s after the kill")
    assert after["metadata"]["uid"] == pod["metadata"]["uid"]
    assert after["status"]["podIP"] == pod["status"]["podIP"], "the sandbox was made anew"
    assert running(after)["lastState"]["terminated"]["exitCode"] == 137, running(after)
    assert running(after)["containerID"] != running(pod)["containerID"]


def deleted_pod(cluster):
    """A Pod that is deleted is replaced"""
    before = cluster.pods("app=web", REPLICAS)
    name = next(iter(before))
    cluster.kubectl("delete", "pod", name)
    after = cluster.pods("app=web", REPLICAS)
    assert name not in after and len(set(after) & set(before)) == REPLICAS - 1, (list(before), list(after))
    cluster.endpoints("web", [pod["status"]["podIP"] for pod in after.values()])


def rolled_without_failures(cluster):
    """Image changed: the rollout completes and no request fails"""
    probe = {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1}
    cluster.kubectl("patch", "deployment", "web", "-p", json.dumps(
        {"spec": {"template": {"spec": {"containers": [{"name": "web", "readinessProbe": probe}]}}}}))
    cluster.kubectl("rollout", "status", "deployment/web", "--timeout=90s", seconds=100)
    cluster.inside("client", "rm -f /tmp/stop /tmp/load.err")
    loads = [subprocess.Popen(["kubectl", "--kubeconfig", cluster.kubeconfig, "exec", "client", "--", "sh", "-c",
                               LOAD.replace("TARGET", target)], stdout=subprocess.PIPE, text=True)
             for target in (cluster.vip, "web")]
    time.sleep(1)  # so that some requests are answered by the old version only
    began = time.monotonic()
    cluster.kubectl("set", "image", "deployment/web", f"web={cluster.image('web:v2')}")
    cluster.kubectl("rollout", "status", "deployment/web", "--timeout=90s", seconds=100)
    seconds = time.monotonic() - began
    time.sleep(1)
    cluster.inside("client", "touch /tmp/stop")
    results = [[int(word) for word in load.communicate(timeout=20)[0].split()] for load in loads]
    print(f"  rolled in {seconds:.2f} s; answered by v1, v2, failed: by VIP {results[0]}, by name {results[1]}")
    for old, new, bad in results:
        assert bad == 0, cluster.inside("client", "cat /tmp/load.err")
        assert old > 20 and new > 20, results
    pods = cluster.pods("app=web", REPLICAS)
    assert all(pod["spec"]["containers"][0]["image"].endswith(":v2") for pod in pods.values())


def bad_image_and_undo(cluster):
    """Bad image: the rollout stops, the old Pods keep serving; undo restores the Deployment"""
    before = set(cluster.pods("app=web", REPLICAS))
    cluster.kubectl("patch", "deployment", "web", "-p", '{"spec":{"progressDeadlineSeconds":5}}')
    cluster.kubectl("set", "image", "deployment/web", f"web={cluster.image('web:none')}")
    def stuck(pods):
        waiting = [running(pod)["state"].get("waiting", {}).get("reason") for pod in pods.values()
                   if container_statuses(pod) and pod["metadata"]["name"] not in before]
        return waiting and waiting[0] in ("ErrImagePull", "ImagePullBackOff")
    cluster.api.until("the new Pod cannot pull", collection(CORE, "default", "pods", "app=web"), stuck, 30)
    failed = cluster.kubectl_result("rollout", "status", "deployment/web", "--timeout=60s", seconds=70)
    assert failed.returncode == 1 and "exceeded its progress deadline" in failed.stderr, failed
    assert condition_of(deployment(cluster), "Progressing")["reason"] == "ProgressDeadlineExceeded"
    pods = cluster.api.items(collection(CORE, "default", "pods", "app=web"))
    assert {pod["metadata"]["name"] for pod in pods if ready(pod)} == before, "the rollout did not stop"
    assert cluster.fetch("client", "http://web/").endswith(" v2")
    cluster.kubectl("rollout", "undo", "deployment/web")
    cluster.kubectl("rollout", "status", "deployment/web", "--timeout=60s", seconds=70)
    assert set(cluster.pods("app=web", REPLICAS)) == before, "healthy Pods were replaced by the undo"


def scaled_to_zero(cluster):
    """Scaled to 0: no Pods, no endpoints, and connections are rejected immediately"""
    cluster.kubectl("scale", "deployment/web", "--replicas=0")
    cluster.gone(CORE, "pods", "app=web")
    cluster.endpoints("web", [])
    assert deployment(cluster)["status"].get("replicas", 0) == 0
    began = time.monotonic()
    wait_until("the VIP refuses", lambda: "refused" in cluster.inside(
        "client", f"timeout 5 wget -qO- http://{cluster.vip}/", check=False), 10)
    print(f"  refused after {time.monotonic() - began:.2f} s")


def collected(cluster):
    """Deployment deleted: everything is garbage collected, nothing remains on the node"""
    cluster.kubectl("scale", "deployment/web", "--replicas=2")
    cluster.pods("app=web", 2)
    cluster.kubectl("delete", "deployment", "web")
    cluster.gone(APPS, "replicasets", "app=web")
    cluster.gone(CORE, "pods", "app=web")
    cluster.kubectl("delete", "service", "web")
    cluster.gone(DISCOVERY, "endpointslices", "kubernetes.io/service-name=web")
    cluster.kubectl("delete", "pod", "client", "--wait=false")
    cluster.gone(CORE, "pods", None)
    wait_until("the VIP is out of the rules", lambda: not leftovers.rules_about(cluster.vip), 10)
    leftovers.await_none_of_pods(20)
    cluster.timeline.stop()


STEPS = (becomes_pods, reached_by_service, streams, killed_container, deleted_pod, rolled_without_failures,
         bad_image_and_undo, scaled_to_zero, collected)


def main():
    alone.enter()
    with Cluster() as cluster:
        print(f"node Ready {cluster.ready_seconds:.2f} s after the command", flush=True)
        run_steps(STEPS, cluster, sys.argv[1:])
    print("PASS")


if __name__ == "__main__":
    main()
