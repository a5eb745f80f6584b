# SPDX-License-Identifier: Apache-2.0
"""Resources of a cluster on the machine: processes, mounts, interfaces, nftables rules, cgroups."""

import json
import os
import re
import subprocess

import alone
from harness import ClusterError, wait_until


def processes():
    """Returns the command lines of all processes by process ID."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace").split("\0")
            if words[0]:
                found[int(pid)] = " ".join(words).strip()
        except OSError:
            pass  # the process has ended
    return found


def shims():
    return sorted(pid for pid, line in processes().items() if "containerd-shim" in line.split(" ")[0])


def mounts():
    with open("/proc/self/mounts") as file:
        return sorted(line.split()[1] for line in file)


def links():
    """Returns the names of the network interfaces."""
    return sorted(each["ifname"] for each in json.loads(subprocess.check_output(["ip", "-j", "link"], text=True)))


def pod_links():
    return [name for name in links() if name.startswith("veth")]


def network_namespaces():
    return sorted(os.listdir("/run/netns")) if os.path.isdir("/run/netns") else []


def rules():
    """Returns the complete nftables ruleset."""
    return subprocess.check_output(["nft", "list", "ruleset"], text=True)


def rules_about(word):
    return [line.strip() for line in rules().splitlines() if re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.])", line)]


def snapshot():
    """Returns all resources, for comparison with `new_since`."""
    return {"process": sorted(line for pid, line in processes().items() if pid not in (1, os.getpid())),
            "mount": mounts(), "link": links(), "network namespace": network_namespaces(),
            "rule": rules().splitlines(), "control group": alone.cgroups()}


def new_since(before):
    """Returns one line for each resource that was not in the snapshot `before`."""
    found = []
    for kind, things in snapshot().items():
        gone = list(before[kind])
        for thing in things:
            if thing in gone:
                gone.remove(thing)
            else:
                found.append(f"{kind}: {thing.strip()}")
    return found


def of_pods():
    """Returns the resources that belong to Pods; empty if no Pod runs."""
    found = [f"shim: process {pid}" for pid in shims()]
    found += [f"link: {name}" for name in pod_links()]
    found += [f"network namespace: {name}" for name in network_namespaces()]
    # Root file systems and volumes of containers, not their parent folders.
    found += [f"mount: {path}" for path in mounts()
              if re.search(r"io\.containerd\..*/(rootfs|shm)$|/volumes/kubernetes\.io~|/volume-subpaths/", path)]
    found += [f"control group: {path}" for path in alone.cgroups() if re.search(r"/kubepods.*[/-]pod", path)]
    return found


def await_none_of_pods(seconds):
    try:
        wait_until("nothing of the Pods is left", lambda: not of_pods(), seconds)
    except ClusterError:
        raise ClusterError("left of deleted Pods:\n  " + "\n  ".join(of_pods())) from None
