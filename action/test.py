"""Tests the action step by step with a fake program and a fake API: `python3 -m action.test`."""

import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tarfile
import tempfile
import threading
import unittest

from .test_examples import Examples, Recipes
from .test_install import Install as InstallScript
from .test_job import ACTION, Job
from .test_workflows import Workflows

__all__ = ["Examples", "InstallScript", "Recipes", "Workflows"]

# A fake tare that the environment controls.
PROGRAM = """#!/usr/bin/env bash
case "$1 $*" in
  --version*) echo "tare 0.0.0" ;;
  doctor*) echo "2 cores; wakes up 90 µs late" ;;
  check*--dry-run*) echo "this budget shows a difference of 4 %" ;;
  check*)
    printf '%s\\n' "$@" >"$ARGUMENTS"
    echo "checking \\`this\\`"
    echo "${SAID:-}"
    [ -n "${NO_RUN:-}" ] || mkdir -p "$4/runs/$RANDOM$RANDOM"
    exit "${STATUS:-0}" ;;
  report*comment*) printf '<!-- tare report of own -->\\n**holds**\\n<!-- picture -->\\n' ;;
  report*junit*) echo '<testsuites/>' ;;
  report*--json*) echo "{\\"check\\": {\\"outcome\\": \\"${OUTCOME:-holds}\\"}}" ;;
  report*picture*) echo '<svg/>' ;;
esac
"""


class Api(http.server.BaseHTTPRequestHandler):
    """The part of the API that the action uses."""

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_any(self):
        state = self.server.state
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"null")
        path = self.path.removeprefix("/repos/me/mine")
        state["asked"].append((self.command, path, self.headers.get("Authorization")))
        refusal = state["refuse"].get(self.command)
        if refusal:
            return self.answer(refusal, {"message": "Resource not accessible by integration"})
        comments = state["comments"]
        if self.command == "GET" and path.startswith("/issues/5/comments"):
            page = int(re.search(r"&page=(\d+)", path)[1])
            return self.answer(200, comments[100 * (page - 1) : 100 * page])
        if self.command == "POST" and path == "/issues/5/comments":
            comments.append({"id": 1000 + len(comments), "body": body["body"], "html_url": "https://example.org/new"})
            return self.answer(201, comments[-1])
        if self.command == "PATCH":
            comment = next(c for c in comments if path == f"/issues/comments/{c['id']}")
            if comment.get("foreign"):
                return self.answer(403, {"message": "not yours"})
            comment["body"] = body["body"]
            return self.answer(200, {**comment, "html_url": "https://example.org/old"})
        if path == "/git/ref/heads/pictures":
            return self.answer(200 if "pictures" in state["branches"] else 404, {"message": "Not Found"})
        if path == "/git/refs":
            state["branches"].append(body["ref"].removeprefix("refs/heads/"))
        if path.startswith("/contents/"):
            state["files"].append(path)
            return self.answer(201, {"content": {"html_url": "https://example.org" + path}})
        return self.answer(201, {"sha": "a" * 40})

    do_GET = do_POST = do_PATCH = do_PUT = handle_any

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def api():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
    server.state = {"comments": [], "asked": [], "refuse": {}, "branches": [], "files": []}
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", server.state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = self.folder / "tare"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        self.arguments = self.folder / "arguments"

    def git(self, *arguments, folder=None):
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "protocol.file.allow=always", *arguments]
        process = subprocess.run(command, cwd=folder or self.folder, capture_output=True, text=True, check=True)
        return process.stdout.strip()

    def job(self, inputs=(), number=None, **environment):
        github = {"job": "bench"}
        if number:
            github["event.pull_request.number"] = number
        inputs = {"program": str(self.program), "baseline": "some command", "token": "secret", **dict(inputs)}
        environment = {"ARGUMENTS": str(self.arguments), "GITHUB_REPOSITORY": "me/mine", **environment}
        return Job(self.folder, inputs, github, environment)


class Check(Case):
    def test_the_job_has_the_result_of_the_check(self):
        for status, result in [(0, "holds"), (3, "regressed"), (4, "undecided"), (1, "failed")]:
            job = self.job(STATUS=str(status)).run()
            self.assertEqual(job.failed, status != 0, job.log)
            self.assertEqual(job.outputs()["result"], result, job.log)
            self.assertEqual(job.outputs()["exit-code"], str(status))

    def test_an_undecided_check_that_may_pass_is_not_said_to_hold(self):
        job = self.job({"undecided": "pass"}, OUTCOME="undecided").run()
        self.assertFalse(job.failed, job.log)
        self.assertEqual((job.outputs()["result"], job.outputs()["exit-code"]), ("undecided", "0"))
        self.assertIn("::notice title=tare::Undecided", job.log)
        self.assertNotIn("every limit holds", job.log)

    def test_inputs_become_arguments_and_nothing_else(self):
        hostile = "'; touch owned; echo '$(touch owned)"
        inputs = {"fail-if": "cpu > +3%,p99 > +10%", "budget": "6m", "undecided": "pass", "suite": hostile}
        job = self.job({**inputs, "arguments": "--seed\n7\n\n-m\nA B"}).run()
        arguments = self.arguments.read_text().splitlines()
        self.assertEqual(arguments[:2], ["check", hostile], job.log)
        for words in (["--fail-if", "cpu > +3%,p99 > +10%"], ["--budget", "6m"], ["--undecided", "pass"], ["--seed", "7", "-m", "A B"]):
            self.assertIn("\n".join(words), "\n".join(arguments))
        self.assertFalse((self.folder / "owned").exists())

    def test_a_baseline_that_is_a_command_makes_a_key_that_the_cache_takes(self):
        keys = []
        for collector in ("G1", "Z"):
            job = self.job({"baseline": f"java -Xlog:gc,safepoint -XX:+Use{collector}GC -jar old.jar {{port}} {'x' * 512}"}).run()
            keys += [step_inputs["key"] for used, step_inputs in job.uses if used.startswith("actions/cache@")]
        self.assertTrue(all(re.fullmatch("[^,]{1,512}", key) for key in keys), keys)
        self.assertEqual(len(set(keys)), 2)

    def test_the_summary_and_the_log_say_what_the_machine_can_show(self):
        job = self.job().run()
        summary = job.summary.read_text()
        self.assertIn("**holds**", summary)
        self.assertIn("wakes up 90 µs late", summary)
        self.assertIn("::group::plan\nthis budget shows a difference of 4 %", job.log)
        report = pathlib.Path(job.outputs()["report"])
        self.assertTrue({"comment.md", "tare.xml", "picture.svg", "check.txt"} <= {p.name for p in report.iterdir()})
        uploads = [step_inputs for name, step_inputs in job.uses if name.startswith("actions/upload-artifact@")]
        self.assertEqual(uploads[0]["path"], str(report))

    def test_without_a_run_the_summary_has_the_end_of_the_log(self):
        job = self.job(STATUS="4", NO_RUN="1").run()
        self.assertIn("**There is no result: tare check ended with exit code 4.**", job.summary.read_text())
        self.assertIn("checking 'this'", job.summary.read_text())
        self.assertTrue(job.failed)

    def test_a_later_step_with_the_same_folder_does_not_report_the_earlier_run(self):
        self.job().run()
        job = self.job(STATUS="4", NO_RUN="1").run()
        self.assertTrue(job.summary.read_text().rstrip().endswith("</details>"))
        self.assertIn("There is no result", (self.folder / "runner/tare/tare.toml/comment.md").read_text())


class Comment(Case):
    def test_one_comment_is_written_and_then_updated(self):
        with api() as (url, state):
            for title in ("first", "second"):
                job = self.job(number="5", GITHUB_API_URL=url, TITLE=title).run()
                self.assertFalse(job.failed, job.log)
                # Others talk, so that the comment is on the second page next time.
                state["comments"][:0] = [{"id": n, "body": "talk"} for n in range(120 - len(state["comments"]))]
            comments = [c for c in state["comments"] if c["body"].startswith("<!-- tare report of tare.toml -->")]
            self.assertEqual(len(comments), 1)
            self.assertEqual([a[0] for a in state["asked"]], ["GET", "POST", "GET", "GET", "PATCH"])
            self.assertTrue(all(a[2] == "Bearer secret" for a in state["asked"]))

    def test_a_check_without_a_run_updates_the_comment_of_the_one_before(self):
        with api() as (url, state):
            self.job(number="5", GITHUB_API_URL=url).run()
            self.assertIn("**holds**", state["comments"][0]["body"])
            self.job(number="5", GITHUB_API_URL=url, STATUS="4", NO_RUN="1").run()
            (comment,) = state["comments"]
            self.assertIn("There is no result", comment["body"])

    def test_the_log_of_a_check_without_a_run_fits_into_the_comment(self):
        with api() as (url, state):
            self.job(number="5", GITHUB_API_URL=url, STATUS="4", NO_RUN="1", SAID="x" * 100_000).run()
            (comment,) = state["comments"]
            self.assertEqual(len(comment["body"]), 65_536)
            self.assertIn("There is no result", comment["body"])

    def test_two_checks_of_a_repository_keep_their_comments_reports_and_artifacts_apart(self):
        with api() as (url, state):
            used = []
            for inputs in ({"working-directory": "a"}, {"working-directory": "b"}, {"suite": "b/other.toml"}):
                (self.folder / inputs.get("working-directory", "b")).mkdir(exist_ok=True)
                job = self.job({"picture-branch": "pictures", **inputs}, number="5", GITHUB_API_URL=url).run()
                self.assertFalse(job.failed, job.log)
                used += [step_inputs for name, step_inputs in job.uses if name.startswith("actions/upload-artifact@")]
            marks = [comment["body"].splitlines()[0] for comment in state["comments"]]
            names = ["a/tare.toml", "b/tare.toml", "b/other.toml"]
            self.assertEqual(marks, [f"<!-- tare report of {name} -->" for name in names])
            names = [name.replace("/", "~") for name in names]
            self.assertEqual([step_inputs["name"] for step_inputs in used], [f"tare-bench-0-{name}" for name in names])
            self.assertEqual([pathlib.Path(step_inputs["path"]).name for step_inputs in used], names)
            self.assertEqual(len(set(state["files"])), 3)

    def test_checks_of_one_suite_are_separated_by_name_or_by_job_of_a_matrix(self):
        with api() as (url, state):
            used = []
            for inputs, jobs in (({"name": "JDK 21"}, "1"), ({"name": "JDK 25 -->"}, "1"), ({}, "2"), ({"name": "JDK 21"}, "1")):
                job = self.job(inputs, number="5", GITHUB_API_URL=url)
                job.context["strategy.job-total"] = jobs
                job.run()
                self.assertFalse(job.failed, job.log)
                used += [step_inputs["name"] for name, step_inputs in job.uses if name.startswith("actions/upload-artifact@")]
            marks = [comment["body"].splitlines()[:2] for comment in state["comments"]]
            titles = ["JDK 21", "JDK 25 --_", "job 1 of 2"]
            self.assertEqual(marks, [[f"<!-- tare report of tare.toml, {title} -->", f"### {title}"] for title in titles])
            self.assertEqual(used[:3], [f"tare-bench-0-tare.toml~{title.replace(' ', '_')}" for title in titles])

    def test_without_permission_there_is_a_warning_and_the_job_holds(self):
        with api() as (url, state):
            for method in ("GET", "POST"):
                state["refuse"] = {method: 403}
                job = self.job(number="5", GITHUB_API_URL=url).run()
                self.assertFalse(job.failed, job.log)
                self.assertIn("::warning title=tare::The comment could not be written (403: Resource not", job.log)
                self.assertIn('Grant the workflow "permissions: pull-requests: write"', job.log)

    def test_an_api_that_does_not_answer_is_a_warning(self):
        job = self.job(number="5", GITHUB_API_URL="http://127.0.0.1:9").run()
        self.assertFalse(job.failed, job.log)
        self.assertIn("::warning title=tare::The comment could not be written (", job.log)

    def test_a_comment_that_only_quotes_ours_is_left_alone(self):
        with api() as (url, state):
            state["comments"].append({"id": 1, "body": "<!-- tare report of tare.toml -->\nmine", "foreign": True})
            self.job(number="5", GITHUB_API_URL=url).run()
            self.assertEqual(state["comments"][0]["body"], "<!-- tare report of tare.toml -->\nmine")
            self.assertEqual(len(state["comments"]), 2)

    def test_a_picture_is_kept_on_its_branch(self):
        with api() as (url, state):
            for _ in range(2):
                self.job({"picture-branch": "pictures"}, number="5", GITHUB_API_URL=url).run()
            self.assertEqual(state["branches"], ["pictures"])
            self.assertEqual(state["files"], ["/contents/pull-request-5/77-1-bench-tare.toml.svg"] * 2)
            self.assertIn("![Changes with their intervals](https://example.org/", state["comments"][0]["body"])
            state["refuse"] = {"PUT": 403}
            job = self.job({"picture-branch": "pictures"}, number="5", GITHUB_API_URL=url).run()
            self.assertIn('Grant the workflow "permissions: contents: write"', job.log)
            self.assertIn("the comment is at", job.log)

    def test_a_push_and_a_refusal_write_no_comment(self):
        with api() as (url, state):
            self.job(GITHUB_API_URL=url).run()
            self.job({"comment": "false"}, number="5", GITHUB_API_URL=url).run()
            self.assertEqual(state["asked"], [])


class Baseline(Case):
    def test_a_shallow_clone_gets_the_commit_it_compares_with(self):
        remote = self.folder / "remote"
        remote.mkdir()
        self.git("init", "-q", "-b", "main", folder=remote)
        self.git("config", "uploadpack.allowAnySHA1InWant", "true", folder=remote)
        for _ in range(3):
            self.git("commit", "-q", "--allow-empty", "-m", "a step", folder=remote)
        first = self.git("rev-parse", "HEAD~2", folder=remote)
        self.git("clone", "-q", "--depth=1", f"file://{remote}", "clone")
        environment = {"ARGUMENTS": str(self.arguments)}
        inputs = {"program": str(self.program), "working-directory": "clone", "comment": "false"}

        def baseline(given, before=""):
            job = Job(self.folder, {**inputs, "baseline": given}, {"event.before": before}, environment).run()
            return job, self.arguments.read_text().splitlines()

        job, arguments = baseline("", before=first)
        self.assertEqual(arguments[arguments.index("--baseline") + 1], first, job.log)
        job, arguments = baseline("main")
        self.assertEqual(arguments[arguments.index("--baseline") + 1], self.git("rev-parse", "HEAD", folder=remote))
        job, arguments = baseline("", before="0" * 40)
        self.assertNotIn("--baseline", arguments)
        self.assertIn("the baseline of the suite counts", job.log)
        self.arguments.write_text("")
        job, arguments = baseline("no-such-branch")
        self.assertTrue(job.failed and arguments == [], job.log)
        self.assertIn('There is no revision "no-such-branch"', job.log)
        # A full clone stays one, although a commit is fetched.
        self.git("-C", "clone", "fetch", "-q", "--unshallow")
        self.git("commit", "-q", "--allow-empty", "-m", "a step", folder=remote)
        newest = self.git("rev-parse", "HEAD", folder=remote)
        job, arguments = baseline(newest)
        self.assertEqual(arguments[arguments.index("--baseline") + 1], newest, job.log)
        self.assertEqual(self.git("-C", "clone", "rev-list", "--count", newest), "4")

    def test_a_pull_request_is_compared_with_the_base_that_it_was_merged_into(self):
        remote = self.folder / "remote"
        remote.mkdir()
        self.git("init", "-q", "-b", "main", folder=remote)
        self.git("config", "uploadpack.allowAnySHA1InWant", "true", folder=remote)

        def commit(message):
            # Of one message, time and parent, two would be one commit.
            self.git("commit", "-q", "--allow-empty", "-m", message, folder=remote)
            return self.git("rev-parse", "HEAD", folder=remote)

        old = commit("old")
        self.git("checkout", "-q", "-b", "change", folder=remote)
        head = commit("head")
        self.git("checkout", "-q", "main", folder=remote)
        new = commit("new")
        self.git("checkout", "-q", "-b", "merged", folder=remote)
        self.git("merge", "-q", "--no-ff", "-m", "merged", "change", folder=remote)
        inputs = {"program": str(self.program), "baseline": "", "comment": "false"}
        # The merge that a job checks out, of a later base than that of the event; then the head alone, with its history or without.
        for branch, depth, of_event, expected in (("merged", 1, old, new), ("change", 9, new, old), ("change", 1, new, new)):
            clone = f"{branch}-{depth}"
            self.git("clone", "-q", f"--depth={depth}", "--no-single-branch", "-b", branch, f"file://{remote}", clone)
            github = {"event.pull_request.base.sha": of_event, "event.pull_request.head.sha": head}
            job = Job(self.folder, {**inputs, "working-directory": clone}, github, {"ARGUMENTS": str(self.arguments)}).run()
            arguments = self.arguments.read_text().splitlines()
            self.assertEqual(arguments[arguments.index("--baseline") + 1], expected, job.log)

    def test_a_job_that_has_the_base_in_place_of_the_pull_request_is_refused(self):
        self.git("init", "-q", "-b", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "the base")
        event = {"GITHUB_EVENT_NAME": "pull_request_target", "GITHUB_SHA": self.git("rev-parse", "HEAD")}
        job = self.job({"comment": "false"}, **event).run()
        self.assertTrue(job.failed and not self.arguments.exists(), job.log)
        self.assertIn('Write "on: pull_request" in the workflow', job.log)
        self.git("commit", "-q", "--allow-empty", "-m", "the change")
        self.assertFalse(self.job({"comment": "false"}, **event).run().failed)


class Install(Case):
    def release(self):
        """A release as ./tare release packs it, with the program of this test."""
        text = (ACTION.parent / "Cargo.toml").read_text()
        version = re.search(r'\[workspace\.package\]\nversion = "(.*)"', text)[1]
        name = f"tare-{version}-{platform.machine()}-linux"
        folder = self.folder / "release"
        folder.mkdir()
        with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(self.program, f"{name}/bin/tare")
        data = (folder / f"{name}.tar.gz").read_bytes()
        (folder / "SHA256SUMS").write_text(f"{hashlib.sha256(data).hexdigest()}  {name}.tar.gz\n")
        return folder, name

    def test_a_release_is_fetched_checked_and_kept(self):
        folder, name = self.release()
        inputs = {"program": "", "release-url": f"file://{folder}", "cache": "~/.cargo\ntarget"}
        job = self.job(inputs).run()
        self.assertFalse(job.failed, job.log)
        self.assertIn(f"fetching file://{folder}/{name}.tar.gz", job.log)
        caches = [step_inputs for used, step_inputs in job.uses if used.startswith("actions/cache@")]
        self.assertTrue((pathlib.Path(caches[0]["path"]) / "tare").exists())
        self.assertTrue(caches[1]["path"].endswith("/tare/baselines\n~/.cargo\ntarget"))
        self.assertNotIn("fetching", self.job(inputs).run().log)

    def test_a_release_of_another_content_is_refused(self):
        folder, name = self.release()
        (folder / "SHA256SUMS").write_text(f"{'0' * 64}  {name}.tar.gz\n")
        job = self.job({"program": "", "release-url": f"file://{folder}"}).run()
        self.assertTrue(job.failed)
        self.assertIn("is not the one in SHA256SUMS", job.log)
        self.assertFalse(self.arguments.exists())

    def test_without_a_release_and_without_cargo_it_says_what_to_install(self):
        tools = self.folder / "tools"
        tools.mkdir()
        for tool in ("bash", "git", "sed", "uname", "mktemp", "curl", "dirname", "find", "sort", "xargs", "cat", "sha256sum", "cut"):
            path = subprocess.run(["which", tool], capture_output=True, text=True, check=True).stdout.strip()
            os.symlink(path, tools / tool)
        job = self.job({"program": "", "release-url": "file:///nowhere"}, PATH=str(tools)).run()
        self.assertTrue(job.failed)
        self.assertIn("cargo is missing to build one", job.log)

    def test_the_program_is_built_where_it_is_looked_for_whatever_folder_the_job_builds_in(self):
        copy = self.folder / "copy"
        shutil.copytree(ACTION, copy / "action")
        (copy / "Cargo.toml").write_text('[workspace.package]\nversion = "0.0.0"\n')
        launcher = f'built=${{CARGO_TARGET_DIR:-target}}/release && mkdir -p "$built" && cp "{self.program}" "$built/tare"\n'
        for name, text in (("tare", launcher), ("cargo", ""), ("npm", "")):
            (copy / name).write_text(f"#!/bin/sh\n{text}")
            (copy / name).chmod(0o755)
        environment = {"GITHUB_ACTION_PATH": str(copy), "CARGO_TARGET_DIR": "built", "PATH": f"{copy}:{os.environ['PATH']}"}
        job = self.job({"program": "", "release-url": "file:///nowhere"}, **environment).run()
        self.assertFalse(job.failed, job.log)
        self.assertIn("building tare 0.0.0", job.log)

    def test_a_program_by_a_relative_path_is_found_from_the_folder_of_the_check(self):
        (self.folder / "service").mkdir()
        job = self.job({"program": "./tare", "working-directory": "service"}).run()
        self.assertFalse(job.failed, job.log)
        self.assertEqual(job.outputs()["result"], "holds")


class Real(Case):
    """The same steps with the real program."""

    SUITE = """
[run]
forks = 2
users = 4
warmup = "200ms"
slice = "100ms"
discard = "20ms"
saturating = 2
latency = "0s"
[servers.own]
command = ["{program}", "reference", "--port", "{{port}}"]
ready = '^tare: ready on .*:(?<port>\\d+)$'
[scenarios.Get]
request = {{ path = "/path0/4" }}
expect = {{ status = 200, body = "4" }}
[check]
fail_if = ["cpu > +300%"]
"""

    def test_a_check_of_this_machine_ends_with_a_report_and_a_comment(self):
        program = os.environ.get("TARE_UNDER_TEST", str(ACTION.parent / "target/release/tare"))
        if not os.access(program, os.X_OK):
            self.skipTest(f"there is no program {program}: ./tare build, or TARE_UNDER_TEST=FILE")
        (self.folder / "tare.toml").write_text(self.SUITE.format(program=program))
        with api() as (url, state):
            inputs = {"program": program, "baseline": f"{program} reference --port {{port}}", "undecided": "pass"}
            job = self.job(inputs, number="5", GITHUB_API_URL=url).run()
        self.assertFalse(job.failed, job.log)
        self.assertIn(job.outputs()["result"], ("holds", "undecided"))
        report = pathlib.Path(job.outputs()["report"])
        self.assertIn("<testcase", (report / "tare.xml").read_text())
        self.assertIn("</svg>", (report / "picture.svg").read_text())
        self.assertTrue(state["comments"][0]["body"].startswith("<!-- tare report of tare.toml -->"), job.log)
        self.assertTrue(list(report.glob("runs/*/report.html")))


if __name__ == "__main__":
    unittest.main()
