# SPDX-License-Identifier: Apache-2.0
"""Runs `coxswain controller-manager` as in a cluster: with a real etcd and an API server with RBAC,
as the user system:kube-controller-manager, with a service account for each controller.

    controller_manager_test.py            functional tests
    controller_manager_test.py --idle     also prints CPU and memory usage while idle
    controller_manager_test.py --pods N   also measures how fast a ReplicaSet of N creates its Pods

Environment: COX_BIN, the program under test.
"""

import json
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))

from cluster import ADMIN_TOKEN, Cluster, _Server, free_ports, need_program, wait_until  # noqa: E402

TOKENS = (f'{ADMIN_TOKEN},admin,admin-uid,"system:masters"\n'
          'manager-token,system:kube-controller-manager,manager-uid,\n'
          'nobody-token,nobody,nobody-uid,\n')


class Kubectl:
    def __init__(self, kubeconfig):
        self._command = [need_program("kubectl"), "--kubeconfig", kubeconfig]

    def __call__(self, *arguments, stdin=None, ok=True):
        done = subprocess.run([*self._command, *arguments], input=stdin, capture_output=True, text=True, timeout=120)
        if ok and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def json(self, *arguments):
        return json.loads(self(*arguments, "-o", "json"))

    def make(self, *objects):
        return self("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


def node(name):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


def get(url, ca, token=None):
    """Returns status and body of a response of the secure port."""
    request = urllib.request.Request(url, headers={"Authorization": "Bearer " + token} if token else {})
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE if ca is None else ssl.CERT_REQUIRED
    try:
        with urllib.request.urlopen(request, timeout=10, context=context) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except (urllib.error.URLError, OSError):
        return 0, ""


class Manager:
    def __init__(self, binary, cluster, arguments=()):
        config = json.load(open(cluster.kubeconfig))
        config["users"][0]["user"]["token"] = "manager-token"
        path = cluster.path("manager.conf")
        with open(path, "w") as file:
            json.dump(config, file)
        self.port, = free_ports(1)
        self.server = _Server("controller-manager", [
            binary, "controller-manager", "--kubeconfig", path, "--bind-address", "127.0.0.1", "--secure-port",
            str(self.port), "--root-ca-file", cluster.ca_file, "--use-service-account-credentials",
            "--allocate-node-cidrs", "--cluster-cidr", "10.244.0.0/16", *arguments], cluster.path(""))

    def ask(self, path, token=None):
        return get(f"https://127.0.0.1:{self.port}{path}", None, token)


def serves(manager):
    wait_until("healthz", lambda: manager.ask("/healthz")[0] == 200, 30)
    assert "[+]leaderElection ok" in manager.ask("/healthz?verbose")[1]
    assert manager.ask("/livez")[0] == 200
    assert manager.ask("/metrics")[0] == 401, manager.ask("/metrics")
    assert manager.ask("/metrics", "manager-tokem")[0] == 401
    assert manager.ask("/metrics", "nobody-token")[0] == 403
    leads = 'leader_election_master_status{name="kube-controller-manager"} 1'
    wait_until("it leads", lambda: leads in manager.ask("/metrics", ADMIN_TOKEN)[1], 30)
    assert "workqueue_depth" in manager.ask("/metrics", ADMIN_TOKEN)[1]
    runs = 'running_managed_controllers{manager="kube-controller-manager",name="job-controller"} 1\n'
    wait_until("its controllers run", lambda: runs in manager.ask("/metrics", ADMIN_TOKEN)[1], 30)
    assert manager.ask("/nothing", ADMIN_TOKEN)[0] == 404


def replaces_what_is_missing(k):
    k("create", "deployment", "web", "--image=registry.example.com/app:1", "--replicas=3")
    pods = wait_until("three Pods", lambda: (lambda p: len(p) == 3 and p)(k.json("get", "pods")["items"]), 30)
    k("delete", "pod", pods[0]["metadata"]["name"], "--grace-period=0", "--force")
    wait_until("its replacement", lambda: len(k.json("get", "pods")["items"]) == 3, 30)
    events = wait_until("events", lambda: (lambda t: "SuccessfulCreate" in t and t)(k("describe", "rs")), 30)
    assert "replicaset-controller" in events, events
    text = wait_until("events of the deployment",
                      lambda: (lambda t: "ScalingReplicaSet" in t and t)(k("describe", "deployment", "web")), 30)
    assert "deployment-controller" in text and "from 0 to 3" in text, text
    made_by = {m["manager"] for p in pods for m in p["metadata"].get("managedFields", [])}
    assert made_by in (set(), {"kube-controller-manager"}), made_by
    k("delete", "deployment", "web")
    wait_until("all collected", lambda: not k.json("get", "pods,rs")["items"], 60)


def serves_services(k):
    k("create", "service", "clusterip", "web", "--tcp=80:8080")
    wait_until("a slice", lambda: k.json("get", "endpointslices", "-l", "kubernetes.io/service-name=web")["items"], 30)
    k("delete", "service", "web")


def runs_jobs(k):
    k("create", "job", "once", "--image=registry.example.com/app:1")
    pod = wait_until("its Pod", lambda: k.json("get", "pods", "-l", "job-name=once")["items"], 30)[0]
    name = pod["metadata"]["name"]
    k("patch", "pod", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"phase": "Succeeded"}}))
    k("wait", "--for=condition=Complete", "job/once", "--timeout=30s")
    k("delete", "job", "once")
    wait_until("its Pod is gone", lambda: not k.json("get", "pods")["items"], 60)


def prepares_namespaces_and_nodes(k):
    k("create", "namespace", "apart")
    wait_until("an account", lambda: "default" in k("get", "sa", "-n", "apart", ok=False), 30)
    wait_until("a CA", lambda: "BEGIN CERTIFICATE" in k("get", "cm", "-n", "apart", "-o", "yaml", ok=False), 30)
    k("create", "configmap", "left", "-n", "apart")
    k("delete", "namespace", "apart", "--timeout=60s")
    k.make(node("n1"), node("n2"))
    cidrs = wait_until("ranges", lambda: (lambda n: all(n) and n)(
        [each["spec"].get("podCIDR") for each in k.json("get", "nodes")["items"]]), 30)
    assert sorted(cidrs) == ["10.244.0.0/24", "10.244.1.0/24"], cidrs
    # No kubelet reports a status, so the node is marked not ready and tainted.
    wait_until("taints", lambda: "node.kubernetes.io/not-ready" in k("get", "node", "n1", "-o", "yaml"), 30)
    k("delete", "node", "n1", "n2")


def ends_when_asked(manager, k):
    holder = k.json("get", "lease", "-n", "kube-system", "kube-controller-manager")["spec"]["holderIdentity"]
    assert holder
    manager.server.process.send_signal(signal.SIGTERM)
    assert manager.server.process.wait(20) == 0, manager.server.log_tail()
    assert not k.json("get", "lease", "-n", "kube-system", "kube-controller-manager")["spec"].get("holderIdentity")


def usage(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    with open(f"/proc/{pid}/status") as file:
        status = dict(line.split(":", 1) for line in file)
    ticks = int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK"), int(status["VmRSS"].split()[0]) / 1024, int(status["Threads"])


def measure_idle(manager, cluster, seconds=60):
    servers = [*cluster._servers, manager.server]
    time.sleep(20)
    before = [usage(s.process.pid) for s in servers]
    time.sleep(seconds)
    for server, was in zip(servers, before):
        cpu, rss, threads = usage(server.process.pid)
        print(f"idle {server.name}: {rss:.1f} MB, {threads} threads, {(cpu - was[0]) / seconds * 100:.2f} % of a core")


def measure_pods(k, count):
    template = {"metadata": {"labels": {"app": "many"}}, "spec": {"containers": [{"name": "c", "image": "a"}]}}
    began = time.monotonic()
    k.make({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "many"}, "spec": {
        "replicas": count, "selector": {"matchLabels": {"app": "many"}}, "template": template}})
    def made():
        return int(k("get", "rs", "many", "-o", "jsonpath={.status.replicas}").strip() or 0)
    wait_until("all Pods", lambda: made() >= count, 120, between=0.1)
    took = time.monotonic() - began
    print(f"{count} Pods in {took:.2f} s: {count / took:.0f}/s")
    k("delete", "rs", "many", "--timeout=300s")


def main():
    binary = os.environ["COX_BIN"]
    tokens = os.path.abspath("controller-manager-tokens.csv")
    with open(tokens, "w") as file:
        file.write(TOKENS)
    with Cluster(binary, token_file=tokens, service_accounts=True) as cluster:
        k = Kubectl(cluster.kubeconfig)
        manager = Manager(binary, cluster)
        try:
            serves(manager)
            wait_until("the default account", lambda: "default" in k("get", "sa", ok=False), 30)
            if "--idle" in sys.argv:
                measure_idle(manager, cluster)
            for step in (replaces_what_is_missing, serves_services, runs_jobs, prepares_namespaces_and_nodes):
                began = time.monotonic()
                step(k)
                print(f"{step.__name__}: {time.monotonic() - began:.1f} s", flush=True)
            if "--pods" in sys.argv:
                measure_pods(k, int(sys.argv[sys.argv.index("--pods") + 1]))
            with open(manager.server.log) as log:
                refused = [line for line in log if "orbidden" in line]
            assert not refused, "".join(refused[:10])
            ends_when_asked(manager, k)
        except BaseException:
            print(manager.server.log_tail(60))
            raise
        finally:
            manager.server.stop()
    os.remove(tokens)


if __name__ == "__main__":
    main()
