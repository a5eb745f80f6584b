#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Help, versions and usage errors of all commands."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["COX_BIN"]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
UPSTREAM = {"kube-apiserver": "apiserver", "kube-controller-manager": "controller-manager",
            "kube-scheduler": "scheduler", "kubelet": "kubelet", "kube-proxy": "proxy"}
COMMANDS = [[name] for name in ["up", "down", "dns", "simulate", *UPSTREAM.values()]] + [["new", "operator"],
                                                                                         ["generate", "types"]]
VERSION = re.compile(r"^Kubernetes v1\.\d+\.\d+\+coxswain\d+$")


def run(*arguments, program=PROGRAM):
    done = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                          check=False)
    return done.returncode, done.stdout, done.stderr


class CommandsTest(unittest.TestCase):
    def test_help_goes_to_standard_output(self):
        for command in COMMANDS:
            with self.subTest(command):
                code, out, err = run(*command, "--help")
                self.assertEqual((0, ""), (code, err))
                self.assertIn("coxswain " + " ".join(command), out)
                self.assertEqual(run("help", *command), (code, out, err))
        for arguments in (["--help"], ["-h"], ["help"]):
            code, out, err = run(*arguments)
            self.assertEqual((0, ""), (code, err))
            for command in COMMANDS:
                self.assertIn("\n  " + command[0], out)

    def test_every_component_prints_the_same_version(self):
        code, out, _ = run("version")
        self.assertEqual(0, code)
        first = out.splitlines()[0]
        self.assertRegex(first, VERSION)
        self.assertRegex(out, r"commit: ([0-9a-f]{40} \((clean|dirty)\)|unknown \(unknown\))\n")
        with tempfile.TemporaryDirectory() as folder:
            for program, command in UPSTREAM.items():
                with self.subTest(program):
                    self.assertEqual(run(command, "--version"), (0, first + "\n", ""))
                    self.assertEqual(run(command, "--version=raw"), (0, out, ""))
                    link = os.path.join(folder, program)
                    os.symlink(os.path.abspath(PROGRAM), link)
                    self.assertEqual(run("--version", program=link), (0, first + "\n", ""))

    def test_security_settings_that_would_have_no_effect_are_rejected(self):
        with tempfile.TemporaryDirectory() as folder:
            server = ["apiserver", "--etcd-servers=http://127.0.0.1:1", "--cert-dir", folder]
            for flag in ("--allow-privileged=false", "--tls-min-version=VersionTLS11", "--tls-min-version=1.3",
                         "--tls-cipher-suites=NONE"):
                with self.subTest(flag):
                    code, _, err = run(*server, flag)
                    self.assertNotEqual(0, code)
                    self.assertIn(flag.split("=")[0], err)

    def test_number_of_event_loops_must_be_valid(self):
        with tempfile.TemporaryDirectory() as folder:
            for loops in ("-1", "1025", "two", ""):
                with self.subTest(loops):
                    code, _, err = run("apiserver", "--storage-backend=memory", "--cert-dir", folder,
                                       f"--http-event-loops={loops}")
                    self.assertNotEqual(0, code)
                    self.assertIn("--http-event-loops", err)

    def test_completion_offers_commands_flags_and_words(self):
        code, script, _ = run("completion", "bash")
        self.assertEqual(0, code)
        for line, expected in {
                "coxswain sched": ["scheduler"],
                "coxswain ": [name for name, *_ in COMMANDS],
                "coxswain kubelet --max-p": ["--max-pods", "--max-parallel-image-pulls"],
                "coxswain new o": ["operator"],
                "coxswain new operator x --gr": ["--group"],
        }.items():
            with self.subTest(line), tempfile.TemporaryDirectory() as folder:
                os.symlink(os.path.abspath(PROGRAM), os.path.join(folder, "coxswain"))
                words = line.split(" ")
                done = subprocess.run(
                    ["bash", "-c", script + '\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _coxswain; '
                     'printf "%s\\n" "${COMPREPLY[@]}"', "bash", *words],
                    env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]}, capture_output=True, text=True,
                    timeout=60, check=True)
                self.assertLessEqual(set(expected), set(done.stdout.split()))
                self.assertTrue(all(word.startswith(words[-1]) for word in done.stdout.split()), done.stdout)
        for shell in ("zsh", "fish"):
            code, script, _ = run("completion", shell)
            self.assertEqual(0, code)
            self.assertIn("kubelet", script)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=script, text=True, timeout=60, check=True)
        self.assertEqual(run("completion", "csh"),
                         (2, "", 'Error: no completion for the shell "csh"; supported: bash, zsh, fish\n'))

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_manual_pages_have_no_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.path.join(ROOT, "tools/manual"), PROGRAM, folder], timeout=120, check=True)
            pages = sorted(os.listdir(folder))
            self.assertIn("coxswain-new-operator.1", pages)
            for page in pages:
                done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", os.path.join(folder, page)], timeout=60,
                                      capture_output=True, text=True, check=True)
                self.assertEqual("", done.stderr, page)
                for section in ("NAME", "SYNOPSIS", "DESCRIPTION"):
                    self.assertIn(section, done.stdout, page)
            with open(os.path.join(folder, "coxswain-kubelet.1"), encoding="utf-8") as text:
                self.assertIn("max\\-pods int", text.read())

    def test_usage_errors_end_with_2_and_suggest_what_was_meant(self):
        for arguments, text in {
                (): "Usage:\n  coxswain <command>",
                ("apisever",): 'unknown command "apisever"; did you mean "apiserver"?',
                ("frobnicate",): 'unknown command "frobnicate"\n',
                ("scheduler", "--kubeconfg=x"): 'unknown flag: --kubeconfg (did you mean --kubeconfig?)',
                ("new",): "Usage:",
                ("new", "operator", "x", "--gruop=y"): '(did you mean --group?)',
                ("generate", "types", "--form=y"): '(did you mean --from?)',
        }.items():
            with self.subTest(arguments):
                code, out, err = run(*arguments)
                self.assertEqual((2, ""), (code, out))
                self.assertIn(text, err)


if __name__ == "__main__":
    unittest.main()
