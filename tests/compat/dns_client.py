# SPDX-License-Identifier: Apache-2.0
"""DNS client for tests: sends one query and formats the response as comparable text."""

import ipaddress
import random
import socket
import struct

TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33}
_NAMES = {number: name for name, number in TYPES.items()}
_RCODES = {0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED"}
_AUTHORITATIVE, _TRUNCATED = 0x0400, 0x0200


def encode_name(name):
    labels = [label.encode() for label in name.rstrip(".").split(".") if label]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def read_name(message, at):
    """Returns the name at an offset, and the offset after it."""
    labels, end = [], None
    while message[at]:
        if message[at] & 0xc0 == 0xc0:
            end = end or at + 2
            at = struct.unpack_from("!H", message, at)[0] & 0x3fff
        else:
            labels.append(message[at + 1:at + 1 + message[at]].decode())
            at += 1 + message[at]
    return ".".join(labels) + ".", end or at + 1


def _data(message, at, size, kind):
    if kind in ("A", "AAAA"):
        return str(ipaddress.ip_address(message[at:at + size]))
    if kind in ("NS", "CNAME", "PTR"):
        return read_name(message, at)[0]
    if kind == "SRV":
        return "%d %d %d " % struct.unpack_from("!HHH", message, at) + read_name(message, at + 6)[0]
    if kind == "SOA":
        primary, at = read_name(message, at)
        mailbox, at = read_name(message, at)
        # Servers choose the serial freely, so it is not compared.
        return f"{primary} {mailbox} SERIAL %d %d %d %d" % struct.unpack_from("!IIII", message, at + 4)
    return message[at:at + size].hex()


def _records(message, at, count):
    records = []
    for _ in range(count):
        name, at = read_name(message, at)
        number, _, ttl, size = struct.unpack_from("!HHIH", message, at)
        at += 10
        kind = _NAMES.get(number, str(number))
        if number != 41:  # OPT, the EDNS pseudo-record
            records.append(f"{name} {ttl} {kind} {_data(message, at, size, kind)}")
        at += size
    return sorted(records), at


def show(message):
    """Returns the response as lines, in an order that does not depend on the server."""
    _, flags, questions, answers, authorities, additionals = struct.unpack_from("!HHHHHH", message)
    lines = [_RCODES.get(flags & 15, str(flags & 15))
             + (" authoritative" if flags & _AUTHORITATIVE else "") + (" truncated" if flags & _TRUNCATED else "")]
    at = 12
    for _ in range(questions):
        name, at = read_name(message, at)
        at += 4
        lines.append(f"question {name}")
    for title, count in (("answer", answers), ("authority", authorities), ("additional", additionals)):
        records, at = _records(message, at, count)
        lines += [f"{title} {record}" for record in records]
    return lines


def ask(port, name, kind, seconds=5, tcp=False, server="127.0.0.1"):
    """Returns the lines of the response, see show. Raises OSError if there is none in time."""
    number = random.getrandbits(16)
    query = struct.pack("!HHHHHH", number, 0x0100, 1, 0, 0, 0) + encode_name(name) + struct.pack("!HH", TYPES[kind], 1)
    if tcp:
        with socket.create_connection((server, port), seconds) as connection:
            connection.sendall(struct.pack("!H", len(query)) + query)
            with connection.makefile("rb") as stream:
                answer = stream.read(struct.unpack("!H", stream.read(2))[0])
    else:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.settimeout(seconds)
            sender.connect((server, port))
            sender.send(query)
            answer = sender.recv(65535)
    if struct.unpack_from("!H", answer)[0] != number:
        raise OSError("an answer to another question")
    return show(answer)
