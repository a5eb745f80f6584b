# SPDX-License-Identifier: Apache-2.0
"""Results of the official tests: from ginkgo's report to a table, and what is wrong with them."""

import collections
import csv
import re

PASSED = "passed"
CONFORMANCE = "[Conformance]"
COLUMNS = ("sig", "result", "seconds", "test", "first words of the failure")
_MAX_WORDS = 160  # characters of a failure message in the table

Result = collections.namedtuple("Result", "test result seconds failure")


def read_names(path):
    """The tests of a list: one per line; empty lines and lines that begin with # do not count."""
    with open(path) as file:
        lines = [line.strip() for line in file]
    return [line for line in lines if line and not line.startswith("#")]


def from_report(report):
    """The results of all tests that ran, sorted by name, from ginkgo's JSON report."""
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
    """What is wrong: tests that must pass and did not, and expected tests that did not run."""
    failed = [each for each in results if each.result != PASSED and each.test in must_pass]
    ran = {each.test for each in results}
    problems = [f"{each.result}: {each.test}\n    {' '.join(each.failure.split())[:_MAX_WORDS]}" for each in failed]
    return problems + [f"did not run: {test}" for test in expected if test not in ran]


def summary(results, must_pass):
    """A few lines for people."""
    passed = [each.test for each in results if each.result == PASSED]
    lines = [f"{len(passed)} of {len(results)} tests passed"]
    new = [test for test in passed if CONFORMANCE in test and test not in must_pass]
    if new:
        lines += [f"{len(new)} conformance tests passed that passing.txt does not list:", *(f"  {test}" for test in new)]
    return "\n".join(lines)


def focus(names):
    """A regular expression that matches these tests only. Ginkgo matches it against the suite's name and the test's."""
    return "(?:" + "|".join(re.escape(name).replace("\\ ", " ").replace("\\-", "-") for name in names) + ")$"
