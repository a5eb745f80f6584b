# SPDX-License-Identifier: Apache-2.0
"""Collects contradictions between the inputs."""

import sys


class Report:
    """Errors fail the run; warnings do not. Each is printed once, immediately."""

    def __init__(self, stream=None):
        self.errors = []
        self.warnings = []
        self._stream = stream or sys.stderr

    def error(self, where, message):
        self._add(self.errors, "error", where, message)

    def warn(self, where, message):
        self._add(self.warnings, "warning", where, message)

    def _add(self, items, level, where, message):
        line = f"{where}: {message}"
        if line not in items:
            items.append(line)
            print(f"import-api: {level}: {line}", file=self._stream)
