# SPDX-License-Identifier: Apache-2.0
"""An API client for tests: lists and watches with a kubeconfig. Tests write with kubectl."""

import base64
import http.client
import json
import os
import ssl
import subprocess
import time
import urllib.parse

from harness import ClusterError, Deadline

CORE = "/api/v1"
APPS = "/apis/apps/v1"
DISCOVERY = "/apis/discovery.k8s.io/v1"
WATCH_SECONDS = 5  # watches are restarted after this time, so that deadlines are checked


class Api:
    """Threads: any; each call has its own connection."""

    def __init__(self, kubeconfig, directory):
        view = json.loads(subprocess.check_output(
            ["kubectl", "config", "view", "--raw", "--flatten", "-o", "json", "--kubeconfig", kubeconfig], text=True))
        server, user = view["clusters"][0]["cluster"], view["users"][0]["user"]
        self._address = urllib.parse.urlparse(server["server"]).netloc
        self._tls = ssl.create_default_context(cadata=base64.b64decode(server["certificate-authority-data"]).decode())
        self._headers = {"Accept": "application/json"}
        if "token" in user:
            self._headers["Authorization"] = "Bearer " + user["token"]
            return
        path = os.path.join(directory, "client.pem")
        with open(path, "wb") as file:
            for part in ("client-certificate-data", "client-key-data"):
                file.write(base64.b64decode(user[part]) + b"\n")
        self._tls.load_cert_chain(path)

    def get(self, path):
        """Returns the object, or None if it does not exist."""
        status, body = self.call("GET", path)
        if status == 404:
            return None
        if status != 200:
            raise ClusterError(f"GET {path}: {status} {body[:500]}")
        return json.loads(body)

    def items(self, path):
        return (self.get(path) or {}).get("items") or []

    def call(self, method, path, body=None, content="application/json"):
        connection = self._connect(30)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               {**self._headers, "Content-Type": content})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def until(self, what, path, condition, seconds):
        """Watches a collection until `condition(objects by name)` is true, and returns its value.

        Retries while the API server is unavailable. After `seconds`, scaled by the speed of the
        machine, raises ClusterError with the last state.
        """
        deadline = Deadline(seconds)
        objects = {}
        while True:
            try:
                for objects in self._states(path, deadline):
                    value = condition(objects)
                    if value:
                        return value
                    if not deadline.left():
                        break
            except (OSError, http.client.HTTPException, ValueError, ClusterError):
                time.sleep(0.05)  # the API server may be restarting
            if not deadline.left():
                raise ClusterError(f"{what}: not within {seconds} s; there is:\n{summary(objects.values())}")

    def _states(self, path, deadline):
        """Yields the objects by name: as listed, after each change, and after each watch."""
        listed = self.get(path)
        if listed is None:
            raise ClusterError(f"{path} is not served")
        objects = {_key(each): each for each in listed.get("items") or []}
        version = listed["metadata"]["resourceVersion"]
        yield objects
        while left := deadline.left():
            for kind, each in self.watch(path, version, min(WATCH_SECONDS, left)):
                version = each["metadata"]["resourceVersion"]
                if kind == "DELETED":
                    objects.pop(_key(each), None)
                elif kind != "BOOKMARK":
                    objects[_key(each)] = each
                yield objects
            yield objects

    def watch(self, path, version, seconds):
        """Yields (type, object) for `seconds`. Raises ClusterError for an error event."""
        mark = "&" if "?" in path else "?"
        connection = self._connect(seconds + 5)
        try:
            connection.request("GET", f"{path}{mark}watch=1&allowWatchBookmarks=1&resourceVersion={version}"
                               f"&timeoutSeconds={max(1, int(seconds))}", headers=self._headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise ClusterError(f"watch {path}: {answer.status} {answer.read()[:300]}")
            for line in answer:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise ClusterError(f"watch {path}: {event['object']}")
                yield event["type"], event["object"]
        finally:
            connection.close()

    def _connect(self, seconds):
        return http.client.HTTPSConnection(self._address, timeout=seconds, context=self._tls)


def _key(each):
    meta = each["metadata"]
    return meta["name"]


def collection(group, namespace, resource, labels=None):
    """Returns the path of a collection: collection(CORE, "default", "pods", "app=web")."""
    path = f"{group}/namespaces/{namespace}/{resource}" if namespace else f"{group}/{resource}"
    return path + (f"?labelSelector={urllib.parse.quote(labels)}" if labels else "")


def is_true(each, condition):
    return any(c["type"] == condition and c["status"] == "True" for c in each.get("status", {}).get("conditions") or [])


def condition_of(each, kind):
    for condition in each.get("status", {}).get("conditions") or []:
        if condition["type"] == kind:
            return condition
    return {}


def ready(pod):
    return is_true(pod, "Ready") and "deletionTimestamp" not in pod["metadata"]


def container_statuses(pod):
    status = pod.get("status", {})
    return (status.get("initContainerStatuses") or []) + (status.get("containerStatuses") or [])


def summary(objects):
    """Returns a few lines that describe the state of objects."""
    lines = []
    for each in objects:
        meta, status = each["metadata"], each.get("status", {})
        words = [f"{each.get('kind', '')} {meta['name']}".strip()]
        words += [f"{name}={status[name]}" for name in ("phase", "reason", "message", "podIP", "replicas", "readyReplicas",
                                                        "observedGeneration") if name in status]
        if "nodeName" in each.get("spec", {}):
            words.append("on " + each["spec"]["nodeName"])
        if "deletionTimestamp" in meta:
            words.append("being deleted, finalizers " + str(meta.get("finalizers", [])))
        words += [f"{c['type']}={c['status']}({c.get('reason', '')}: {c.get('message', '')[:120]})"
                  for c in status.get("conditions") or [] if c["status"] != "True"]
        words += [f"{c['name']}: {json.dumps(c.get('state'))} restarts={c.get('restartCount')}"
                  for c in container_statuses(each)]
        lines.append("  " + " ".join(words))
    return "\n".join(lines) or "  nothing"
