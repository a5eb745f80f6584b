#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# alone.sh PROGRAM [ARGUMENT...]: runs it in namespaces of its own, where that is allowed: the containers
# that it starts end with it, also when it is killed, and its network and files meet no others.
if ! unshare --net --mount --pid --fork true 2>/dev/null; then exec "$@"; fi
COX_TEST_CGROUP=/cox-test-$$
export COX_TEST_CGROUP
unshare --net --mount --pid --fork --kill-child --mount-proc sh -c '
  PATH=$PATH:/usr/sbin:/sbin
  TMPDIR=/run
  export PATH TMPDIR
  mount -t tmpfs tmpfs /run && ip link set lo up && exec "$0" "$@"' "$@"
code=$?
# A program that crashed has left its control groups, which nobody else takes away.
for group in /sys/fs/cgroup"$COX_TEST_CGROUP" /sys/fs/cgroup/*"$COX_TEST_CGROUP"; do
  [ ! -d "$group" ] || find "$group" -depth -type d -exec rmdir {} \;
done
exit $code
