# SPDX-License-Identifier: Apache-2.0
"""Records each write to objects of a namespace, by watching: time, field manager and change."""

import http.client
import json
import threading
import time

from api import APPS, CORE, DISCOVERY, collection
from harness import ClusterError

WATCHED = ((APPS, "deployments"), (APPS, "replicasets"), (CORE, "pods"), (CORE, "services"), (DISCOVERY, "endpointslices"),
           (CORE, "events"))


class Timeline:
    """Watches from construction until stop(). Lines are (seconds, writer, text)."""

    def __init__(self, api, namespace="default"):
        self._api = api
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._lines = []
        self._seen = {}
        self._stopped = threading.Event()
        self._threads = []
        for group, resource in WATCHED:
            thread = threading.Thread(target=self._follow, args=(collection(group, namespace, resource), resource), daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self):
        self._stopped.set()

    def lines(self):
        with self._lock:
            return list(self._lines)

    def print(self, title="who wrote what when"):
        print(f"--- {title}")
        for seconds, writer, text in self.lines():
            print(f"  {seconds:8.3f} s  {writer:28} {text}")
        print("---", flush=True)

    def first(self, *words):
        """Returns the time of the first line that contains all of the words, or None."""
        for seconds, writer, text in self.lines():
            if all(word in f"{writer} {text}" for word in words):
                return seconds
        return None

    def assert_order(self, *steps):
        """Asserts that each step, a tuple of words, was recorded no earlier than the last one."""
        last, last_step = 0.0, None
        for step in steps:
            at = self.first(*step)
            if at is None:
                self.print()
                raise ClusterError(f"never seen: {step}")
            # Resources have separate watches, so a few milliseconds are not significant.
            if at < last - 0.05:
                self.print()
                raise ClusterError(f"{step} at {at:.3f} s was before {last_step} at {last:.3f} s")
            last, last_step = max(last, at), step

    def _follow(self, path, resource):
        while not self._stopped.is_set():
            try:
                listed = self._api.get(path)
                for each in listed.get("items") or []:
                    self._note("ADDED", resource, each)
                for kind, each in self._api.watch(path, listed["metadata"]["resourceVersion"], 3600):
                    if self._stopped.is_set():
                        return
                    self._note(kind, resource, each)
            except (OSError, http.client.HTTPException, ValueError, ClusterError, AttributeError):
                self._stopped.wait(0.05)

    def _note(self, kind, resource, each):
        if kind == "BOOKMARK":
            return
        key = (resource, each["metadata"]["uid"])
        seconds = time.monotonic() - self._began
        with self._lock:
            before = self._seen.get(key)
            if before is not None and before["metadata"]["resourceVersion"] == each["metadata"]["resourceVersion"]:
                return
            self._seen[key] = each
            for writer, text in _describe(kind, resource, before, each):
                self._lines.append((seconds, writer, text))


def _describe(kind, resource, before, each):
    name = f"{resource[:-1]}/{each['metadata']['name']}"
    if resource == "events":
        if kind != "DELETED":
            about = each.get("involvedObject", {})
            source = each.get("reportingComponent") or each.get("source", {}).get("component", "?")
            yield source, (f"event {each.get('type')} {each.get('reason')} {about.get('kind')}/{about.get('name')}: "
                           f"{each.get('message', '')[:140]}")
        return
    if kind == "DELETED":
        yield "", f"{name} is gone"
        return
    if before is None:
        owner = (each["metadata"].get("ownerReferences") or [{}])[0]
        by = f" for {owner['kind']}/{owner['name']}" if owner else ""
        yield _writer(None, each), f"{name} made{by}{_state(None, each)}"
        return
    yield _writer(before, each), f"{name}{_state(before, each)}"


def _writer(before, each):
    """Returns the field managers whose entries are new or changed."""
    old = [json.dumps(entry, sort_keys=True) for entry in (before or each)["metadata"].get("managedFields") or []]
    new = each["metadata"].get("managedFields") or []
    if before is None:
        return new[0]["manager"] if new else "?"
    names = [entry["manager"] for entry in new if json.dumps(entry, sort_keys=True) not in old]
    # Two writes of one manager within a second leave equal entries.
    return ",".join(names) or "?"


def _state(before, each):
    """Returns the facts that changed, as text."""
    was = _facts(before) if before else {}
    words = [f"{name}={value}" for name, value in _facts(each).items() if was.get(name) != value and value not in (None, [])]
    return " " + " ".join(words) if words else ""


def _facts(each):
    spec, status = each.get("spec", {}), each.get("status", {})
    facts = {"generation": each["metadata"].get("generation")}
    facts.update({name: spec.get(name) for name in ("nodeName", "clusterIP")})
    facts["wanted"] = spec.get("replicas")
    facts.update({name: status.get(name) for name in ("observedGeneration", "phase", "podIP", "replicas", "updatedReplicas",
                                                      "readyReplicas", "availableReplicas")})
    facts["deleting"] = each["metadata"].get("deletionTimestamp")
    for condition in status.get("conditions") or []:
        facts[condition["type"]] = condition["status"]
    for container in status.get("containerStatuses") or []:
        state = next(iter((container.get("state") or {}).items()), ("none", {}))
        facts[container["name"]] = state[0] + (":" + state[1]["reason"] if state[1].get("reason") else "")
        facts["restarts"] = container.get("restartCount") or None
    if "endpoints" in each:
        facts["ready"] = sorted(address for endpoint in each["endpoints"] or []
                                if endpoint.get("conditions", {}).get("ready") for address in endpoint["addresses"])
    return facts
