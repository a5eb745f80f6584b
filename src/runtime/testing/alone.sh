#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# alone.sh PROGRAM [ARGUMENT...]: runs the program in its own namespaces, if permitted: containers
# that it starts end with it, even when it is killed, and its network and files are isolated.
if ! unshare --net --mount --pid --fork true 2>/dev/null; then exec "$@"; fi
COX_TEST_CGROUP=/cox-test-$$
export COX_TEST_CGROUP
unshare --net --mount --pid --fork --kill-child --mount-proc sh -c '
  PATH=$PATH:/usr/sbin:/sbin
  TMPDIR=/run
  export PATH TMPDIR
  mount -t tmpfs tmpfs /run && ip link set lo up && exec "$0" "$@"' "$@"
code=$?
# Remove the cgroups that a crashed program has left behind.
for group in /sys/fs/cgroup"$COX_TEST_CGROUP" /sys/fs/cgroup/*"$COX_TEST_CGROUP"; do
  [ ! -d "$group" ] || find "$group" -depth -type d -exec rmdir {} \;
done
exit $code
