#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Leaders are stopped (SIGSTOP) beyond their lease, and continue while another process leads.

    leader_pause_test.py LEADER_PAIR        20 pauses; COX_LONG=1: 500

Two processes of examples/leader-pair write to one ConfigMap without resource versions, each write
with the number of its term. A watch records all accepted writes in their order. After the first
write of a term there must be no write of an earlier term, and another process must become leader
within the lease duration and two seconds.

There are three modes of fencing: by process and server; by the server alone, while the process
ignores its clock; and none. The last mode must produce late writes, which shows that the test
detects them.
"""

import http.client
import json
import os
import random
import signal
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import cluster  # noqa: E402  (a sibling folder, not a package)
import machine  # noqa: E402

LEASE, RENEW, RETRY, WRITE = 600, 400, 100, 5  # milliseconds
LONG = bool(os.environ.get("COX_LONG"))
# A Lease counts whole seconds: the lease of one second, and two seconds more. The long form checks
# every takeover; the short form, which runs in parallel with other tests, checks the median, scaled
# by the speed of the machine.
TAKEOVER_SECONDS = 1 + 2
PAUSES = 500 if LONG else 20
PAUSES_SERVER = 100 if LONG else 8
ROUNDS_NONE = 8  # rounds of three pauses, until a late write occurs
GIVE_UP_SECONDS = 30
MAP = "/api/v1/namespaces/default/configmaps"
AUTH = {"Authorization": f"Bearer {cluster.ADMIN_TOKEN}"}


class History(threading.Thread):
    """The accepted writes in order: (resource version, holder, term, time of the watch event)."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self._port = port
        self._news = threading.Condition()
        self._ended = False
        self.writes = []
        self.failure = None

    def _connect(self, seconds):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", self._port, timeout=seconds, context=context)

    def run(self):
        try:
            self._watch()
        except Exception as error:  # raised again by wait()
            if not self._ended:
                with self._news:
                    self.failure = error
                    self._news.notify_all()

    def _watch(self):
        connection = self._connect(30)
        connection.request("GET", MAP, headers=AUTH)
        version = json.load(connection.getresponse())["metadata"]["resourceVersion"]
        connection = self._connect(3600)
        connection.request("GET", f"{MAP}?watch=1&resourceVersion={version}&timeoutSeconds=3600"
                                  "&fieldSelector=metadata.name%3Dleader-pair", headers=AUTH)
        for line in connection.getresponse():
            event = json.loads(line)
            if event["type"] == "ERROR":
                raise RuntimeError(f"the watch failed: {event['object']}")
            meta = event["object"]["metadata"]
            notes = meta.get("annotations", {})
            if "leader-pair/term" not in notes:
                continue
            with self._news:
                self.writes.append((int(meta["resourceVersion"]), notes["leader-pair/holder"],
                                    int(notes["leader-pair/term"]), time.monotonic()))
                self._news.notify_all()
        raise RuntimeError("the watch ended")

    def end(self):
        self._ended = True

    def wait(self, what, condition):
        """Waits until `condition(writes)` is true, and returns its value."""
        deadline = machine.Deadline(GIVE_UP_SECONDS)
        with self._news:
            while True:
                if self.failure:
                    raise self.failure
                value = condition(self.writes)
                if value:
                    return value
                left = deadline.left()
                if not left:
                    raise SystemExit(f"FAIL: {what}: not within {GIVE_UP_SECONDS} s")
                self._news.wait(left)


def late_writes(writes):
    """Returns the writes of a term that follow a write of a later term."""
    highest, late = -1, []
    for write in writes:
        if write[2] < highest:
            late.append(write)
        highest = max(highest, write[2])
    return late


class Pair:
    """The two processes; stopped ones are continued before they are terminated."""

    def __init__(self, program, kubeconfig, fence, directory):
        self._logs = {}
        self.processes = {}
        for name in ("a", "b"):
            self._logs[name] = os.path.join(directory, f"{fence}-{name}.log")
            with open(self._logs[name], "wb") as log:
                self.processes[name] = subprocess.Popen(
                    [program, f"--kubeconfig={kubeconfig}", f"--identity={name}", f"--fence={fence}",
                     f"--lease-duration-ms={LEASE}", f"--renew-deadline-ms={RENEW}",
                     f"--retry-period-ms={RETRY}", f"--write-period-ms={WRITE}"],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=cluster.end_with_test)

    def signal(self, name, what):
        self.processes[name].send_signal(what)

    def end(self):
        for name, process in self.processes.items():
            if process.poll() is not None:
                print(open(self._logs[name], errors="replace").read()[-3000:])
                raise SystemExit(f"FAIL: process {name} ended with {process.returncode}")
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                raise SystemExit("FAIL: a process did not end")

    def refusals(self):
        """Returns the number of rejected writes in the logs: in total, and by the server."""
        text = "".join(open(log, errors="replace").read() for log in self._logs.values())
        lines = [line for line in text.split("\n") if '"Refused"' in line]
        return len(lines), sum("is over: " in line for line in lines)


def pause_leaders(pair, history, count, dice):
    """Stops the current leader, `count` times. Returns the seconds until another process led."""
    took = []
    for _ in range(count):
        # A random moment: during a write, during a renewal, or while idle.
        time.sleep(dice.uniform(0, 0.15))
        seen = len(history.writes)
        highest = max((w[2] for w in history.writes), default=-1)
        _, holder, term, _ = history.wait("a write of the leader", lambda w: next(
            (x for x in reversed(w[seen:]) if x[2] >= highest), None))
        began = time.monotonic()
        pair.signal(holder, signal.SIGSTOP)
        first = history.wait(f"another leader than {holder}",
                             lambda w: next((x for x in w[seen:] if x[2] > term), None))
        took.append(first[3] - began)
        pair.signal(holder, signal.SIGCONT)
    time.sleep(0.5)  # for pending writes of the last paused process
    return took


def run(name, program, plane, fence, count):
    dice = random.Random(name)
    directory = os.path.dirname(plane.kubeconfig)
    began = time.monotonic()
    history = History(plane.port)
    history.start()
    pair = Pair(program, plane.kubeconfig, fence, directory)
    try:
        took = sorted(pause_leaders(pair, history, count, dice))
    finally:
        history.end()
        pair.end()
    late = late_writes(history.writes)
    refused, by_server = pair.refusals()
    print(f"{name}: {count} pauses in {time.monotonic() - began:.0f} s, {len(history.writes)} writes accepted, "
          f"{len(late)} of them late, {refused} refused ({by_server} by the server); another led after "
          f"{took[0]:.2f} s at least, {took[len(took) // 2]:.2f} s in the middle, {took[-1]:.2f} s at most", flush=True)
    return late, by_server, took[-1] if LONG else took[len(took) // 2]


def main():
    if len(sys.argv) != 2 or "COX_BIN" not in os.environ:
        cluster.skip("needs COX_BIN and the path of leader-pair")
    program, failures = sys.argv[1], []
    with cluster.Cluster(os.environ["COX_BIN"]) as plane:
        late, _, takeover = run("both", program, plane, "both", PAUSES)
        if late:
            failures.append(f"writes of deposed leaders were accepted: {late[:5]}")
        if takeover > TAKEOVER_SECONDS if LONG else machine.is_too_slow(takeover, TAKEOVER_SECONDS):
            failures.append(f"another led only after {takeover:.2f} s")
        late, by_server, _ = run("server", program, plane, "server", PAUSES_SERVER)
        if late:
            failures.append(f"the server accepted writes of deposed leaders: {late[:5]}")
        if by_server < PAUSES_SERVER / 2:
            failures.append(f"the server refused only {by_server} writes")
        if not any(run("none", program, plane, "none", 3)[0] for _ in range(ROUNDS_NONE)):
            failures.append("without a fence no late write was seen: the test is blind")
    for failure in failures:
        print(f"FAIL: {failure}")
    sys.exit(1 if failures else 0)


main()
