# SPDX-License-Identifier: Apache-2.0
"""Authentication: every kind of credential, with real issuers and files that change.

    authn_test.py [STEP...]

Environment: COX_BIN, the program under test. One server accepts all kinds of credentials: client
certificates, tokens of a file, of an OpenID Connect issuer and of a webhook (TLS servers of this
test), bootstrap tokens and front proxies. It logs at the highest verbosity; the last step searches
that log for credentials.
"""

import base64
import http.client
import http.server
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import machine
from certificates import make_ca, make_certificate, openssl
from cluster import ADMIN_TOKEN, TOKENS, Cluster, need_program, skip, wait_until, free_ports
from steps import finish, run_steps, step

SECONDS = 30
WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Files:
    """Certificates and keys that the test generates."""

    def __init__(self, directory):
        self.directory = directory

    def path(self, name):
        return os.path.join(self.directory, name)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def write(self, name, text):
        """Replaces a file atomically with a rename, as editors and the kubelet do."""
        with open(self.path(name + ".new"), "w") as file:
            file.write(text)
        os.rename(self.path(name + ".new"), self.path(name))
        return self.path(name)

    def ca(self, name):
        make_ca(self.directory, name)

    def certificate(self, name, ca, subject, usage):
        make_certificate(self.directory, name, ca, subject, f"extendedKeyUsage={usage}", "subjectAltName=IP:127.0.0.1")


class TlsServer:
    """An HTTPS server; `answer(method, path, body)` returns status code, headers and body."""

    def __init__(self, files, certificate, port, answer):
        self.url = f"https://127.0.0.1:{port}"
        self.seen = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                outer.seen.append(self.path)
                code, headers, text = answer(self.command, self.path, body)
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = handle_any

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(files.path(certificate + ".crt"), files.path(certificate + ".key"))
        self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()


class Issuer:
    """An OpenID Connect issuer: discovery, keys, and tokens signed with RSA."""

    def __init__(self, files, port, moved_to=None):
        self._files = files
        self._moved_to = moved_to
        self._keys = []
        self.server = TlsServer(files, "issuer", port, self._answer)
        self.url = self.server.url

    def add_key(self, name):
        openssl("genrsa", "-out", self._files.path(name + ".pem"), "2048")
        self._keys.append(name)

    def _jwk(self, name):
        text = openssl("rsa", "-in", self._files.path(name + ".pem"), "-modulus", "-noout").decode()
        return {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": name, "e": "AQAB",
                "n": url64(bytes.fromhex(text.strip().split("=")[1]))}

    def _answer(self, _method, path, _body):
        if self._moved_to:
            return 302, {"location": self._moved_to + path}, b""
        if path == "/.well-known/openid-configuration":
            document = {"issuer": self.url, "jwks_uri": self.url + "/keys"}
        else:
            document = {"keys": [self._jwk(name) for name in self._keys]}
        return 200, {"content-type": "application/json"}, json.dumps(document).encode()

    def token(self, key, **claims):
        everything = {"iss": self.url, "aud": "kube", "sub": "carol", "exp": int(time.time()) + 600,
                      "groups": ["dev"], **claims}
        text = (url64(json.dumps({"alg": "RS256", "kid": key}).encode()) + "." + url64(json.dumps(everything).encode()))
        return text + "." + url64(openssl("dgst", "-sha256", "-sign", self._files.path(key + ".pem"), data=text.encode()))


class AuthnCluster(Cluster):
    """An API server with a store in memory that accepts every kind of credential."""

    def start(self):
        self._directory = tempfile.mkdtemp(prefix="cox-authn-")
        self.files = Files(self._directory)
        self.port, issuer_port, moved_port, webhook_port = free_ports(4)
        self.url = f"https://127.0.0.1:{self.port}"
        self.secrets = []  # must never be logged
        self._make_certificates()
        self.issuer = Issuer(self.files, issuer_port)
        self.moved = Issuer(self.files, moved_port, moved_to=self.issuer.url)
        self.issuer.add_key("key-one")
        self.release = threading.Event()  # ends hanging webhook requests
        self.webhook = TlsServer(self.files, "issuer", webhook_port, self._review)
        self.token_file = self._write("tokens.csv", TOKENS)
        self.ca_file = self.path("certs/apiserver.crt")
        # The layout of a Secret volume of the kubelet.
        os.makedirs(self.path("ca/..one"))
        self._write("ca/..one/ca.crt", self.files.read("clients.crt"))
        os.symlink("..one", self.path("ca/..data"))
        os.symlink("..data/ca.crt", self.path("ca/ca.crt"))
        self.server = self._spawn("apiserver", [
            self._binary, "apiserver", "--storage-backend", "memory", "--secure-port", str(self.port), "-v", "10",
            "--bind-address", "127.0.0.1", "--cert-dir", self.path("certs"), "--authorization-mode", "RBAC",
            "--service-cluster-ip-range", "10.96.0.0/16", "--disable-admission-plugins", "ServiceAccount",
            "--token-auth-file", self.token_file, "--client-ca-file", self.path("ca/ca.crt"),
            "--enable-bootstrap-token-auth", "--authentication-config", self._config(),
            "--authentication-token-webhook-config-file", self._webhook_kubeconfig(),
            "--authentication-token-webhook-version", "v1",
            "--requestheader-client-ca-file", self.files.path("proxies.crt"),
            "--requestheader-allowed-names", "front", "--requestheader-username-headers", "X-Remote-User",
            "--requestheader-group-headers", "X-Remote-Group", "--requestheader-extra-headers-prefix", "X-Remote-Extra-"])
        self._wait_ready(self.server)
        self.kubeconfig = self._write("kubeconfig", json.dumps(self._kubeconfig()))

    def _make_certificates(self):
        for ca in ("clients", "newclients", "proxies", "issuers"):
            self.files.ca(ca)
        self.files.certificate("issuer", "issuers", "/CN=issuer", "serverAuth")
        self.files.certificate("alice", "clients", "/O=dev/CN=alice", "clientAuth")
        self.files.certificate("bob", "newclients", "/O=dev/CN=bob", "clientAuth")
        self.files.certificate("front", "proxies", "/CN=front", "clientAuth")

    def _config(self):
        def issuer(url):
            return {"issuer": {"url": url, "audiences": ["kube"], "certificateAuthority": self.files.read("issuers.crt")},
                    "claimMappings": {"username": {"claim": "sub", "prefix": "oidc:"},
                                      "groups": {"claim": "groups", "prefix": "oidc:"}}}
        return self._write("authentication.json", json.dumps({
            "apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration",
            "jwt": [issuer(self.issuer.url), issuer(self.moved.url)],
            "anonymous": {"enabled": True, "conditions": [{"path": "/readyz"}, {"path": "/livez"}]}}))

    def _webhook_kubeconfig(self):
        self.secrets.append("the-servers-own-webhook-token")
        return self._write("webhook.json", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "w",
            "clusters": [{"name": "w", "cluster": {"server": self.webhook.url + "/review",
                                                   "certificate-authority": self.files.path("issuers.crt")}}],
            "users": [{"name": "w", "user": {"token": "the-servers-own-webhook-token"}}],
            "contexts": [{"name": "w", "context": {"cluster": "w", "user": "w"}}]}))

    def _review(self, _method, _path, body):
        review = json.loads(body)
        token = review["spec"]["token"]
        if token.startswith("hangs-in-the-webhook"):
            self.release.wait(60)
        if token == "vouched-for-by-webhook":
            review["status"] = {"authenticated": True, "user": {"username": "wendy", "groups": ["hooked"]},
                                "audiences": review["spec"].get("audiences", [])}
        else:
            review["status"] = {"authenticated": False}
        return 200, {"content-type": "application/json"}, json.dumps(review).encode()

    def connect(self, certificate=None):
        tls = ssl.create_default_context(cafile=self.ca_file)
        if certificate:
            tls.load_cert_chain(self.files.path(certificate + ".crt"), self.files.path(certificate + ".key"))
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=tls, timeout=SECONDS)

    def request(self, method, path, token=None, body=None, headers=None, certificate=None, connection=None):
        """Returns status code and decoded response."""
        given = {"content-type": "application/json", **(headers or {})}
        if token:
            given["authorization"] = "Bearer " + token
            if token not in self.secrets:
                self.secrets.append(token)
        own = connection or self.connect(certificate)
        own.request(method, path, None if body is None else json.dumps(body), given)
        answer = own.getresponse()
        text = answer.read()
        if connection is None:
            own.close()
        return answer.status, json.loads(text) if text[:1] == b"{" else text.decode()

    def whoami(self, token=None, **how):
        """Returns the userInfo of the server, or the status code as text, such as "401"."""
        code, review = self.request("POST", WHOAMI, token, {}, **how)
        return review["status"]["userInfo"] if code == 201 else str(code)

    def name(self, token=None, **how):
        user = self.whoami(token, **how)
        return user if isinstance(user, str) else user["username"]


@step
def tokens_of_an_issuer_name_users(cluster):
    token = cluster.issuer.token("key-one", jti="token-id-1")
    user = cluster.whoami(token)
    assert user["username"] == "oidc:carol" and "oidc:dev" in user["groups"], user
    assert user["extra"]["authentication.kubernetes.io/credential-id"] == ["JTI=token-id-1"], user
    for wrong in (cluster.issuer.token("key-one", aud="others"), cluster.issuer.token("key-one", exp=int(time.time()) - 5),
                  token[:-8] + ("AAAAAAAA" if not token.endswith("AAAAAAAA") else "BBBBBBBB")):
        assert cluster.name(wrong) == "401"


@step
def a_key_that_the_issuer_adds_is_found(cluster):
    cluster.issuer.add_key("key-two")
    token = cluster.issuer.token("key-two", sub="rita")
    wait_until("the new key is known", lambda: cluster.name(token) == "oidc:rita", SECONDS, between=0.5)


@step
def an_issuer_that_redirects_is_not_followed(cluster):
    wait_until("it was asked", lambda: cluster.moved.server.seen, SECONDS)
    before = len(cluster.issuer.server.seen)
    forged = cluster.moved.token("key-one")  # signed with a key of the other issuer
    assert cluster.name(forged) == "401"
    assert len(cluster.issuer.server.seen) == before, cluster.issuer.server.seen


@step
def the_token_file_changes_while_requests_run(cluster):
    ended, codes = threading.Event(), []

    def ask():
        connection = cluster.connect()
        while not ended.is_set():
            codes.append(cluster.request("GET", "/api/v1/namespaces", ADMIN_TOKEN, connection=connection)[0])

    workers = [threading.Thread(target=ask) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        assert cluster.name("token-of-nora") == "401"
        cluster.files.write("tokens.csv", TOKENS + "token-of-nora,nora,1,dev\n")
        wait_until("the new token is known", lambda: cluster.name("token-of-nora") == "nora", SECONDS)
        cluster.files.write("tokens.csv", "this is no token file\n")
        cluster.files.write("tokens.csv", TOKENS + "other-token,olga,2\n")
        wait_until("the old token is gone", lambda: cluster.name("token-of-nora") == "401", SECONDS)
    finally:
        ended.set()
        for worker in workers:
            worker.join()
    assert codes and set(codes) == {200}, set(codes)


@step
def the_client_ca_is_swapped_while_a_connection_lasts(cluster):
    kept = cluster.connect("alice")
    user = cluster.whoami(connection=kept)
    assert user["username"] == "alice" and "dev" in user["groups"], user
    assert user["extra"]["authentication.kubernetes.io/credential-id"][0].startswith("X509SHA256="), user
    assert cluster.name(certificate="bob") == "401"
    os.makedirs(cluster.path("ca/..two"))
    cluster.files.write("ca/..two/ca.crt", cluster.files.read("newclients.crt"))
    os.symlink("..two", cluster.path("ca/..data_tmp"))
    os.rename(cluster.path("ca/..data_tmp"), cluster.path("ca/..data"))
    wait_until("the new CA is in force", lambda: cluster.name(certificate="bob") == "bob", SECONDS)
    assert cluster.name(connection=kept) == "401"
    assert cluster.name(certificate="alice") == "401"


@step
def a_front_proxy_speaks_for_others_and_nobody_else_does(cluster):
    says = {"X-Remote-User": "petra", "X-Remote-Group": "proxied", "X-Remote-Extra-Scopes": "all"}
    user = cluster.whoami(headers=says, certificate="front")
    assert user["username"] == "petra" and "proxied" in user["groups"] and user["extra"] == {"scopes": ["all"]}, user
    assert cluster.name(headers=says) == "401"
    assert cluster.name(headers=says, certificate="bob") in ("bob", "401")
    assert cluster.name(ADMIN_TOKEN, headers=says) == "admin"
    code, config = cluster.request("GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication",
                                   ADMIN_TOKEN)
    assert code == 200 and config["data"]["requestheader-client-ca-file"] == cluster.files.read("proxies.crt"), config
    assert config["data"]["requestheader-allowed-names"] == '["front"]', config
    assert cluster.files.read("clients.crt") in config["data"]["client-ca-file"], config


@step
def bootstrap_tokens_are_secrets(cluster):
    token = "abc123.0123456789abcdef"
    cluster.secrets.append("0123456789abcdef")
    assert cluster.name(token) == "401"
    secrets = "/api/v1/namespaces/kube-system/secrets"
    code, answer = cluster.request("POST", secrets, ADMIN_TOKEN, {
        "metadata": {"name": "bootstrap-token-abc123"}, "type": "bootstrap.kubernetes.io/token",
        "stringData": {"token-id": "abc123", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
                       "auth-extra-groups": "system:bootstrappers:workers"}})
    assert code == 201, answer
    user = wait_until("the token is known", lambda: (lambda u: u if isinstance(u, dict) else None)(cluster.whoami(token)),
                      SECONDS)
    assert user["username"] == "system:bootstrap:abc123", user
    assert {"system:bootstrappers", "system:bootstrappers:workers"} <= set(user["groups"]), user
    assert cluster.request("DELETE", secrets + "/bootstrap-token-abc123", ADMIN_TOKEN)[0] == 200
    wait_until("the token is gone", lambda: cluster.name(token) == "401", SECONDS)


@step
def a_webhook_vouches_for_tokens_and_holds_up_nobody(cluster):
    user = cluster.whoami("vouched-for-by-webhook")
    assert user["username"] == "wendy" and "hooked" in user["groups"], user
    asked = len(cluster.webhook.seen)
    assert cluster.name("vouched-for-by-webhook") == "wendy"
    assert len(cluster.webhook.seen) == asked, "its answer is remembered"
    # Different tokens, because responses are cached. The server waits 10 s for each.
    hanging = [threading.Thread(target=cluster.name, args=(f"hangs-in-the-webhook-{i}",)) for i in range(8)]
    for each in hanging:
        each.start()
    wait_until("they hang", lambda: len(cluster.webhook.seen) >= asked + len(hanging), SECONDS)
    answered, begin = 0, time.monotonic()
    while answered < 20 and any(each.is_alive() for each in hanging):
        assert cluster.name(ADMIN_TOKEN) == "admin"
        answered += 1
    took = time.monotonic() - begin
    assert answered > 0, "the test was too slow to show anything"
    assert not machine.is_too_slow(took, 5), took
    cluster.release.set()
    for each in hanging:
        each.join()


@step
def anonymous_is_allowed_where_the_configuration_says(cluster):
    assert cluster.request("GET", "/readyz")[0] == 200
    assert cluster.request("GET", "/livez")[0] == 200
    for path in ("/healthz", "/version", "/api", "/readyz/ping"):
        assert cluster.request("GET", path)[0] == 401, path


@step
def the_serving_certificate_changes_while_running(cluster):
    def served():
        return ssl.get_server_certificate(("127.0.0.1", cluster.port)).strip()

    before = served()
    cluster.files.certificate("serving", "issuers", "/CN=new", "serverAuth")
    cluster.secrets.append(cluster.files.read("serving.key").split("\n")[1])
    cluster.files.write("certs/apiserver.key", cluster.files.read("serving.key"))
    cluster.files.write("certs/apiserver.crt", cluster.files.read("serving.crt"))
    wait_until("the new certificate is shown", lambda: served() == cluster.files.read("serving.crt").strip(), SECONDS)
    assert before != served()
    cluster.ca_file = cluster.files.path("issuers.crt")
    assert cluster.name(ADMIN_TOKEN) == "admin"


@step
def service_account_keys_change_while_running(cluster):
    code, _ = cluster.request("POST", "/api/v1/namespaces/default/serviceaccounts", ADMIN_TOKEN, {"metadata": {"name": "robot"}})
    assert code == 201
    path = "/api/v1/namespaces/default/serviceaccounts/robot/token"

    def make():
        answer = cluster.request("POST", path, ADMIN_TOKEN, {"spec": {"expirationSeconds": 600}})[1]
        return answer["status"]["token"]

    old = make()
    user = "system:serviceaccount:default:robot"
    wait_until("it is known", lambda: cluster.name(old) == user, SECONDS)
    key = openssl("genrsa", "2048").decode()
    cluster.secrets.append(key.split("\n")[1])
    cluster.files.write("certs/service-account.key", key)
    wait_until("its key is gone", lambda: cluster.name(old) == "401", SECONDS)
    assert cluster.name(make()) == user
    keys = cluster.request("GET", "/openid/v1/jwks", ADMIN_TOKEN)[1]
    assert [key["alg"] for key in keys["keys"]] == ["RS256"], keys


@step
def kubectl_auth_whoami(cluster):
    config = cluster._kubeconfig()
    config["clusters"][0]["cluster"]["certificate-authority"] = cluster.ca_file
    config["users"][0]["user"]["token"] = cluster.issuer.token("key-one")
    cluster.secrets.append(config["users"][0]["user"]["token"])
    file = cluster.files.write("whoami.json", json.dumps(config))
    text = subprocess.run([need_program("kubectl"), "--kubeconfig", file, "auth", "whoami"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, timeout=60,
                          env={"PATH": os.environ["PATH"], "HOME": cluster.path("home")}).stdout
    assert "oidc:carol" in text and "oidc:dev" in text, text


@step
def metrics_have_upstreams_names(cluster):
    text = cluster.request("GET", "/metrics", ADMIN_TOKEN)[1]
    for name in ('authentication_attempts{result="success"}', 'authentication_attempts{result="failure"}',
                 'authenticated_user_requests{username="admin"}', "authentication_duration_seconds_count",
                 "authentication_token_cache_request_total", "authentication_token_cache_fetch_total"):
        assert name in text, name
    assert "carol" not in text


@step
def cve_class_33_no_credential_is_ever_logged(cluster):
    """CVE-2019-11250, CVE-2020-8563..8566: at the highest verbosity, after every kind of credential was used."""
    assert len(cluster.secrets) > 12, cluster.secrets
    with open(cluster.server.log, errors="replace") as file:
        log = file.read()
    assert "Reloaded the file" in log, "the log is not the server's"
    for secret in cluster.secrets:
        assert secret not in log, f"the log holds {secret[:12]}..."
        # The signature of a token must not be logged either.
        signature = secret.rsplit(".", 1)[-1]
        assert len(signature) < 12 or signature not in log, f"the log holds the signature of {secret[:12]}..."
    assert "PRIVATE KEY" not in log and "Bearer " not in log


def main():
    binary = os.environ.get("COX_BIN")
    if not binary:
        skip("COX_BIN does not name the program under test")
    need_program("openssl")
    with AuthnCluster(binary) as cluster:
        failed = run_steps(cluster, sys.argv[1:], cluster.check_runs)
        if failed:
            print(cluster.server.log_tail())
    finish(failed)


if __name__ == "__main__":
    main()
