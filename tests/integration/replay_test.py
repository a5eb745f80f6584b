# SPDX-License-Identifier: Apache-2.0
"""Replays the recorded exchanges of the reference; each area must reach its minimum.

    replay_test.py [--write-floors]

Environment: COX_BIN, the program under test; COX_SHARED, the folder with reference/replay. The
minimums are in replay_floors.txt. Raise a minimum in the change that improves the area; lower it
only with a reason in the commit message. Mismatches are written to replay.log in the current
directory.

Some responses depend on time: for example, field managers are sorted by the second of their last
write, and the reference wrote all of them within one. An area below its minimum is therefore
replayed up to twice more, alone.
"""

import os
import re
import subprocess
import sys

from cluster import Cluster, end_with_test, need_program, skip

FOLDER = os.path.dirname(os.path.abspath(__file__))
FLOORS = os.path.join(FOLDER, "replay_floors.txt")
REPLAY = os.path.join(FOLDER, "replay_reference.py")
LOG = "replay.log"
# A run takes a few minutes; the limit of the test is 600 s (CMakeLists.txt).
REPLAY_SECONDS = 1500
# Polling steps stop after this time. The reference settles within a second.
PATIENCE_SECONDS = 3
# Areas with watches, polls and delays: on a busy machine a few exchanges may time out.
TIMED = {"admission", "crd", "delete", "list", "namespace", "rbac", "subresources", "watch"}
SLACK = 3
SHOWN = 40
REPETITIONS = 2

FLOORS_HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Exchanges of the reference that pass, by area: replay_test fails when fewer do.
# Written by `replay_test.py --write-floors`; a few less than measured where timing has a say.
"""


def replay(shared, scenarios="*"):
    """Replays exchanges with a new server and returns the output, which is also written to LOG."""
    reference = os.path.join(shared, "reference")
    with Cluster(os.environ["COX_BIN"], os.path.join(reference, "tokens.csv")) as cluster:
        with open(LOG, "w") as log:
            subprocess.run([sys.executable, REPLAY, reference, "--url", cluster.url,
                            "--ca-file", cluster.ca_file, "--token-file", cluster.token_file,
                            "--patience", str(PATIENCE_SECONDS), "--only", scenarios],
                           stdout=log, stderr=subprocess.STDOUT, timeout=REPLAY_SECONDS, check=False,
                           preexec_fn=end_with_test)
        cluster.check_runs()
    with open(LOG, errors="replace") as log:
        return log.read()


def counts(output):
    """Returns {area: (passed, failed)} from the summary lines of the output."""
    areas = {name: (int(passed), int(failed)) for name, passed, failed
             in re.findall(r"^(\S+) +(\d+) passed +(\d+) failed$", output, re.M)}
    if not areas or not re.search(r"^\d+ passed, \d+ failed$", output, re.M):
        sys.exit("replay did not come to its end:\n" + output[-2000:])
    return areas


def read_floors():
    floors = {}
    with open(FLOORS) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                area, passed = line.split()
                floors[area] = int(passed)
    return floors


def slack(area):
    return SLACK if area in TIMED else 0


def write_floors(areas):
    with open(FLOORS, "w") as file:
        file.write(FLOORS_HEAD)
        for area, (passed, _) in sorted(areas.items()):
            file.write(f"{area} {max(0, passed - slack(area))}\n")


def compare(areas, floors):
    """Returns the areas below their minimum or without one, each with a message."""
    broken = {}
    for area in sorted(set(areas) | set(floors)):
        passed = areas.get(area, (0, 0))[0]
        if area not in floors:
            broken[area] = "has no floor: add it to replay_floors.txt"
        elif passed < floors[area]:
            broken[area] = f"passes {passed}, its floor is {floors[area]}"
        elif passed - slack(area) > floors[area]:
            print(f"the floor of {area} can be raised from {floors[area]} to {passed - slack(area)}")
    return broken


def show(areas, floors):
    for area, (passed, failed) in sorted(areas.items()):
        print(f"{area:<18} {passed:5} of {passed + failed:5}   floor {floors.get(area, '-')}")
    passed, failed = (sum(column) for column in zip(*areas.values()))
    print(f"{'total':<18} {passed:5} of {passed + failed:5}")


def show_mismatches(area, output):
    for line in re.findall(rf"^FAIL {re.escape(area)}/.*", output, re.M)[:SHOWN]:
        print("    " + line)


def main():
    shared = os.environ["COX_SHARED"]
    if not os.path.exists(os.path.join(shared, "reference", "replay")):
        skip(f"no reference exchanges in {shared}")
    need_program("etcd")
    output = replay(shared)
    areas = counts(output)
    if sys.argv[1:] == ["--write-floors"]:
        write_floors(areas)
    floors = read_floors()
    show(areas, floors)
    broken = compare(areas, floors)
    for area in sorted(set(broken) & set(areas) & set(floors)):
        for _ in range(REPETITIONS):
            print(f"{area} {broken[area]}; it is replayed again")
            show_mismatches(area, output)
            output = replay(shared, area + "/*")
            again = compare({area: counts(output)[area]}, {area: floors[area]})
            if not again:
                del broken[area]
                break
    for area, why in broken.items():
        print(f"FAIL {area} {why}; mismatches (all of them in {os.path.abspath(LOG)}):")
        show_mismatches(area, output)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
