#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile clients against the complete API server.

Each attack runs in separate processes while a healthy client sends requests. Memory must not grow
by more than 128 MB, the healthy client's p99 latency must stay within 3 times its value without an
attack, and the server must be ready afterwards. A higher latency is measured again and compared
with the latency while as many processes only use CPU time, so that the CPU usage of the attackers
does not count. Before the attacks, the limits of single requests are tested: the server must
answer each as upstream does, and close connections without a handshake or complete headers.

    COX_BIN=build/release/src/cmd/coxswain tests/robustness/hostile_test.py [ATTACK...]

COX_LONG=1 runs longer attacks with more clients and waits for all timeouts.
"""

import http.client
import json
import multiprocessing
import os
import socket
import sys
import threading
import time

import http2
from plane import TOKEN, Plane, auth, request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import cluster  # noqa: E402

LONG = os.environ.get("COX_LONG") == "1"
SECONDS = 10 if LONG else 1.5
MANY = 1000 if LONG else 200
GROWTH_BYTES = 128 << 20
# Latencies below this are caused by the machine, not by the attack.
TAIL_FLOOR = 0.02 if LONG else 0.15
MAPS = "/api/v1/namespaces/default/configmaps"
GONE = (OSError, http.client.HTTPException)


def flood(port, until, make):
    """Sends `make(n)` for n = 0, 1, ... and reconnects when the server closes the connection."""
    while time.monotonic() < until:
        try:
            with http2.connect(port) as connection:
                connection.settimeout(1)
                number = 0
                while time.monotonic() < until:
                    connection.sendall(make(number))
                    number += 1
        except GONE:
            pass


def rapid_reset(port, until):
    block = http2.request_block("/api/v1/namespaces", TOKEN)

    def make(number):
        out = b""
        for i in range(50):
            stream = 2 * (50 * number + i) + 1
            out += http2.frame(http2.HEADERS, http2.END_STREAM | http2.END_HEADERS, stream, block)
            out += http2.frame(http2.RST_STREAM, 0, stream, b"\0\0\0\x08")
        return out

    flood(port, until, make)


def rapid_reset_unauthenticated(port, until):
    block = http2.request_block("/api/v1/namespaces")
    flood(port, until, lambda n: http2.frame(
        http2.HEADERS, http2.END_STREAM | http2.END_HEADERS, 2 * n + 1, block) + http2.frame(
            http2.RST_STREAM, 0, 2 * n + 1, b"\0\0\0\x08"))


def continuation(port, until):
    more = http2.frame(http2.CONTINUATION, 0, 1, http2.literal("x-filler", "y" * 8000))
    start = http2.frame(http2.HEADERS, http2.END_STREAM, 1, http2.request_block("/"))
    flood(port, until, lambda n: start if n == 0 else more)


def empty_continuation(port, until):
    more = http2.frame(http2.CONTINUATION, 0, 1) * 100
    start = http2.frame(http2.HEADERS, http2.END_STREAM, 1, http2.request_block("/"))
    flood(port, until, lambda n: start if n == 0 else more)


def ping(port, until):
    pings = http2.frame(http2.PING, 0, 0, b"12345678") * 100
    flood(port, until, lambda n: pings)


def settings(port, until):
    some = http2.frame(http2.SETTINGS, 0, 0, b"\0\x04\0\x01\0\0") * 100
    flood(port, until, lambda n: some)


def window_updates(port, until):
    some = http2.frame(http2.WINDOW_UPDATE, 0, 0, b"\0\0\0\x01") * 100
    flood(port, until, lambda n: some)


def garbage(port, until):
    noise = os.urandom(16384)
    flood(port, until, lambda n: noise)


def hold(port, until, begin):
    """Opens many connections, calls `begin` for each, and keeps them open."""
    held = []
    while time.monotonic() < until:
        if len(held) < MANY:
            try:
                held.append(begin(port))
            except GONE:
                time.sleep(0.05)
        else:
            time.sleep(0.05)
    for connection in held:
        connection.close()


def half_open_tls(port, until):
    def begin(to):
        connection = socket.create_connection(("127.0.0.1", to), timeout=5)
        connection.sendall(b"\x16\x03\x01\x02\x00\x01")  # the beginning of a ClientHello
        return connection

    hold(port, until, begin)


def slow_headers(port, until):
    def begin(to):
        connection = http2.connect(to, "http/1.1", 5)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        return connection

    hold(port, until, begin)


def slow_bodies(port, until):
    def begin(to):
        connection = http2.connect(to, "http/1.1", 5)
        connection.sendall(f"POST {MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n"
                           "Content-Type: application/json\r\nContent-Length: 3000000\r\n\r\n{".encode())
        return connection

    hold(port, until, begin)


def stalled_watchers(port, until):
    """Watches that never read, while many events are sent to them."""
    def begin(to):
        connection = http2.connect(to, "http/1.1", 5)
        connection.sendall(f"GET {MAPS}?watch=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
        return connection

    hold(port, until, begin)


# Name, attack, number of processes.
ATTACKS = [
    ("rapid-reset", rapid_reset, 1),
    ("rapid-reset-unauthenticated", rapid_reset_unauthenticated, 1),
    ("continuation", continuation, 1),
    ("empty-continuation", empty_continuation, 1),
    ("ping", ping, 1),
    ("settings", settings, 1),
    ("window-updates", window_updates, 1),
    ("garbage", garbage, 1),
    ("half-open-tls", half_open_tls, 1),
    ("slow-headers", slow_headers, 1),
    ("slow-bodies", slow_bodies, 1),
    ("stalled-watchers", stalled_watchers, 1),
]


def resident(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


class Healthy(threading.Thread):
    """Reads and writes continuously; records latencies and the largest size of the server."""

    def __init__(self, plane):
        super().__init__(daemon=True)
        self._plane = plane
        self._done = threading.Event()
        self.latencies, self.failures, self.largest = [], [], 0

    def run(self):
        connection = self._plane.connect()
        number = 0
        while not self._done.wait(0.005):
            number += 1
            began = time.monotonic()
            try:
                if number % 4 == 0:
                    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "busy"},
                            "data": {"n": str(number), "padding": "x" * 20000}}
                    status, answer = request(connection, "PUT", f"{MAPS}/busy", body)
                else:
                    status, answer = request(connection, "GET", f"{MAPS}/busy")
                if status != 200:
                    self.failures.append(f"{status} {answer}")
            except GONE as error:
                self.failures.append(repr(error))
                connection.close()
                connection = self._plane.connect()
            self.latencies.append(time.monotonic() - began)
            self.largest = max(self.largest, resident(self._plane.server.pid))

    def finish(self):
        self._done.set()
        self.join()
        ordered = sorted(self.latencies)
        return ordered[int(len(ordered) * 0.99)] if ordered else 0.0


def measure(plane, seconds, attack=None, processes=0):
    """Returns p99 latency and failures of the healthy client, and the server's largest size."""
    healthy = Healthy(plane)
    healthy.start()
    until = time.monotonic() + seconds
    context = multiprocessing.get_context("fork")
    attackers = [context.Process(target=attack, args=(plane.port, until), daemon=True) for _ in range(processes)]
    for attacker in attackers:
        attacker.start()
    time.sleep(seconds)  # the attack itself
    for attacker in attackers:
        attacker.join(5)
        if attacker.is_alive():
            attacker.kill()
    return healthy.finish(), healthy.failures, healthy.largest


def spin(_port, until):
    """Not an attack: uses CPU time like the attackers."""
    while time.monotonic() < until:
        pass


def measure_attack(plane, name, attack, processes, quiet):
    """Returns complaints about the healthy client, and the largest size of the server."""
    largest = 0
    for _ in range(3):
        p99, failures, size = measure(plane, SECONDS, attack, processes)
        largest = max(largest, size)
        print(f"{name}: p99 {p99 * 1e3:.1f} ms, at most {size / 1e6:.1f} MB", flush=True)
        plane.server.check_runs()
        if failures:
            return [f"{name}: the healthy client got {failure}" for failure in failures[:2]], largest
        if p99 <= max(3 * quiet, TAIL_FLOOR):
            return [], largest
        quiet, _, _ = measure(plane, SECONDS, spin, processes)
        print(f"  beside {processes} busy processes: p99 {quiet * 1e3:.1f} ms", flush=True)
    return [f"{name}: p99 {p99 * 1e3:.0f} ms, without attack {quiet * 1e3:.0f} ms"], largest


def run_attacks(plane, wanted):
    complaints = []
    quiet, failures, _ = measure(plane, SECONDS)
    complaints += failures[:1]
    before = resident(plane.server.pid)
    print(f"quiet: p99 {quiet * 1e3:.1f} ms, {before / 1e6:.1f} MB", flush=True)
    for name, attack, processes in ATTACKS:
        if wanted and name not in wanted:
            continue
        found, largest = measure_attack(plane, name, attack, processes * (2 if LONG else 1), quiet)
        complaints += found
        if largest - before > GROWTH_BYTES:
            complaints.append(f"{name}: memory grew by {(largest - before) >> 20} MB")
        if not plane.ready():
            complaints.append(f"{name}: not ready afterwards")
    return complaints


def nested(opening, closing, depth):
    return opening * depth + closing * depth


def single_requests():
    """Returns tuples of description, method, path, content type, body, expected status."""
    patch = f"{MAPS}/busy"
    head = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"hostile"},'
    laughs = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9))
    return [
        ("body of 3 MiB and more", "POST", MAPS, "application/json",
         head + '"data":{"a":"' + "x" * (3 << 20) + '"}}', (413,)),
        ("JSON deeper than 10,000", "POST", MAPS, "application/json",
         head + '"data":' + nested('{"a":', "1" + "}", 20000), (400,)),
        ("list deeper than 10,000", "POST", MAPS, "application/json", nested("[", "]", 30000), (400,)),
        ("patch of more than 10,000 operations", "PATCH", patch, "application/json-patch+json",
         json.dumps([{"op": "test", "path": "/data/n", "value": "1"}] * 10001), (413,)),
        ("patch that copies until it is huge", "PATCH", patch, "application/json-patch+json",
         json.dumps([{"op": "copy", "from": "/data", "path": f"/data/x{i}"} for i in range(60)]), (400, 413, 422)),
        ("YAML that grows by aliases", "POST", MAPS, "application/yaml", laughs, (400,)),
        ("YAML flow deeper than 10,000", "POST", MAPS, "application/yaml", nested("[", "]", 30000), (400,)),
        ("merge patch that is no object", "PATCH", patch, "application/merge-patch+json", "[1]", (400,)),
        ("protobuf that is cut", "POST", MAPS, "application/vnd.kubernetes.protobuf", "k8s\0\x0a\xff", (400,)),
        ("unknown media type", "POST", MAPS, "application/hostile", "{}", (415,)),
        ("name that climbs", "GET", f"{MAPS}/..%2f..%2fsecrets%2fx", None, None, (400, 404)),
        ("selector without end", "GET", f"{MAPS}?labelSelector=" + "a%20in%20(" * 2000, None, None, (400,)),
    ]


def run_single(plane):
    complaints = []
    before = resident(plane.server.pid)
    for what, method, path, kind, body, expected in single_requests():
        connection = plane.connect(20)
        began = time.monotonic()
        try:
            headers = auth(**({"Content-Type": kind} if kind else {}))
            connection.request(method, path, body=body.encode("latin-1") if body else None, headers=headers)
            answer = connection.getresponse()
            answer.read()
            status = answer.status
        except GONE as error:
            status = repr(error)
        took = time.monotonic() - began
        print(f"{what}: {status} in {took * 1e3:.0f} ms", flush=True)
        if status not in expected:
            complaints.append(f"{what}: {status}, expected {expected}")
        plane.server.check_runs()
    grown = resident(plane.server.pid) - before
    if grown > GROWTH_BYTES:
        complaints.append(f"single requests: memory grew by {grown >> 20} MB")
    return complaints


def run_timeouts(plane):
    """A connection without a handshake is closed after 10 s, one without complete headers after 32 s."""
    complaints = []
    half_open = socket.create_connection(("127.0.0.1", plane.port), timeout=20)
    began = time.monotonic()
    try:
        half_open.recv(1)
    except OSError:
        pass
    took = time.monotonic() - began
    print(f"half-open TLS: cut after {took:.1f} s", flush=True)
    if took > 12:
        complaints.append(f"half-open TLS: cut only after {took:.1f} s")
    if LONG:
        slow = http2.connect(plane.port, "http/1.1", 45)
        slow.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        began = time.monotonic()
        try:
            while slow.recv(4096):
                pass
        except OSError:
            pass
        took = time.monotonic() - began
        print(f"slow headers: cut after {took:.1f} s", flush=True)
        if took > 36:
            complaints.append(f"slow headers: cut only after {took:.1f} s")
    return complaints


def main():
    binary = os.environ.get("COX_BIN") or cluster.skip("COX_BIN names no program")
    cluster.need_program("etcd")
    wanted = sys.argv[1:]
    with Plane(binary) as plane:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "busy"}, "data": {"n": "0"}}
        status, answer = request(plane.connect(), "POST", MAPS, body)
        if status != 201:
            raise AssertionError(f"cannot begin: {status} {answer}")
        complaints = [] if wanted else run_single(plane) + run_timeouts(plane)
        complaints += run_attacks(plane, wanted)
    for complaint in complaints:
        print(f"COMPLAINT {complaint}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
