# SPDX-License-Identifier: Apache-2.0
"""Tests of compat.judge, which decides whether a compat test fails."""

import unittest

import compat


class Judge(unittest.TestCase):
    CASES = [
        # description, lines, exit code, known gaps, chosen steps, text expected in each problem
        ("all passed", ["ok a", "noise", "ok b", "steps: 2"], 0, {}, [], []),
        ("a failure", ["ok a", "FAIL b: why: because", "steps: 2"], 1, {}, [], ["FAIL b: why"]),
        ("a known gap", ["ok a", "FAIL b: why", "steps: 2"], 1, {"b": "not built"}, [], []),
        ("a gap that works", ["ok a", "ok b", "steps: 2"], 0, {"b": "not built"}, [], ["b is a known gap that works"]),
        ("a gap without step", ["ok a", "steps: 1"], 0, {"b": "not built"}, [], ["no such step"]),
        ("a gap not chosen", ["ok a", "steps: 1"], 0, {"b": "not built"}, ["a"], []),
        ("cut off", ["ok a"], 0, {}, [], ["did not reach its end"]),
        ("lines lost", ["ok a", "steps: 2"], 0, {}, [], ["did not reach its end"]),
        ("nothing ran", ["steps: 0"], 0, {}, ["z"], ["did not reach its end"]),
        ("crashed at the end", ["ok a", "steps: 1"], -11, {}, [], ["ended with -11"]),
        ("failure with a good exit", ["FAIL a: why", "steps: 1"], 0, {}, [], ["FAIL a", "ended with 0"]),
    ]

    def test_says_what_is_wrong(self):
        for what, lines, code, gaps, chosen, words in self.CASES:
            with self.subTest(what):
                problems = compat.judge(lines, code, gaps, chosen)
                self.assertEqual(len(problems), len(words), problems)
                for problem, word in zip(problems, words):
                    self.assertIn(word, problem)


if __name__ == "__main__":
    unittest.main()
