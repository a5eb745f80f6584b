# SPDX-License-Identifier: Apache-2.0
"""The agent is killed while containerd creates a container; after the restart the Pod runs.

A wrapper script in place of runc blocks the creation. containerd drops a container whose creation
request was cancelled, but its process and its shim remain; the agent must find and remove them.

Environment: COX_BIN, the program under test.
"""

import os
import shutil

import alone
import leftovers
from api import CORE
from harness import wait_until
from whole_cluster import Cluster

HEAL_SECONDS = 120
# Blocks only containers of Pods, not their sandboxes, and only while the file `hold` exists.
SCRIPT = """#!/bin/sh
{runc} "$@" || exit
case " $* " in *" create "*) ;; *) exit 0 ;; esac
before=
for word; do [ "$before" = --bundle ] && bundle=$word; before=$word; done
grep -q '"io.kubernetes.cri.container-type":"container"' "$bundle/config.json" || exit 0
while [ -e {folder}/hold ]; do touch {folder}/held; sleep 0.02; done
"""


class SlowMaker:
    """Puts a wrapper of runc first in PATH, for processes started from now on."""

    def __init__(self):
        self._folder = os.path.join(alone.directory(), "maker")
        os.mkdir(self._folder)
        path = os.path.join(self._folder, "runc")
        with open(path, "w") as file:
            file.write(SCRIPT.format(runc=shutil.which("runc"), folder=self._folder))
        os.chmod(path, 0o755)
        os.environ["PATH"] = self._folder + ":" + os.environ["PATH"]

    def hold(self):
        open(os.path.join(self._folder, "hold"), "w").close()

    def await_held(self):
        wait_until("a container is made", lambda: os.path.exists(os.path.join(self._folder, "held")), 60, between=0.01)

    def let_go(self):
        os.remove(os.path.join(self._folder, "hold"))


def main():
    alone.enter()
    maker = SlowMaker()
    with Cluster() as cluster:
        maker.hold()
        cluster.kubectl("run", "broken", "--image", cluster.image("tools:1"), "--restart=Always")
        maker.await_held()
        cluster.kill()
        maker.let_go()
        cluster.up()
        cluster.pod("broken", seconds=HEAL_SECONDS)
        cluster.kubectl("delete", "pod", "broken", "--wait=false", "--grace-period=1")
        cluster.gone(CORE, "pods", None, HEAL_SECONDS)
        leftovers.await_none_of_pods(30)
    print("PASS")


if __name__ == "__main__":
    main()
