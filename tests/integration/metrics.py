# SPDX-License-Identifier: Apache-2.0
"""Reads metrics in the Prometheus text format.

    before = Metrics(text)
    Metrics(text).total("apiserver_request_total", verb="WATCH")
    quantile((Metrics(text) - before).buckets("apiserver_request_duration_seconds", verb="GET"), 0.99)
"""

import re

_LINE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'([a-zA-Z0-9_]+)="((?:[^"\\]|\\.)*)"')


class Metrics:
    """The samples of one scrape, or the differences between two."""

    def __init__(self, text=""):
        self._samples = {}  # by name: {labels as text: value}
        for line in text.splitlines():
            match = _LINE.match(line)
            if match:
                name, labels, value = match.groups()
                self._samples.setdefault(name, {})[labels or ""] = float(value)

    def __sub__(self, before):
        difference = Metrics()
        for name, series in self._samples.items():
            old = before._samples.get(name, {})
            # A counter that became smaller belongs to a new process.
            difference._samples[name] = {
                labels: value - old.get(labels, 0) if value >= old.get(labels, 0) else value for labels, value in series.items()}
        return difference

    def series(self, name, **labels):
        """Yields (labels, value) of the series that have these labels."""
        for text, value in self._samples.get(name, {}).items():
            found = dict(_LABEL.findall(text))
            if all(found.get(key) == wanted for key, wanted in labels.items()):
                yield found, value

    def total(self, name, **labels):
        return sum(value for _, value in self.series(name, **labels))

    def buckets(self, name, only=lambda labels: True, **labels):
        """Returns [(upper bound, cumulative count)] of a histogram, summed over the series with these labels."""
        sums = {}
        for found, value in self.series(name + "_bucket", **labels):
            if only(found):
                bound = float(found["le"].replace("+Inf", "inf"))
                sums[bound] = sums.get(bound, 0) + value
        return sorted(sums.items())


def quantile(buckets, q):
    """Returns the quantile of a histogram, interpolated within its bucket; None without samples. For a sample beyond the
    last finite bound, returns that bound."""
    if not buckets or buckets[-1][1] <= 0:
        return None
    rank, lower, below = q * buckets[-1][1], 0.0, 0.0
    for bound, count in buckets:
        if count >= rank:
            if bound == float("inf"):
                return lower
            return lower + (bound - lower) * ((rank - below) / (count - below) if count > below else 1)
        lower, below = bound, count
    return lower
