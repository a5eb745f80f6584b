# SPDX-License-Identifier: Apache-2.0
import csv
import os
import re
import tempfile
import unittest

import results
from results import Result


def path(name):
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)


def spec(text, state="passed", kind="It", message=None, containers=("[sig-node] Pods",)):
    made = {"ContainerHierarchyTexts": list(containers), "LeafNodeText": text, "LeafNodeType": kind, "State": state,
            "RunTime": 1_250_000_000}
    if message:
        made["Failure"] = {"Message": message}
    return made


class FromReportTest(unittest.TestCase):
    def test_names_are_containers_and_text(self):
        found = results.from_report([{"SpecReports": [spec("run [Conformance]", containers=["[sig-apps] Job", "when idle"])]}])
        self.assertEqual(found, [Result("[sig-apps] Job when idle run [Conformance]", "passed", 1.2, "")])

    def test_skipped_tests_and_setup_nodes_are_left_out(self):
        report = [{"SpecReports": [spec("a", "skipped"), spec("b", "pending"), spec("", kind="SynchronizedBeforeSuite"),
                                   spec("c", "timedout", message="too late")]}, {"SpecReports": None}]
        self.assertEqual([(each.result, each.failure) for each in results.from_report(report)], [("timedout", "too late")])


class JudgeTest(unittest.TestCase):
    RESULTS = [Result("good", "passed", 1, ""), Result("new [Conformance]", "passed", 1, ""), Result("bad", "failed", 2, "no\n  luck"), Result("panics", "panicked", 3, "")]

    def test_only_listed_tests_must_pass(self):
        self.assertEqual(results.judge(self.RESULTS, {"good"}), [])
        self.assertEqual(results.judge(self.RESULTS, {"good", "bad"}), ["failed: bad\n    no luck"])
        self.assertEqual(len(results.judge(self.RESULTS, {"bad", "panics"})), 2)

    def test_expected_tests_must_run(self):
        self.assertEqual(results.judge(self.RESULTS, {"good", "gone"}, ["good", "gone"]), ["did not run: gone"])

    def test_summary_names_new_passes(self):
        said = results.summary(self.RESULTS, set())
        self.assertIn("2 of 4 tests passed", said)
        self.assertIn("  new [Conformance]", said)
        self.assertNotIn("good", said)
        self.assertNotIn("new", results.summary(self.RESULTS, {"new [Conformance]"}))


class FocusTest(unittest.TestCase):
    NAMES = ["[sig-apps] Job (a.b) should run [Conformance]", "[sig-node] Pods, e.g. x-y + z"]

    def test_matches_these_tests_only(self):
        expression = re.compile(results.focus(self.NAMES))
        for name in self.NAMES:
            self.assertTrue(expression.search("Kubernetes e2e suite " + name))
            self.assertFalse(expression.search("Kubernetes e2e suite " + name + " twice"))
        self.assertFalse(expression.search("[sig-apps] Job (axb) should run [Conformance]"))


class FilesTest(unittest.TestCase):
    def test_lists_have_comments(self):
        with tempfile.NamedTemporaryFile("w+") as file:
            file.write("# why\n\n[sig-node] a\n  [sig-node] b  \n")
            file.flush()
            self.assertEqual(results.read_names(file.name), ["[sig-node] a", "[sig-node] b"])

    def test_table(self):
        with tempfile.NamedTemporaryFile("r") as file:
            results.write_csv(file.name, [Result("[sig-cli] Kubectl, get", "failed", 1.5, "expected\n\t1, got 2")])
            self.assertEqual(file.read().splitlines(), [
                "sig,result,seconds,test,first words of the failure",
                'sig-cli,failed,1.5,"[sig-cli] Kubectl, get","expected 1, got 2"'])


class ListsTest(unittest.TestCase):
    def test_fast_tests_must_pass(self):
        self.assertEqual(set(results.read_names(path("fast.txt"))) - set(results.read_names(path("passing.txt"))), set())

    def test_passing_has_all_that_passed_before(self):
        reference = os.path.join(os.environ.get("COX_SHARED", ""), "conformance", "results.csv")
        if not os.path.exists(reference):
            self.skipTest(f"{reference} is not there")
        with open(reference) as file:
            passed = {row["test"] for row in csv.DictReader(file) if row["result"] == results.PASSED}
        self.assertGreater(len(passed), 300)
        self.assertEqual(passed - set(results.read_names(path("passing.txt"))), set())


if __name__ == "__main__":
    unittest.main()
