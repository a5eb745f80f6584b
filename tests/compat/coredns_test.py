# SPDX-License-Identifier: Apache-2.0
"""Sends the same queries to CoreDNS and to `coxswain dns` and compares the answers.

Environment: COX_BIN, the program under test.
"""

import json
import math
import os
import re
import socket
import ssl
import struct
import subprocess
import threading
import time
import urllib.request

import compat
import dns_client
import go_program
from cluster import ADMIN_TOKEN, Cluster, end_with_test, free_ports, need_program, wait_until

COREFILE = """
.:{port} {{
  bind 127.0.0.1
  errors
  kubernetes cluster.local in-addr.arpa ip6.arpa {{
    kubeconfig {kubeconfig}
    pods insecure
    fallthrough in-addr.arpa ip6.arpa
    ttl 30
  }}
  forward . 127.0.0.1:{upstream}
}}
"""

UPSTREAM_TTL = 300

# Intended differences and their reasons. The test fails if an entry has no difference any more.
_ALIAS = "an alias answers every type; CoreDNS hides one that has nothing of the type behind it"
MEANT = {
    "SRV out.default.svc.cluster.local": _ALIAS,
    "SRV gone.default.svc.cluster.local": _ALIAS,
    "SRV alias.default.svc.cluster.local": _ALIAS,
    "AAAA alias.default.svc.cluster.local": _ALIAS,
    "SRV _tcp.web.default.svc.cluster.local": "what has names below it exists; CoreDNS says it does not",
    "PTR 1.0.1.10.in-addr.arpa": "an index of all Pods' addresses on every node is more than the name is worth",
    "NS cluster.local": "CoreDNS does not find itself among the Services, we know our address",
    "A ns.dns.cluster.local": "as above",
    "A 1.1.96.10.in-addr.arpa": "the name exists, with a PTR; CoreDNS asks others about it",
}


def service(name, namespace="default", **spec):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def slice_of(name, number, family, ports, endpoints, namespace="default", headless=False):
    labels = {"kubernetes.io/service-name": name}
    if headless:
        labels["service.kubernetes.io/headless"] = ""
    return {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": family,
            "metadata": {"name": f"{name}-{number}", "namespace": namespace, "labels": labels},
            "ports": ports, "endpoints": endpoints}


def endpoint(address, hostname=None, **conditions):
    made = {"addresses": [address], "conditions": {"ready": True, **conditions}}
    if hostname:
        made["hostname"] = hostname
    return made


HTTP = {"name": "http", "protocol": "TCP", "port": 80}
SQL = {"name": "sql", "protocol": "TCP", "port": 5432}
OBJECTS = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}},
    service("web", clusterIP="10.96.1.1", ports=[HTTP, {"name": "echo", "protocol": "UDP", "port": 7}]),
    slice_of("web", 1, "IPv4", [{**HTTP, "port": 8080}], [endpoint("10.1.0.1"), endpoint("10.1.0.2")]),
    service("plain", clusterIP="10.96.1.2", ports=[{"protocol": "TCP", "port": 90}]),
    service("db", clusterIP="None", ports=[SQL]),
    slice_of("db", 1, "IPv4", [SQL], [endpoint("10.2.0.1", "db-0"), endpoint("10.2.0.2"),
                                      endpoint("10.2.0.3", "db-2", ready=False)], headless=True),
    slice_of("db", 2, "IPv6", [SQL], [endpoint("fd00:2::1", "db-0")], headless=True),
    service("empty", clusterIP="None", ports=[SQL]),
    service("out", type="ExternalName", externalName="www.example.test"),
    service("gone", type="ExternalName", externalName="nothing.example.test"),
    service("alias", type="ExternalName", externalName="web.default.svc.cluster.local"),
    service("api", "other", clusterIP="10.96.1.3", ports=[HTTP]),
    service("last", "other", clusterIP="10.96.1.4", ports=[HTTP]),
]
# Services and EndpointSlices come over two watches; these are the last objects of each.
LAST = [("last.other.svc.cluster.local", "A"), ("db-0.db.default.svc.cluster.local", "AAAA")]

ZONE = ".svc.cluster.local"
QUESTIONS = [(name + ZONE, kind) for name in
             ("web.default", "plain.default", "db.default", "empty.default", "api.other", "api.default", "web.nowhere")
             for kind in ("A", "AAAA", "SRV")]
QUESTIONS += [(name, kind) for name in ("out.default" + ZONE, "gone.default" + ZONE, "alias.default" + ZONE)
              for kind in ("A", "AAAA", "CNAME", "SRV")]
QUESTIONS += [(name + ZONE, "SRV") for name in
              ("_http._tcp.web.default", "_tcp.web.default", "_echo._udp.web.default", "_http._udp.web.default", "_none._tcp.web.default",
               "_sql._tcp.db.default", "_sql._tcp.empty.default", "_http._tcp.api.other")]
QUESTIONS += [
    ("db-0.db.default" + ZONE, "A"), ("db-0.db.default" + ZONE, "AAAA"), ("db-0.db.default" + ZONE, "SRV"),
    ("10-2-0-2.db.default" + ZONE, "A"), ("db-2.db.default" + ZONE, "A"), ("db-9.db.default" + ZONE, "A"),
    ("10-1-0-1.web.default" + ZONE, "A"), ("10-1-0-1.web.default" + ZONE, "SRV"), ("10-1-0-9.web.default" + ZONE, "A"),
    ("_http._tcp.web.default" + ZONE, "A"), ("_sql._tcp.db.default" + ZONE, "AAAA"),
    # Mixed case: resolvers randomize the case of letters against forged answers (0x20 encoding).
    ("wEb.DefAULT.sVc.CLUSTER.local", "A"), ("DB-0.db.default" + ZONE.upper(), "A"), ("_HTTP._Tcp.web.default" + ZONE, "SRV"),
    # Names that a resolver tries because of its search list.
    ("web.default.svc.cluster.local.default" + ZONE, "A"), ("www.example.test.default" + ZONE, "A"),
    ("web" + ZONE, "A"), ("web.cluster.local", "A"), ("default" + ZONE, "A"), ("svc.cluster.local", "A"),
    ("nowhere" + ZONE, "A"), ("x.y.z.web.default" + ZONE, "A"),
    # Pods.
    ("10-1-0-1.default.pod.cluster.local", "A"), ("10-1-0-1.default.pod.cluster.local", "AAAA"),
    ("fd00-2--1.default.pod.cluster.local", "AAAA"), ("10-1-0-1.nowhere.pod.cluster.local", "A"),
    ("name.default.pod.cluster.local", "A"), ("10-1-0-999.default.pod.cluster.local", "A"),
    ("pod.cluster.local", "A"), ("default.pod.cluster.local", "A"),
    # The zone itself.
    ("cluster.local", "A"), ("cluster.local", "SOA"), ("cluster.local", "NS"), ("dns-version.cluster.local", "TXT"),
    ("ns.dns.cluster.local", "A"), ("web.default" + ZONE, "TXT"), ("web.default" + ZONE, "MX"),
    # Reverse lookups.
    ("1.1.96.10.in-addr.arpa", "PTR"), ("2.1.96.10.in-addr.arpa", "PTR"), ("1.0.2.10.in-addr.arpa", "PTR"),
    ("2.0.2.10.in-addr.arpa", "PTR"), ("1.0.1.10.in-addr.arpa", "PTR"), ("3.0.2.10.in-addr.arpa", "PTR"), ("1.1.96.10.in-addr.arpa", "A"), ("9.9.9.9.in-addr.arpa", "PTR"),
    ("1." + "0." * 23 + "2.0.0.0.0.0.d.f.ip6.arpa", "PTR"),
    # Names outside of the cluster.
    ("www.example.test", "A"), ("www.example.test", "AAAA"), ("nothing.example.test", "A"),
]


class Upstream(threading.Thread):
    """The upstream server: www.example.test has an address, all other names are NXDOMAIN."""

    def __init__(self):
        super().__init__(daemon=True)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.start()

    def run(self):
        while True:
            query, peer = self._socket.recvfrom(4096)
            name, end = dns_client.read_name(query, 12)
            kind = struct.unpack_from("!H", query, end)[0]
            known = name.lower() == "www.example.test."
            answers = [bytes([192, 0, 2, 80])] if known and kind == dns_client.TYPES["A"] else []
            head = struct.pack("!HHHHHH", struct.unpack_from("!H", query)[0], 0x8180 | (0 if known else 3), 1,
                               len(answers), 0, 0)
            records = b"".join(b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, UPSTREAM_TTL, 4) + each for each in answers)
            self._socket.sendto(head + query[12:end + 4] + records, peer)


def create(cluster, made):
    api = "api/v1" if made["apiVersion"] == "v1" else "apis/" + made["apiVersion"]
    where = "" if made["kind"] == "Namespace" else f"/namespaces/{made['metadata']['namespace']}"
    request = urllib.request.Request(f"{cluster.url}/{api}{where}/{made['kind'].lower()}s", method="POST",
                                     data=json.dumps(made).encode(),
                                     headers={"authorization": "Bearer " + ADMIN_TOKEN, "content-type": "application/json"})
    urllib.request.urlopen(request, timeout=10, context=ssl.create_default_context(cafile=cluster.ca_file)).close()


def ask(port, name, kind, tcp=False):
    try:
        return dns_client.ask(port, name, kind, tcp=tcp)
    except OSError as error:
        return [f"no answer: {error}"]


def without_age(lines, seconds):
    """Resets the TTL of upstream answers that are at most `seconds` old: `coxswain dns` caches them
    and counts the TTL down; CoreDNS is configured without a cache."""
    def refresh(match):
        ttl = int(match[2])
        return f"{match[1]} {UPSTREAM_TTL if UPSTREAM_TTL - seconds <= ttl <= UPSTREAM_TTL else ttl} A"
    return [re.sub(r"(www\.example\.test\.) (\d+) A", refresh, line) for line in lines]


def without_negative_ttl(lines):
    """Removes the negative TTL: it is 5 s for `coxswain dns`, so that new names are found soon, and
    the TTL of names for CoreDNS."""
    return [re.sub(r"(\S+) \d+ SOA (.*) \d+$", r"\1 SOA \2", line) for line in lines]


def compare(ours, theirs):
    """Returns the differences that are not in MEANT, and entries of MEANT without a difference."""
    problems, same = [], 0
    began = time.monotonic()

    def ask_ours(name, kind, **options):
        said = ask(ours, name, kind, **options)
        return without_age(said, math.ceil(time.monotonic() - began))

    for name, kind in QUESTIONS:
        key = f"{kind} {name}"
        ours_said, theirs_said = ask_ours(name, kind), ask(theirs, name, kind)
        if ours_said != ask_ours(name, kind, tcp=True):
            problems.append(f"{key}: over TCP we answer otherwise than over UDP")
        ours_said, theirs_said = without_negative_ttl(ours_said), without_negative_ttl(theirs_said)
        if (ours_said == theirs_said) == (key in MEANT):
            lines = [f"  ours    {line}" for line in ours_said if line not in theirs_said]
            lines += [f"  CoreDNS {line}" for line in theirs_said if line not in ours_said]
            problems.append("\n".join([key, *lines]) if lines else f"{key} is a meant difference that is none")
        else:
            same += 1
    print(f"{same} of {len(QUESTIONS)} questions answered as meant")
    return problems


def main():
    need_program("etcd")
    coredns = go_program.build(".", module="coredns", output="coredns")
    upstream = Upstream()
    with Cluster(os.environ["COX_BIN"]) as cluster:
        ours, theirs = free_ports(2)
        corefile = cluster.path("Corefile")
        with open(corefile, "w") as file:
            file.write(COREFILE.format(port=theirs, kubeconfig=cluster.kubeconfig, upstream=upstream.port))
        commands = [[coredns, "-conf", corefile],
                    [os.environ["COX_BIN"], "dns", "--kubeconfig", cluster.kubeconfig, "--listen", "127.0.0.1",
                     "--port", str(ours), "--cluster-dns", "127.0.0.1", "--metrics-bind-address", "0",
                     "--forward", f"127.0.0.1:{upstream.port}"]]
        programs = []
        try:
            for command in commands:
                programs.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=end_with_test))
            for made in OBJECTS:
                create(cluster, made)
            for port in (ours, theirs):
                wait_until("all names are known", lambda at=port: all(
                    any(line.startswith("answer ") for line in ask(at, *question)) for question in LAST), 60)
            failures = compare(ours, theirs)
            failures += [f"{program.args[0]} ended early" for program in programs if program.poll() is not None]
        finally:
            for program in programs:
                program.terminate()
                program.wait(20)
    compat.finish(failures)


if __name__ == "__main__":
    main()
