# SPDX-License-Identifier: Apache-2.0
"""Exec and port-forward of the official client against a scripted peer: streams.py PEER"""

import subprocess
import sys
import warnings

from kubernetes import client
from kubernetes.stream import portforward, stream

SECONDS = 30
POD = ("web", "default")


def run(api, *command, stdin=False):
    return stream(api.connect_get_namespaced_pod_exec, *POD, command=list(command), stdin=stdin, stdout=True,
                  stderr=True, tty=False, _preload_content=False)


def output_of_both_streams(api):
    process = run(api, "both")
    process.run_forever(timeout=SECONDS)
    assert (process.read_stdout(), process.read_stderr(), process.returncode) == ("out", "err", 0)


def exit_code(api):
    process = run(api, "exit", "7")
    process.run_forever(timeout=SECONDS)
    assert process.returncode == 7, process.returncode


def stdin_as_text_and_as_bytes(api):
    process = run(api, "cat", stdin=True)
    process.write_stdin("t\u00e4xt\n")
    assert process.readline_stdout(timeout=SECONDS) == "t\u00e4xt"
    process.write_stdin(b"bytes\n")
    assert process.readline_stdout(timeout=SECONDS) == "bytes"
    process.write_stdin("\x04")
    process.run_forever(timeout=SECONDS)
    assert process.returncode == 0, process.returncode


def port_that_answers(api):
    forward = portforward(api.connect_get_namespaced_pod_portforward, *POD, ports="7")
    connection = forward.socket(7)
    connection.setblocking(True)
    connection.settimeout(SECONDS)
    sent, received = b"x" * 300_000, b""
    connection.sendall(sent)
    while len(received) < len(sent):
        piece = connection.recv(65_536)
        assert piece, f"ended after {len(received)} bytes"
        received += piece
    assert received == sent
    connection.close()
    assert forward.error(7) is None, forward.error(7)


def port_that_refuses(api):
    forward = portforward(api.connect_get_namespaced_pod_portforward, *POD, ports="9")
    connection = forward.socket(9)
    connection.setblocking(True)
    connection.settimeout(SECONDS)
    assert connection.recv(10) == b""
    assert "connection refused" in forward.error(9), forward.error(9)


def main():
    warnings.simplefilter("ignore")  # about unverified certificates
    with subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
        configuration = client.Configuration()
        configuration.host = f"https://127.0.0.1:{int(peer.stdout.readline())}"
        configuration.verify_ssl = False
        api = client.CoreV1Api(client.ApiClient(configuration))
        try:
            for each in (output_of_both_streams, exit_code, stdin_as_text_and_as_bytes, port_that_answers,
                         port_that_refuses):
                each(api)
                print(f"ok {each.__name__}")
        finally:
            peer.stdin.close()


if __name__ == "__main__":
    main()
