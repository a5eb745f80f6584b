# SPDX-License-Identifier: Apache-2.0
"""Converts ginkgo's report into a table and finds tests that failed unexpectedly."""

import collections
import csv
import re

PASSED = "passed"
CONFORMANCE = "[Conformance]"
COLUMNS = ("sig", "result", "seconds", "test", "first words of the failure")
_MAX_WORDS = 160  # characters of a failure message in the table

Result = collections.namedtuple("Result", "test result seconds failure")


def read_names(path):
    """Returns the tests in a file, one per line, without empty lines and # comments."""
    with open(path) as file:
        lines = [line.strip() for line in file]
    return [line for line in lines if line and not line.startswith("#")]


def from_report(report):
    """Returns the results of all tests that ran, sorted by name, from ginkgo's JSON report."""
    results = []
    for suite in report:
        for spec in suite["SpecReports"] or []:
            if spec["LeafNodeType"] == "It" and spec["State"] not in ("skipped", "pending"):
                failure = (spec.get("Failure") or {}).get("Message", "")
                results.append(Result(_name(spec), spec["State"], round(spec["RunTime"] / 1e9, 1), failure))
    return sorted(results)


def _name(spec):
    return " ".join([*(spec["ContainerHierarchyTexts"] or []), spec["LeafNodeText"]])


def write_csv(path, results):
    with open(path, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for each in results:
            sig = re.match(r"\[(sig-[a-z-]+)\]", each.test)
            table.writerow([sig.group(1) if sig else "", each.result, each.seconds, each.test,
                            " ".join(each.failure.split())[:_MAX_WORDS]])


def judge(results, must_pass, expected=()):
    """Returns the problems: tests that must pass and did not, expected tests that did not run."""
    failed = [each for each in results if each.result != PASSED and each.test in must_pass]
    ran = {each.test for each in results}
    problems = [f"{each.result}: {each.test}\n    {' '.join(each.failure.split())[:_MAX_WORDS]}" for each in failed]
    return problems + [f"did not run: {test}" for test in expected if test not in ran]


def summary(results, must_pass):
    """Returns a summary of a few lines."""
    passed = [each.test for each in results if each.result == PASSED]
    lines = [f"{len(passed)} of {len(results)} tests passed"]
    new = [test for test in passed if CONFORMANCE in test and test not in must_pass]
    if new:
        lines += [f"{len(new)} conformance tests passed that passing.txt does not list:", *(f"  {test}" for test in new)]
    return "\n".join(lines)


def focus(names):
    """Returns a regular expression that matches only these tests.

    Ginkgo matches it against the suite name followed by the test name.
    """
    return "(?:" + "|".join(re.escape(name).replace("\\ ", " ").replace("\\-", "-") for name in names) + ")$"
