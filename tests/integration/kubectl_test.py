# SPDX-License-Identifier: Apache-2.0
"""Drives the API server with the real kubectl, one step per use case.

    kubectl_test.py [--old] [STEP...]

Environment: COX_BIN, the program under test. --old uses the oldest supported kubectl:
COX_KUBECTL_OLD, or kubectl-1.32. Every step has its own namespace and asserts on the output of
kubectl. All steps run; the failures are listed at the end. A step that the server cannot pass yet
is listed in KNOWN_GAPS with the reason; when it passes, the test fails until it is removed from
that list.
"""

import base64
import json
import os
import queue
import subprocess
import sys
import threading
import traceback

import machine
from cluster import Cluster, end_with_test, need_program, wait_until
from steps import STEPS, chosen_steps, equal, has, lacks, step

COMMAND_SECONDS = 180
EVENT_SECONDS = 20

# Known failures: step name and reason.
KNOWN_GAPS = {
    "custom_resources": "definitions are stored, but custom resources are not served",
}


class Kubectl:
    """kubectl with one namespace of one cluster."""

    def __init__(self, program, cluster, namespace):
        self.namespace = namespace
        self.server = cluster.url
        # Keep out the caller's own configuration, cache and plugins.
        self._environment = {"PATH": os.environ["PATH"], "HOME": cluster.path("home"), "LC_ALL": "C.UTF-8",
                             "KUBECONFIG": cluster.kubeconfig}
        self._program = [program, "-n", namespace]

    def __call__(self, *arguments, stdin=None, code=0):
        """Returns all output. Raises AssertionError unless the exit code is `code` (None: any)."""
        done = subprocess.run(self._program + list(arguments), input=stdin, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=self._environment, timeout=COMMAND_SECONDS, check=False)
        assert code in (None, done.returncode), f"`kubectl {' '.join(arguments)}` ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def json(self, *arguments):
        return json.loads(self(*arguments, "-o", "json"))

    def make(self, *objects):
        return self("create", "-f", "-", stdin=manifest(*objects))

    def start(self, *arguments):
        """Runs kubectl in the background: `with k.start(...) as lines: lines.expect(...)`."""
        return Lines(subprocess.Popen(self._program + list(arguments), text=True, env=self._environment,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      preexec_fn=end_with_test))

    def watching(self, *arguments):
        """Like start, but returns when the server has accepted the watch."""
        lines = self.start(*arguments, "-v=6")
        try:
            lines.expect("watch=true", "200 OK")
        except BaseException:
            lines.__exit__()
            raise
        return lines


class Lines:
    """The output of a running command by lines. Kills the command at the end of the block."""

    def __init__(self, process):
        self._process = process
        self._lines = queue.Queue()
        self._seen = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line)

    def expect(self, *parts):
        """Returns the next line with all `parts`. Raises AssertionError after EVENT_SECONDS."""
        deadline = machine.Deadline(EVENT_SECONDS)
        while True:
            try:
                line = self._lines.get(timeout=deadline.left())
            except queue.Empty:
                if deadline.left():
                    continue
                raise AssertionError(f"no line with {parts} within {EVENT_SECONDS} s; seen: {self._seen}") from None
            self._seen.append(line)
            if all(part in line for part in parts):
                return line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()


def manifest(*objects):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def config_map(name, data=None, **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": data or {"a": "1"}}


def pod(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}},
            "spec": {"containers": [{"name": "main", "image": "registry.example.com/app:1"}], **spec}}


def deployment(name, replicas=2):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": pod(name)["spec"]}}}


def node(name):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


# --- Discovery and server endpoints ---

@step
def version(k):
    answer = json.loads(k("version", "-o", "json"))
    has(answer["serverVersion"]["gitVersion"], "v1.36.")


@step
def api_versions(k):
    has(k("api-versions"), "\nv1\n", "apps/v1\n", "rbac.authorization.k8s.io/v1\n", "apiextensions.k8s.io/v1\n")


@step
def api_resources(k):
    lines = {line.split()[0]: line for line in k("api-resources", "-o", "wide").splitlines()}
    has(lines["pods"], "po", "v1", "true", "Pod", "create,delete,deletecollection,get,list,patch,update,watch", "all")
    has(lines["nodes"], "no", "false", "Node")
    has(k("api-resources", "--api-group=apps", "-o", "name"), "deployments.apps", "statefulsets.apps")


@step
def explain(k):
    has(k("explain", "pod.spec.containers"), "KIND:", "Pod", "FIELDS:", "imagePullPolicy", "-required-")
    has(k("explain", "deployment.spec", "--recursive"), "GROUP:", "apps", "matchLabels")
    has(k("explain", "pod.spec.nonsense", code=1), 'field "nonsense" does not exist')


@step
def explain_openapi_v2(k):
    has(k("explain", "service.spec.ports", "--output=plaintext-openapiv2"), "nodePort")


@step
def get_raw(k):
    equal(k("get", "--raw", "/readyz"), "ok")
    equal(json.loads(k("get", "--raw", "/api/v1/namespaces/default"))["metadata"]["name"], "default")
    has(k("get", "--raw", "/readyz?verbose"), "[+]ping ok", "readyz check passed")
    has(k("get", "--raw", "/metrics"), "# TYPE ")


@step
def priority_and_fairness(k):
    has(k("get", "flowschemas"), "exempt", "system-leader-election", "catch-all", "<none>")
    has(k("get", "prioritylevelconfigurations"), "workload-low", "Limited", "128")
    dump = "/debug/api_priority_and_fairness/dump_"
    has(k("get", "--raw", dump + "priority_levels"), "PriorityLevelName, ActiveQueues,", "leader-election,", "exempt,")
    has(k("get", "--raw", dump + "queues"), "PriorityLevelName, Index,", "workload-low,")
    # The dump contains the request itself.
    has(k("get", "--raw", dump + "requests?includeRequestDetails=1"), "FlowDistingsher,", "dump_requests")
    level = k.json("get", "prioritylevelconfiguration", "exempt")["metadata"]["uid"]
    has(k("get", "--raw", "/version", "-v=8"), level)
    has(k("get", "--raw", "/metrics"),
        'apiserver_flowcontrol_nominal_limit_seats{priority_level="workload-low"} 245',
        'apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} ')


@step
def cluster_info(k):
    has(k("cluster-info"), "Kubernetes control plane", "is running at")


@step
def auth_whoami(k):
    has(k("auth", "whoami"), "admin", "system:masters", "system:authenticated")


@step
def auth_can_i(k):
    equal(k("auth", "can-i", "delete", "pods").strip(), "yes")
    equal(k("auth", "can-i", "delete", "pods", "--as", "zed", code=1).strip(), "no")


@step
def auth_can_i_list(k):
    has(k("auth", "can-i", "--list"), "*.*")
    lacks(k("auth", "can-i", "--list", "--as", "zed"), "*.*")


# --- Reading ---

@step
def get_lists(k):
    k.make(config_map("one", labels={"n": "1"}), config_map("two", labels={"n": "2"}))
    has(k("get", "configmaps"), "NAME", "DATA", "AGE", "one", "two")
    lines = k("get", "configmap", "-l", "n=2", "--no-headers").splitlines()
    equal([line.split()[0:2] for line in lines], [["two", "1"]])
    equal(k("get", "cm", "--field-selector", "metadata.name=one", "-o", "name"), "configmap/one\n")
    has(k("get", "cm", "--show-labels"), "LABELS", "n=1", "n=2")
    has(k("get", "cm", "-A"), "NAMESPACE", k.namespace)
    has(k("get", "cm", "absent", code=1), 'Error from server (NotFound): configmaps "absent" not found')
    has(k("get", "pods"), "No resources found in")
    has(k("get", "nonsense", code=1), 'the server doesn\'t have a resource type "nonsense"')


@step
def get_outputs(k):
    k.make(pod("p"))
    has(k("get", "pod", "p"), "NAME", "READY", "STATUS", "RESTARTS", "0/1", "Pending")
    has(k("get", "pod", "p", "-o", "wide"), "NODE", "NOMINATED NODE", "READINESS GATES", "<none>")
    has(k("get", "pod", "p", "-o", "yaml"), "kind: Pod\n", "  restartPolicy: Always\n", "  phase: Pending\n")
    equal(k("get", "pod", "p", "-o", "jsonpath={.spec.containers[0].image}"), "registry.example.com/app:1")
    equal(k("get", "pods", "-o", "jsonpath={.items[*].metadata.name}"), "p")
    has(k("get", "pods", "-o", "custom-columns=N:.metadata.name,Q:.status.qosClass"), "N ", "p ", "BestEffort")
    equal(k("get", "pods", "-o", "go-template={{len .items}}"), "1")
    lacks(k("get", "pod", "p", "-o", "yaml"), "managedFields")
    has(k("get", "pod", "p", "-o", "yaml", "--show-managed-fields"), "managedFields", "manager: kubectl-create")


@step
def get_chunks(k):
    k.make(*[config_map(f"c{i}") for i in range(7)])
    names = k("get", "cm", "--chunk-size=2", "-o", "name").split()
    equal(names, [f"configmap/c{i}" for i in range(7)])
    page = json.loads(k("get", "--raw", f"/api/v1/namespaces/{k.namespace}/configmaps?limit=3"))
    equal((len(page["items"]), page["metadata"]["remainingItemCount"], bool(page["metadata"]["continue"])), (3, 4, True))


@step
def get_sorted(k):
    k.make(config_map("a", labels={"n": "2"}), config_map("b", labels={"n": "1"}))
    lines = k("get", "cm", "--sort-by=.metadata.labels.n", "--no-headers").splitlines()
    equal([line.split()[0] for line in lines], ["b", "a"])


@step
def get_watch(k):
    k.make(config_map("first"))
    with k.start("get", "configmaps", "-w", "--output-watch-events") as watch:
        watch.expect("ADDED", "first")
        k.make(config_map("second"))
        watch.expect("ADDED", "second")
        k("label", "cm", "second", "x=y")
        watch.expect("MODIFIED", "second")
        k("delete", "cm", "second")
        watch.expect("DELETED", "second")


@step
def get_watch_only(k):
    k.make(config_map("first"))
    with k.watching("get", "cm", "first", "--watch-only", "-o", "jsonpath={.data.a}{'\\n'}") as watch:
        k("patch", "cm", "first", "--type=merge", "-p", '{"data":{"a":"second-value"}}')
        watch.expect("second-value")


@step
def describe(k):
    k.make(pod("p", nodeSelector={"disk": "ssd"}), deployment("d"), config_map("c", {"key": "text"}))
    has(k("describe", "pod", "p"), "Name:", "Namespace:", "Containers:", "registry.example.com/app:1",
        "Node-Selectors:", "disk=ssd", "Events:")
    has(k("describe", "deployment", "d"), "Replicas:", "2 desired", "StrategyType:", "RollingUpdate", "25% max unavailable")
    has(k("describe", "cm", "c"), "Data\n====\nkey:\n----\ntext")
    has(k("describe", "namespace", k.namespace), "Status:", "Active", "No resource quota.")


@step
def describe_service_and_node(k):
    k("create", "service", "clusterip", "s", "--tcp=80:8080")
    has(k("describe", "service", "s"), "IP Families:", "10.96.", "TargetPort:", "8080/TCP")
    k.make(node("describe-node"))
    has(k("describe", "node", "describe-node"), "Name:", "describe-node", "Non-terminated Pods:", "(0 in total)")
    k("delete", "node", "describe-node")


@step
def events(k):
    k.make(pod("p"))
    about = k.json("get", "pod", "p")["metadata"]
    k.make({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "p.1", "namespace": k.namespace},
            "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": "p", "namespace": k.namespace, "uid": about["uid"]},
            "reason": "Tested", "message": "something was seen", "type": "Warning", "count": 3,
            "firstTimestamp": about["creationTimestamp"], "lastTimestamp": about["creationTimestamp"]})
    has(k("events"), "LAST SEEN", "REASON", "Warning", "Tested", "Pod/p", "something was seen")
    has(k("events", "--for", "pod/p", "--types=Warning"), "Tested")
    has(k("get", "events", "--field-selector", "involvedObject.name=p,type=Warning"), "pod/p", "Tested")
    has(k("get", "events", "--field-selector", "type=Normal"), "No resources found")
    has(k("get", "events.events.k8s.io", "p.1", "-o", "jsonpath={.note}"), "something was seen")
    has(k("describe", "pod", "p"), "Warning", "Tested", "(x3")


# --- Writing ---

@step
def create(k):
    has(k("create", "configmap", "c", "--from-literal=a=b"), "configmap/c created")
    has(k("create", "-f", "-", stdin=json.dumps(config_map("c")), code=1), "Error from server (AlreadyExists)",
        'configmaps "c" already exists')
    has(k("create", "secret", "generic", "s", "--from-literal=user=me"), "secret/s created")
    equal(k("get", "secret", "s", "-o", "jsonpath={.data.user}"), "bWU=")
    has(k("create", "deployment", "d", "--image=registry.example.com/app:1"), "deployment.apps/d created")
    has(k("create", "job", "j", "--image=registry.example.com/app:1"), "job.batch/j created")
    has(k("create", "serviceaccount", "sa"), "serviceaccount/sa created")
    has(k("create", "quota", "q", "--hard=pods=3"), "resourcequota/q created")
    has(k("create", "role", "r", "--verb=get", "--resource=pods"), "role.rbac.authorization.k8s.io/r created")
    has(k("create", "ingress", "i", "--rule=example.com/*=svc:80"), "ingress.networking.k8s.io/i created")
    has(k("create", "configmap", "dry", "--dry-run=server"), "configmap/dry created (server dry run)")
    has(k("get", "cm", "dry", code=1), "NotFound")


@step
def create_refused(k):
    bad = pod("p")
    bad["spec"]["containers"][0]["image"] = ""
    has(k("create", "-f", "-", stdin=json.dumps(bad), code=1), 'The Pod "p" is invalid', "spec.containers[0].image: Required value")
    bad["spec"]["nonsense"] = 1
    # kubectl itself validates only if the OpenAPI document does not offer fieldValidation.
    has(k("create", "-f", "-", stdin=json.dumps(bad), code=1), "(BadRequest)",
        'strict decoding error: unknown field "spec.nonsense"')


@step
def run_and_expose(k):
    has(k("run", "web", "--image=registry.example.com/app:1", "--port=8080"), "pod/web created")
    has(k("expose", "pod", "web", "--port=80", "--target-port=8080"), "service/web exposed")
    has(k("get", "service", "web"), "ClusterIP", "10.96.", "80/TCP")


@step
def apply(k):
    first = deployment("d", replicas=1)
    has(k("apply", "-f", "-", stdin=json.dumps(first)), "deployment.apps/d created")
    has(k("apply", "-f", "-", stdin=json.dumps(first)), "deployment.apps/d unchanged")
    first["spec"]["replicas"] = 4
    has(k("apply", "-f", "-", stdin=json.dumps(first)), "deployment.apps/d configured")
    equal(k("get", "deployment", "d", "-o", "jsonpath={.spec.replicas}"), "4")
    first["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A", "value": "1"}]
    k("apply", "-f", "-", stdin=json.dumps(first))
    del first["spec"]["template"]["spec"]["containers"][0]["env"]
    k("apply", "-f", "-", stdin=json.dumps(first))
    lacks(k("get", "deployment", "d", "-o", "jsonpath={.spec.template.spec}"), '"env"')
    has(k("apply", "view-last-applied", "deployment", "d"), "replicas: 4")


@step
def apply_prune(k):
    k("apply", "-f", "-", stdin=manifest(config_map("keep", labels={"set": "1"}), config_map("drop", labels={"set": "1"})))
    out = k("apply", "--prune", "-l", "set=1", "--prune-allowlist=core/v1/ConfigMap", "-f", "-",
            stdin=manifest(config_map("keep", labels={"set": "1"})))
    has(out, "configmap/keep unchanged", "configmap/drop pruned")


@step
def apply_server_side(k):
    mine = config_map("c", {"a": "1", "b": "1"})
    has(k("apply", "--server-side", "-f", "-", stdin=json.dumps(mine)), "configmap/c serverside-applied")
    other = config_map("c", {"a": "2"})
    refused = k("apply", "--server-side", "--field-manager=other", "-f", "-", stdin=json.dumps(other), code=1)
    has(refused, "Apply failed with 1 conflict", 'conflict with "kubectl": .data.a')
    has(k("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-", stdin=json.dumps(other)),
        "serverside-applied")
    equal(k.json("get", "cm", "c")["data"], {"a": "2", "b": "1"})
    k("apply", "--server-side", "-f", "-", stdin=json.dumps(config_map("c", {"x": "1"})))
    equal(k.json("get", "cm", "c")["data"], {"a": "2", "x": "1"})
    has(k("apply", "--server-side", "--dry-run=server", "-f", "-", stdin=json.dumps(config_map("c", {"x": "2"}))),
        "serverside-applied (server dry run)")
    equal(k.json("get", "cm", "c")["data"]["x"], "1")


@step
def diff(k):
    k("apply", "-f", "-", stdin=json.dumps(config_map("c")))
    equal(k("diff", "-f", "-", stdin=json.dumps(config_map("c"))), "")
    has(k("diff", "-f", "-", stdin=json.dumps(config_map("c", {"a": "2"})), code=1), '-  a: "1"', '+  a: "2"')
    has(k("diff", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps(config_map("c", {"a": "3"})), code=1),
        '-  a: "1"', '+  a: "3"')
    equal(k.json("get", "cm", "c")["data"], {"a": "1"})


@step
def replace(k):
    k.make(config_map("c", {"a": "1", "b": "1"}))
    stale = k.json("get", "cm", "c")
    has(k("replace", "-f", "-", stdin=json.dumps(config_map("c", {"b": "2"}))), "configmap/c replaced")
    equal(k.json("get", "cm", "c")["data"], {"b": "2"})
    has(k("replace", "-f", "-", stdin=json.dumps(stale), code=1), "(Conflict)", "the object has been modified")
    uid = k.json("get", "cm", "c")["metadata"]["uid"]
    has(k("replace", "--force", "-f", "-", stdin=json.dumps(config_map("c"))), "replaced")
    assert k.json("get", "cm", "c")["metadata"]["uid"] != uid


@step
def patch(k):
    k.make(deployment("d"))
    has(k("patch", "deployment", "d", "-p", json.dumps({"spec": {"template": {"spec": {"containers": [
        {"name": "side", "image": "registry.example.com/side:1"}]}}}})), "deployment.apps/d patched")
    equal(sorted(k("get", "deployment", "d", "-o", "jsonpath={.spec.template.spec.containers[*].name}").split()), ["main", "side"])
    has(k("patch", "deployment", "d", "--type=merge", "-p", '{"spec":{"replicas":5,"paused":true}}'), "patched")
    has(k("patch", "deployment", "d", "--type=json", "-p",
          '[{"op":"test","path":"/spec/replicas","value":5},{"op":"replace","path":"/spec/replicas","value":6}]'), "patched")
    spec = k.json("get", "deployment", "d")["spec"]
    equal((spec["replicas"], spec["paused"]), (6, True))
    has(k("patch", "deployment", "d", "--type=merge", "-p", "{}"), "patched (no change)")
    has(k("patch", "deployment", "d", "--type=merge", "-p", '{"spec":{"replicas":-1}}', code=1),
        "spec.replicas: Invalid value: -1")


@step
def patch_status(k):
    k.make(pod("p"))
    has(k("patch", "pod", "p", "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Running"}}'), "patched")
    has(k("get", "pod", "p"), "Running")
    has(k("get", "pod", "p", "--subresource=status", "-o", "jsonpath={.status.phase}"), "Running")


@step
def label_and_annotate(k):
    k.make(config_map("c"))
    has(k("label", "cm", "c", "x=1"), "configmap/c labeled")
    has(k("label", "cm", "c", "x=2", code=1), "--overwrite is false")
    has(k("label", "cm", "c", "x=2", "--overwrite"), "labeled")
    has(k("label", "cm", "c", "x=not/valid", "--overwrite", code=1), "a valid label must be")
    has(k("annotate", "cm", "c", "note=some text"), "configmap/c annotated")
    metadata = k.json("get", "cm", "c")["metadata"]
    equal((metadata["labels"], metadata["annotations"]), ({"x": "2"}, {"note": "some text"}))
    has(k("label", "cm", "c", "x-"), "unlabeled")
    has(k("annotate", "cm", "c", "note-"), "annotated")
    metadata = k.json("get", "cm", "c")["metadata"]
    assert "labels" not in metadata and "annotations" not in metadata, metadata


@step
def scale(k):
    k.make(deployment("d"))
    has(k("scale", "deployment", "d", "--replicas=5"), "deployment.apps/d scaled")
    equal(k("get", "deployment", "d", "-o", "jsonpath={.spec.replicas}"), "5")
    has(k("scale", "deployment", "d", "--replicas=1", "--current-replicas=3", code=1), "Expected replicas to be 3, was 5")
    has(k("autoscale", "deployment", "d", "--min=1", "--max=3", "--cpu=50%"), "autoscaled")
    has(k("get", "hpa", "d"), "Deployment/d", "cpu: <unknown>/50%")


@step
def get_scale(k):
    k.make(deployment("d", replicas=3))
    equal(k("get", "deployment", "d", "--subresource=scale", "-o", "jsonpath={.kind} {.spec.replicas}"), "Scale 3")
    has(k("get", "deployment", "d", "--subresource=scale"), "NAME", "DESIRED", "AVAILABLE", "AGE")


@step
def set_and_rollout(k):
    k.make(deployment("d"))
    has(k("set", "image", "deployment/d", "main=registry.example.com/app:2"), "image updated")
    has(k("set", "env", "deployment/d", "A=1"), "env updated")
    has(k("set", "resources", "deployment/d", "--limits=cpu=1"), "resource requirements updated")
    has(k("rollout", "restart", "deployment/d"), "restarted")
    has(k("rollout", "pause", "deployment/d"), "paused")
    has(k("rollout", "status", "deployment/d", "--watch=false"), "Waiting for deployment")
    template = k.json("get", "deployment", "d")["spec"]["template"]
    has(json.dumps(template), "app:2", '"cpu": "1"', "kubectl.kubernetes.io/restartedAt")


@step
def nodes(k):
    k.make(node("kubectl-node"))
    has(k("taint", "node", "kubectl-node", "key=v:NoSchedule"), "node/kubectl-node tainted")
    has(k("cordon", "kubectl-node"), "cordoned")
    has(k("get", "node", "kubectl-node"), "SchedulingDisabled")
    has(k("uncordon", "kubectl-node"), "uncordoned")
    k.make(pod("p", nodeName="kubectl-node"))
    has(k("get", "pods", "--field-selector", "spec.nodeName=kubectl-node", "-o", "name"), "pod/p")
    k("delete", "pod", "p", "--grace-period=0", "--force")
    has(k("delete", "node", "kubectl-node"), 'node "kubectl-node" deleted')


@step
def create_token(k):
    k("create", "serviceaccount", "sa")
    token = k("create", "token", "sa", "--duration=20m").strip()
    equal(len(token.split(".")), 3)
    account = f"system:serviceaccount:{k.namespace}:sa"
    # Without the test's own credentials, which kubectl would prefer to the token.
    as_account = ("--kubeconfig=/dev/null", f"--server={k.server}", "--insecure-skip-tls-verify", f"--token={token}")
    has(k("auth", "whoami", *as_account), account, f"system:serviceaccounts:{k.namespace}")
    has(k("get", "pods", *as_account, code=1), "Forbidden", f'User "{account}" cannot list resource "pods"')
    k("create", "role", "reads-pods", "--verb=get,list", "--resource=pods")
    k("create", "rolebinding", "reads-pods", "--role=reads-pods", f"--serviceaccount={k.namespace}:sa")
    wait_until("the role is in force", lambda: k("auth", "can-i", "list", "pods", "--as", account, code=None).strip() == "yes",
               EVENT_SECONDS)
    has(k("get", "pods", *as_account), "No resources found")
    has(k("get", "secrets", *as_account, code=1), "Forbidden")
    has(k("get", "pods", "-n", "default", *as_account, code=1), "Forbidden")
    k("delete", "serviceaccount", "sa")
    wait_until("the token is no good", lambda: "Unauthorized" in k("get", "pods", *as_account, code=1), EVENT_SECONDS)


@step
def impersonate(k):
    has(k("get", "pods", "--as", "zed", code=1), 'User "zed" cannot list resource "pods"')
    has(k("get", "pods", "--as", "zed", "--as-group", "system:masters"), "No resources found")
    has(k("auth", "whoami", "--as", "zed", "--as-group", "g", "--as-uid", "u1"), "zed", "u1", "system:authenticated")


@step
def roles_give_no_more_than_their_writer_has(k):
    k("create", "role", "writes-roles", "--verb=create", "--resource=roles,rolebindings")
    k("create", "rolebinding", "writes-roles", "--role=writes-roles", "--user=zed")
    wait_until("the role is in force", lambda: k("auth", "can-i", "create", "roles", "--as", "zed", code=None).strip() == "yes",
               EVENT_SECONDS)
    has(k("create", "role", "more", "--verb=get", "--resource=secrets", "--as", "zed", code=1),
        "is attempting to grant RBAC permissions not currently held")
    has(k("create", "rolebinding", "more", "--clusterrole=cluster-admin", "--user=zed", "--as", "zed", code=1),
        "is attempting to grant RBAC permissions not currently held")


@step
def certificates_are_approved_by_those_who_may(k):
    openssl = need_program("openssl")
    pem = subprocess.run([openssl, "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                          "-keyout", "/dev/null", "-subj", "/CN=jane"], check=True, text=True, timeout=COMMAND_SECONDS,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    name = k.namespace
    try:
        for which in ("-a", "-b"):
            k.make({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
                    "metadata": {"name": name + which},
                    "spec": {"request": base64.b64encode(pem.encode()).decode(), "usages": ["client auth"],
                             "signerName": "example.com/people"}})
        k("create", "clusterrole", name, "--verb=get,list,update,patch",
          "--resource=certificatesigningrequests,certificatesigningrequests/approval")
        k("create", "clusterrolebinding", name, "--clusterrole=" + name, "--user=approver")
        approve = ["certificate", "approve", name + "-a", "--as=approver"]
        wait_until("the role is known", lambda: "yes" in k(
            "auth", "can-i", "update", "certificatesigningrequests", "--subresource=approval", "--as=approver", code=None),
            EVENT_SECONDS)
        # Access to the object is not sufficient: the user needs the verb "approve" on the signer.
        has(k(*approve, code=1), 'user not permitted to approve requests with signerName "example.com/people"')
        lacks(k("get", "csr", name + "-a"), "Approved")
        k.make({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name + "-signer"},
                "rules": [{"apiGroups": ["certificates.k8s.io"], "resources": ["signers"], "verbs": ["approve"],
                           "resourceNames": ["example.com/*"]}]})
        k("create", "clusterrolebinding", name + "-signer", "--clusterrole=" + name + "-signer", "--user=approver")
        wait_until("the signer's role is known", lambda: "approved" in k(*approve, code=None), EVENT_SECONDS)
        has(k("certificate", "approve", name + "-b"), "approved")
        has(k("get", "csr", name + "-b"), "Approved")
    finally:
        k("delete", "csr,clusterrole,clusterrolebinding", "--ignore-not-found", name, name + "-a", name + "-b",
          name + "-signer")


@step
def quotas_bound_what_a_namespace_holds(k):
    k("create", "quota", "q", "--hard=configmaps=1,pods=1,requests.cpu=500m")
    has(k("create", "configmap", "early"), "created")  # without status.used the quota has no effect
    counted = {"hard": {"configmaps": "2", "pods": "1", "requests.cpu": "500m"},
               "used": {"configmaps": "1", "pods": "0", "requests.cpu": "0"}}
    k("patch", "quota", "q", "--subresource=status", "--type=merge", "-p", json.dumps({"status": counted}))
    has(k("create", "configmap", "a"), "created")
    has(k("create", "configmap", "b", code=1), "exceeded quota: q, requested: configmaps=1, used: configmaps=2, "
        "limited: configmaps=2")
    has(k("run", "p", "--image=i", code=1), "failed quota: q: must specify requests.cpu for: p")
    equal(k.json("get", "quota", "q")["status"]["used"]["configmaps"], "2")
    has(k("describe", "quota", "q"), "configmaps", "requests.cpu")


# --- Deleting and waiting ---

@step
def delete(k):
    k.make(config_map("a", labels={"d": "1"}), config_map("b", labels={"d": "1"}), config_map("c"))
    has(k("delete", "cm", "c"), 'configmap "c" deleted')
    has(k("delete", "cm", "-l", "d=1"), '"a" deleted', '"b" deleted')
    has(k("delete", "cm", "c", code=1), "NotFound")
    equal(k("delete", "cm", "c", "--ignore-not-found"), "")
    k.make(config_map("a"), config_map("b"))
    k("delete", "cm", "--all")
    has(k("get", "cm"), "No resources found")


@step
def delete_cascade(k):
    k.make(deployment("back"), deployment("front"), deployment("orphan"))
    has(k("delete", "deployment", "back", "--cascade=background"), '"back" deleted')
    has(k("get", "deployment", "back", code=1), "NotFound")
    # No garbage collector runs here, so its finalizer remains.
    for name, mode, finalizer in (("front", "foreground", "foregroundDeletion"), ("orphan", "orphan", "orphan")):
        k("delete", "deployment", name, f"--cascade={mode}", "--wait=false")
        metadata = k.json("get", "deployment", name)["metadata"]
        equal((metadata["finalizers"], "deletionTimestamp" in metadata), ([finalizer], True))
        k("patch", "deployment", name, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        has(k("get", "deployment", name, code=1), "NotFound")


@step
def delete_pod_gracefully(k):
    k.make(node("grace-node"), pod("p", nodeName="grace-node"))
    k("delete", "pod", "p", "--wait=false")
    has(k("get", "pod", "p"), "Terminating")
    equal(k.json("get", "pod", "p")["metadata"]["deletionGracePeriodSeconds"], 30)
    has(k("delete", "pod", "p", "--grace-period=0", "--force"), "Immediate deletion", "force deleted")
    has(k("get", "pod", "p", code=1), "NotFound")
    k("delete", "node", "grace-node")


@step
def wait_for(k):
    k.make(pod("p"), config_map("c"))
    limit = f"--timeout={EVENT_SECONDS}s"
    with k.watching("wait", "pod/p", "--for=condition=Ready", limit) as waiting:
        k("patch", "pod", "p", "--subresource=status", "-p",
          '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}')
        waiting.expect("pod/p condition met")
    has(k("wait", "pod/p", "--for=jsonpath={.status.phase}=Running", "--timeout=5s"), "condition met")
    has(k("wait", "pod/p", "--for=condition=PodScheduled", "--timeout=1s", code=1), "timed out waiting")
    with k.watching("wait", "cm/c", "--for=delete", limit) as waiting:
        k("delete", "cm", "c")
        waiting.expect("configmap/c condition met")
    with k.start("wait", "cm/new", "--for=create", limit) as waiting:
        k.make(config_map("new"))
        waiting.expect("configmap/new condition met")


@step
def custom_resources(k):
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
           "metadata": {"name": "widgets.test.example.com"},
           "spec": {"group": "test.example.com", "scope": "Namespaced",
                    "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"]},
                    "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                        "type": "object", "properties": {"spec": {"type": "object", "properties": {
                            "size": {"type": "integer", "maximum": 9, "description": "How large it is."}}}}}}}]}}
    widget = {"apiVersion": "test.example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 3}}
    has(k.make(crd), "created")
    try:
        has(k("wait", "crd/widgets.test.example.com", "--for=condition=Established", "--timeout=10s"), "condition met")
        has(k("apply", "-f", "-", stdin=json.dumps(widget)), "widget.test.example.com/w created")
        equal(k("get", "wd", "w", "-o", "jsonpath={.spec.size}"), "3")
        has(k("patch", "wd", "w", "--type=merge", "-p", '{"spec":{"size":10}}', code=1), "should be less than or equal to 9")
    finally:
        k("delete", "crd", "widgets.test.example.com", "--wait=false")


@step
def namespaces(k):
    has(k("create", "namespace", "kubectl-extra"), "namespace/kubectl-extra created")
    has(k("get", "ns", "kubectl-extra"), "Active")
    has(k("-n", "kubectl-absent", "create", "configmap", "c", code=1), 'namespaces "kubectl-absent" not found')
    # No namespace controller runs here: the namespace stays in Terminating and rejects objects.
    k("delete", "ns", "kubectl-extra", "--wait=false")
    has(k("get", "ns", "kubectl-extra"), "Terminating")
    has(k("-n", "kubectl-extra", "create", "-f", "-", stdin=json.dumps(config_map("c")), code=1), "(Forbidden)",
        "because it is being terminated")


def run_step(program, cluster, function):
    """Returns None if the step passed, otherwise the reason."""
    name = function.__name__
    kubectl = Kubectl(program, cluster, "kubectl-" + name.replace("_", "-"))
    try:
        kubectl("create", "namespace", kubectl.namespace)
        function(kubectl)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        return str(error)
    except Exception:  # responses with an unexpected structure are failures of the server
        return traceback.format_exc(limit=-2)
    return None


def main():
    old = "--old" in sys.argv[1:]
    program = need_program(os.environ.get("COX_KUBECTL_OLD") or "kubectl-1.32" if old else "kubectl")
    need_program("etcd")
    wanted = [each for each in sys.argv[1:] if each != "--old"]
    names = {each.__name__ for each in STEPS}
    passed, gaps = 0, 0
    failures = [(name, "in KNOWN_GAPS, but there is no such step") for name in KNOWN_GAPS if name not in names]
    with Cluster(os.environ["COX_BIN"]) as cluster:
        os.makedirs(cluster.path("home"))
        for function in chosen_steps(wanted):
            name = function.__name__
            why = run_step(program, cluster, function)
            cluster.check_runs()
            if why is None and name in KNOWN_GAPS:
                failures.append((name, "is a known gap that works: remove it from the list"))
            elif why is None:
                passed += 1
            elif name in KNOWN_GAPS:
                gaps += 1
                print(f"gap  {name} ({KNOWN_GAPS[name]}): {' '.join(why.split())[:200]}")
                continue
            else:
                failures.append((name, why))
            print(f"{'ok  ' if why is None else 'FAIL'} {name}")
    for name, why in failures:
        print(f"\nFAIL {name}\n{why}")
    print(f"\n{passed} steps passed, {gaps} known gaps, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
