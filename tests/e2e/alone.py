# SPDX-License-Identifier: Apache-2.0
"""Isolates a test: network, mounts and processes in new namespaces.

    alone.enter()   # first line of a test's main

The program starts itself again inside the namespaces. There it has an interface eth0 with an
address and the default route, as on a machine with a network, and all ports are free. When it ends
for any reason, the kernel removes the rest: processes, mounts, interfaces, rules, files below /etc
and /var. Only control groups
remain: the outer program removes them, and the test fails if there were any.
"""

import contextlib
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from harness import end_with_test, skip

MARK = "COX_E2E_ALONE"
ADDRESS = "192.0.2.10"  # of the machine; from TEST-NET-1
PROGRAMS = ("unshare", "ip", "nft", "mount", "kubectl", "etcd", "containerd", "runc", "docker-registry", "skopeo",
            "umoci", "busybox")


def enter():
    """Starts the program again in the namespaces; returns only there."""
    os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    if os.environ.get(MARK):
        _reap_orphans()
        _furnish()
        return
    _check_can_run()
    # Paths of Unix sockets must be short, so the build folder is not suitable.
    folder = os.environ[MARK] = tempfile.mkdtemp(prefix="cox-e2e-")
    inner = subprocess.Popen(
        ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "-B"]
        + sys.argv, preexec_fn=end_with_test)
    # unshare does not forward signals; the test is its only child.
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda number, _: _signal_child(inner.pid, number))
    code = inner.wait()
    left = _remove_cgroups()
    shutil.rmtree(folder, ignore_errors=True)
    if left and code == 0:
        print("FAIL: control groups left behind:", *left, sep="\n  ")
        code = 1
    sys.exit(code if code >= 0 else 1)


def directory():
    """Returns the test's own folder on a disk; it is removed after the test."""
    return os.environ[MARK]


def _signal_child(parent, number):
    with open(f"/proc/{parent}/task/{parent}/children") as file:
        for pid in file.read().split():
            os.kill(int(pid), number)


def _check_can_run():
    if os.geteuid() != 0:
        skip("this needs root")
    for name in PROGRAMS:
        if not shutil.which(name):
            skip(f"{name} is not installed")
    if not os.path.exists("/usr/lib/cni/bridge"):
        skip("the CNI plugins are not installed")
    probe = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "true"], stderr=subprocess.PIPE, text=True)
    if probe.returncode != 0:
        skip(f"no namespaces here: {probe.stderr.strip()}")


def _reap_orphans():
    """Returns in a child. This process, the first of its namespace, becomes the parent of orphans, such as the shims of
    containers: it waits for them, because thousands of zombies would slow down every program that reads /proc."""
    child = os.fork()
    if child == 0:
        return
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda number, _: os.kill(child, number))
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 1)


def _furnish():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # runs cleanup handlers
    for command in ("ip link set lo up",
                    "ip link add eth0 type veth peer name outside",
                    f"ip address add {ADDRESS}/24 dev eth0",
                    "ip link set eth0 up", "ip link set outside up",
                    "ip route add default dev eth0",
                    # Mounts stay in this namespace; /run propagates to nested namespaces.
                    "mount --make-rprivate /", "mount -t tmpfs tmpfs /run", "mount --make-shared /run",
                    "mkdir -p /run/lock /run/upper"):
        subprocess.run(command.split(), check=True)
    # Overlays discard the files that the test writes to these folders.
    for place in ("/etc", "/var/lib", "/var/log"):
        upper, work = f"/run/upper{place}", f"/run/upper{place}.work"
        os.makedirs(upper)
        os.makedirs(work)
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o",
                        f"lowerdir={place},upperdir={upper},workdir={work}", place], check=True)
        subprocess.run(["mount", "--make-shared", place], check=True)


def data_directory():
    """Returns the value for --data-dir."""
    return os.path.join(directory(), "data")


def group():
    """Returns the control group of the cluster; its name is derived from data_directory()."""
    number = 2166136261
    for byte in data_directory().encode():
        number = (number ^ byte) * 16777619 & 0xffffffff
    return f"cox{number:08x}"


def _roots():
    # cgroup v1 has one hierarchy per controller, v2 has one for all.
    return [path for path in ["/sys/fs/cgroup"] + glob.glob("/sys/fs/cgroup/*")
            if os.path.isdir(path) and os.path.exists(path + "/cgroup.procs")]


def cgroups():
    """Returns the control groups of this test's cluster, parents first."""
    found = []
    for root in _roots():
        top = os.path.join(root, group())
        if os.path.isdir(top):
            found.append(top)
            for path, folders, _ in os.walk(top):
                found += [os.path.join(path, folder) for folder in folders]
    return found


def _remove_cgroups():
    """Removes the remaining control groups and returns them."""
    left = cgroups()
    for path in reversed(left):
        with contextlib.suppress(OSError):
            os.rmdir(path)
    return left
