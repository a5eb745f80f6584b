# SPDX-License-Identifier: Apache-2.0
"""Runs the real kubectl's logs, exec and attach against the scripted peer of the SDK's tests.

    kubectl_streams_test.py PEER

kubectl implements the Kubernetes protocols. If it works with the peer, the peer implements them
correctly, and the SDK's tests run against a valid implementation.
"""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios

from cluster import end_with_test, need_program
from steps import equal, finish, run_steps, step

COMMAND_SECONDS = 180


class Peer:
    """The peer's process, and kubectl with a kubeconfig for it."""

    def __init__(self, program, kubectl, directory):
        self._kubectl = kubectl
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                         preexec_fn=end_with_test)
        port = int(self._process.stdout.readline())
        config = os.path.join(directory, "kubeconfig")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({
                "apiVersion": "v1", "kind": "Config", "current-context": "peer",
                "clusters": [{"name": "peer", "cluster": {"server": f"https://127.0.0.1:{port}",
                                                          "insecure-skip-tls-verify": True}}],
                "users": [{"name": "tester", "user": {"token": "tester"}}],
                "contexts": [{"name": "peer", "context": {"cluster": "peer", "user": "tester"}}],
            }, file)
        # Keep out the caller's own configuration, cache and plugins.
        self._environment = {"PATH": os.environ["PATH"], "HOME": directory, "LC_ALL": "C.UTF-8", "KUBECONFIG": config}

    def close(self):
        self._process.stdin.close()
        self._process.wait(COMMAND_SECONDS)

    def log(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def start(self, *arguments, terminal=subprocess.PIPE):
        return subprocess.Popen([self._kubectl, *arguments], stdin=terminal, stdout=terminal, stderr=terminal,
                                env=self._environment, preexec_fn=end_with_test)

    def run(self, *arguments, stdin=b""):
        """Returns exit code, stdout and stderr."""
        done = subprocess.run([self._kubectl, *arguments], input=stdin, capture_output=True, env=self._environment,
                              timeout=COMMAND_SECONDS, check=False)
        return done.returncode, done.stdout, done.stderr.decode()


@step
def exec_separates_the_streams(peer):
    code, out, err = peer.run("exec", "web", "--", "both")
    equal((code, out, err), (0, b"out", "err"))


@step
def exec_passes_arguments(peer):
    code, out, _ = peer.run("exec", "web", "-c", "main", "--", "echo", "a b", "&c=d?", "\u00e4+%")
    equal((code, out), (0, "a b &c=d? \u00e4+%\n".encode()))


@step
def exec_ends_with_the_code_of_the_command(peer):
    code, _, err = peer.run("exec", "web", "--", "exit", "42")
    equal(code, 42)
    assert "exit code 42" in err, err


@step
def exec_says_why_a_command_cannot_start(peer):
    code, _, err = peer.run("exec", "web", "--", "nosuch")
    equal(code, 1)
    assert "executable file not found" in err, err


@step
def exec_copies_stdin_and_closes_it(peer):
    text = b"".join(b"%d\n" % i for i in range(200_000))
    code, out, err = peer.run("exec", "-i", "web", "--", "cat", stdin=text)
    equal((code, err), (0, ""))
    assert out == text, f"{len(out)} bytes of {len(text)}"


@step
def exec_carries_much_output(peer):
    code, out, _ = peer.run("exec", "web", "--", "flood", "20000000")
    equal((code, len(out)), (0, 20_000_000))


@step
def exec_notices_a_lost_connection(peer):
    # The peer breaks the connection after it has read input. kubectl then drops unwritten output.
    process = peer.start("exec", "-i", "web", "--", "break")
    equal(process.stdout.read(len(b"partial")), b"partial")
    _, err = process.communicate(b"now", timeout=COMMAND_SECONDS)
    assert process.returncode != 0, err


@step
def exec_tells_the_size_of_the_terminal(peer):
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 43, 132, 0, 0))
    process = peer.start("exec", "-it", "web", "--", "size", terminal=far)
    os.close(far)
    text = b""
    while b"\n" not in text:
        text += os.read(near, 1000)
    equal((process.wait(COMMAND_SECONDS), text.strip()), (0, b"132x43"))
    os.close(near)


@step
def attach_joins_the_process(peer):
    code, out, _ = peer.run("attach", "web")
    equal((code, out), (0, b"attached\n"))
    code, out, err = peer.run("attach", "-i", "web", stdin=b"hello\n")
    equal((code, out), (0, b"attached\nhello\n"))


@step
def logs_are_read_and_followed(peer):
    peer.log("one")
    peer.log("two")
    code, out, _ = peer.run("logs", "web", "--tail=1", "--timestamps")
    equal((code, out), (0, b"2026-01-02T03:04:05.000000006Z two\n"))
    following = peer.start("logs", "-f", "web")
    equal(following.stdout.readline(), b"one\n")
    equal(following.stdout.readline(), b"two\n")
    peer.log("three")
    equal(following.stdout.readline(), b"three\n")
    peer.log("end")
    out, err = following.communicate(timeout=COMMAND_SECONDS)
    equal((following.returncode, out, err), (0, b"", b""))


@step
def a_pod_that_is_not_there_is_not_found(peer):
    for arguments in (["exec", "missing", "--", "both"], ["logs", "missing"], ["attach", "missing"]):
        code, _, err = peer.run(*arguments)
        equal(code, 1)
        assert 'pods "missing" not found' in err, err


def main():
    program = sys.argv[1]
    kubectl = need_program("kubectl")
    with tempfile.TemporaryDirectory() as directory:
        peer = Peer(program, kubectl, directory)
        try:
            failed = run_steps(peer)
        finally:
            peer.close()
    finish(failed)


if __name__ == "__main__":
    main()
