# SPDX-License-Identifier: Apache-2.0
"""The images of the official tests, made from Debian packages and programs of the suite's Go module.

They have the official names and tags and hold what the conformance tests use of them, not all that the official images
hold. Images that no conformance test needs in order to pass on one node are not made: a Pod with one of them fails with
ErrImagePull.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from registry import RegistryServer, run  # noqa: E402  (a sibling folder, not a package)

# Its busybox has the version of the official image, 1.37: the tests compare messages of its shell.
SUITE = "trixie"
BASE = ["base-files", "busybox-static", "bash-static"]
PACKAGES = {
    "agnhost": BASE + ["bind9-dnsutils", "curl", "iproute2", "libc-bin", "netcat-openbsd", "util-linux"],
    "busybox": BASE,
    "glibc-dns-testing": BASE + ["bind9-dnsutils", "libc-bin"],
    "nginx": BASE + ["nginx"],
}
USERS = """root:x:0:0:root:/root:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/bin/false
"""
GROUPS = """root:x:0:
nogroup:x:65534:
"""
NGINX = """user root;
events {}
http {
  server {
    listen 80;
    root /usr/share/nginx/html;
  }
}
"""


def make(folder, storage, names, module):
    """Makes the images among `names` that are known here and stores them in a registry with its data in `storage`.

    folder: where agnhost, nnp and shell are. module: the source of the suite.
    """
    with tempfile.TemporaryDirectory(dir=folder) as directory:
        layout = _Layout(directory)
        _make_roots(layout, _Packages(os.path.join(directory, "apt")), folder, module)
        made = {name: config for name in names if (config := _config(name))}
        for name, config in made.items():
            layout.configure(config[0], name, config[1:])
        server = RegistryServer(directory, storage)
        server.start()
        try:
            for name in made:
                server.push(layout.path, layout.tags[name], name.partition("/")[2])
        finally:
            server.stop()


def _config(name):
    """The root file system of an image, and the arguments of `umoci config` that describe how it is run."""
    known = {
        "agnhost": ["agnhost", "--config.entrypoint", "/agnhost", "--config.cmd", "pause"],
        "busybox": ["busybox", "--config.cmd", "sh"],
        "glibc-dns-testing": ["glibc-dns-testing", "--config.cmd", "sh"],
        "kitten": ["kitten", "--config.entrypoint", "/agnhost", "--config.cmd", "test-webserver"],
        "nautilus": ["nautilus", "--config.entrypoint", "/agnhost", "--config.cmd", "test-webserver"],
        "nginx": ["nginx", "--config.cmd", "nginx", "--config.cmd", "-g", "--config.cmd", "daemon off;"],
        "nonewprivs": ["nonewprivs", "--config.cmd", "nnp"],
        "nonroot": ["busybox", "--config.user", "1234", "--config.cmd", "sh"],
        "pause": ["agnhost", "--config.entrypoint", "/agnhost", "--config.entrypoint", "pause"],
    }
    registry_name, _, path = name.partition("/")
    # The private registry asks for credentials that are not public.
    if registry_name != "registry.k8s.io":
        return None
    return known.get(path.rpartition("/")[2].partition(":")[0])


def _make_roots(layout, debian, folder, module):
    programs = {name: os.path.join(folder, name) for name in ("agnhost", "nnp", "shell")}
    sources = os.path.join(module, "test", "images")
    for name, packages in PACKAGES.items():
        with layout.new_root(name) as root:
            _install(root, debian.download(packages))
            if name == "agnhost":
                _add_agnhost(root, programs["agnhost"], os.path.join(sources, "agnhost"))
            elif name == "busybox":
                os.remove(os.path.join(root, "usr/bin/sh"))
                _copy(programs["shell"], root, "usr/bin/sh")
            elif name == "nginx":
                _write(root, "etc/nginx/nginx.conf", NGINX)
    with layout.new_root("nonewprivs", base="busybox") as root:
        path = _copy(programs["nnp"], root, "usr/local/bin/nnp")
        os.chmod(path, 0o6755)
    for name in ("kitten", "nautilus"):
        with layout.new_root(name, base="agnhost") as root:
            for file in (f"{name}.jpg", "data.json"):
                _copy(os.path.join(sources, name, "html", file), root, file)


def _add_agnhost(root, program, source):
    _copy(program, root, "agnhost")
    os.symlink("agnhost", os.path.join(root, "agnhost-2"))
    # As the package's script would do.
    os.remove(os.path.join(root, "usr/bin/nc"))
    os.symlink("nc.openbsd", os.path.join(root, "usr/bin/nc"))
    for name in ("localhost.crt", "localhost.key"):
        _copy(os.path.join(source, "porter", name), root, name)
    os.mkdir(os.path.join(root, "uploads"))
    _write(root, "etc/passwd", USERS + "user-defined-in-image:x:1000:1000::/home:/bin/sh\n")
    _write(root, "etc/group", GROUPS + "user-defined-in-image:x:1000:\ngroup-defined-in-image:x:50000:user-defined-in-image\n")


def _install(root, files):
    """Unpacks Debian packages into an empty folder. Their scripts are not run."""
    # base-files has the links from /bin and /lib to /usr.
    for path in sorted(files, key=lambda file: not os.path.basename(file).startswith("base-files_")):
        run("dpkg-deb", "-x", path, root)
    for name in ("tmp", "root", "run", "proc", "sys", "dev", "home"):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    os.chmod(os.path.join(root, "tmp"), 0o1777)
    _write(root, "etc/passwd", USERS)
    _write(root, "etc/group", GROUPS)
    run("ldconfig", "-r", root)
    # Not the shell of busybox: Debian's build prefers the commands of busybox to those of packages.
    shell = os.path.join(root, "usr/bin/sh")
    if os.path.lexists(shell):
        os.remove(shell)
    os.symlink("bash-static", shell)
    _link_applets(root)


def _link_applets(root):
    """Adds the commands of busybox that no package has brought."""
    busybox = os.path.join(root, "usr/bin/busybox")
    for name in subprocess.run([busybox, "--list"], check=True, text=True, stdout=subprocess.PIPE).stdout.split():
        places = [os.path.join(root, folder, name) for folder in ("usr/bin", "usr/sbin")]
        if not any(os.path.lexists(place) for place in places):
            os.symlink("/usr/bin/busybox", places[0])


def _copy(source, root, path):
    target = os.path.join(root, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(source, target)  # files in Go's cache are read-only
    os.chmod(target, 0o755 if os.access(source, os.X_OK) else 0o644)
    return target


def _write(root, path, text):
    target = os.path.join(root, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w") as file:
        file.write(text)


class _Packages:
    """The packages of one Debian suite, from this machine's own mirror, with an apt configuration in a folder."""

    def __init__(self, directory):
        self._directory = directory
        for name in ("lists/partial", "archives/partial"):
            os.makedirs(os.path.join(directory, name))
        # Nothing is installed: whatever a package depends on is downloaded with it.
        _write(directory, "status", "")
        _write(directory, "sources.list", f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {_mirror()} {SUITE} main\n")
        self._apt("update")

    def download(self, packages):
        """The files of the packages and of all that they depend on."""
        archives = os.path.join(self._directory, "archives")
        for name in os.listdir(archives):
            if name.endswith(".deb"):
                os.remove(os.path.join(archives, name))
        self._apt("-y", "--no-install-recommends", "--download-only", "install", *packages)
        return [os.path.join(archives, name) for name in os.listdir(archives) if name.endswith(".deb")]

    def _apt(self, *arguments):
        places = {"Dir::State": self._directory, "Dir::State::lists": "lists", "Dir::State::status": "status",
                  "Dir::Cache": self._directory, "Dir::Cache::archives": "archives",
                  "Dir::Etc::sourcelist": "sources.list", "Dir::Etc::sourceparts": "/dev/null",
                  "Dir::Etc::preferences": "/dev/null", "Dir::Etc::preferencesparts": "/dev/null"}
        options = [f"-o{key}={value if value.startswith('/') else os.path.join(self._directory, value)}"
                   for key, value in places.items()]
        run("apt-get", "-q", "-oAPT::Sandbox::User=root", *options, *arguments)


def _mirror():
    """Where this machine gets its own packages from."""
    said = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE) $(LABEL)", "Created-By: Packages"], check=True,
                          text=True, stdout=subprocess.PIPE)
    for line in said.stdout.splitlines():
        site, _, label = line.partition(" ")
        if label == "Debian":  # not Debian-Security or Debian Backports
            return site
    raise RuntimeError("apt knows no Debian mirror")


class _Layout:
    """An OCI layout in a folder: root file systems, and images of them."""

    def __init__(self, directory):
        self._directory = directory
        self.path = os.path.join(directory, "layout")
        self.tags = {}  # name of an image: its tag in the layout
        run("umoci", "init", "--layout", self.path)

    @contextlib.contextmanager
    def new_root(self, name, base=None):
        """A folder that becomes the root file system `name`, on top of `base`, when the block ends."""
        root = os.path.join(self._directory, "root-" + name)
        os.mkdir(root)
        yield root
        if base is None:
            base = name
            run("umoci", "new", "--image", f"{self.path}:{name}")
        run("umoci", "insert", "--image", f"{self.path}:{base}", "--tag", name, root, "/")
        shutil.rmtree(root)

    def configure(self, root, name, arguments):
        tag = self.tags[name] = f"image-{len(self.tags)}"
        run("umoci", "config", "--image", f"{self.path}:{root}", "--tag", tag,
             "--config.env", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", *arguments)
