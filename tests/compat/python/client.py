# SPDX-License-Identifier: Apache-2.0
"""Drives an API server with the official Python client: client.py [STEP...]

The server is taken from $KUBECONFIG.
"""

import json
import os
import sys
import threading
import traceback

from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock

WATCH_SECONDS = 20
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

STEPS = []


def step(function):
    STEPS.append(function)
    return function


def equal(what, got, want):
    assert got == want, f"{what} is {got!r}, want {want!r}"


def refused(status, reason, function, *arguments, **options):
    """Returns the Status. Raises AssertionError unless the call fails with status and reason."""
    try:
        function(*arguments, **options)
    except ApiException as error:
        body = client.ApiClient().deserialize(_Body(error.body), "V1Status")
        equal("refusal", (error.status, body.reason), (status, reason))
        return body
    raise AssertionError(f"not refused, want {reason}")


class _Body:
    """The interface that ApiClient.deserialize needs."""

    def __init__(self, data):
        self.data = data


def config_map(name, **labels):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels or None), data={"key": "value"})


def pod_spec():
    return client.V1PodSpec(containers=[client.V1Container(
        name="main", image="registry.example.com/app:1", ports=[client.V1ContainerPort(container_port=80)],
        resources=client.V1ResourceRequirements(requests={"cpu": "100m"}))])


def deployment(name):
    labels = {"app": name}
    return client.V1Deployment(metadata=client.V1ObjectMeta(name=name), spec=client.V1DeploymentSpec(
        replicas=2, selector=client.V1LabelSelector(match_labels=labels),
        template=client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels=labels), spec=pod_spec())))


@step
def version(_):
    equal("minor", client.VersionApi().get_code().minor, "36")


@step
def crud_config_map(ns):
    core = client.CoreV1Api()
    made = core.create_namespaced_config_map(ns, config_map("c"))
    assert made.metadata.uid and made.metadata.creation_timestamp.tzinfo, made.metadata
    equal("what get gives", core.read_namespaced_config_map("c", ns), made)
    made.data["more"] = "text"
    changed = core.replace_namespaced_config_map("c", ns, made)
    equal("data", changed.data, {"key": "value", "more": "text"})
    equal("items", [each.metadata.name for each in core.list_namespaced_config_map(ns).items], ["c"])
    refused(409, "Conflict", core.replace_namespaced_config_map, "c", ns, made)
    equal("status", core.delete_namespaced_config_map("c", ns).status, "Success")
    refused(404, "NotFound", core.read_namespaced_config_map, "c", ns)


@step
def crud_deployment(ns):
    apps = client.AppsV1Api()
    made = apps.create_namespaced_deployment(ns, deployment("d"))
    equal("strategy", made.spec.strategy.rolling_update.max_surge, "25%")
    made.spec.replicas = 3
    equal("generation", apps.replace_namespaced_deployment("d", ns, made).metadata.generation, 2)
    scale = apps.read_namespaced_deployment_scale("d", ns)
    scale.spec.replicas = 5
    equal("scale", apps.replace_namespaced_deployment_scale("d", ns, scale).spec.replicas, 5)
    status = apps.patch_namespaced_deployment_status("d", ns, {"status": {"replicas": 4}}, _content_type=MERGE)
    equal("status", (status.spec.replicas, status.status.replicas), (5, 4))
    apps.delete_namespaced_deployment("d", ns, propagation_policy="Foreground")
    equal("finalizers", apps.read_namespaced_deployment("d", ns).metadata.finalizers, ["foregroundDeletion"])


@step
def crud_pod(ns):
    core = client.CoreV1Api()
    core.create_namespaced_pod(ns, client.V1Pod(metadata=client.V1ObjectMeta(name="p"), spec=pod_spec()))
    pod = core.read_namespaced_pod_status("p", ns)
    equal("phase", pod.status.phase, "Pending")
    equal("pending", len(core.list_namespaced_pod(ns, field_selector="status.phase=Pending").items), 1)
    core.create_namespaced_pod_eviction("p", ns, client.V1Eviction(metadata=client.V1ObjectMeta(name="p", namespace=ns)))
    refused(404, "NotFound", core.read_namespaced_pod, "p", ns)


@step
def secret(ns):
    core = client.CoreV1Api()
    core.create_namespaced_secret(ns, client.V1Secret(metadata=client.V1ObjectMeta(name="s"), string_data={"a": "b"}))
    equal("data", core.read_namespaced_secret("s", ns).data, {"a": "Yg=="})


@step
def errors(ns):
    core = client.CoreV1Api()
    core.create_namespaced_config_map(ns, config_map("c"))
    body = refused(409, "AlreadyExists", core.create_namespaced_config_map, ns, config_map("c"))
    equal("message", body.message, 'configmaps "c" already exists')
    spec = pod_spec()
    spec.containers[0].image = ""
    body = refused(422, "Invalid", core.create_namespaced_pod, ns,
                   client.V1Pod(metadata=client.V1ObjectMeta(name="p"), spec=spec))
    equal("field", body.details.causes[0].field, "spec.containers[0].image")
    refused(400, "BadRequest", core.list_namespaced_config_map, ns, label_selector="a in (")


@step
def dry_run(ns):
    apps = client.AppsV1Api()
    assert apps.create_namespaced_deployment(ns, deployment("d"), dry_run="All").metadata.uid
    refused(404, "NotFound", apps.read_namespaced_deployment, "d", ns)


@step
def json_patch(ns):
    core = client.CoreV1Api()
    core.create_namespaced_config_map(ns, config_map("c"))
    # The client uses JSON Patch for a list.
    got = core.patch_namespaced_config_map("c", ns, [{"op": "replace", "path": "/data/key", "value": "new"},
                                                     {"op": "add", "path": "/data/more", "value": "text"}])
    equal("data", got.data, {"key": "new", "more": "text"})


@step
def merge_patch(ns):
    core = client.CoreV1Api()
    core.create_namespaced_config_map(ns, config_map("c"))
    got = core.patch_namespaced_config_map("c", ns, {"data": {"key": None, "other": "o"}}, _content_type=MERGE)
    equal("data", got.data, {"other": "o"})


@step
def strategic_merge_patch(ns):
    apps = client.AppsV1Api()
    apps.create_namespaced_deployment(ns, deployment("d"))
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "registry.example.com/side:1"}]}}}}
    got = apps.patch_namespaced_deployment("d", ns, patch, _content_type=STRATEGIC)
    equal("containers", sorted(each.name for each in got.spec.template.spec.containers), ["main", "side"])


@step
def apply(ns):
    core = client.CoreV1Api()

    def one(manager, value, force=False):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": value}}
        return core.patch_namespaced_config_map("c", ns, body, field_manager=manager, force=force, _content_type=APPLY)

    made = one("first", "1")
    equal("operation", [(each.manager, each.operation) for each in made.metadata.managed_fields], [("first", "Apply")])
    body = refused(409, "Conflict", one, "second", "2")
    equal("conflict", (body.details.causes[0].reason, body.details.causes[0].field), ("FieldManagerConflict", ".data.a"))
    equal("data", one("second", "2", force=True).data, {"a": "2"})


@step
def pages(ns):
    core = client.CoreV1Api()
    for i in range(7):
        core.create_namespaced_config_map(ns, config_map(f"c{i}"))
    names, token, sizes = [], None, []
    while True:
        page = core.list_namespaced_config_map(ns, limit=3, _continue=token)
        names += [each.metadata.name for each in page.items]
        sizes.append(len(page.items))
        token = page.metadata._continue
        if not token:
            break
    equal("names", names, [f"c{i}" for i in range(7)])
    equal("pages", sizes, [3, 3, 1])


@step
def delete_collection(ns):
    core = client.CoreV1Api()
    for i in range(4):
        core.create_namespaced_config_map(ns, config_map(f"c{i}", parity=str(i % 2)))
    core.delete_collection_namespaced_config_map(ns, label_selector="parity=1")
    equal("left", [each.metadata.name for each in core.list_namespaced_config_map(ns).items], ["c0", "c2"])


@step
def watch_events(ns):
    core = client.CoreV1Api()
    start = core.list_namespaced_config_map(ns).metadata.resource_version
    core.create_namespaced_config_map(ns, config_map("c"))
    core.patch_namespaced_config_map("c", ns, {"data": {"key": "new"}}, _content_type=MERGE)
    core.delete_namespaced_config_map("c", ns)
    seen, watching = [], watch.Watch()
    for event in watching.stream(core.list_namespaced_config_map, ns, resource_version=start, timeout_seconds=WATCH_SECONDS):
        seen.append((event["type"], event["object"].metadata.name, event["object"].data["key"]))
        if len(seen) == 3:
            watching.stop()
    equal("events", seen, [("ADDED", "c", "value"), ("MODIFIED", "c", "new"), ("DELETED", "c", "new")])


@step
def watch_from_start(ns):
    """Without a resource version, existing objects come first, then changes."""
    core = client.CoreV1Api()
    core.create_namespaced_config_map(ns, config_map("first"))
    seen, watching = [], watch.Watch()
    for event in watching.stream(core.list_namespaced_config_map, ns, timeout_seconds=WATCH_SECONDS):
        seen.append((event["type"], event["object"].metadata.name))
        if len(seen) == 1:
            core.create_namespaced_config_map(ns, config_map("second"))
        else:
            watching.stop()
    equal("events", seen, [("ADDED", "first"), ("ADDED", "second")])


@step
def watch_timeout(ns):
    """A watch ends after its timeout, without an error."""
    core = client.CoreV1Api()
    start = core.list_namespaced_config_map(ns).metadata.resource_version
    answer = core.list_namespaced_config_map(ns, watch=True, resource_version=start, timeout_seconds=1, _preload_content=False)
    equal("events", answer.read(), b"")


@step
def dynamic_client(ns):
    dyn = dynamic.DynamicClient(client.ApiClient())
    maps = dyn.resources.get(api_version="v1", kind="ConfigMap")
    maps.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}, namespace=ns)
    maps.patch({"data": {"b": "2"}}, name="c", namespace=ns, content_type=MERGE)
    equal("data", maps.get("c", ns).data.to_dict(), {"a": "1", "b": "2"})
    got = maps.server_side_apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"c": "3"}},
                                 namespace=ns, field_manager="dynamic")
    equal("data", got.data.to_dict(), {"a": "1", "b": "2", "c": "3"})
    maps.delete("c", ns)
    equal("items", len(maps.get(namespace=ns).items), 0)


@step
def custom_objects_api(ns):
    """This API is also used for built-in kinds."""
    api = client.CustomObjectsApi()
    api.create_namespaced_custom_object("apps", "v1", ns, "deployments", client.ApiClient().sanitize_for_serialization(
        client.V1Deployment(api_version="apps/v1", kind="Deployment", metadata=client.V1ObjectMeta(name="d"), spec=deployment("d").spec)))
    got = api.patch_namespaced_custom_object("apps", "v1", ns, "deployments", "d", {"spec": {"replicas": 7}}, _content_type=MERGE)
    equal("replicas", got["spec"]["replicas"], 7)


@step
def leader_election(ns):
    """This client does not support Leases: the record is an annotation of a ConfigMap."""
    led = threading.Event()
    settings = electionconfig.Config(ConfigMapLock("leader", ns, "me"), lease_duration=5, renew_deadline=3, retry_period=1,
                                     onstarted_leading=led.set, onstopped_leading=None)
    # The client never stops by itself; the thread ends with the process.
    threading.Thread(target=leaderelection.LeaderElection(settings).run, daemon=True).start()
    assert led.wait(WATCH_SECONDS), "no leader"
    record = client.CoreV1Api().read_namespaced_config_map("leader", ns).metadata.annotations["control-plane.alpha.kubernetes.io/leader"]
    equal("holder", json.loads(record)["holderIdentity"], "me")


def run_one(function):
    """Returns None if the step passed, otherwise the reason."""
    namespace = "python-" + function.__name__.replace("_", "-")
    try:
        client.CoreV1Api().create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=namespace)))
        function(namespace)
    except AssertionError as error:
        return str(error)
    except Exception:  # exceptions of the client are failures of the server
        return traceback.format_exc(limit=-2)
    return None


def main():
    config.load_kube_config(os.environ["KUBECONFIG"])
    chosen = [each for each in STEPS if not sys.argv[1:] or each.__name__ in sys.argv[1:]]
    code = 0
    for function in chosen:
        why = run_one(function)
        if why is None:
            print(f"ok {function.__name__}", flush=True)
        else:
            code = 1
            print(f"FAIL {function.__name__}: {' | '.join(why.splitlines())}", flush=True)
    print(f"steps: {len(chosen)}", flush=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
