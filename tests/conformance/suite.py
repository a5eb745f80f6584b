# SPDX-License-Identifier: Apache-2.0
"""Builds the official suite: the tests, ginkgo that runs them, and the images that they use.

All of it is kept in $XDG_CACHE_HOME/coxswain-conformance/<digest of what it is made from>, about 1 GB with the modules
in Go's own cache. The first build takes several minutes and needs the Go module registry and a Debian mirror.
"""

import hashlib
import json
import os
import shutil
import subprocess
import time

import suite_images

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ("go.mod", "go.sum", "suite.py", "suite_images.py", "shell/main.go")  # what the result depends on
TESTS = "k8s.io/kubernetes/test/e2e"
PROGRAMS = {
    "ginkgo": "github.com/onsi/ginkgo/v2/ginkgo",
    "agnhost": "k8s.io/kubernetes/test/images/agnhost",
    "nnp": "k8s.io/kubernetes/test/images/nonewprivs",
    "shell": "./shell",
}
_COMPLETE = "complete"  # the file that is written last, and touched by each use
_UNUSED_SECONDS = 7 * 24 * 3600


def folder():
    """Where the suite is, or will be, built."""
    digest = hashlib.sha256()
    for name in SOURCES:
        with open(os.path.join(HERE, name), "rb") as file:
            digest.update(file.read())
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(cache, "coxswain-conformance", digest.hexdigest()[:16])


def program(name):
    return os.path.join(folder(), name)


def registry_storage():
    return os.path.join(folder(), "registry")


def is_built():
    return os.path.exists(os.path.join(folder(), _COMPLETE))


def build():
    """Builds the suite unless that has been done, and removes what was built from other sources and not used for long."""
    if is_built():
        os.utime(os.path.join(folder(), _COMPLETE))
        return
    os.makedirs(folder(), exist_ok=True)
    for name, package in PROGRAMS.items():
        print(f"building {name} ...", flush=True)
        _go("build", "-o", program(name), package)
    print("building the tests, which takes several minutes ...", flush=True)
    _go("test", "-c", "-o", program("e2e.test"), TESTS)
    print("making the images ...", flush=True)
    suite_images.make(folder(), registry_storage(), _image_names(), _module_folder())
    with open(os.path.join(folder(), _COMPLETE), "w"):
        pass
    _remove_unused()


def _go(command, *arguments, **options):
    # Static programs, which run in images without a C library.
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly", "GOWORK": "off", "CGO_ENABLED": "0"}
    stripped = ["-trimpath", "-buildvcs=false", "-ldflags=-s -w"] if command in ("build", "test") else []
    return subprocess.run(["go", command, *stripped, *arguments], cwd=HERE, env=environment, check=True, text=True, **options)


def _image_names():
    """The images of the suite by their official names, registry and tag included."""
    listed = subprocess.run([program("e2e.test"), "--list-images"], check=True, text=True, stdout=subprocess.PIPE)
    return [line.strip() for line in listed.stdout.splitlines() if line.strip()]


def _module_folder():
    """The suite's source in Go's cache: some images have files of it."""
    found = _go("list", "-m", "-json", "k8s.io/kubernetes", stdout=subprocess.PIPE)
    return json.loads(found.stdout)["Dir"]


def _remove_unused():
    parent = os.path.dirname(folder())
    for name in os.listdir(parent):
        used = os.path.join(parent, name, _COMPLETE)
        if os.path.exists(used) and time.time() - os.path.getmtime(used) > _UNUSED_SECONDS:
            shutil.rmtree(os.path.join(parent, name), ignore_errors=True)
