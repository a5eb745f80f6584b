# SPDX-License-Identifier: Apache-2.0
"""Builds HTTP/2 frames by hand, including invalid ones that client libraries do not send."""

import socket
import ssl
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """Encodes a header field without the dynamic table and without Huffman codes."""

    def text(data):
        data = data.encode()
        if len(data) < 127:
            return bytes([len(data)]) + data
        rest, out = len(data) - 127, b"\x7f"
        while rest >= 128:
            out += bytes([rest % 128 + 128])
            rest //= 128
        return out + bytes([rest]) + data

    return b"\0" + text(name) + text(value)


def request_block(path, token="", method="GET"):
    fields = [(":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", path)]
    if token:
        fields.append(("authorization", f"Bearer {token}"))
    return b"".join(literal(*field) for field in fields)


def tls_context(protocol):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols([protocol])
    return context


def connect(port, protocol="h2", seconds=10):
    """Opens a TLS connection; for h2, sends the preface and SETTINGS."""
    raw = socket.create_connection(("127.0.0.1", port), timeout=seconds)
    connection = tls_context(protocol).wrap_socket(raw)
    if protocol == "h2":
        connection.sendall(PREFACE + frame(SETTINGS))
    return connection
