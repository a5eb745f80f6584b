# SPDX-License-Identifier: Apache-2.0
"""Runs logs, exec, attach, cp, port-forward and proxy of the real kubectl through the API server.

    connect_test.py [STEP...]

Environment: COX_BIN, the program under test. The node is a fake kubelet (node_peer.py) with HTTPS
and SPDY/3.1, as a kubelet with containerd. kubectl uses WebSockets by default; some steps also run
with SPDY, which older versions use.
"""

import contextlib
import fcntl
import http.server
import json
import os
import pty
import select
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import urllib.error
import urllib.request

from certificates import make_ca, make_certificate
from cluster import ADMIN_TOKEN, TOKENS, Cluster, end_with_test, need_program, wait_until
from node_peer import Log, NodePeer
from steps import equal, finish, run_steps, step

COMMAND_SECONDS = 180
LOOPBACK = "127.0.0.1"
SPDY = {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "false", "KUBECTL_PORT_FORWARD_WEBSOCKETS": "false"}


def own_address():
    """Returns an address of this machine, 127.0.0.1 if there is no other. No packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return LOOPBACK
        return probe.getsockname()[0]


def make_certificates(directory):
    make_ca(directory, "ca")
    make_certificate(directory, "node", "ca", "/CN=system:node:n1", "subjectAltName=IP:" + own_address())
    make_certificate(directory, "client", "ca", "/CN=kube-apiserver-kubelet-client", "extendedKeyUsage=clientAuth")


class Node:
    """A cluster with one Pod, `web` on node `n1`, and kubectl for it."""

    def __init__(self, cluster, kubectl, peer, directory):
        self.cluster = cluster
        self.peer = peer
        self.directory = directory
        self._kubectl = kubectl
        self._environment = {"PATH": os.environ["PATH"], "HOME": directory, "LC_ALL": "C.UTF-8",
                             "KUBECONFIG": cluster.kubeconfig}
        self.add_node("n1", peer.port, own_address())
        self.add_pod("web", "n1")

    def api(self, method, path, body=None, kind="application/json", headers=None):
        request = urllib.request.Request(self.cluster.url + path, method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"authorization": "Bearer " + ADMIN_TOKEN, "content-type": kind,
                                                  **(headers or {})})
        tls = ssl.create_default_context(cafile=self.cluster.ca_file)
        try:
            with urllib.request.urlopen(request, timeout=COMMAND_SECONDS, context=tls) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def add_node(self, name, port, address):
        equal(self.api("POST", "/api/v1/nodes", {"metadata": {"name": name}})[0], 201)
        status = {"status": {"addresses": [{"type": "InternalIP", "address": address}],
                             "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}}
        equal(self.api("PATCH", f"/api/v1/nodes/{name}/status", status, "application/merge-patch+json")[0], 200)

    def add_pod(self, name, node, address="10.1.2.3"):
        spec = {"nodeName": node, "containers": [{"name": "main", "image": "none", "stdin": True}]}
        equal(self.api("POST", "/api/v1/namespaces/default/pods", {"metadata": {"name": name}, "spec": spec})[0], 201)
        status = {"status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
                             "conditions": [{"type": "Ready", "status": "True"}]}}
        equal(self.api("PATCH", f"/api/v1/namespaces/default/pods/{name}/status", status,
                       "application/merge-patch+json")[0], 200)

    def start(self, *arguments, terminal=subprocess.PIPE, env=None):
        return subprocess.Popen([self._kubectl, *arguments], stdin=terminal, stdout=terminal, stderr=terminal,
                                env={**self._environment, **(env or {})}, preexec_fn=end_with_test)

    def run(self, *arguments, stdin=b"", env=None):
        """Returns exit code, stdout and stderr."""
        done = subprocess.run([self._kubectl, *arguments], input=stdin, capture_output=True,
                              env={**self._environment, **(env or {})}, timeout=COMMAND_SECONDS, check=False)
        return done.returncode, done.stdout, done.stderr.decode()


@step
def logs_are_read_and_followed(node):
    node.peer.log.append("one")
    node.peer.log.append("two")
    equal(node.run("logs", "web", "--tail=1"), (0, b"two\n", ""))
    following = node.start("logs", "-f", "web")
    equal(following.stdout.readline(), b"one\n")
    equal(following.stdout.readline(), b"two\n")
    node.peer.log.append("three")
    equal(following.stdout.readline(), b"three\n")
    # A client that disconnects early must not affect the other one.
    leaving = node.start("logs", "-f", "web")
    equal(leaving.stdout.readline(), b"one\n")
    leaving.terminate()
    leaving.communicate()
    node.peer.log.end()
    out, err = following.communicate(timeout=COMMAND_SECONDS)
    equal((following.returncode, out, err), (0, b"", b""))


@step
def the_node_knows_the_server_by_its_certificate(node):
    node.run("logs", "web")
    method, path, headers, subject = node.peer.requests[-1]
    equal((method, path.split("?")[0]), ("GET", "/containerLogs/default/web/main"))
    equal(subject["commonName"], "kube-apiserver-kubelet-client")
    assert not [name for name in headers if name.lower() in ("authorization", "cookie")], headers


@step
def words_of_the_node_reach_the_client(node):
    code, _, err = node.run("logs", "web", "--previous")
    equal(code, 1)
    assert "Error from server (BadRequest): previous terminated container" in err, err
    code, _, err = node.run("exec", "web", "--", "gone")
    equal(code, 1)
    assert 'unable to upgrade connection: container not found ("main")' in err, err


@step
def exec_separates_the_streams(node):
    for env in ({}, SPDY):
        equal(node.run("exec", "web", "--", "sh", "-c", "echo out; echo err >&2", env=env), (0, b"out\n", "err\n"))
        equal(node.run("exec", "web", "--", "printf", "%s|", "a b", "&c=d?", "ä+%", env=env),
              (0, "a b|&c=d?|ä+%|".encode(), ""))


@step
def exec_ends_with_the_code_of_the_command(node):
    for env in ({}, SPDY):
        code, _, err = node.run("exec", "web", "--", "sh", "-c", "exit 42", env=env)
        equal(code, 42)
        assert "exit code 42" in err, err
        code, _, err = node.run("exec", "web", "--", "/no/such/program", env=env)
        equal(code, 1)
        assert "executable file not found" in err, err


@step
def exec_copies_stdin_and_closes_it(node):
    text = b"".join(b"%d\n" % i for i in range(200_000))
    for env in ({}, SPDY):
        code, out, err = node.run("exec", "-i", "web", "--", "cat", stdin=text, env=env)
        equal((code, err), (0, ""))
        assert out == text, f"{len(out)} bytes of {len(text)}"


@step
def exec_carries_much_output(node):
    code, out, _ = node.run("exec", "web", "--", "head", "-c", "20000000", "/dev/zero")
    equal((code, len(out)), (0, 20_000_000))


@step
def exec_has_a_terminal_of_the_right_size(node):
    for env in ({}, SPDY):
        near, far = pty.openpty()
        fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 43, 132, 0, 0))
        process = node.start("exec", "-it", "web", "--", "sh", "-c",
                             "while [ $(stty size | cut -d' ' -f1) = 0 ]; do :; done; stty size; read x; echo got $x",
                             terminal=far, env=env)
        os.close(far)
        text = read_until(near, b"43 132")
        os.write(near, b"hello\n")
        text = read_until(near, b"got hello")
        equal(process.wait(COMMAND_SECONDS), 0)
        os.close(near)
        assert text


def read_until(descriptor, wanted):
    text = b""
    while wanted not in text:
        ready, _, _ = select.select([descriptor], [], [], COMMAND_SECONDS)
        assert ready, f"no {wanted!r} in {text!r}"
        text += os.read(descriptor, 1000)
    return text


@step
def a_client_that_is_killed_ends_its_process(node):
    mark = os.path.join(node.directory, "lives")
    process = node.start("exec", "-i", "web", "--", "sh", "-c", f"touch {mark}; cat; rm {mark}")
    wait_until("the process runs", lambda: os.path.exists(mark), COMMAND_SECONDS)
    process.kill()
    process.communicate()
    wait_until("the connection to the node ended", lambda: not running_with(mark), COMMAND_SECONDS)


def running_with(text):
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, check=True).stdout.decode()
    return any(text in line and "touch" in line for line in found.splitlines())


@step
def attach_joins_the_process(node):
    for env in ({}, SPDY):
        code, out, _ = node.run("attach", "-i", "web", stdin=b"hello\n", env=env)
        equal((code, out), (0, b"attached\nhello\n"))


@step
def cp_copies_both_ways(node):
    source = os.path.join(node.directory, "source")
    os.makedirs(os.path.join(source, "sub"))
    contents = {"a": os.urandom(3_000_000), "sub/b": b"text\n"}
    for name, data in contents.items():
        with open(os.path.join(source, name), "wb") as file:
            file.write(data)
    there = os.path.join(node.directory, "there")
    back = os.path.join(node.directory, "back")
    code, _, err = node.run("cp", source, f"web:{there}")
    equal(code, 0)
    code, _, err = node.run("cp", f"web:{there}", back)
    equal(code, 0)
    for name, data in contents.items():
        with open(os.path.join(back, name), "rb") as file:
            assert file.read() == data, (name, err)


class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"x" * int(self.path.strip("/"))
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@step
def port_forward_carries_many_connections(node):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for env in ({}, SPDY):
            process = node.start("port-forward", "web", f":{server.server_address[1]}", env=env)
            try:
                line = process.stdout.readline().decode()
                assert "Forwarding from 127.0.0.1:" in line, line + process.stderr.read().decode()
                port = int(line.split("127.0.0.1:")[1].split()[0])
                sizes = [10, 5_000_000, 1000, 100_000]
                found = []
                threads = [threading.Thread(target=lambda n=n: found.append(fetch(port, n))) for n in sizes]
                for each in threads:
                    each.start()
                for each in threads:
                    each.join(COMMAND_SECONDS)
                equal(sorted(found), sorted(sizes))
            finally:
                process.kill()
                process.communicate()
    finally:
        server.shutdown()


def fetch(port, size):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{size}", timeout=COMMAND_SECONDS) as answer:
        return len(answer.read())


@step
def port_forward_says_that_nobody_listens(node):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        process = node.start("port-forward", "web", f":{taken.getsockname()[1]}")
        try:
            port = int(process.stdout.readline().decode().split("127.0.0.1:")[1].split()[0])
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.settimeout(COMMAND_SECONDS)
                with contextlib.suppress(ConnectionResetError):
                    equal(connection.recv(10), b"")
            text = process.stderr.readline().decode()
            assert "Connection refused" in text, text
        finally:
            process.kill()
            process.communicate()


@contextlib.contextmanager
def upgrade(node, path, protocol, *headers, token=ADMIN_TOKEN):
    """Yields a connection after an upgrade request, and the response with at least its headers."""
    tls = ssl.create_default_context(cafile=node.cluster.ca_file)
    with tls.wrap_socket(socket.create_connection(("127.0.0.1", node.cluster.port)),
                         server_hostname="127.0.0.1") as connection:
        connection.settimeout(COMMAND_SECONDS)
        lines = [f"GET {path} HTTP/1.1", "Host: api", f"Authorization: Bearer {token}", "Connection: Upgrade",
                 f"Upgrade: {protocol}", *headers]
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += connection.recv(1000)
        yield connection, answer


def websocket(node, path, protocol, token=ADMIN_TOKEN):
    return upgrade(node, path, "websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                   f"Sec-WebSocket-Protocol: {protocol}", token=token)


def read_frame(connection, buffer):
    """Returns the opcode and payload of the next WebSocket frame, and the bytes after it."""
    def need(count):
        nonlocal buffer
        while len(buffer) < count:
            data = connection.recv(4096)
            assert data, f"the connection ended inside of a frame: {buffer!r}"
            buffer += data
    need(2)
    length, start = buffer[1], 2
    if length == 126:
        need(4)
        length, start = struct.unpack(">H", buffer[2:4])[0], 4
    need(start + length)
    return buffer[0] & 15, buffer[start:start + length], buffer[start + length:]


def read_messages(connection, head, wanted):
    """Returns the binary messages up to `wanted`, joined, and the bytes after them."""
    rest, text = head.split(b"\r\n\r\n", 1)[1], b""
    opcode, payload, rest = read_frame(connection, rest)
    equal((opcode, payload), (2, b""))  # confirms the stream
    while wanted not in text:
        opcode, payload, rest = read_frame(connection, rest)
        equal(opcode, 2)
        text += payload
    return text, rest


@step
def logs_are_sent_over_websockets(node):
    node.peer.log = Log()
    node.peer.log.append("one")
    node.peer.log.append("two")
    path = "/api/v1/namespaces/default/pods/web/log"
    for headers in ("Sec-WebSocket-Protocol: binary.k8s.io", "Sec-WebSocket-Protocol: other, binary.k8s.io", "X-Other: 1"):
        with upgrade(node, path, "websocket", "Sec-WebSocket-Version: 13",
                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", headers) as (connection, head):
            assert head.startswith(b"HTTP/1.1 101"), head
            equal(b"sec-websocket-protocol: binary.k8s.io" in head.lower(), "binary" in headers)
            text, rest = read_messages(connection, head, b"two\n")
            equal(text, b"one\ntwo\n")
            opcode, payload, _ = read_frame(connection, rest)
            equal((opcode, payload[:2]), (8, struct.pack(">H", 1000)))
    with websocket(node, path, "base64.binary.k8s.io") as (_, head):
        assert head.startswith(b"HTTP/1.1 400"), head
    with websocket(node, path + "?previous=true", "binary.k8s.io") as (_, head):
        assert head.startswith(b"HTTP/1.1 400"), head


@step
def a_websocket_that_follows_a_log_ends_with_its_client(node):
    node.peer.log = Log()
    path = "/api/v1/namespaces/default/pods/web/log?follow=true"
    with websocket(node, path, "binary.k8s.io") as (connection, head):
        node.peer.log.append("one")
        equal(read_messages(connection, head, b"one\n")[0], b"one\n")
        wait_until("the log is followed", lambda: node.peer.log.readers == 1, COMMAND_SECONDS)
    # The node notices the end when it writes the next line.
    def ended():
        node.peer.log.append("more")
        return node.peer.log.readers == 0
    wait_until("the connection to the node ended", ended, COMMAND_SECONDS)


@step
def older_websockets_are_the_nodes_business(node):
    path = "/api/v1/namespaces/default/pods/web/exec?command=x&stdout=1"
    with websocket(node, path, "v4.channel.k8s.io") as (connection, head):
        assert head.startswith(b"HTTP/1.1 101"), head
        assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in head, head
        connection.sendall(b"any bytes at all")
        equal(connection.recv(100), b"any bytes at all")
    method, path, headers, _ = node.peer.requests[-1]
    equal((method, path), ("GET", "/exec/default/web/main?command=x&error=1&output=1"))
    assert "authorization" not in {name.lower() for name in headers}, headers


@step
def an_upgrade_that_failed_leaves_no_way_to_the_node(node):
    """CVE-2018-1002105: later data was sent to the node with the API server's credentials."""
    path = "/api/v1/namespaces/default/pods/web/exec?command=gone&stdout=1"
    with upgrade(node, path, "SPDY/3.1", "X-Stream-Protocol-Version: v4.channel.k8s.io") as (connection, answer):
        assert answer.startswith(b"HTTP/1.1 404"), answer
        asked = len(node.peer.requests)
        with contextlib.suppress(ConnectionError, ssl.SSLError):  # the server may have closed it
            connection.sendall(b"GET /containerLogs/default/web/main HTTP/1.1\r\nHost: api\r\n"
                               b"Connection: close\r\n\r\n")
            while data := connection.recv(4096):
                answer += data
        next_answers = answer.split(b"HTTP/1.1 ")[2:]
        assert all(each.startswith((b"401", b"403")) for each in next_answers), answer
        equal(len(node.peer.requests), asked)


@step
def who_may_only_get_may_not_open_a_stream(node):
    resources = ["pods", "pods/exec", "pods/attach", "pods/portforward", "pods/log"]
    rules = [{"apiGroups": [""], "resources": resources, "verbs": ["get"]}]
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/"
    equal(node.api("POST", rbac + "roles", {"metadata": {"name": "reader"}, "rules": rules})[0], 201)
    binding = {"metadata": {"name": "reader"}, "subjects": [{"kind": "User", "name": "reader"}],
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"}}
    equal(node.api("POST", rbac + "rolebindings", binding)[0], 201)
    wait_until("the role holds", lambda: node.run("logs", "web", "--token=reader-token")[0] == 0, COMMAND_SECONDS)
    code, _, err = node.run("exec", "web", "--token=reader-token", "--", "true")
    equal(code, 1)
    assert 'cannot create resource "pods/exec"' in err, err
    path = "/api/v1/namespaces/default/pods/web/exec?command=true"
    for protocol in ("v5.channel.k8s.io", "v4.channel.k8s.io"):
        with websocket(node, path, protocol, token="reader-token") as (_, head):
            assert head.startswith(b"HTTP/1.1 403"), head
    code, _, err = node.run("exec", "web", "--token=reader-token", "--", "true", env=SPDY)
    equal(code, 1)
    assert 'cannot create resource "pods/exec"' in err, err
    spdy = {"authorization": "Bearer reader-token", "connection": "Upgrade", "upgrade": "SPDY/3.1"}
    for what in ("exec?command=true", "attach", "portforward"):
        equal(node.api("GET", f"/api/v1/namespaces/default/pods/web/{what}", headers=spdy)[0], 403)


@step
def pods_and_services_are_proxied(node):
    address = own_address()
    if address == LOOPBACK:
        print("   (not run: this machine has only a loopback)")
        return
    server = http.server.ThreadingHTTPServer((address, 0), Echo)
    port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        node.add_pod("backend", "n1", address)
        pods = "/api/v1/namespaces/default/pods/"
        equal(node.api("GET", f"{pods}backend:{port}/proxy/7"), (200, "x" * 7))
        equal(len(node.api("GET", f"{pods}http:backend:{port}/proxy/5000000")[1]), 5_000_000)
        service = {"metadata": {"name": "echo"}, "spec": {"ports": [{"name": "http", "port": 80}]}}
        equal(node.api("POST", "/api/v1/namespaces/default/services", service)[0], 201)
        path = "/api/v1/namespaces/default/services/echo:80/proxy/3"
        equal(json.loads(node.api("GET", path)[1])["message"], 'no endpoints available for service "echo"')
        slice_ = {"metadata": {"name": "echo-1", "labels": {"kubernetes.io/service-name": "echo"}},
                  "addressType": "IPv4", "ports": [{"name": "http", "port": port}],
                  "endpoints": [{"addresses": ["192.0.2.1"], "conditions": {"ready": False}},
                                {"addresses": [address], "conditions": {"ready": True}}]}
        equal(node.api("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", slice_)[0], 201)
        wait_until("the endpoint is known", lambda: node.api("GET", path)[0] == 200, COMMAND_SECONDS)
        equal(node.api("GET", path), (200, "xxx"))
        equal(node.api("GET", path.replace(":80", ":http")), (200, "xxx"))
    finally:
        server.shutdown()
        server.server_close()
    code, text = node.api("GET", path)
    equal(code, 503)
    assert f"error trying to reach service: dial tcp {address}:{port}: connect: connection refused" in text, text


@step
def nodes_are_proxied(node):
    # Neither the loopback interface nor the API server itself (CVE-2022-3294).
    node.add_node("loopback", node.peer.port, LOOPBACK)
    node.add_node("itself", node.cluster.port, own_address())
    for name in ("loopback", "itself"):
        code, text = node.api("GET", f"/api/v1/nodes/{name}/proxy/healthz")
        equal((code, json.loads(text)["message"]), (400, "address not allowed"))
    if own_address() == LOOPBACK:
        print("   (not run: this machine has only a loopback)")
        return
    code, text = node.api("POST", "/api/v1/nodes/n1/proxy/a%2Fb/?q=1", {"x": 1})
    equal((code, json.loads(text)), (200, {"method": "POST", "path": "/a%2Fb/?q=1", "body": '{"x": 1}'}))
    headers = {name.lower(): value for name, value in node.peer.requests[-1][2].items()}
    equal(headers["x-forwarded-uri"], "/api/v1/nodes/n1/proxy/a%2Fb/")
    assert "authorization" not in headers, headers


@step
def kubectl_proxy_carries_streams(node):
    if own_address() == LOOPBACK:
        print("   (not run: this machine has only a loopback)")
        return
    process = node.start("proxy", "--port=0", "--reject-paths=^$", "--accept-paths=.*")
    try:
        port = int(process.stdout.readline().decode().rsplit(":", 1)[1])
        url = f"http://127.0.0.1:{port}/api/v1/nodes/n1/proxy/healthz"
        with urllib.request.urlopen(url, timeout=COMMAND_SECONDS) as answer:
            equal(json.loads(answer.read())["path"], "/healthz")
        config = {"--server": f"http://127.0.0.1:{port}"}
        code, out, err = node.run(*(f"{k}={v}" for k, v in config.items()), "exec", "web", "--", "echo", "hi")
        equal((code, out, err), (0, b"hi\n", ""))
    finally:
        process.kill()
        process.communicate()


@step
def a_node_that_is_down_is_told_of(node):
    node.add_node("down", 1, LOOPBACK)
    node.add_pod("lost", "down")
    refused = "dial tcp 127.0.0.1:1: connect: connection refused"
    code, _, err = node.run("logs", "lost")
    equal((code, err), (1, "Error from server: Get \"https://127.0.0.1:1/containerLogs/default/lost/main\": "
                           f"{refused}\n"))
    for env in ({}, SPDY):
        code, _, err = node.run("exec", "lost", "--", "true", env=env)
        equal(code, 1)
        assert f"error dialing backend: {refused}" in err, err
    code, _, err = node.run("port-forward", "lost", ":80")
    equal(code, 1)
    assert f"error dialing backend: {refused}" in err, err


@step
def metrics_count_streams_when_they_end(node):
    _, text = node.api("GET", "/metrics")
    lines = [line for line in text.splitlines() if 'subresource="exec"' in line]
    assert any(line.startswith("apiserver_request_total") and 'code="101"' in line for line in lines), lines
    running = [line for line in lines if line.startswith("apiserver_longrunning_requests")]
    assert running and all(line.endswith(" 0") for line in running), running


@step
def streams_are_audited_from_begin_to_end(node):
    node.run("exec", "web", "--", "printf", "audited")

    def stages():
        with open(node.cluster.path("audit.log"), encoding="utf-8") as file:
            events = [json.loads(line) for line in file if "command=audited" in line]
        return sorted((event["stage"], event.get("responseStatus", {}).get("code")) for event in events)

    wanted = [("RequestReceived", None), ("ResponseComplete", 101), ("ResponseStarted", 101)]
    wait_until("all stages are there", lambda: stages() == wanted, COMMAND_SECONDS)


@step
def many_streams_run_at_once(node):
    processes = [node.start("exec", "-i", "web", "--", "cat") for _ in range(20)]
    for number, process in enumerate(processes):
        out, err = process.communicate(b"%d" % number, timeout=COMMAND_SECONDS)
        equal((out, err), (b"%d" % number, b""))


def leave_streams_open(node):
    """Starts streams that only the shutdown of the server ends."""
    node.peer.log.ended = False
    left = [node.start("exec", "-i", "web", "--", "cat"), node.start("logs", "-f", "web"),
            node.start("exec", "-i", "web", "--", "cat", env=SPDY), node.start("port-forward", "web", ":80")]
    left[0].stdin.write(b"x")
    left[0].stdin.flush()
    equal(left[0].stdout.read(1), b"x")
    equal(left[1].stdout.readline(), b"one\n")
    left[2].stdin.write(b"y")
    left[2].stdin.flush()
    equal(left[2].stdout.read(1), b"y")
    assert b"Forwarding" in left[3].stdout.readline()
    return left


def main():
    kubectl = need_program("kubectl")
    need_program("openssl")
    with tempfile.TemporaryDirectory() as directory:
        make_certificates(directory)

        def path(name):
            return os.path.join(directory, name)

        peer = NodePeer(own_address(), path("node.crt"), path("node.key"), path("ca.crt"))
        arguments = ["--kubelet-certificate-authority", path("ca.crt"), "--kubelet-client-certificate",
                     path("client.crt"), "--kubelet-client-key", path("client.key"),
                     "--kubelet-preferred-address-types", "InternalIP",
                     "--audit-policy-file", path("policy"), "--audit-log-path", "{dir}/audit.log"]
        with open(path("policy"), "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]}, file)
        with open(path("tokens"), "w", encoding="utf-8") as file:
            file.write(TOKENS + "reader-token,reader,reader-uid\n")
        with Cluster(os.environ["COX_BIN"], token_file=path("tokens"), arguments=arguments) as cluster:
            node = Node(cluster, kubectl, peer, directory)
            failed = run_steps(node, sys.argv[1:], cluster.check_runs)
            left = leave_streams_open(node)
        # Cluster has checked that the server stopped cleanly; its clients must have ended too.
        for process in left[:3]:
            process.wait(COMMAND_SECONDS)
        for process in left:
            process.kill()
            process.communicate()
        peer.close()
    finish(failed)


if __name__ == "__main__":
    main()
