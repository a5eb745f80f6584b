# SPDX-License-Identifier: Apache-2.0
"""Admission webhooks: a real TLS server that the built API server calls.

    webhooks_test.py [STEP...]

Environment: COX_BIN, the program under test. The path selects the response of the webhook server.
Each step has its own configuration, whose objectSelector matches only the objects of that step.
"""

import base64
import http.server
import json
import os
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from certificates import RSA, make_ca, make_certificate
from cluster import ADMIN_TOKEN, Cluster, free_ports, need_program, wait_until
from steps import finish, run_steps, step

# The limit for a failing call on a busy machine, although its own timeout is shorter.
ENDS_WITHIN = 10
HUGE = 100 * 1024 * 1024


def make_certificates(directory):
    """Makes two CAs (ca.crt, other.crt), and a server certificate of the first (server.crt)."""
    for name in ("ca", "other"):
        make_ca(directory, name, RSA)
    make_certificate(directory, "server", "ca", "/CN=hook", "subjectAltName=IP:127.0.0.1,DNS:hook.default.svc", key=RSA)


def response(allowed=True, patch=None, **more):
    body = {"allowed": allowed, **more}
    if patch is not None:
        body.update(patchType="JSONPatch", patch=base64.b64encode(json.dumps(patch).encode()).decode())
    return body


class Hooks:
    """The webhook server. `answers` maps a path to a function; `seen` contains all requests."""

    def __init__(self, directory):
        self.answers, self.seen, self.peers = {}, [], set()
        self.released = threading.Event()  # ends hanging requests
        self._lock = threading.Lock()
        hooks = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                try:
                    hooks.answer(self)
                except (OSError, ssl.SSLError):  # the API server closed the connection
                    self.close_connection = True

            do_GET = do_POST  # for redirects, which must not be followed

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def finish_request(self, request, client_address):
                # The handshake runs in the thread of the connection, and may fail.
                try:
                    with hooks.tls.wrap_socket(request, server_side=True) as tls:
                        super().finish_request(tls, client_address)
                except (OSError, ssl.SSLError):
                    pass

        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(os.path.join(directory, "server.crt"), os.path.join(directory, "server.key"))
        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, handler):
        path = handler.path.split("?")[0]
        body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        request = json.loads(body)["request"] if body else {}
        with self._lock:
            self.seen.append((path, request))
            self.peers.add(handler.client_address)
        if path == "/hang":
            self.released.wait(60)
        elif path == "/huge":
            handler.send_response(200)
            handler.send_header("content-length", str(HUGE))
            handler.end_headers()
            for _ in range(HUGE // 65536):
                handler.wfile.write(b" " * 65536)
        elif path == "/redirect":
            self.send(handler, b"", 302, location=f"https://127.0.0.1:{self.port}/reached")
        elif path == "/500":
            self.send(handler, b"out of order", 500)
        elif path == "/garbage":
            self.send(handler, b"<html>not you</html>")
        else:
            given = self.answers.get(path, lambda _: response())(request)
            given = {"uid": request.get("uid"), **given}
            self.send(handler, json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                                           "response": given}).encode())

    @staticmethod
    def send(handler, body, code=200, **headers):
        handler.send_response(code)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    def requests(self, path):
        with self._lock:
            return [request for where, request in self.seen if where == path]


class Test:
    """The context of the steps: cluster, webhook server and requests."""

    def __init__(self, cluster, hooks, directory):
        self.cluster, self.hooks = cluster, hooks
        self.url = f"https://127.0.0.1:{hooks.port}"
        self.cas = {name: open(os.path.join(directory, name + ".crt"), "rb").read() for name in ("ca", "other")}
        self._tls = ssl.create_default_context(cafile=cluster.ca_file)
        self._markers = 0

    def request(self, method, path, body=None, content="application/json"):
        """Returns the status code, the decoded response and its warnings."""
        request = urllib.request.Request(self.cluster.url + path, method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Authorization": "Bearer " + ADMIN_TOKEN, "Content-Type": content})
        try:
            with urllib.request.urlopen(request, timeout=60, context=self._tls) as answer:
                return answer.status, json.loads(answer.read()), answer.headers.get_all("Warning") or []
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read()), error.headers.get_all("Warning") or []

    def config(self, kind, name, *hooks):
        """Creates a configuration for objects labelled case=NAME; returns when it is in effect."""
        self._create(kind, name, {"case": name}, hooks)
        # Configurations take effect in order: when the webhook of a later one is called, this one
        # is in effect.
        self._markers += 1
        marker = f"marker{self._markers}"
        self._create(kind, f"zz-{marker}", {"case": marker}, [self.hook(f"/{marker}")])

        def asked():
            self.map(marker, marker, query="?dryRun=All")
            return self.hooks.requests(f"/{marker}")
        wait_until(f"configuration {name} is in force", asked, 20)
        self.request("DELETE", self._path(kind) + f"/zz-{marker}")

    def hook(self, path, ca="ca", **more):
        return {"name": path.strip("/").replace("/", "-") + ".example.com", "sideEffects": "None",
                "admissionReviewVersions": ["v1"], "timeoutSeconds": 10,
                "rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["*"]}],
                "clientConfig": {"url": self.url + path, "caBundle": base64.b64encode(self.cas[ca]).decode()}, **more}

    @staticmethod
    def _path(kind):
        return f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations"

    def _create(self, kind, name, labels, hooks):
        hooks = [{**hook, "objectSelector": {"matchLabels": labels}} for hook in hooks]
        code, answer, _ = self.request("POST", self._path(kind), {"metadata": {"name": name}, "webhooks": hooks})
        assert code == 201, answer

    def drop(self, kind, name):
        code, answer, _ = self.request("DELETE", self._path(kind) + "/" + name)
        assert code == 200, answer

    def map(self, case, name, query="", **more):
        return self.request("POST", "/api/v1/namespaces/default/configmaps" + query,
                            {"metadata": {"name": name, "labels": {"case": case}}, **more})

    def kubectl(self, *arguments, stdin=None):
        done = subprocess.run([need_program("kubectl"), *arguments], input=stdin, text=True, check=False, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={"PATH": os.environ["PATH"], "HOME": self.cluster.path("home"),
                                   "KUBECONFIG": self.cluster.kubeconfig})
        return done.returncode, done.stdout


@step
def sidecar_is_injected(t):
    t.hooks.answers["/sidecar"] = lambda request: response(patch=[
        {"op": "add", "path": "/spec/containers/-", "value": {"name": "side", "image": "side:1"}}])
    t.config("mutating", "sidecar", t.hook("/sidecar"))
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"case": "sidecar"}},
           "spec": {"containers": [{"name": "web", "image": "web:1"}]}}
    code, text = t.kubectl("create", "-f", "-", stdin=json.dumps(pod))
    assert code == 0, text
    _, text = t.kubectl("get", "pod", "web", "-o", "jsonpath={.spec.containers[*].name} "
                        "{.spec.containers[1].terminationMessagePath}")
    assert text == "web side /dev/termination-log", text


@step
def denial_and_warnings_reach_kubectl(t):
    t.hooks.answers["/deny"] = lambda request: response(
        allowed=request["name"] != "bad", warnings=["careful with " + request["name"]],
        status={"code": 403, "message": "names must be good"})
    t.config("validating", "deny", t.hook("/deny"))
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "good", "labels": {"case": "deny"}}}
    code, text = t.kubectl("create", "-f", "-", stdin=json.dumps(config_map))
    assert code == 0 and "Warning: careful with good" in text, text
    config_map["metadata"]["name"] = "bad"
    code, text = t.kubectl("create", "-f", "-", stdin=json.dumps(config_map))
    assert code == 1 and "Warning: careful with bad" in text, text
    assert 'admission webhook "deny.example.com" denied the request: names must be good' in text, text
    code, text = t.kubectl("delete", "configmap", "good")
    assert code == 0, text
    deletion = t.hooks.requests("/deny")[-1]
    assert deletion["operation"] == "DELETE" and deletion["oldObject"]["metadata"]["name"] == "good", deletion
    assert deletion["userInfo"]["username"] == "admin" and deletion["object"] is None, deletion


# Path: text of the error after `failed calling webhook "x": `.
FAILURES = {
    "hang": 'failed to call webhook: Post "%s/hang?timeout=1s": context deadline exceeded',
    "huge": "failed to call webhook: the webhook's response is larger than",
    "redirect": "failed to call webhook: the server responded with the status code 302",
    "500": 'failed to call webhook: an error on the server ("out of order") has prevented the request from succeeding',
    "garbage": "failed to call webhook: couldn't get version/kind; json parse error: invalid character '<'",
    "uid": "received invalid webhook response: expected response.uid=",
    "refused": "connect: connection refused",
    "ca": "tls: failed to verify certificate: x509: certificate signed by unknown authority",
}


def failing_hook(t, mode, policy):
    hook = t.hook(f"/{mode}", timeoutSeconds=1 if mode == "hang" else 5, failurePolicy=policy, ca="other" if mode == "ca" else "ca")
    if mode == "refused":
        hook["clientConfig"]["url"] = f"https://127.0.0.1:{free_ports(1)[0]}/refused"
    return hook


@step
def every_failure_ends_in_time_as_the_policy_says(t):
    t.hooks.answers["/uid"] = lambda request: response(uid="another")
    for kind in ("mutating", "validating"):
        for mode, words in FAILURES.items():
            for policy, expected in (("Fail", 500), ("Ignore", 201)):
                case = f"fails-{kind}-{mode}-{policy.lower()}"
                t.config(kind, case, failing_hook(t, mode, policy))
                begin = time.monotonic()
                code, answer, _ = t.map(case, case)
                took = time.monotonic() - begin
                assert took < ENDS_WITHIN, f"{case} took {took:.1f} s"
                assert code == expected, (case, code, answer)
                if policy == "Fail":
                    text = (f'Internal error occurred: failed calling webhook "{mode}.example.com": ',
                            words % t.url if "%s" in words else words)
                    assert answer["message"].startswith(text[0]) and text[1] in answer["message"], (case, answer)
                t.drop(kind, case)
    assert not t.hooks.requests("/reached"), "a redirect was followed"


@step
def patch_that_does_not_apply_is_an_error_whatever_the_policy(t):
    t.hooks.answers["/bad-patch"] = lambda request: response(patch=[{"op": "remove", "path": "/spec/none"}])
    t.config("mutating", "bad-patch", t.hook("/bad-patch", failurePolicy="Ignore"))
    code, answer, _ = t.map("bad-patch", "bad-patch")
    assert code == 500 and "Internal error occurred: " in answer["message"], answer


@step
def pair_that_never_agrees_ends(t):
    for name in ("a", "b"):
        t.hooks.answers[f"/never-{name}"] = lambda request, name=name: response(
            patch=[{"op": "add", "path": "/data", "value": {"last": name}}])
    t.config("mutating", "never", *(t.hook(f"/never-{name}", reinvocationPolicy="IfNeeded") for name in ("a", "b")))
    code, answer, _ = t.map("never", "never")
    assert code == 201 and answer["data"] == {"last": "b"}, answer
    assert len(t.hooks.requests("/never-a")) == 2 and len(t.hooks.requests("/never-b")) == 2


@step
def dry_run_is_told_and_stores_nothing(t):
    t.hooks.answers["/dry"] = lambda request: response(
        patch=[{"op": "add", "path": "/data", "value": {"dry": str(request["dryRun"])}}])
    t.config("mutating", "dry", t.hook("/dry", sideEffects="NoneOnDryRun"))
    code, answer, _ = t.map("dry", "dry", query="?dryRun=All")
    assert code == 201 and answer["data"] == {"dry": "True"}, answer
    request = t.hooks.requests("/dry")[-1]
    assert request["options"]["dryRun"] == ["All"] and request["options"]["kind"] == "CreateOptions", request
    assert t.request("GET", "/api/v1/namespaces/default/configmaps/dry")[0] == 404


@step
def connections_are_kept(t):
    t.config("validating", "kept", t.hook("/kept"))
    t.hooks.peers.clear()
    for number in range(30):
        code, answer, _ = t.map("kept", f"kept-{number}")
        assert code == 201, answer
    assert len(t.hooks.requests("/kept")) == 30
    assert len(t.hooks.peers) <= 2, f"{len(t.hooks.peers)} connections for 30 calls"


@step
def validating_ones_are_asked_at_the_same_time(t):
    meet = threading.Barrier(3)

    def together(_):
        meet.wait(20)  # fails unless all three webhooks are called concurrently
        return response()
    for number in range(3):
        t.hooks.answers[f"/at-once-{number}"] = together
    t.config("validating", "at-once", *(t.hook(f"/at-once-{number}", timeoutSeconds=25) for number in range(3)))
    code, answer, _ = t.map("at-once", "at-once")
    assert code == 201, answer


@step
def service_is_reached_by_its_address_and_name(t):
    # Cluster IPs are not reachable without kube-proxy, so the Service has the type ExternalName.
    code, answer, _ = t.request("POST", "/api/v1/namespaces/default/services", {
        "metadata": {"name": "hook"}, "spec": {"type": "ExternalName", "externalName": "localhost"}})
    assert code == 201, answer
    hook = t.hook("/service")
    hook["clientConfig"] = {"caBundle": hook["clientConfig"]["caBundle"],
                            "service": {"namespace": "default", "name": "hook", "path": "/service", "port": t.hooks.port}}
    gone = t.hook("/gone")
    gone["clientConfig"] = {"service": {"namespace": "default", "name": "gone"}}
    t.config("validating", "service", hook)
    code, answer, _ = t.map("service", "service")
    assert code == 201 and len(t.hooks.requests("/service")) == 1, answer
    t.config("validating", "gone", gone)
    code, answer, _ = t.map("gone", "gone")
    assert code == 500 and answer["message"].endswith(
        'Post "https://gone.default.svc:443/?timeout=10s": service "gone" not found'), answer


@step
def configuration_that_is_gone_is_not_asked(t):
    t.hooks.answers["/short"] = lambda request: response(allowed=False)
    t.config("validating", "short", t.hook("/short"))
    assert t.map("short", "short")[0] == 400
    t.drop("validating", "short")
    wait_until("the webhook is not asked any more", lambda: t.map("short", "short")[0] in (201, 409), 20)


@step
def metrics_count_calls(t):
    request = urllib.request.Request(t.cluster.url + "/metrics", headers={"Authorization": "Bearer " + ADMIN_TOKEN})
    t.hooks.answers["/counted"] = lambda request: response(allowed=False)
    t.config("validating", "counted", t.hook("/counted"))
    t.map("counted", "counted")
    with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=t.cluster.ca_file)) as answer:
        text = answer.read().decode()
    for line in ('apiserver_admission_webhook_request_total{code="400",name="counted.example.com",operation="CREATE",'
                 'rejected="true",type="validating"} 1',
                 'apiserver_admission_webhook_rejection_count{error_type="no_error",name="counted.example.com",'
                 'operation="CREATE",rejection_code="400",type="validating"} 1',
                 'apiserver_admission_webhook_admission_duration_seconds_count{name="counted.example.com"',
                 'apiserver_admission_controller_admission_duration_seconds_count{name="ValidatingAdmissionWebhook"',
                 'apiserver_admission_step_admission_duration_seconds_count{operation="CREATE"'):
        assert line in text, f"{line} is missing in:\n" + "\n".join(
            each for each in text.splitlines() if "counted" in each)


def main():
    need_program("openssl")
    need_program("kubectl")
    with Cluster(os.environ["COX_BIN"]) as cluster:
        directory = cluster.path("hooks")
        os.makedirs(directory)
        make_certificates(directory)
        hooks = Hooks(directory)
        test = Test(cluster, hooks, directory)
        failed = run_steps(test, sys.argv[1:], cluster.check_runs)
        hooks.released.set()
    finish(failed)


if __name__ == "__main__":
    main()
