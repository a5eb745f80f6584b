# SPDX-License-Identifier: Apache-2.0
"""Whether this machine can measure: a virtual one whose host gives its processors to others cannot.

    stolen = Stolen()
    ... measure, and measure again where an aim was missed ...
    stolen.skip_if_noisy()      # before a test fails for an aim that it missed
"""

from cluster import skip

TOO_MUCH = 0.05  # of the processors' time


class Stolen:
    def __init__(self):
        self._began = self._read()

    @staticmethod
    def _read():
        """Of all processors since they started: the time that the host took, and all time."""
        with open("/proc/stat") as file:
            times = [int(word) for word in file.readline().split()[1:9]]  # what guests used is in these, too
        return times[7], sum(times)

    def share(self):
        stolen, time = self._read()
        return (stolen - self._began[0]) / max(1, time - self._began[1])

    def skip_if_noisy(self):
        share = self.share()
        if share > TOO_MUCH:
            skip(f"the host of this machine took {100 * share:.0f} % of its processors: that is no measure")
