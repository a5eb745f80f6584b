# SPDX-License-Identifier: Apache-2.0
"""A registry on the loopback interface with images made from busybox.

    pause:1      sleeps: for sandboxes
    tools:1      has a shell with all busybox commands; runs until SIGTERM or SIGINT
    web:v1, v2   answers on port 8080 with "<hostname> <version>"; keeps serving for 2 s after
                 SIGTERM, so that connections that were already routed to it succeed
    crash:1      prints "about to crash" and exits with 3
"""

import os
import shutil
import subprocess

from harness import need_program
from registry import RegistryServer, run

# PID 1 gets only signals for which it has a handler.
FOREVER = """#!/bin/sh
trap 'exit 0' TERM INT
while true; do sleep 3600 & wait $!; done
"""

WEB = """#!/bin/sh
mkdir -p /www
echo "$(hostname) VERSION" > /www/index.html
echo VERSION > /www/version
httpd -f -p 8080 -h /www &
server=$!
trap 'echo ending; sleep 2; kill $server; exit 0' TERM
echo "serving VERSION"
while true; do wait $server; kill -0 $server 2>/dev/null || exit 1; done
"""

CRASH = """#!/bin/sh
echo "about to crash"
exit 3
"""


class Registry(RegistryServer):
    def __init__(self, directory):
        directory = os.path.join(directory, "images")
        os.makedirs(directory)
        super().__init__(directory, os.path.join(directory, "registry"))

    def start(self):
        super().start()
        self._make()
        self._push()

    def _run(self, *command):
        run(*command, directory=self._directory)

    def _make(self):
        self._run("umoci", "init", "--layout", "layout")
        self._run("umoci", "new", "--image", "layout:base")
        self._insert("base")
        self._config("base", "pause:1", "/bin/sleep", "1000000")
        self._script("tools:1", FOREVER)
        self._script("crash:1", CRASH)
        for version in ("v1", "v2"):
            self._script(f"web:{version}", WEB.replace("VERSION", version))

    def _insert(self, tag):
        root = os.path.join(self._directory, "root")
        os.makedirs(os.path.join(root, "bin"))
        for folder in ("tmp", "etc", "root", "var"):
            os.mkdir(os.path.join(root, folder))
        os.chmod(os.path.join(root, "tmp"), 0o1777)
        busybox = os.path.join(root, "bin", "busybox")
        shutil.copy(need_program("busybox"), busybox)
        for name in subprocess.check_output([busybox, "--list"], text=True).split():
            if name != "busybox":
                os.symlink("busybox", os.path.join(root, "bin", name))
        self._run("umoci", "insert", "--image", f"layout:{tag}", "root", "/")

    def _script(self, name, text):
        tag = name.replace(":", "-")
        path = os.path.join(self._directory, tag + ".sh")
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)
        self._run("umoci", "insert", "--image", "layout:base", "--tag", tag, path, "/main.sh")
        self._config(tag, name, "/main.sh")

    def _config(self, base, name, *command):
        words = [word for each in command for word in ("--config.entrypoint", each)]
        self._run("umoci", "config", "--image", f"layout:{base}", "--tag", name.replace(":", "-"),
                  "--config.env", "PATH=/bin", *words)

    def _push(self):
        for name in ("pause:1", "tools:1", "web:v1", "web:v2", "crash:1"):
            self.push(os.path.join(self._directory, "layout"), name.replace(":", "-"), name)
