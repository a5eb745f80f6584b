# SPDX-License-Identifier: Apache-2.0
"""Access to etcd through its JSON gateway, for tests that inspect stored data."""

import base64
import json
import urllib.error
import urllib.request

SECONDS = 15


def _encode(data):
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode()


class EtcdGateway:
    """One etcd member. Keys are text, values are bytes."""

    def __init__(self, url):
        self.url = url

    def call(self, path, **message):
        request = urllib.request.Request(self.url + path, data=json.dumps(message).encode())
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.load(answer)

    def healthy(self):
        try:
            with urllib.request.urlopen(self.url + "/health", timeout=1) as answer:
                return b'"true"' in answer.read()
        except (urllib.error.URLError, OSError):
            return False

    def leads(self):
        """Returns true if this member is the leader; false if it does not answer."""
        try:
            status = self.call("/v3/maintenance/status")
        except (urllib.error.URLError, OSError):
            return False
        return status["header"]["member_id"] == status.get("leader")

    def revision(self):
        return int(self.call("/v3/kv/range", key=_encode("x"))["header"]["revision"])

    def compact(self):
        """Compacts at the current revision."""
        try:
            self.call("/v3/kv/compaction", revision=str(self.revision()))
        except urllib.error.HTTPError:  # another client has already compacted this revision
            pass

    def put(self, key, value):
        self.call("/v3/kv/put", key=_encode(key), value=_encode(value))

    def delete(self, key):
        self.call("/v3/kv/deleterange", key=_encode(key))

    def get(self, key):
        """Returns the value, or None."""
        found = self.call("/v3/kv/range", key=_encode(key))
        return base64.b64decode(found["kvs"][0].get("value", "")) if found.get("kvs") else None

    def all(self, prefix):
        """Returns all keys under `prefix` with their values."""
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        found = self.call("/v3/kv/range", key=_encode(prefix), range_end=_encode(end))
        return {base64.b64decode(kv["key"]).decode(): base64.b64decode(kv.get("value", ""))
                for kv in found.get("kvs", [])}
