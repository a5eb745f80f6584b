# SPDX-License-Identifier: Apache-2.0
"""Tests of tests/integration/machine.py: when a machine is too busy to measure times."""

import contextlib
import io
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "integration"))
import machine  # noqa: E402


class TooBusyTest(unittest.TestCase):
    def test_table(self):
        # A state is the speed, the stolen seconds and the time; there are two processors.
        for before, after, expected in [
                ("1.00 50 100", "1.00 50 200", False),
                ("0.50 50 100", "0.45 70 200", False),
                ("0.39 50 100", "1.00 50 200", True),
                ("1.00 50 100", "0.39 50 200", True),
                ("1.00 50 100", "1.00 71 200", True),
                ("1.00 50 100", "1.00 50 100", False)]:
            with self.subTest((before, after)), contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(machine.too_busy(before, after, 2), expected)

    def test_times_within_the_limit_are_not_too_slow(self):
        self.assertFalse(machine.is_too_slow(1, 1))

    def test_times_far_beyond_the_limit_are_too_slow(self):
        self.assertTrue(machine.is_too_slow(1e9, 1))


if __name__ == "__main__":
    unittest.main()
