#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The data in etcd has upstream's format, and data that upstream wrote can be read.

Read: the golden bytes of every kind are put into etcd under upstream's key; the API must return the
golden object.
Written: objects of many kinds are created; key, envelope and metadata in etcd are checked.
"""

import json
import os
import ssl
import sys
import urllib.error
import urllib.request

import cluster
from etcd_gateway import EtcdGateway

ENVELOPE = b"k8s\0"
# Resources whose key upstream does not derive from the plural name.
PREFIXES = {
    ("", "nodes"): "minions", ("", "services"): "services/specs", ("", "endpoints"): "services/endpoints",
    ("", "replicationcontrollers"): "controllers", ("networking.k8s.io", "ingresses"): "ingress",
    ("apiregistration.k8s.io", "apiservices"): "apiregistration.k8s.io/apiservices",
    ("apiextensions.k8s.io", "customresourcedefinitions"): "apiextensions.k8s.io/customresourcedefinitions",
}
# apiextensions and apiregistration store JSON, as upstream does.
JSON_PREFIXES = ("/registry/apiregistration.k8s.io/", "/registry/apiextensions.k8s.io/")
# Pairs of equivalent fields with different values in golden objects: the newer field has
# precedence, as upstream. stringData is write-only.
ALIASES = (".serviceAccount", ".podCIDRs[0]", ".podIPs[0].ip", ".hostIPs[0].ip", ".stringData")
# Fields that the server overwrites or never stores.
VOLATILE = ("resourceVersion", "selfLink", "managedFields")


class Api:
    def __init__(self, running):
        self._url = running.url
        self._tls = ssl.create_default_context(cafile=running.ca_file)

    def call(self, method, path, body=None):
        request = urllib.request.Request(self._url + path, method=method, headers={
            "Authorization": f"Bearer {cluster.ADMIN_TOKEN}", "Content-Type": "application/json"},
            data=json.dumps(body).encode() if body is not None else None)
        try:
            with urllib.request.urlopen(request, timeout=30, context=self._tls) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")

    def resources(self):
        """Returns {(group/version, kind): (plural, namespaced)} of creatable resources."""
        found = {}
        groups = ["/api/v1"]
        for group in self.call("GET", "/apis")[1]["groups"]:
            groups += ["/apis/" + version["groupVersion"] for version in group["versions"]]
        for path in groups:
            document = self.call("GET", path)[1]
            for resource in document["resources"]:
                if "/" not in resource["name"] and "create" in resource["verbs"] and "get" in resource["verbs"]:
                    found[document["groupVersion"], resource["kind"]] = (resource["name"], resource["namespaced"])
        return found


def path_of(version, plural, namespace, name=""):
    root = "/api/" if "/" not in version else "/apis/"
    middle = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{version}{middle}/{plural}" + (f"/{name}" if name else "")


def key_of(version, plural, namespace, name):
    group = version.rpartition("/")[0]
    prefix = PREFIXES.get((group, plural), plural)
    return f"/registry/{prefix}/" + (f"{namespace}/" if namespace else "") + name


def fields(message):
    """Decodes a protobuf message to [(number, bytes or int)]."""
    found, at = [], 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 2:
            size = varint()
            found.append((tag >> 3, message[at:at + size]))
            at += size
        elif tag & 7 == 0:
            found.append((tag >> 3, varint()))
        else:
            raise ValueError(f"wire type {tag & 7}")
    return found


def first(message, number, default=b""):
    return next((value for key, value in fields(message) if key == number), default)


def without_volatile(thing):
    if isinstance(thing, dict):
        metadata = thing.get("metadata")
        if isinstance(metadata, dict):
            thing = dict(thing, metadata={k: v for k, v in metadata.items() if k not in VOLATILE})
    return thing


def differences(expected, got, where=""):
    """Yields paths of missing or different values. Additional values (defaults) are allowed."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key, value in expected.items():
            if key not in got:
                # Go structs serialize zero values; our server may omit them.
                if value not in (None, {}, [], "", 0, False):
                    yield f"{where}.{key} is missing"
            else:
                yield from differences(value, got[key], f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for i, (a, b) in enumerate(zip(expected, got)):
            yield from differences(a, b, f"{where}[{i}]")
    elif expected != got:
        yield f"{where} is {json.dumps(got)[:60]}, expected {json.dumps(expected)[:60]}"


def check_golden(api, etcd, folder):
    """Checks that upstream's stored objects can be read. Returns their number and complaints."""
    complaints, read = [], 0
    for (version, kind), (plural, namespaced) in sorted(api.resources().items()):
        # File names contain "core" for the core group.
        file = os.path.join(folder, f"{version.replace('/', '.') if '/' in version else 'core.' + version}.{kind}")
        if not os.path.exists(file + ".pb"):
            continue
        with open(file + ".json") as golden_file, open(file + ".pb", "rb") as bytes_file:
            golden, stored = json.load(golden_file), bytes_file.read()
        name = golden["metadata"]["name"]
        namespace = golden["metadata"]["namespace"] if namespaced else ""
        key = key_of(version, plural, namespace, name)
        etcd.put(key, stored)
        status, got = api.call("GET", path_of(version, plural, namespace, name))
        if status != 200:
            complaints.append(f"{version} {kind}: {status} {got.get('message', '')[:200]}")
            continue
        read += 1
        found = [text for text in differences(without_volatile(golden), without_volatile(got))
                 if not text.split(" ")[0].endswith(ALIASES)]
        if found:
            complaints.append(f"{version} {kind}: {len(found)} differences, first {found[0]}")
        etcd.delete(key)
    return read, complaints


META = {"name": "stored"}
POD = {"containers": [{"name": "c", "image": "i"}]}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
WORKLOAD = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
OBJECTS = [
    ("v1", "ConfigMap", {"data": {"k": "v"}}),
    ("v1", "Secret", {"stringData": {"k": "v"}}),
    ("v1", "Pod", {"spec": POD}),
    ("v1", "Service", {"spec": {"ports": [{"port": 80}]}}),
    ("v1", "Endpoints", {}),
    ("v1", "Node", {}),
    ("v1", "Namespace", {}),
    ("v1", "ServiceAccount", {}),
    ("v1", "ReplicationController", {"spec": {"selector": {"a": "b"}, "template": TEMPLATE}}),
    ("v1", "PodTemplate", {"template": TEMPLATE}),
    ("v1", "ResourceQuota", {"spec": {"hard": {"pods": "10"}}}),
    ("v1", "LimitRange", {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}}),
    ("v1", "PersistentVolumeClaim", {"spec": {"accessModes": ["ReadWriteOnce"],
                                              "resources": {"requests": {"storage": "1Gi"}}}}),
    ("apps/v1", "Deployment", {"spec": WORKLOAD}),
    ("apps/v1", "ReplicaSet", {"spec": WORKLOAD}),
    ("apps/v1", "DaemonSet", {"spec": WORKLOAD}),
    ("apps/v1", "StatefulSet", {"spec": dict(WORKLOAD, serviceName="s")}),
    ("apps/v1", "ControllerRevision", {"revision": 1, "data": {"a": 1}}),
    ("batch/v1", "Job", {"spec": {"template": {"spec": dict(POD, restartPolicy="Never")}}}),
    ("batch/v1", "CronJob", {"spec": {"schedule": "* * * * *", "jobTemplate": {
        "spec": {"template": {"spec": dict(POD, restartPolicy="Never")}}}}}),
    ("coordination.k8s.io/v1", "Lease", {"spec": {"holderIdentity": "me"}}),
    ("networking.k8s.io/v1", "Ingress", {"spec": {"defaultBackend": {
        "service": {"name": "s", "port": {"number": 80}}}}}),
    ("networking.k8s.io/v1", "NetworkPolicy", {"spec": {"podSelector": {}}}),
    ("policy/v1", "PodDisruptionBudget", {"spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}}),
    ("rbac.authorization.k8s.io/v1", "Role", {"rules": []}),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", {"rules": []}),
    ("scheduling.k8s.io/v1", "PriorityClass", {"value": 10}),
    ("storage.k8s.io/v1", "StorageClass", {"provisioner": "p"}),
    ("discovery.k8s.io/v1", "EndpointSlice", {"addressType": "IPv4", "endpoints": []}),
    ("autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {"maxReplicas": 3, "scaleTargetRef": {
        "apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}}),
]


def check_envelope(key, value, version, kind, name):
    """Returns complaints about the bytes of one stored object."""
    if not value.startswith(ENVELOPE):
        return [f"{key}: begins with {value[:8]!r}"]
    unknown = value[len(ENVELOPE):]
    type_meta, raw = first(unknown, 1), first(unknown, 2)
    complaints = []
    said = (first(type_meta, 1).decode(), first(type_meta, 2).decode())
    if said != (version, kind):
        complaints.append(f"{key}: the envelope says {said}")
    metadata = first(raw, 1)
    if first(metadata, 1).decode() != name:
        complaints.append(f"{key}: the name is {first(metadata, 1)!r}")
    for number, field in ((4, "selfLink"), (6, "resourceVersion")):
        if first(metadata, number):
            complaints.append(f"{key}: {field} is stored: {first(metadata, number)!r}")
    if not first(metadata, 5):
        complaints.append(f"{key}: no uid")
    return complaints


def check_written(api, etcd):
    """Checks that stored objects have upstream's format. Returns the complaints."""
    complaints = []
    resources = api.resources()
    for version, kind, content in OBJECTS:
        plural, namespaced = resources[version, kind]
        namespace = "default" if namespaced else ""
        body = {"apiVersion": version, "kind": kind, "metadata": META, **content}
        status, answer = api.call("POST", path_of(version, plural, namespace), body)
        if status != 201:
            complaints.append(f"{kind} is not created: {status} {answer.get('message')}")
            continue
        path = path_of(version, plural, namespace, "stored")
        answer["metadata"].setdefault("annotations", {})["changed"] = "yes"
        status, answer = api.call("PUT", path, answer)
        if status != 200:
            complaints.append(f"{kind} is not updated: {status} {answer.get('message')}")
        key = key_of(version, plural, namespace, "stored")
        value = etcd.get(key)
        if value is None:
            complaints.append(f"{kind}: nothing at {key}")
        else:
            complaints += check_envelope(key, value, version, kind, "stored")
    for key, value in etcd.all("/registry/").items():
        as_json = key.startswith(JSON_PREFIXES)
        if value.startswith(ENVELOPE) == as_json or (as_json and not value.startswith(b"{")):
            complaints.append(f"{key} begins with {value[:8]!r}")
    return complaints


def main():
    binary = os.environ.get("COX_BIN") or cluster.skip("COX_BIN names no program")
    with cluster.Cluster(binary) as running:
        api, etcd = Api(running), EtcdGateway(running.etcd_url)
        complaints = check_written(api, etcd)
        print(f"written: {len(OBJECTS)} kinds, {len(etcd.all('/registry/'))} keys")
        folder = os.path.join(os.environ.get("COX_SHARED", ""), "data", "api-golden")
        if os.path.isdir(folder):
            read, more = check_golden(api, etcd, folder)
            print(f"read: {read} golden kinds")
            complaints += more
        else:
            print("read: SKIP, there is no reference data")
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
