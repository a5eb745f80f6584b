# SPDX-License-Identifier: Apache-2.0
"""An image registry on the loopback interface."""

import os
import subprocess
import urllib.error
import urllib.request

from harness import STARTUP_SECONDS, Server, free_ports, need_program, wait_until


def run(*command, directory=None):
    """Raises RuntimeError with the output of the command if it fails."""
    result = subprocess.run(command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {result.stdout}")


class RegistryServer:
    """docker-registry with its configuration and log in `directory` and its images in `storage`.

    `users`: the lines of a htpasswd file; without them no credentials are needed."""

    def __init__(self, directory, storage, users=None):
        self._directory = directory
        self._storage = storage
        self._users = users
        self.address = f"127.0.0.1:{free_ports(1)[0]}"
        self._server = None

    def image(self, name):
        return f"{self.address}/{name}"

    def start(self):
        """Returns when the registry answers."""
        configuration = os.path.join(self._directory, "registry.yml")
        with open(configuration, "w") as file:
            file.write(f"version: 0.1\nlog: {{level: error}}\nstorage:\n  filesystem:\n"
                       f"    rootdirectory: {self._storage}\nhttp:\n  addr: {self.address}\n")
            if self._users:
                file.write(f"auth:\n  htpasswd: {{realm: test, path: {self._write_users()}}}\n")
        self._server = Server("registry", [need_program("docker-registry"), "serve", configuration], self._directory)
        wait_until("the registry answers", self._answers, STARTUP_SECONDS)

    def _write_users(self):
        path = os.path.join(self._directory, "htpasswd")
        with open(path, "w") as file:
            file.write(self._users + "\n")
        return path

    def with_users(self, directory, users):
        """Returns another registry with the same images that requires credentials."""
        os.makedirs(directory)
        return RegistryServer(directory, self._storage, users)

    def push(self, layout, tag, name):
        """Pushes the image with this tag of an OCI layout folder as `name`."""
        run("skopeo", "--insecure-policy", "copy", "-q", "--dest-tls-verify=false", f"oci:{layout}:{tag}",
            f"docker://{self.image(name)}")

    def stop(self):
        if self._server:
            self._server.stop()

    def _answers(self):
        self._server.check_runs()
        try:
            with urllib.request.urlopen(f"http://{self.address}/v2/", timeout=5):
                return True
        except urllib.error.HTTPError as error:
            return error.code == 401
        except (urllib.error.URLError, OSError):
            return False
