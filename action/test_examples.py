"""Runs the shell commands of the CI files in the documents with fake programs."""

import os
import pathlib
import re
import subprocess
import tarfile
import tempfile
import unittest

import yaml

from .test_job import ACTION

PAGE = ACTION.parent / "docs/site/src/ci.md"

# A fake tare: its check ends with STATUS, and its report prints the latest run of its folder.
TARE = """#!/usr/bin/env bash
case $1 in
  check)
    [ -n "${NO_RUN:-}" ] || { mkdir -p "$3" && echo "run of build $BUILD" >"$3/latest"; }
    exit "$STATUS" ;;
  report) cat "$3/latest" ;;
esac
"""
CURL = '#!/bin/sh\ncat "$TOOLS/release.tar.gz"\n'
AGENT = '#!/bin/sh\ncat >"$TOOLS/annotated"\n'


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tools = pathlib.Path(folder.name) / "tools"
        self.workspace = pathlib.Path(folder.name) / "workspace"
        self.tools.mkdir()
        self.workspace.mkdir()
        for name, text in {"tare": TARE, "curl": CURL, "git": "#!/bin/sh\n", "buildkite-agent": AGENT}.items():
            (self.tools / name).write_text(text)
            (self.tools / name).chmod(0o755)
        with tarfile.open(self.tools / "release.tar.gz", "w:gz") as archive:
            archive.add(self.tools / "tare", "tare-0.1.0-x86_64-linux/bin/tare")
        # The examples must take the program from the release.
        (self.tools / "tare").unlink()

    def block(self, language, word):
        """The example in this language that contains this word."""
        blocks = re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
        return next(block for block in blocks if word in block)

    def shell(self, words, text, build, status, has_run):
        """Runs commands in the workspace; returns their exit status."""
        names = ("BUILD", "BUILD_NUMBER", "CI_JOB_ID", "BUILDKITE_JOB_ID")
        environment = {**os.environ, **dict.fromkeys(names, str(build)), "RELEASE": "https://example.org", "STATUS": str(status)}
        environment.update(TOOLS=str(self.tools), PATH=f"{self.tools}:{os.environ['PATH']}", CI_MERGE_REQUEST_DIFF_BASE_SHA="abc")
        if not has_run:
            environment["NO_RUN"] = "yes"
        done = subprocess.run([*words, text], cwd=self.workspace, env=environment, capture_output=True, text=True, timeout=60)
        return done.returncode

    def gitlab(self, *build):
        job = yaml.safe_load(self.block("yaml", "gitlab"))["tare"]
        status = self.shell(["bash", "-eo", "pipefail", "-c"], "\n".join(job["script"]), *build)
        self.assertEqual(self.shell(["bash", "-eo", "pipefail", "-c"], "\n".join(job["after_script"]), *build), 0)
        return status

    def jenkins(self, *build):
        steps, post = self.block("groovy", "pipeline").split("post {")

        def run(text):
            commands = re.findall(r"^ *sh '(.*)'$", text, re.MULTILINE)
            self.assertTrue(commands)
            ends = (self.shell(["sh", "-xec"], command, *build) for command in commands)
            return next((end for end in ends if end != 0), 0)

        status = run(steps)
        self.assertEqual(run(post), 0)
        return status

    def buildkite(self, *build):
        (step,) = yaml.safe_load(self.block("yaml", "buildkite"))["steps"]
        self.assertNotRegex(step["command"].replace("$$", ""), r"\$", "Buildkite itself replaces a single $")
        return self.shell(["bash", "-e", "-c"], step["command"].replace("$$", "$"), *build)

    # Builds that share a workspace: the exit status of the check, and whether it left a run.
    BUILDS = [(0, True), (3, True), (4, True), (4, False), (1, False), (0, True)]

    def test_a_job_has_the_exit_status_of_its_check(self):
        for system in (self.gitlab, self.jenkins, self.buildkite):
            for build, (status, has_run) in enumerate(self.BUILDS):
                self.assertEqual(system(build, status, has_run), status, system.__name__)

    def test_only_the_run_of_this_build_is_reported(self):
        for system in (self.gitlab, self.jenkins):
            for build, (status, has_run) in enumerate(self.BUILDS, start=100):
                system(build, status, has_run)
                report = self.workspace / "tare.xml"
                self.assertEqual(report.exists(), has_run, system.__name__)
                self.assertTrue(not has_run or report.read_text() == f"run of build {build}\n")
            report.unlink()

    def test_a_check_that_fails_is_annotated_too(self):
        for build, (status, has_run) in enumerate(self.BUILDS):
            self.buildkite(build, status, has_run)
            says = f"run of build {build}" if has_run else f"There is no result: tare check ended with exit code {status}."
            self.assertEqual((self.tools / "annotated").read_text().strip(), says)


if __name__ == "__main__":
    unittest.main()
