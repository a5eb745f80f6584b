# SPDX-License-Identifier: Apache-2.0
"""A fake kubelet server: HTTPS with logs, exec, attach and port-forward over SPDY/3.1.

Exec runs the given programs on this machine, so that kubectl is tested with real processes and
terminals. Each connection is served by one thread that selects on all of its sockets and pipes,
because a TLS connection cannot be read and written by two threads at the same time.
"""

import base64
import contextlib
import fcntl
import hashlib
import http.server
import json
import os
import pty
import select
import socket
import ssl
import struct
import subprocess
import termios
import threading
import urllib.parse
import zlib

_WORDS = ("options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges "
          "age allow authorization cache-control connection content-base content-encoding content-language "
          "content-length content-location content-md5 content-range content-type date etag expect expires from "
          "host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified location "
          "max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server te trailer "
          "transfer-encoding upgrade user-agent vary via warning www-authenticate method get status 200_OK version "
          "HTTP/1.1 url public set-cookie keep-alive origin")
_TEXT = ("100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
         "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized"
         "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar "
         "Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,"
         "image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,public"
         "privatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.")
_DICTIONARY = b"".join(struct.pack(">I", len(word)) + word.encode()
                       for word in (each.replace("_", " ") for each in _WORDS.split())) + _TEXT.encode()

_PIECE = 32 * 1024
_AHEAD = 256 * 1024  # limit of buffered stdin that the process has not read


class Spdy:
    """The server side of a SPDY connection, as frames."""

    def __init__(self, connection):
        self.connection = connection
        self._input = b""
        self._unpack = zlib.decompressobj(zdict=_DICTIONARY)
        self._pack = zlib.compressobj(zdict=_DICTIONARY)

    def receive(self):
        """Returns received frames (kind, stream, headers or data, fin); None if the peer closed."""
        data = self.connection.recv(64 * 1024)
        while self.connection.pending():
            data += self.connection.recv(self.connection.pending())
        if not data:
            return None
        self._input += data
        frames = []
        while len(self._input) >= 8:
            size = int.from_bytes(self._input[5:8], "big")
            if len(self._input) < 8 + size:
                break
            head, body = self._input[:8], self._input[8:8 + size]
            self._input = self._input[8 + size:]
            frame = self._frame(head, body)
            if frame:
                frames.append(frame)
        return frames

    def _frame(self, head, body):
        fin = bool(head[4] & 1)
        if not head[0] & 0x80:
            return "data", int.from_bytes(head[:4], "big"), body, fin
        kind = int.from_bytes(head[2:4], "big")
        if kind == 1:
            return "open", int.from_bytes(body[:4], "big"), self._headers(body[10:]), fin
        if kind == 3:
            return "reset", int.from_bytes(body[:4], "big"), b"", True
        if kind == 6:
            self.connection.sendall(head + body)
        return None

    def _headers(self, block):
        text = self._unpack.decompress(block)
        headers, at = {}, 4
        for _ in range(int.from_bytes(text[:4], "big")):
            pair = []
            for _ in range(2):
                size = int.from_bytes(text[at:at + 4], "big")
                pair.append(text[at + 4:at + 4 + size].decode())
                at += 4 + size
            headers[pair[0]] = pair[1]
        return headers

    def reply(self, stream):
        block = self._pack.compress(struct.pack(">I", 0)) + self._pack.flush(zlib.Z_SYNC_FLUSH)
        self.connection.sendall(struct.pack(">HHI", 0x8003, 2, 4 + len(block)) + struct.pack(">I", stream) + block)

    def send(self, stream, data, fin=False):
        for at in range(0, max(len(data), 1), _PIECE):
            piece = data[at:at + _PIECE]
            last = fin and at + _PIECE >= len(data)
            self.connection.sendall(struct.pack(">II", stream, (1 << 24 if last else 0) | len(piece)) + piece)


def status(code):
    if code == 0:
        return json.dumps({"metadata": {}, "status": "Success"}).encode()
    return json.dumps({
        "metadata": {}, "status": "Failure", "reason": "NonZeroExitCode",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]}}).encode()


class Process:
    """A program and its streams of a connection."""

    def __init__(self, spdy, wanted, command):
        self._spdy = spdy
        self._wanted = wanted
        self._command = command
        self._streams = {}  # by type
        self._types = {}
        self._unwritten = b""
        self._stdin_over = False
        self._outputs = {}  # file descriptor: stream type
        self._process = None
        self._terminal = None
        self._size = None  # may be received before the terminal exists

    def serve(self):
        if not self._await_streams():
            return
        try:
            self._start()
        except OSError as error:
            failure = {"metadata": {}, "status": "Failure", "reason": "InternalError", "code": 500,
                       "message": f"Internal error occurred: {error.strerror}: executable file not found in $PATH"}
            self._end(json.dumps(failure).encode())
            return
        while self._outputs:
            if not self._step():
                self._process.kill()
                self._process.wait()
                return
        self._end(status(self._process.wait() & 0xff))

    def _await_streams(self):
        while set(self._streams) < self._wanted:
            frames = self._spdy.receive()
            if frames is None:
                return False
            for frame in frames:
                self._take(frame)
        return True

    def _take(self, frame):
        kind, stream, data, fin = frame
        if kind == "open":
            self._streams[data["streamtype"]] = stream
            self._types[stream] = data["streamtype"]
            self._spdy.reply(stream)
        elif kind == "data" and self._types.get(stream) == "stdin":
            self._unwritten += data
        elif kind == "data" and self._types.get(stream) == "resize" and data:
            size = json.loads(data)
            self._size = struct.pack("HHHH", size["Height"], size["Width"], 0, 0)
            if self._terminal is not None:
                fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, self._size)
        if fin and self._types.get(stream) == "stdin":
            self._stdin_over = True

    def _start(self):
        if "resize" in self._wanted:
            self._terminal, far = pty.openpty()
            if self._size:
                fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, self._size)
            self._process = subprocess.Popen(self._command, stdin=far, stdout=far, stderr=far, start_new_session=True,
                                             preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
            os.close(far)
            self._outputs[self._terminal] = "stdout"
            return
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)
        self._outputs[self._process.stdout.fileno()] = "stdout"
        self._outputs[self._process.stderr.fileno()] = "stderr"
        os.set_blocking(self._process.stdin.fileno(), False)
        if "stdin" not in self._wanted:
            self._process.stdin.close()

    def _stdin(self):
        if self._terminal is not None:
            return self._terminal
        return None if self._process.stdin.closed else self._process.stdin.fileno()

    def _step(self):
        stdin = self._stdin()
        writes = [stdin] if self._unwritten and stdin is not None else []
        reads = list(self._outputs)
        if len(self._unwritten) < _AHEAD:
            reads.append(self._spdy.connection)
        readable, writable, _ = select.select(reads, writes, [])
        if writable:
            try:
                self._unwritten = self._unwritten[os.write(stdin, self._unwritten[:4096]):]
            except BrokenPipeError:
                self._unwritten = b""
                self._process.stdin.close()
        for each in readable:
            if each is self._spdy.connection:
                frames = self._spdy.receive()
                if frames is None:
                    return False
                for frame in frames:
                    self._take(frame)
            else:
                self._pass_output(each)
        if self._stdin_over and not self._unwritten and self._terminal is None and not self._process.stdin.closed:
            self._process.stdin.close()
        return True

    def _pass_output(self, descriptor):
        kind = self._outputs[descriptor]
        try:
            data = os.read(descriptor, _PIECE)
        except OSError:  # EIO: all processes have closed the terminal
            data = b""
        if not data:
            del self._outputs[descriptor]
        if kind in self._streams:
            self._spdy.send(self._streams[kind], data, fin=not data)

    def _end(self, text):
        self._spdy.send(self._streams["error"], text, fin=True)
        for kind in ("stdout", "stderr"):
            if kind in self._streams and self._process is None:
                self._spdy.send(self._streams[kind], b"", fin=True)


class Ports:
    """Forwards connections to ports of this machine, in place of a Pod's."""

    def __init__(self, spdy):
        self._spdy = spdy
        self._requests = {}  # id: {"data": stream, "error": stream}
        self._sockets = {}   # socket: (data stream, error stream)
        self._by_stream = {}

    def serve(self):
        while True:
            readable, _, _ = select.select([self._spdy.connection, *self._sockets], [], [])
            for each in readable:
                if each is self._spdy.connection:
                    frames = self._spdy.receive()
                    if frames is None:
                        return
                    for frame in frames:
                        self._take(*frame)
                elif each in self._sockets:
                    self._pass_back(each)

    def _take(self, kind, stream, data, fin):
        if kind == "open":
            self._spdy.reply(stream)
            request = self._requests.setdefault(data["requestid"], {})
            request[data["streamtype"]] = stream
            if len(request) == 2:
                self._connect(int(data["port"]), request)
        elif stream in self._by_stream:
            if kind == "data":
                self._by_stream[stream].sendall(data)
            if kind == "data" and fin:
                self._by_stream[stream].shutdown(socket.SHUT_WR)

    def _connect(self, port, request):
        try:
            connection = socket.create_connection(("127.0.0.1", port))
        except OSError as error:
            self._spdy.send(request["error"], f"failed to connect to localhost:{port}: {error.strerror}".encode(), True)
            self._spdy.send(request["data"], b"", True)
            return
        self._sockets[connection] = (request["data"], request["error"])
        self._by_stream[request["data"]] = connection

    def _pass_back(self, connection):
        data = connection.recv(_PIECE)
        stream, error = self._sockets[connection]
        self._spdy.send(stream, data, fin=not data)
        if not data:
            self._spdy.send(error, b"", fin=True)
            del self._sockets[connection], self._by_stream[stream]
            connection.close()


class Log:
    """The log of a container."""

    def __init__(self):
        self.changed = threading.Condition()
        self.lines = []
        self.ended = False
        self.readers = 0  # responses in progress

    def append(self, line):
        with self.changed:
            self.lines.append(line)
            self.changed.notify_all()

    def end(self):
        with self.changed:
            self.ended = True
            self.changed.notify_all()


class NodePeer:
    """Listens on the loopback interface. `requests`: (method, target, headers, client subject)."""

    def __init__(self, address, certificate, key, client_ca):
        self.requests = []
        self.log = Log()
        peer = self

        class Handler(_Handler):
            node = peer

        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
        tls.load_verify_locations(client_ca)
        tls.verify_mode = ssl.CERT_REQUIRED
        self._server = http.server.ThreadingHTTPServer((address, 0), Handler)
        self._server.daemon_threads = True
        self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def _note(self):
        subject = dict(part[0] for part in self.connection.getpeercert()["subject"])
        self.node.requests.append((self.command, self.path, dict(self.headers), subject))

    def handle_any(self):
        self._note()
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query, keep_blank_values=True)
        what = url.path.split("/")[1]
        if what == "containerLogs":
            self._serve_log(query)
        elif what in ("exec", "attach", "portForward") and self.headers.get("upgrade", "").startswith("SPDY"):
            self._serve_streams(what, query)
        elif self.headers.get("upgrade", "").lower() == "websocket":
            self._serve_echo()
        else:
            size = int(self.headers.get("content-length", 0))
            self._answer(200, json.dumps({"method": self.command, "path": self.path,
                                          "body": self.rfile.read(size).decode()}).encode())

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = handle_any

    def _answer(self, code, body):
        self.send_response(code)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _serve_log(self, query):
        log = self.node.log
        if "previous" in query:
            self._answer(400, b'previous terminated container "main" in pod "web" not found')
            return
        self.send_response(200)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        with log.changed:
            at = len(log.lines) - int(query["tailLines"][0]) if "tailLines" in query else 0
            log.readers += 1
        # The API server may disconnect at any time.
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            self._write_lines(log, max(at, 0), "follow" in query)
        with log.changed:
            log.readers -= 1

    def _write_lines(self, log, at, follow):
        while True:
            with log.changed:
                if follow:
                    log.changed.wait_for(lambda: len(log.lines) > at or log.ended)
                lines, over = log.lines[at:], log.ended or not follow
            at += len(lines)
            for line in lines:
                text = line.encode() + b"\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
            if over:
                break
        self.wfile.write(b"0\r\n\r\n")

    def _switch(self, **headers):
        self.send_response(101)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.flush()
        self.close_connection = True

    def _serve_streams(self, what, query):
        if what == "exec" and query.get("command") == ["gone"]:
            self._answer(404, b'container not found ("main")')
            return
        protocol = "portforward.k8s.io" if what == "portForward" else "v4.channel.k8s.io"
        self._switch(connection="Upgrade", upgrade="SPDY/3.1", x_stream_protocol_version=protocol)
        spdy = Spdy(self.connection)
        if what == "portForward":
            Ports(spdy).serve()
            return
        wanted = {"error"}
        wanted |= {kind for kind, name in (("stdin", "input"), ("stdout", "output"), ("stderr", "error"),
                                           ("resize", "tty")) if name in query}
        if "tty" in query:
            wanted.discard("stderr")
        command = query["command"] if what == "exec" else ["sh", "-c", "echo attached; exec cat"]
        Process(spdy, wanted, command).serve()

    def _serve_echo(self):
        """Echoes bytes unchanged, to test that the API server does not modify the stream."""
        key = self.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self._switch(connection="Upgrade", upgrade="websocket",
                     sec_websocket_protocol=self.headers["sec-websocket-protocol"],
                     sec_websocket_accept=base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        while True:
            data = self.connection.recv(_PIECE)
            if not data:
                return
            self.connection.sendall(data)
