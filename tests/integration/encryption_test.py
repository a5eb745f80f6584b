#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Encryption at rest: checks the responses to clients and the stored bytes in a real etcd.

Covers every provider, rotation with and without a restart, removed keys, and a KMS plugin over gRPC
that is killed and restarted.
"""

import base64
import json
import os
import ssl
import subprocess
import sys
import urllib.error
import urllib.request

import cluster
from etcd_gateway import EtcdGateway

PASSWORD = "correct-horse-battery"
SECRETS = "/api/v1/namespaces/default/secrets"
HEAL_SECONDS = 40


def key(letter, size=32):
    return {"name": letter, "secret": base64.b64encode(letter.encode() * size).decode()}


def keyed(kind, *letters):
    return {kind: {"keys": [key(letter) for letter in letters]}}


IDENTITY = {"identity": {}}
# All keys that the tests encrypt with.
EVERYTHING = [keyed("aesgcm", "b", "a"), keyed("aescbc", "a"), keyed("secretbox", "a", "c"), IDENTITY]


class Plane(cluster.Cluster):
    """A cluster whose API server can be restarted with other flags and the same etcd."""

    def __init__(self, binary):
        super().__init__(binary)
        self._extra = []

    def _spawn(self, name, arguments):
        return super()._spawn(name, list(arguments) + (self._extra if name == "apiserver" else []))

    def configure(self, *rules):
        """Atomically writes a configuration of (resources, providers) rules."""
        text = json.dumps({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "EncryptionConfiguration",
                           "resources": [{"resources": names, "providers": list(providers)}
                                         for names, providers in rules]})
        self._write("encryption.new", text)
        os.replace(self.path("encryption.new"), self.path("encryption.yaml"))

    def restart(self, *extra, ready="/readyz"):
        old = next(server for server in self._servers if server.name == "apiserver")
        self._servers.remove(old)
        if not old.stop():
            raise cluster.ClusterError(f"the API server did not stop well:\n{old.log_tail()}")
        self._extra = ["--encryption-provider-config", self.path("encryption.yaml"), *extra]
        server = self._start_apiserver(self.etcd_url)
        cluster.wait_until("the API server is ready", lambda: self._answers(server, self.url + ready, b"ok"),
                           cluster.STARTUP_SECONDS)

    def encrypt(self, *providers, resources=("secrets",), flags=()):
        """Restarts the API server with one rule."""
        self.configure((list(resources), providers))
        self.restart(*flags)

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method, headers={
            "Authorization": f"Bearer {cluster.ADMIN_TOKEN}", "Content-Type": "application/json"},
            data=json.dumps(body).encode() if body is not None else None)
        tls = ssl.create_default_context(cafile=self.ca_file)
        try:
            with urllib.request.urlopen(request, timeout=30, context=tls) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def create(self, name):
        code, answer = self.call("POST", SECRETS, {
            "metadata": {"name": name}, "stringData": {"password": PASSWORD}})
        check(code == 201, f"create {name}: {code} {answer}")

    def problem(self, path):
        """Returns the error of a read; empty if it succeeds."""
        code, answer = self.call("GET", path)
        return "" if code == 200 else f"{code} {json.loads(answer)['message']}"

    def reads(self, name):
        code, answer = self.call("GET", f"{SECRETS}/{name}")
        return code == 200 and base64.b64decode(json.loads(answer)["data"]["password"]).decode() == PASSWORD

    def rewrite(self, name):
        """Updates a Secret without changes."""
        code, answer = self.call("GET", f"{SECRETS}/{name}")
        check(code == 200, f"get {name}: {code} {answer}")
        code, answer = self.call("PUT", f"{SECRETS}/{name}", json.loads(answer))
        check(code == 200, f"put {name}: {code} {answer}")

    def stored(self, name):
        value = EtcdGateway(self.etcd_url).get(f"/registry/secrets/default/{name}")
        check(value is not None, f"{name} is not in etcd")
        return value

    def rests_as(self, name, prefix):
        value = self.stored(name)
        check(value.startswith(prefix.encode()), f"{name} rests as {value[:40]}, not {prefix}")
        plain = PASSWORD.encode()
        check(plain not in value and base64.b64encode(plain) not in value, f"{name} can be read in etcd")


def check(condition, problem):
    if not condition:
        raise AssertionError(problem)


def test_providers(plane):
    plane.create("plain")
    value = plane.stored("plain")
    check(value.startswith(b"k8s\0") and PASSWORD.encode() in value, "without encryption bytes are Kubernetes' own")
    before = [IDENTITY]
    for kind in ("aescbc", "aesgcm", "secretbox"):
        provider = keyed(kind, "a")
        plane.encrypt(provider, *before)
        check(plane.reads("plain"), "what was there before can be read")
        plane.create("by-" + kind)
        plane.rests_as("by-" + kind, f"k8s:enc:{kind}:v1:a:")
        check(plane.reads("by-" + kind), f"{kind} reads what it wrote")
        check(plane.problem(SECRETS) == "", "all can be listed")
        plane.rewrite("plain")
        plane.rests_as("plain", f"k8s:enc:{kind}:v1:a:")
        revision = plane.stored("plain")
        plane.rewrite("plain")
        check(plane.stored("plain") == revision, "what is as it should be is not written again")
        code, _ = plane.call("POST", "/api/v1/namespaces/default/configmaps",
                             {"metadata": {"name": kind}, "data": {"open": "visible"}})
        value = EtcdGateway(plane.etcd_url).get(f"/registry/configmaps/default/{kind}")
        check(code == 201 and value.startswith(b"k8s\0") and b"visible" in value, "others are left alone")
        before.insert(0, provider)


def test_rotation(plane):
    everything = [keyed(kind, "a") for kind in ("secretbox", "aesgcm", "aescbc")]
    plane.encrypt(keyed("aesgcm", "b"), *everything, IDENTITY)
    for name in ("by-aescbc", "by-aesgcm", "by-secretbox", "plain"):
        check(plane.reads(name), f"{name} can be read during the rotation")
    plane.rewrite("plain")
    plane.rests_as("plain", "k8s:enc:aesgcm:v1:b:")
    plane.rests_as("by-aesgcm", "k8s:enc:aesgcm:v1:a:")
    plane.encrypt(keyed("aesgcm", "b"))
    check(plane.reads("plain"), "what was rewritten can be read without the old key")
    no_prefix = "500 Internal error occurred: no matching prefix found"
    check(plane.problem(SECRETS + "/by-aescbc") == no_prefix, plane.problem(SECRETS + "/by-aescbc"))
    check(plane.problem(SECRETS + "/by-aescbc?resourceVersion=0") == no_prefix, "also from the cache")
    check(plane.problem(SECRETS + "/by-aesgcm") == "500 Internal error occurred: no matching key was found for "
          "the provided AES transformer", plane.problem(SECRETS + "/by-aesgcm"))
    listed = plane.problem(SECRETS)
    check(listed == "500 Internal error occurred: unable to transform key \"/registry/secrets/default/by-aescbc\": "
          "no matching prefix found", listed)
    code, answer = plane.call("GET", SECRETS + "?watch=1&timeoutSeconds=5")
    check(code == 200 and b'"type":"ERROR"' in answer and b"unable to transform key" in answer, str(answer))
    code, answer = plane.call("DELETE", SECRETS + "/by-aescbc")
    check(code == 500, f"deleted what nobody could see: {answer}")
    check(plane.problem("/api/v1/namespaces/default/configmaps") == "", "other kinds are served")


def test_reload(plane):
    plane.encrypt(keyed("aesgcm", "b"), flags=["--encryption-provider-config-automatic-reload"])
    plane.create("before-reload")
    check(plane.problem(SECRETS) != "", "old values cannot be read yet")
    plane.configure((["secrets"], [keyed("secretbox", "c"), keyed("aesgcm", "b", "a"), keyed("aescbc", "a"),
                                   keyed("secretbox", "a")]))
    cluster.wait_until("the cache has what could not be read", lambda: plane.problem(SECRETS) == "", HEAL_SECONDS)
    plane.create("after-reload")
    plane.rests_as("after-reload", "k8s:enc:secretbox:v1:c:")
    check(plane.reads("before-reload"), "what an old key wrote can be read")
    plane._write("encryption.yaml", "kind: nonsense")
    plane.create("after-nonsense")
    plane.rests_as("after-nonsense", "k8s:enc:secretbox:v1:c:")
    code, metrics = plane.call("GET", "/metrics")
    check(code == 200, str(code))
    for line in (b'apiserver_storage_transformation_operations_total{resource="secrets",status="OK",'
                 b'transformation_type="to_storage",transformer_prefix="k8s:enc:secretbox:v1:"}',
                 b'apiserver_storage_transformation_duration_seconds_bucket{transformation_type="from_storage"',
                 b"apiserver_encryption_config_controller_automatic_reloads_total{"):
        check(line in metrics, f"no {line} in the metrics")


def test_everything(plane):
    """All resources: internal data, such as IP allocations, is encrypted and can be read again."""
    plane.encrypt(*EVERYTHING, resources=["*.*"])
    code, answer = plane.call("POST", "/api/v1/namespaces/default/services", {
        "metadata": {"name": "web"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}})
    check(code == 201, f"{code} {answer}")
    service = json.loads(answer)
    etcd = EtcdGateway(plane.etcd_url)
    address = service["spec"]["clusterIP"]
    for stored in ("/registry/services/specs/default/web", f"/registry/ipaddresses/{address}",
                   "/registry/ranges/servicenodeports"):
        value = etcd.get(stored)
        check(value is not None and value.startswith(b"k8s:enc:aesgcm:v1:b:"), f"{stored} rests as {value}")
    check(plane.problem(f"/apis/networking.k8s.io/v1/ipaddresses/{address}") == "", "the address can be read")
    plane.encrypt(*EVERYTHING, resources=["*.*"])
    check(plane.problem("/api/v1/namespaces/default/services/web") == "", "after a restart, too")
    code, _ = plane.call("DELETE", "/api/v1/namespaces/default/services/web")
    check(code == 200 and etcd.get(f"/registry/ipaddresses/{address}") is None, "its address is given back")


class Kms:
    """The KMS plugin on a Unix socket. Keys are derived from their IDs, so it can be restarted."""

    def __init__(self, program, directory):
        self._program = program
        self.socket = os.path.join(directory, "kms.sock")
        self._process = None

    def start(self, key_id):
        self._process = subprocess.Popen([self._program, self.socket, key_id], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                         preexec_fn=cluster.end_with_test)
        cluster.wait_until("the plugin listens", lambda: os.path.exists(self.socket), 20)

    def kill(self):
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        if os.path.exists(self.socket):
            os.remove(self.socket)


def test_kms(plane, kms):
    provider = {"kms": {"apiVersion": "v2", "name": "test", "endpoint": "unix://" + kms.socket, "timeout": "2s"}}
    kms.start("key-1")
    plane.configure((["secrets"], [provider, *EVERYTHING]), (["*.*"], EVERYTHING))
    plane.restart()
    check(plane.call("GET", "/readyz/kms-provider-0")[0] == 200, "the plugin is healthy")
    plane.create("by-kms")
    plane.rests_as("by-kms", "k8s:enc:kms:v2:test:")
    check(b"key-1" in plane.stored("by-kms"), "the id of the key rests beside it")
    check(plane.reads("by-kms") and plane.reads("plain"), "all can be read")

    kms.kill()
    check(plane.reads("by-kms"), "without the plugin what is known can be read")
    plane.create("by-kms-alone")
    plane.rests_as("by-kms-alone", "k8s:enc:kms:v2:test:")

    plane.restart(ready="/readyz?exclude=kms-provider-0")
    check(plane.call("GET", "/readyz")[0] == 500, "not ready without the plugin")
    check(plane.call("GET", "/livez")[0] == 200, "to start it anew would not help")
    problem = plane.problem(SECRETS + "/by-kms")
    check(problem.startswith("500 Internal error occurred: failed to decrypt DEK, error: rpc error: code = "
                             "Unavailable"), problem)
    check(plane.reads("plain"), "what others wrote can be read")
    code, answer = plane.call("POST", SECRETS, {"metadata": {"name": "never"}})
    check(code == 500, f"written without a key: {answer}")
    check(EtcdGateway(plane.etcd_url).get("/registry/secrets/default/never") is None, "written in plain text")

    kms.start("key-1")
    cluster.wait_until("the plugin is found again", lambda: plane.call("GET", "/readyz")[0] == 200, HEAL_SECONDS)
    cluster.wait_until("the cache has what could not be read", lambda: plane.problem(SECRETS) == "", HEAL_SECONDS)
    check(plane.reads("by-kms") and plane.reads("by-kms-alone"), "all can be read again")

    kms.kill()
    kms.start("key-2")
    plane.restart()
    check(plane.reads("by-kms"), "the plugin's old key opens what it wrote")
    plane.rewrite("by-kms")
    plane.rests_as("by-kms", "k8s:enc:kms:v2:test:")
    check(b"key-2" in plane.stored("by-kms"), "an update that changes nothing takes the new key")
    check(b"key-1" in plane.stored("by-kms-alone"), "and what is not updated does not")
    code, metrics = plane.call("GET", "/metrics")
    for line in (b'apiserver_envelope_encryption_kms_operations_latency_seconds_count{grpc_status_code="OK",'
                 b'method_name="/v2.KeyManagementService/Encrypt",provider_name="test"}',
                 b"apiserver_envelope_encryption_key_id_hash_total{",
                 b'apiserver_envelope_encryption_dek_source_cache_size{provider_name="test"}'):
        check(code == 200 and line in metrics, f"no {line} in the metrics")


def test_logs(plane):
    """CVE-2019-11250, CVE-2020-8563 to 8566: no tokens, keys or Secrets are logged at --v=10."""
    plane.configure((["secrets"], [keyed("aesgcm", "z"), *EVERYTHING]), (["*.*"], EVERYTHING))
    plane.restart("--v=10")
    plane.create("logged")
    check(plane.reads("logged"), "reads")
    code, answer = plane.call("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "logged"}})
    check(code == 201, f"{code} {answer}")
    code, answer = plane.call("POST", "/api/v1/namespaces/default/serviceaccounts/logged/token", {"spec": {}})
    check(code == 201, f"{code} {answer}")
    token = json.loads(answer)["status"]["token"]
    server = next(each for each in plane._servers if each.name == "apiserver")
    with open(server.log, "rb") as log:
        text = log.read()
    check(len(text) > 0, "it logs at all")
    for secret in (token.encode(), cluster.ADMIN_TOKEN.encode(), PASSWORD.encode(), base64.b64encode(PASSWORD.encode()), key("z")["secret"].encode(), b"z" * 32):
        check(secret not in text, f"the log holds {secret}")


def main():
    binary = os.environ["COX_BIN"]
    plugin = os.environ.get("COX_KMS_PLUGIN") or (sys.argv[1] if len(sys.argv) > 1 else "")
    tests = [test_providers, test_rotation, test_reload, test_everything]
    with Plane(binary) as plane:
        for test in tests:
            test(plane)
            print("ok", test.__name__, flush=True)
        if os.path.exists(plugin):
            kms = Kms(plugin, plane.path(""))
            try:
                test_kms(plane, kms)
            finally:
                kms.kill()
            print("ok test_kms", flush=True)
        else:
            print("no KMS plugin was built: test_kms left out", flush=True)
        test_logs(plane)
        print("ok test_logs", flush=True)


if __name__ == "__main__":
    main()
