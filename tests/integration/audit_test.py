# SPDX-License-Identifier: Apache-2.0
"""Audit logging of the API server: every request is recorded exactly once, in the log and at a
webhook; a webhook that never answers does not delay requests.

    audit_test.py [STEP...]

Environment: COX_BIN, the program under test.
"""

import collections
import glob
import http.client
import http.server
import json
import os
import random
import socket
import ssl
import statistics
import sys
import tempfile
import threading
import time

from cluster import ADMIN_TOKEN, Cluster, wait_until

THREADS = 8
REQUESTS = 400  # per thread
BOB_TOKEN = "integration-bob"
TOKENS = f'{ADMIN_TOKEN},admin,admin-uid,"system:masters"\n{BOB_TOKEN},bob,bob-uid\n'
SECRET = "c2VjcmV0LW9mLXRoZS1hdWRpdC10ZXN0"  # base64
STOLEN = "stolen-token-of-the-audit-test"

POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: None
  nonResourceURLs: ["/readyz*", "/metrics"]
- level: None
  users: ["system:apiserver"]
- level: Metadata
  resources: [{group: "", resources: [secrets]}]
- level: RequestResponse
  omitManagedFields: true
  resources: [{group: "", resources: [configmaps]}]
- level: Metadata
"""


class Client:
    """One HTTP/1.1 connection."""

    def __init__(self, cluster):
        self._port = cluster.port
        self._tls = ssl.create_default_context(cafile=cluster.ca_file)
        self._connection = None

    def send(self, method, path, body=None, token=ADMIN_TOKEN, audit_id=None, **headers):
        if self._connection is None:
            self._connection = http.client.HTTPSConnection("127.0.0.1", self._port, timeout=60, context=self._tls)
        sent = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        if audit_id:
            sent["Audit-ID"] = audit_id
        self._connection.request(method, path, json.dumps(body) if body is not None else None, sent)

    def answer(self):
        """Reads the response. Returns status code and Audit-ID."""
        answer = self._connection.getresponse()
        answer.read()
        if answer.will_close:
            self.close()
        return answer.status, answer.getheader("Audit-Id")

    def __call__(self, *arguments, **more):
        self.send(*arguments, **more)
        return self.answer()

    def close(self):
        if self._connection is not None:
            self._connection.close()
        self._connection = None


class Load:
    """Sends requests of all kinds and records the status codes by audit ID."""

    def __init__(self, cluster):
        self._cluster = cluster
        self._mutex = threading.Lock()
        self.answered = {}
        self.unauthenticated = set()
        self.streams = set()
        self.aborted = set()
        self.errors = []

    def run(self):
        threads = [threading.Thread(target=self._thread, args=(n,)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not self.errors, self.errors[0]

    def _thread(self, number):
        try:
            self._requests(number, random.Random(number))
        except Exception as error:  # pylint: disable=broad-except
            self.errors.append(f"thread {number}: {error!r}")

    def _requests(self, number, chance):
        client = Client(self._cluster)
        maps = "/api/v1/namespaces/default/configmaps"
        secrets = "/api/v1/namespaces/default/secrets"
        for i in range(REQUESTS):
            audit_id = f"t{number}-{i:05}"
            name = f"m-{number}-{i // 8}"
            secret = {"metadata": {"name": f"s-{number}-{i}"}, "data": {"k": SECRET}}
            named = {"metadata": {"name": name}, "data": {"i": str(i)}}
            kind = i % 16
            done = None
            if kind == 0:
                done = client("POST", maps, named, audit_id=audit_id)
            elif kind == 1:
                done = client("GET", f"{maps}/{name}", audit_id=audit_id)
            elif kind == 2:
                done = client("PUT", f"{maps}/{name}", named, audit_id=audit_id)
            elif kind == 3:
                done = client("PATCH", f"{maps}/{name}", {"data": {"p": "1"}}, audit_id=audit_id,
                              Content_Type="application/merge-patch+json")
            elif kind == 4:
                done = client("GET", f"{maps}?limit=3", audit_id=audit_id,
                              Accept="application/vnd.kubernetes.protobuf")
            elif kind == 5:
                done = client("GET", f"{maps}/none", audit_id=audit_id)
            elif kind == 6:
                done = client("GET", maps, token=BOB_TOKEN, audit_id=audit_id)
            elif kind == 7:
                done = client("GET", maps, token=STOLEN, audit_id=audit_id)
                self.unauthenticated.add(audit_id)
            elif kind == 8:
                done = client("GET", maps, audit_id=audit_id, Impersonate_User="bob")
            elif kind == 9:
                done = client("POST", secrets, secret, audit_id=audit_id)
            elif kind == 10:
                # The error message of this invalid patch would contain the secret.
                done = client("PATCH", f"{secrets}/s-{number}-{i - 1}", {"data": [SECRET]}, audit_id=audit_id,
                              Content_Type="application/merge-patch+json")
            elif kind == 11:
                done = client("GET", f"{maps}?watch=1&timeoutSeconds=1" if chance.random() < 0.2 else
                              f"{maps}?watch=1&labelSelector=,,", audit_id=audit_id)
                self.streams.add(audit_id)
            elif kind == 12:
                client.send("GET", f"{maps}?watch=1", audit_id=audit_id)
                if chance.random() < 0.5:
                    time.sleep(0.01)  # so that some streams have started
                client.close()
                self.aborted.add(audit_id)
            elif kind == 13:
                client.send("GET", f"{maps}?limit=100", audit_id=audit_id)
                client.close()
                self.aborted.add(audit_id)
            elif kind == 14:
                done = client("DELETE", f"{maps}/{name}", {"propagationPolicy": "Background"}, audit_id=audit_id)
            else:
                done = client("GET", chance.choice(["/version", "/apis", "/no/such/path", "/api/v1/nodes"]))
            if done:
                code, got_id = done
                with self._mutex:
                    self.answered[got_id] = code
        client.close()


class Sink(http.server.ThreadingHTTPServer):
    """A webhook that stores the events it receives."""

    daemon_threads = True

    def __init__(self):
        self.events = []
        self.mutex = threading.Lock()
        super().__init__(("127.0.0.1", 0), _SinkHandler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _SinkHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # pylint: disable=invalid-name
        got = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert got["kind"] == "EventList" and got["apiVersion"] == "audit.k8s.io/v1", got
        with self.server.mutex:
            self.server.events.extend(got["items"])
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class DeadSink:
    """A webhook that accepts connections and never answers."""

    def __init__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.accepted = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                self.accepted.append(self._socket.accept()[0])
            except OSError:
                return

    def close(self):
        self._socket.close()
        for connection in self.accepted:
            connection.close()


class Files:
    """The configuration files of a step, in a temporary directory."""

    def __init__(self):
        self._directory = tempfile.TemporaryDirectory(prefix="cox-audit-")

    def write(self, name, text):
        path = os.path.join(self._directory.name, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def path(self, name):
        return os.path.join(self._directory.name, name)

    def webhook(self, port):
        return self.write("webhook.kubeconfig", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "s", "user": "u"}}],
            "clusters": [{"name": "s", "cluster": {"server": f"http://127.0.0.1:{port}/audit"}}],
            "users": [{"name": "u", "user": {}}]}))


def metrics(cluster):
    client = Client(cluster)
    client.send("GET", "/metrics")
    text = client._connection.getresponse().read().decode()  # pylint: disable=protected-access
    client.close()
    values = {}
    for line in text.splitlines():
        if line.startswith("apiserver_audit_"):
            name, value = line.rsplit(" ", 1)
            values[name] = float(value)
    return values


def check_exactly_once(load, events):
    """Checks that each stage of every request was recorded once, with the status code that the
    client received."""
    stages = collections.defaultdict(dict)
    for event in events:
        seen = stages[event["auditID"]]
        assert event["stage"] not in seen, f"{event['auditID']} has {event['stage']} twice"
        seen[event["stage"]] = event
    for audit_id, code in load.answered.items():
        want = (["ResponseStarted"] if audit_id in load.unauthenticated else
                ["RequestReceived", "ResponseStarted", "ResponseComplete"] if audit_id in load.streams else
                ["RequestReceived", "ResponseComplete"])
        assert sorted(stages[audit_id]) == sorted(want), f"{audit_id}: {sorted(stages[audit_id])}, not {want}"
        last = stages[audit_id][want[-1]]
        assert last["responseStatus"]["code"] == code, f"{audit_id}: client saw {code}, log says {last}"
    for audit_id in load.aborted:
        # The server may not have read an aborted request; if it did, the last stage must be
        # recorded too.
        seen = stages.get(audit_id, {})
        assert not seen or ("RequestReceived" in seen and ("ResponseComplete" in seen or "Panic" in seen)), \
            f"{audit_id} was aborted and has {sorted(seen)}"
    return stages


def check_content(stages, load):
    by_number = {audit_id: seen.get("ResponseComplete") for audit_id, seen in stages.items()}
    created = by_number["t0-00000"]
    assert created["verb"] == "create" and created["objectRef"]["name"] == "m-0-0", created
    assert created["requestObject"]["data"] == {"i": "0"} and created["responseObject"]["metadata"]["uid"], created
    assert created["sourceIPs"] == ["127.0.0.1"], created
    assert created["annotations"]["authorization.k8s.io/decision"] == "allow", created
    forbidden = by_number["t0-00006"]
    assert forbidden["user"]["username"] == "bob", forbidden
    assert forbidden["annotations"]["authorization.k8s.io/decision"] == "forbid", forbidden
    impersonated = by_number["t0-00008"]
    assert impersonated["user"]["username"] == "admin", impersonated
    assert impersonated["impersonatedUser"]["username"] == "bob", impersonated
    assert by_number["t0-00004"]["responseObject"]["kind"] == "ConfigMapList", by_number["t0-00004"]
    denied = stages[min(load.unauthenticated)]["ResponseStarted"]
    assert denied["user"] == {} and denied["responseStatus"]["reason"] == "Unauthorized", denied


def log_events(directory):
    lines = []
    for path in glob.glob(os.path.join(directory, "audit*.log")):
        assert os.stat(path).st_mode & 0o077 == 0, f"others may read {path}"
        with open(path) as file:
            lines.extend(file)
    return lines


def exactly_once(binary):
    """Thousands of concurrent requests of all kinds, with log rotation and a webhook."""
    files, sink = Files(), Sink()
    arguments = [
        "--audit-policy-file", files.write("policy.yaml", POLICY),
        "--audit-log-path", files.path("log/audit.log"), "--audit-log-maxsize", "1",
        "--audit-webhook-config-file", files.webhook(sink.server_port),
        "--audit-webhook-batch-max-wait", "1s", "--audit-webhook-batch-throttle-enable=false"]
    with Cluster(binary, files.write("tokens.csv", TOKENS), arguments) as cluster:
        load = Load(cluster)
        began = time.monotonic()
        load.run()
        took = time.monotonic() - began
        # Aborted streams end when the server detects the closed connection.
        def open_streams():
            values = Client(cluster)
            values.send("GET", "/metrics")
            text = values._connection.getresponse().read().decode()  # pylint: disable=protected-access
            values.close()
            return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                       if line.startswith("apiserver_longrunning_requests"))
        wait_until("streams have ended", lambda: open_streams() == 0, 30)
        counted = metrics(cluster)
    lines = log_events(files.path("log"))
    events = [json.loads(line) for line in lines]
    stages = check_exactly_once(load, events)
    check_content(stages, load)
    assert len(glob.glob(files.path("log/audit-*.log"))) >= 2, "the log did not rotate"
    assert counted["apiserver_audit_event_total"] == len(events), (counted, len(events))
    assert not any(name.startswith("apiserver_audit_error_total") and value for name, value in counted.items()), counted
    key = lambda event: (event["auditID"], event["stage"])  # noqa: E731
    assert collections.Counter(map(key, sink.events)) == collections.Counter(map(key, events)), \
        f"the webhook got {len(sink.events)} events, the log {len(events)}"
    text = "".join(lines)
    for secret in (SECRET, STOLEN, ADMIN_TOKEN, BOB_TOKEN, "managedFields"):
        assert secret not in text, f"{secret} is in the log"
    print(f"  {len(load.answered)} answers, {len(load.aborted)} aborted, {len(events)} events in {took:.1f} s")


def latencies(clusters, count):
    """Returns the sorted seconds of `count` GET requests to each cluster, sent alternately over one
    connection each."""
    clients = [Client(cluster) for cluster in clusters]
    took = [[] for _ in clusters]
    for _ in range(count):
        for client, times in zip(clients, took):
            began = time.monotonic()
            code, _ = client("GET", "/api/v1/namespaces/default")
            times.append(time.monotonic() - began)
            assert code == 200, code
    for client in clients:
        client.close()
    return [sorted(times) for times in took]


def rss(cluster):
    pid = cluster._servers[-1].process.pid  # pylint: disable=protected-access
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) * 1024


def dead_webhook(binary):
    """A webhook that accepts connections and never answers."""
    count, buffer, batch, senders = 1500, 200, 10, 4
    files, sink = Files(), DeadSink()
    tokens = files.write("tokens.csv", TOKENS)
    arguments = ["--audit-policy-file", files.write("policy.yaml", POLICY),
                 "--audit-webhook-config-file", files.webhook(sink.port),
                 "--audit-webhook-batch-buffer-size", str(buffer), "--audit-webhook-batch-max-size", str(batch)]
    # Alternate requests, so that other load on this machine affects both equally.
    with Cluster(binary, tokens) as plain, Cluster(binary, tokens, arguments) as cluster:
        latencies([plain, cluster], 200)
        wait_until("the sink was called", lambda: sink.accepted, 30)
        before = rss(cluster)
        quiet, dead = latencies([plain, cluster], count)
        grown = rss(cluster) - before
        values = metrics(cluster)
        began = time.monotonic()
        assert cluster.stop()
        stopped = time.monotonic() - began
    sink.close()
    lost = values.get('apiserver_audit_error_total{plugin="buffered"}', 0)
    kept = values["apiserver_audit_event_total"] - lost
    print(f"  median {statistics.median(quiet) * 1e6:.0f} us without, {statistics.median(dead) * 1e6:.0f} us with a dead "
          f"sink; p99 {quiet[-count // 100] * 1e6:.0f} and {dead[-count // 100] * 1e6:.0f} us; "
          f"{lost:.0f} events dropped, {kept:.0f} held; RSS +{grown // 1024} KiB; stopped in {stopped:.1f} s")
    # All events are counted as dropped, except those in the buffer and in batches being sent.
    assert buffer <= kept <= buffer + batch * senders, values
    # A request that waited for the sink would take seconds.
    assert dead[-1] < 2, f"a request took {dead[-1]:.3f} s"
    assert statistics.median(dead) < 1.5 * statistics.median(quiet) + 0.001
    assert grown < 32 << 20, f"{grown} bytes more"
    assert stopped < 14, f"stopping took {stopped:.1f} s"


def strict_log(binary):
    """A log that cannot be written fails requests in the strict mode only."""
    files = Files()
    for mode, code in (("blocking", 200), ("blocking-strict", 500)):
        arguments = ["--audit-policy-file", files.write("policy.yaml", POLICY),
                     "--audit-log-path", "/dev/full", "--audit-log-mode", mode]
        with Cluster(binary, files.write("tokens.csv", TOKENS), arguments) as cluster:
            got, _ = Client(cluster)("GET", "/api/v1/namespaces/default")
            assert got == code, f"{mode}: {got}"
            values = metrics(cluster)
            assert values['apiserver_audit_error_total{plugin="log"}'] >= 1, values
            assert (values["apiserver_audit_requests_rejected_total"] >= 1) == (code == 500), values


STEPS = [exactly_once, dead_webhook, strict_log]


def main():
    binary = os.environ["COX_BIN"]
    chosen = sys.argv[1:]
    for step in STEPS:
        if chosen and step.__name__ not in chosen:
            continue
        print(f"{step.__name__}: {step.__doc__}", flush=True)
        step(binary)
    print("OK")


if __name__ == "__main__":
    main()
