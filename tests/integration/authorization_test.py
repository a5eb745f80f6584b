# SPDX-License-Identifier: Apache-2.0
"""Authorization, tested with kubectl: a node with a client certificate, a service account with a
Role, impersonation, and a webhook that is the last authorizer.

    authorization_test.py [STEP...]

Environment: COX_BIN, the program under test. The authorizers are Node, RBAC, Webhook; the webhook
is a server of this test that allows all requests of the user walter and denies none.
"""

import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

from certificates import make_ca, make_certificate
from cluster import ADMIN_TOKEN, TOKENS, Cluster, need_program, wait_until
from steps import equal, finish, has, run_steps, step

COMMAND_SECONDS = 180
CATCH_UP_SECONDS = 20
USERS = TOKENS + 'walter-token,walter,walter-uid,"staff"\nmallory-token,mallory,mallory-uid,"staff"\n'


class Webhook:
    """Answers SubjectAccessReviews and records their specs."""

    def __init__(self):
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                asked.append(review["spec"])
                review["status"] = {"allowed": review["spec"]["user"] == "walter", "reason": "walter may"}
                body = json.dumps(review).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/authorize"

    def stop(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Kubectl:
    """kubectl as one user."""

    def __init__(self, cluster, home, name, user):
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": cluster.url, "certificate-authority": cluster.ca_file}}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": name, "namespace": "a"}}]}
        file = os.path.join(home, name + ".kubeconfig")
        with open(file, "w") as out:
            json.dump(config, out)
        self._environment = {"PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C.UTF-8", "KUBECONFIG": file}

    def run(self, *arguments, stdin=None):
        return subprocess.run(["kubectl", *arguments], input=stdin, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=self._environment, timeout=COMMAND_SECONDS, check=False)

    def __call__(self, *arguments, stdin=None):
        """Returns the output; raises AssertionError unless kubectl succeeds."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, f"`kubectl {' '.join(arguments)}` ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def refused(self, *arguments, why="forbidden", stdin=None):
        """Raises AssertionError unless kubectl fails with `why` in its output."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode != 0, f"`kubectl {' '.join(arguments)}` was allowed:\n{done.stdout}"
        assert why in done.stdout, f"`kubectl {' '.join(arguments)}`: no {why!r} in:\n{done.stdout}"

    def make(self, *objects):
        return self("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))


class World:
    """The users of one cluster, and the objects that the steps need."""

    def __init__(self, cluster, home, webhook):
        self.webhook = webhook
        self.user = lambda name, user: Kubectl(cluster, home, name, user)
        self.admin = self.user("admin", {"token": ADMIN_TOKEN})
        self.node = self.user("node", {"client-certificate": os.path.join(home, "node.crt"),
                                       "client-key": os.path.join(home, "node.key")})
        self.admin("create", "namespace", "a")
        self.admin("create", "namespace", "b")
        for name in ("referenced", "other"):
            self.admin("create", "secret", "generic", name, "--from-literal=k=v")
            self.admin("create", "configmap", name, "--from-literal=k=v")
        self.admin.make(pod("mine", "n1"), pod("theirs", "n2"))


def pod(name, node):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"nodeName": node,
                     "containers": [{"name": "c", "image": "registry.example.com/app:1"}],
                     "volumes": [{"name": "s", "secret": {"secretName": "referenced" if node == "n1" else "other"}}]}}


@step
def node_reads_only_what_its_pods_reference(w):
    wait_until("the graph has the Pod", lambda: w.node.run("get", "secret", "referenced").returncode == 0,
               CATCH_UP_SECONDS)
    unrelated = "no relationship found between node 'n1' and this object"
    w.node.refused("get", "secret", "other", why=unrelated)
    w.node.refused("get", "configmap", "referenced", why=unrelated)
    w.node.refused("get", "pod", "theirs", why=unrelated)
    w.node.refused("get", "secrets", why="No Object name found")
    w.node.refused("get", "secrets", "-A")
    w.node.refused("get", "pods", "-A", why="can only list/watch pods with spec.nodeName field selector")
    has(w.node("get", "pods", "-A", "--field-selector=spec.nodeName=n1", "-o", "name"), "pod/mine")
    w.admin("delete", "pod", "mine", "--grace-period=0", "--force")
    wait_until("the graph has lost the Pod", lambda: w.node.run("get", "secret", "referenced").returncode != 0,
               CATCH_UP_SECONDS)
    w.admin.make(pod("mine", "n1"))


@step
def node_cannot_label_itself_into_privilege(w):
    w.node.make({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
    w.node("label", "node", "n1", "example.com/rack=7")
    w.node.refused("label", "node", "n1", "node-restriction.kubernetes.io/tier=gold", why="is not allowed to modify labels")
    w.node.refused("label", "node", "n1", "node-role.kubernetes.io/control-plane=", why="is not allowed to modify labels")
    w.node.refused("patch", "node", "n1", "--type=merge", "-p", '{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}',
                   why="is not allowed to modify taints")
    w.node.refused("patch", "node", "n1", "--type=merge", "-p", json.dumps({"metadata": {"ownerReferences": [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "11111111-2222-3333-4444-555555555555"}]}}),
                   why="is not allowed to modify ownerReferences")
    w.node.refused("create", "-f", "-", why="is not allowed to modify node \"n2\"",
                   stdin=json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2"}}))
    w.node.refused("delete", "node", "n1")
    w.node.refused("delete", "pod", "theirs", why="can only delete pods with spec.nodeName set to itself")
    w.node.refused("create", "-f", "-", why="can only create mirror pods", stdin=json.dumps(pod("plain", "n1")))
    w.node.refused("create", "clusterrolebinding", "root", "--clusterrole=cluster-admin", "--user=system:node:n1")


@step
def service_account_with_a_role_sees_its_namespace_only(w):
    w.admin("create", "serviceaccount", "reader")
    w.admin("create", "role", "reads-pods", "--verb=get,list,watch", "--resource=pods")
    w.admin("create", "rolebinding", "reader", "--role=reads-pods", "--serviceaccount=a:reader")
    token = w.admin("create", "token", "reader").strip()
    reader = w.user("reader", {"token": token})
    wait_until("the binding is known", lambda: reader.run("get", "pods").returncode == 0, CATCH_UP_SECONDS)
    has(reader("auth", "whoami"), "system:serviceaccount:a:reader", "system:serviceaccounts:a")
    equal(reader("auth", "can-i", "list", "pods").strip(), "yes")
    for arguments in (("get", "pods", "-n", "b"), ("get", "pods", "-A"), ("get", "secrets"), ("delete", "pod", "mine"),
                      ("create", "token", "reader")):
        reader.refused(*arguments)
    reader.refused("auth", "can-i", "list", "pods", "-n", "b", why="no")


@step
def impersonation_goes_through_every_authorizer(w):
    account = "--as=system:serviceaccount:a:reader"
    has(w.admin("get", "pods", account, "-o", "name"), "pod/mine")
    w.admin.refused("get", "pods", account, "-n", "b")
    node = ("--as=system:node:n1", "--as-group=system:nodes")
    w.admin("get", "secret", "referenced", *node)
    w.admin.refused("get", "secret", "other", *node, why="no relationship found")
    w.admin("get", "secret", "other", "--as=walter")
    w.admin.refused("get", "secret", "other", "--as=mallory")
    has(w.admin("auth", "whoami", "--as=walter", "--as-group=staff"), "walter", "staff")
    w.node.refused("get", "pods", "--as=walter", why="cannot impersonate")
    # The node authorizer has no rules to list, and the response contains a warning about that.
    has(w.admin.run("auth", "can-i", "--list", *node).stdout, "node authorizer does not support user rule resolution")


@step
def webhook_is_asked_last_and_about_those_it_may_know(w):
    walter, mallory = w.user("walter", {"token": "walter-token"}), w.user("mallory", {"token": "mallory-token"})
    walter("get", "secrets", "-A")
    equal(walter("auth", "can-i", "delete", "pods").strip(), "yes")
    mallory.refused("get", "secrets", "-A", why="cannot list resource \"secrets\"")
    asked = [spec for spec in w.webhook.asked if spec["user"] == "mallory" and "resourceAttributes" in spec]
    equal(asked[-1]["resourceAttributes"]["resource"], "secrets")
    assert "staff" in asked[-1].get("groups", []), asked[-1]
    # The webhook is not called if an earlier authorizer has allowed the request.
    assert not [spec for spec in w.webhook.asked if spec["user"] == "admin"], w.webhook.asked


def run_all(home, webhook):
    tokens, kubeconfig = os.path.join(home, "tokens.csv"), os.path.join(home, "webhook.yaml")
    with open(tokens, "w") as out:
        out.write(USERS)
    with open(kubeconfig, "w") as out:
        json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                   "clusters": [{"name": "c", "cluster": {"server": webhook.url}}], "users": [{"name": "u", "user": {}}],
                   "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}, out)
    with Cluster(os.environ["COX_BIN"], token_file=tokens, arguments=[
            "--client-ca-file", os.path.join(home, "ca.crt"), "--authorization-mode", "Webhook",
            "--authorization-webhook-config-file", kubeconfig, "--authorization-webhook-version", "v1"]) as cluster:
        return run_steps(World(cluster, home, webhook), sys.argv[1:], cluster.check_runs)


def main():
    for program in ("kubectl", "etcd", "openssl"):
        need_program(program)
    home = tempfile.mkdtemp(prefix="cox-authorization-")
    webhook = Webhook()
    try:
        make_ca(home, "ca")
        make_certificate(home, "node", "ca", "/O=system:nodes/CN=system:node:n1", "extendedKeyUsage=clientAuth")
        failed = run_all(home, webhook)
    finally:
        webhook.stop()
        shutil.rmtree(home, ignore_errors=True)
    finish(failed)


if __name__ == "__main__":
    main()
