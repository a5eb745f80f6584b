# SPDX-License-Identifier: Apache-2.0
"""Runs `coxswain proxy` and `coxswain dns` as programs, with a real API server and kernel.

Everything runs in a new network namespace, so the network of the machine is not changed.
Environment: COX_BIN, the program under test.
"""

import json
import os
import signal
import ssl
import subprocess
import sys
import urllib.error
import urllib.request

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(FOLDER, "..", "integration"), os.path.join(FOLDER, "..", "compat")]

import dns_client  # noqa: E402 (needs the path above)
from cluster import ADMIN_TOKEN, Cluster, end_with_test, need_program, skip, wait_until  # noqa: E402

COX = os.environ["COX_BIN"]
INSIDE = "COX_TEST_INSIDE"
VIP, ENDPOINT, DNS = "10.96.1.1", "10.1.0.1", "10.96.0.10"
OBJECTS = [
    ("api/v1/nodes", {"metadata": {"name": "node-1"}}),
    ("api/v1/namespaces/default/services",
     {"metadata": {"name": "web"}, "spec": {"clusterIP": VIP, "type": "NodePort",
                                            "ports": [{"name": "http", "port": 80, "nodePort": 30080}]}}),
    ("apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
     {"metadata": {"name": "web-1", "labels": {"kubernetes.io/service-name": "web"}}, "addressType": "IPv4",
      "ports": [{"name": "http", "protocol": "TCP", "port": 8080}],
      "endpoints": [{"addresses": [ENDPOINT], "conditions": {"ready": True}, "nodeName": "node-1"}]}),
    ("api/v1/namespaces/default/services",
     {"metadata": {"name": "front"}, "spec": {"type": "LoadBalancer", "externalTrafficPolicy": "Local",
                                              "healthCheckNodePort": 30081, "ports": [{"name": "http", "port": 80}]}}),
]


def front(ready):
    """Returns an EndpointSlice of the Service `front` with an endpoint on this node."""
    return {"metadata": {"name": "front-1", "labels": {"kubernetes.io/service-name": "front"}}, "addressType": "IPv4",
            "ports": [{"name": "http", "protocol": "TCP", "port": 8080}],
            "endpoints": [{"addresses": ["10.1.0.2"], "conditions": {"ready": ready}, "nodeName": "node-1"}]}


def enter_namespace():
    """Starts this program again in a new network namespace that has only a loopback interface."""
    if os.environ.get(INSIDE):
        return
    if os.geteuid() != 0:
        skip("network namespaces need root")
    unshare = need_program("unshare")
    if subprocess.run([unshare, "-n", "true"], check=False).returncode != 0:
        skip("this system lets nobody make network namespaces")
    os.environ[INSIDE] = "1"
    os.execv(unshare, [unshare, "-n", sys.executable, "-B", *sys.argv])


def create(cluster, path, made, method="POST"):
    request = urllib.request.Request(f"{cluster.url}/{path}", method=method, data=json.dumps(made).encode(), headers={
        "authorization": "Bearer " + ADMIN_TOKEN, "content-type": "application/json"})
    urllib.request.urlopen(request, timeout=10, context=ssl.create_default_context(cafile=cluster.ca_file)).close()


def get(url):
    """Returns the body, the status code as text if it is an error, or "" if there is no answer."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return str(error.code)
    except OSError:
        return ""


def rules():
    return subprocess.run([need_program("nft"), "list", "ruleset"], stdout=subprocess.PIPE, text=True, check=True).stdout


def start(*arguments):
    return subprocess.Popen([COX, *arguments], stdin=subprocess.DEVNULL, preexec_fn=end_with_test)


def end(program, how=signal.SIGTERM):
    program.send_signal(how)
    code = program.wait(30)
    assert how == signal.SIGKILL or code == 0, f"{program.args} ended with {code}"


def refused(*arguments):
    """Returns the output of a program that must fail to start."""
    done = subprocess.run([COX, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30,
                          check=False)
    assert done.returncode != 0, f"{arguments} was accepted"
    return done.stdout


def test_proxy(cluster):
    config = cluster.path("proxy.yaml")
    with open(config, "w") as file:
        file.write("apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: nftables\n"
                   f"clientConnection: {{kubeconfig: {cluster.kubeconfig}}}\nclusterCIDR: 10.1.0.0/16\n")
    flags = ["proxy", "--config", config, "--hostname-override", "node-1"]
    said = refused(*flags, "--proxy-mode=iptables")
    assert "nf_tables" in said, said
    proxy = start(*flags)
    wait_until("the endpoint is in the rules", lambda: f"dnat to {ENDPOINT}:8080" in rules(), 30)
    assert VIP in rules() and "30080" in rules(), rules()
    wait_until("the proxy is healthy", lambda: '"nodeEligible": true' in get("http://127.0.0.1:10256/healthz"), 10)
    assert get("http://127.0.0.1:10249/proxyMode") == "nftables"
    assert "kubeproxy_sync_proxy_rules_duration_seconds_count" in get("http://127.0.0.1:10249/metrics")
    # Load balancers poll this health check port of each node.
    slices = OBJECTS[2][0]
    wait_until("nobody is here", lambda: get("http://127.0.0.1:30081/") == "503", 10)
    create(cluster, slices, front(True))
    wait_until("one is here", lambda: '"localEndpoints": 1' in get("http://127.0.0.1:30081/"), 10)
    create(cluster, slices + "/front-1", front(False), "PUT")
    wait_until("it is not ready", lambda: get("http://127.0.0.1:30081/") == "503", 10)
    end(proxy)
    assert ENDPOINT in rules(), "rules outlive the proxy"
    proxy = start(*flags)
    wait_until("the proxy is healthy again", lambda: "nodeEligible" in get("http://127.0.0.1:10256/healthz"), 30)
    end(proxy, signal.SIGKILL)
    assert ENDPOINT in rules(), "and its death"
    subprocess.run([COX, "proxy", "--cleanup"], check=True, timeout=30)
    assert rules() == "", rules()


def test_dns(cluster):
    flags = ["dns", "--kubeconfig", cluster.kubeconfig, "--listen", DNS, "--add-addresses", "--forward", "none"]

    def knows():
        try:
            return f"answer web.default.svc.cluster.local. 30 A {VIP}" in dns_client.ask(
                53, "web.default.svc.cluster.local", "A", server=DNS)
        except OSError:
            return False

    def has_address():
        shown = subprocess.run([need_program("ip"), "addr", "show", "dev", "lo"], stdout=subprocess.PIPE, text=True, check=True)
        return DNS + "/32" in shown.stdout

    dns = start(*flags)
    wait_until("the name is known at the added address", knows, 30)
    end(dns, signal.SIGKILL)
    assert has_address(), "nobody was there to remove it"
    dns = start(*flags)
    wait_until("the name is known after a crash", knows, 30)
    end(dns)
    assert not has_address(), "the address outlives the server"


def main():
    enter_namespace()
    for program in ("etcd", "nft", "ip"):
        need_program(program)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with Cluster(COX) as cluster:
        for path, made in OBJECTS:
            create(cluster, path, made)
        test_proxy(cluster)
        test_dns(cluster)
        cluster.check_runs()
    print("ok")


if __name__ == "__main__":
    main()
