# SPDX-License-Identifier: Apache-2.0
"""Collects what the inputs disagree about."""

import sys


class Report:
    """Errors make the run fail; warnings are only shown. Each is printed once, at once."""

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
