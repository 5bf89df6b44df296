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


OF_LIBRARY = ACTION.parent / "docs/site/src/ci-library.md"
GH = """#!/bin/sh
echo "$@" >>"$TOOLS/asked"
case $1 in
  pr) echo aaaa...bbbb ;;
  api) echo base=cccc ;;
esac
"""


class Recipes(unittest.TestCase):
    """The steps of the workflows for maintainers of a library that are scripts."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def workflow(self, file):
        (text,) = re.findall(rf"^```yaml\n(# \.github/workflows/{file}\n.*?)^```", OF_LIBRARY.read_text(), re.MULTILINE | re.DOTALL)
        return yaml.safe_load(text)

    def run_step(self, step, folder, **environment):
        """Runs a step; returns its status, its outputs, and what it said."""
        outputs = self.folder / "outputs"
        outputs.write_text("")
        environment = {**os.environ, "GITHUB_OUTPUT": str(outputs), "TOOLS": str(self.folder), **environment}
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
        return done.returncode, dict(line.split("=", 1) for line in outputs.read_text().splitlines()), done.stdout + done.stderr

    def git(self, folder, *arguments):
        command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@localhost", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def test_an_update_measures_the_families_whose_version_changed(self):
        workflow = self.workflow("dependency-cost.yml")
        step = next(step for step in workflow["jobs"]["families"]["steps"] if "run" in step)
        remote = self.folder / "remote"
        (remote / "project").mkdir(parents=True)
        self.git(self.folder, "init", "-q", "-b", "main", str(remote))
        versions = remote / "project/Versions.scala"
        lines = {name: f'  val {name} = "1.0"' for name in ("netty", "nettyReactive", "vertx", "zioHttp", "circe", "http4s")}

        def commit():
            versions.write_text("object Versions {\n" + "\n".join(lines.values()) + "\n}\n")
            self.git(remote, "add", "-A")
            self.git(remote, "commit", "-q", "-m", "a step")

        commit()
        for changed, found in ((["circe"], "[]"), (["netty", "nettyReactive", "zioHttp"], '["netty","zioHttp"]')):
            for name in changed:
                lines[name] = f'  val {name} = "1.1"'
            commit()
            clone = self.folder / f"clone-{changed[0]}"
            self.git(self.folder, "clone", "-q", "--depth=2", f"file://{remote}", str(clone))
            self.assertEqual(self.run_step(step, clone)[:2], (0, {"found": found}))

    def test_a_comment_names_server_and_scenario_and_nothing_else(self):
        workflow = self.workflow("cost-on-request.yml")
        step = workflow["jobs"]["check"]["steps"][0]
        (self.folder / "gh").write_text(GH)
        (self.folder / "gh").chmod(0o755)
        common = {"PATH": f"{self.folder}:{os.environ['PATH']}", "NUMBER": "5", "GITHUB_REPOSITORY": "me/mine"}
        first = "/tare http4s.Tapir SimpleGet"
        for body in (first, f"{first} please\nthank you", f"{first}\r\nthank you"):
            status, outputs, said = self.run_step(step, self.folder, BODY=body, **common)
            self.assertEqual(outputs, {"server": "http4s.Tapir", "scenario": "SimpleGet", "base": "cccc", "head": "bbbb"}, said)
            self.assertEqual(status, 0)
            view, compare = (self.folder / "asked").read_text().splitlines()[-2:]
            self.assertTrue(view.startswith("pr view 5 --repo me/mine --json baseRefOid,headRefOid"), view)
            self.assertTrue(compare.startswith("api repos/me/mine/compare/aaaa...bbbb --jq "), compare)
        for body in ("/tare", "/tare http4s.Tapir", "/tare $(touch${IFS}owned) SimpleGet", "/tare --dir SimpleGet", "/tare a ;b"):
            status, outputs, said = self.run_step(step, self.folder, BODY=body, **common)
            self.assertEqual((status, outputs, "::error::Write /tare SERVER SCENARIO" in said), (1, {}, True), said)
        self.assertFalse((self.folder / "owned").exists())

    def test_every_input_that_a_recipe_gives_is_one_of_the_action(self):
        inputs = yaml.safe_load((ACTION.parent / "action.yml").read_text())["inputs"]
        for file in ("dependency-cost.yml", "cost-on-request.yml"):
            steps = [step for job in self.workflow(file)["jobs"].values() for step in job["steps"]]
            (given,) = [step["with"] for step in steps if "/tare@" in step.get("uses", "")]
            self.assertLessEqual(set(given), set(inputs))


if __name__ == "__main__":
    unittest.main()
