# SPDX-License-Identifier: Apache-2.0
"""A registry for images on the loopback."""

import os
import urllib.error
import urllib.request

from harness import STARTUP_SECONDS, Server, free_ports, need_program, wait_until


class RegistryServer:
    """docker-registry with its configuration and log in `directory` and its images in `storage`."""

    def __init__(self, directory, storage):
        self._directory = directory
        self._storage = storage
        self.address = f"127.0.0.1:{free_ports(1)[0]}"
        self._server = None

    def image(self, name):
        return f"{self.address}/{name}"

    def start(self):
        """Returns once it answers."""
        configuration = os.path.join(self._directory, "registry.yml")
        with open(configuration, "w") as file:
            file.write(f"version: 0.1\nlog: {{level: error}}\nstorage:\n  filesystem:\n"
                       f"    rootdirectory: {self._storage}\nhttp:\n  addr: {self.address}\n")
        self._server = Server("registry", [need_program("docker-registry"), "serve", configuration], self._directory)
        wait_until("the registry answers", self._answers, STARTUP_SECONDS)

    def stop(self):
        if self._server:
            self._server.stop()

    def _answers(self):
        self._server.check_runs()
        try:
            with urllib.request.urlopen(f"http://{self.address}/v2/", timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            return False
