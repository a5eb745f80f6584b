# SPDX-License-Identifier: Apache-2.0
"""Clients that record their operations, and checks of these records.

Writers change their own ConfigMaps one step at a time and record acknowledged writes. Watchers
record every event and resume after each failure from the last resource version. The records are
compared with each other and with the final state.
"""

import http.client
import json
import threading
import time

from plane import TOKEN, request
import machine  # in the path that plane has added

NAMESPACE = "/api/v1/namespaces/default/configmaps"
BROKEN = (OSError, http.client.HTTPException, ValueError)


class Writer(threading.Thread):
    """Creates, updates (with resource versions) and deletes the objects named after it."""

    OBJECTS = 4
    DELETE_EVERY = 17  # steps

    def __init__(self, plane, number, pause, padding=0):
        super().__init__(daemon=True)
        self._plane = plane
        self._number = number
        self._pause = pause
        self.padding = padding
        self._stop_asked = threading.Event()
        self.acknowledged = []  # (resource version, name, step or None for a deletion)
        self.attempts = 0
        self.refused = {}  # status: count
        # name: [step or None for a deletion] since the last acknowledged one; any may be stored.
        self.possible = {}

    def stop(self):
        self._stop_asked.set()

    def run(self):
        connection = None
        step = 0
        known = {}  # name: resource version, or None if the object does not exist
        while not self._stop_asked.wait(self._pause):
            step += 1
            name = f"w{self._number}-{step % self.OBJECTS}"
            try:
                connection = connection or self._plane.connect()
                if name not in known and not self._learn(connection, name, known):
                    continue
                self._change(connection, name, step, known)
            except BROKEN:
                # The outcome is unknown: read the object before the next step.
                known.pop(name, None)
                if connection:
                    connection.close()
                connection = None

    def _learn(self, connection, name, known):
        status, found = request(connection, "GET", f"{NAMESPACE}/{name}")
        if status == 200:
            known[name] = found["metadata"]["resourceVersion"]
        elif status == 404:
            known[name] = None
        else:
            self._refuse(status)
        return status in (200, 404)

    def _change(self, connection, name, step, known):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
                "data": {"step": str(step), "padding": "x" * self.padding}}
        self.attempts += 1
        version = known.pop(name)
        deletes = version is not None and step % self.DELETE_EVERY == 0
        self.possible.setdefault(name, []).append(None if deletes else step)
        if version is None:
            status, found = request(connection, "POST", NAMESPACE, body)
        elif deletes:
            status, found = request(connection, "DELETE", f"{NAMESPACE}/{name}")
        else:
            body["metadata"]["resourceVersion"] = version
            status, found = request(connection, "PUT", f"{NAMESPACE}/{name}", body)
        if status in (200, 201):
            self.possible[name] = [None if deletes else step]
            if deletes:
                self.acknowledged.append((None, name, None))
                known[name] = None
            else:
                known[name] = found["metadata"]["resourceVersion"]
                self.acknowledged.append((int(known[name]), name, step))
        elif status < 500 and status != 429:
            raise AssertionError(f"{name}: unexpected answer {status}: {found}")
        else:
            self._refuse(status)

    def _refuse(self, status):
        self.refused[status] = self.refused.get(status, 0) + 1


class Watcher(threading.Thread):
    """Lists once, then watches; resumes from the last event; lists again only after 410."""

    def __init__(self, plane, number):
        super().__init__(daemon=True)
        self._plane = plane
        self.number = number
        self._stop_asked = threading.Event()
        self.events = []      # (resource version, type, name, step)
        self.lists = []       # (resource version, progress before, {name: (version, step)})
        self.resumes = 0
        self.last = None
        self.progress = 0     # the highest resource version up to which all events were received
        self.errors = []

    def stop(self):
        self._stop_asked.set()

    def run(self):
        while not self._stop_asked.is_set():
            connection = None
            try:
                connection = self._plane.connect(seconds=12)
                if self.last is None:
                    self._list(connection)
                self._watch(connection)
            except BROKEN:
                self._stop_asked.wait(0.05)
            finally:
                if connection:
                    connection.close()

    def _list(self, connection):
        status, found = request(connection, "GET", NAMESPACE)
        if status != 200:
            raise OSError(f"list: {status}")
        items = {}
        for item in found["items"]:
            if "step" in item.get("data", {}):
                version = int(item["metadata"]["resourceVersion"])
                items[item["metadata"]["name"]] = (version, int(item["data"]["step"]))
        self.last = int(found["metadata"]["resourceVersion"])
        if self.last < self.progress:
            self.errors.append(f"a list goes back from {self.progress} to {self.last}")
        self.lists.append((self.last, self.progress, items))
        self.progress = max(self.progress, self.last)

    def _watch(self, connection):
        self.resumes += 1
        path = f"{NAMESPACE}?watch=1&allowWatchBookmarks=true&timeoutSeconds=10&resourceVersion={self.last}"
        connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
        answer = connection.getresponse()
        if answer.status == 410:
            self.last = None
        if answer.status != 200:
            raise OSError(f"watch: {answer.status}")
        while not self._stop_asked.is_set():
            line = answer.readline()
            if not line:
                return
            self._take(json.loads(line))

    def _take(self, event):
        thing = event["object"]
        if event["type"] == "ERROR":
            if thing.get("code") == 410:
                self.last = None
            raise OSError(f"watch: {thing.get('message')}")
        version = int(thing["metadata"]["resourceVersion"])
        if event["type"] != "BOOKMARK" and "step" in thing.get("data", {}):
            self.events.append((version, event["type"], thing["metadata"]["name"], int(thing["data"]["step"])))
            if version <= self.last:
                self.errors.append(f"event of version {version} after version {self.last}")
        if version < self.last:
            self.errors.append(f"{event['type']} goes back from {self.last} to {version}")
        self.last = max(self.last, version)
        self.progress = max(self.progress, version)


class History:
    """Writers and watchers that run while faults are injected; `finish` returns the problems."""

    def __init__(self, plane, writers=4, watchers=100, pause=0.05, padding=0):
        self._plane = plane
        self.writers = [Writer(plane, i, pause, padding) for i in range(writers)]
        self.watchers = [Watcher(plane, i) for i in range(watchers)]

    def __enter__(self):
        for client in self.watchers + self.writers:
            client.start()
        return self

    def __exit__(self, *_):
        for client in self.writers + self.watchers:
            client.stop()

    def acknowledged(self):
        return sum(len(w.acknowledged) for w in self.writers)

    def await_progress(self, writes, seconds):
        """Waits for `writes` more acknowledged writes, at most `seconds`. Returns their number."""
        target = self.acknowledged() + writes
        deadline = machine.Deadline(seconds)
        while self.acknowledged() < target and deadline.left():
            time.sleep(0.02)
        return self.acknowledged() - target + writes

    def finish(self, seconds=30):
        """Stops the writers, waits until all watchers are up to date, and returns complaints."""
        for writer in self.writers:
            writer.stop()
        for writer in self.writers:
            writer.join(60)
        stored = self._read_all()
        newest = max([version for version, _ in stored.values()] + [0])
        deadline = machine.Deadline(seconds)
        behind = list(self.watchers)
        while behind and deadline.left():
            behind = [w for w in behind if w.progress < newest]
            time.sleep(0.02)
        complaints = [f"watcher {w.number} stays at {w.progress}, the newest is {newest}" for w in behind[:5]]
        for watcher in self.watchers:
            watcher.stop()
        complaints += self._lost(stored)
        complaints += self._bad_watches()
        return complaints

    def _read_all(self):
        deadline = machine.Deadline(30)
        while True:
            try:
                status, found = request(self._plane.connect(), "GET", NAMESPACE)
                if status == 200:
                    break
            except BROKEN:
                pass
            if not deadline.left():
                raise AssertionError("the objects cannot be listed any more")
            time.sleep(0.1)
        return {item["metadata"]["name"]: (int(item["metadata"]["resourceVersion"]), int(item["data"]["step"]))
                for item in found["items"] if "step" in item.get("data", {})}

    def _lost(self, stored):
        complaints = []
        for writer in self.writers:
            for name, possible in writer.possible.items():
                step = stored[name][1] if name in stored else None
                if step not in possible:
                    complaints.append(f"{name}: stored is step {step}, acknowledged or possible {possible}")
        return complaints

    def _bad_watches(self):
        complaints = []
        acknowledged = {version: (name, step) for w in self.writers
                        for version, name, step in w.acknowledged if version is not None}
        said = {}  # resource version: the event that the first watcher received
        for watcher in self.watchers:
            where = f"watcher {watcher.number}"
            complaints += [f"{where}: {error}" for error in watcher.errors[:3]]
            seen = set()
            for version, kind, name, step in watcher.events:
                if version in seen:
                    complaints.append(f"{where}: version {version} twice")
                seen.add(version)
                told = said.setdefault(version, (kind, name, step))
                if told != (kind, name, step):
                    complaints.append(f"{where}: {version} is {(kind, name, step)}, others saw {told}")
                if version in acknowledged and acknowledged[version] != (name, step):
                    complaints.append(f"{where}: {version} is {(name, step)}, written was {acknowledged[version]}")
            complaints += self._missed(watcher, acknowledged, seen)
        return complaints[:20]

    @staticmethod
    def _missed(watcher, acknowledged, seen):
        """Returns acknowledged writes without an event. Between the last event of a watcher and a
        list, the list replaces the events: it must contain the write, or a later state of the
        object."""
        if not watcher.lists:
            return [f"watcher {watcher.number} never listed"]
        complaints = []
        for version, (name, step) in acknowledged.items():
            if version in seen or version > watcher.progress:
                continue
            gaps = [(at, items) for at, before, items in watcher.lists if before < version <= at]
            # Objects missing in a list may be deleted; the final state shows whether they are lost.
            if any(name not in items or items[name][0] >= version for _, items in gaps):
                continue
            complaints.append(f"watcher {watcher.number}: {name} step {step} at {version} was not seen")
        return complaints[:3]
