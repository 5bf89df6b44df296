"""Checks the workflows of this project, and runs the scripts of their steps with fake programs of the platform."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

import yaml

from .test_job import ACTION

ROOT = ACTION.parent
FILES = sorted((ROOT / ".github/workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")

# Writes its arguments down. skopeo also writes the digest of what it copied.
FAKE = """#!/usr/bin/env bash
echo "$(basename "$0") $*" >>"$CALLS"
while [ $# -gt 0 ]; do
  if [ "$1" = --digestfile ]; then echo -n sha256:1234 >"$2"; fi
  if [ "$1" = --password-stdin ]; then cat >/dev/null; fi
  shift
done
"""


class Workflows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.calls = self.folder / "calls"
        # The scripts stand in a project of their own, so that nothing of this one is written.
        self.project = self.folder / "project"
        for name in (".ci", "scripts", "install.sh", "Cargo.toml", "CHANGELOG.md"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
            self.project.mkdir(exist_ok=True)
            copy(ROOT / name, self.project / name)
        self.version = re.search(r'\[workspace\.package\]\nversion = "(.*)"', (ROOT / "Cargo.toml").read_text())[1]
        self.packages = self.project / "target/packages"
        self.packages.mkdir(parents=True)
        for machine in ("x86_64", "aarch64"):
            self.pack(f"tare-{self.version}-{machine}-linux")

    def pack(self, name):
        program = self.folder / "program"
        program.write_text(f"#!/bin/sh\necho a program for {name}\n")
        with tarfile.open(self.packages / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(program, f"{name}/bin/tare")

    def run_script(self, *command, fakes=(), **environment):
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        for name in fakes:
            (tools / name).write_text(FAKE)
            (tools / name).chmod(0o755)
        environment = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "CALLS": str(self.calls),
            "GITHUB_REPOSITORY": "Me/tare",
            "GITHUB_REF_NAME": f"v{self.version}",
            "GITHUB_ACTOR": "me",
            "GITHUB_OUTPUT": str(self.folder / "outputs"),
            **environment,
        }
        return subprocess.run(command, cwd=self.project, env=environment, capture_output=True, text=True, timeout=120)

    def test_every_action_is_pinned_to_a_commit_and_every_step_is_a_script_of_the_project(self):
        self.assertEqual([file.name for file in FILES], ["ci.yml", "release.yml", "site.yml"])
        for file in [*FILES, ROOT / "action.yml"]:
            for line in re.findall(r"^[ -]*(uses: .*)$", file.read_text(), re.MULTILINE):
                self.assertRegex(line, PINNED, file.name)
        for file in FILES:
            workflow = yaml.safe_load(file.read_text())
            self.assertEqual(workflow["permissions"], {"contents": "read"}, file.name)
            self.assertNotIn("secrets.", file.read_text(), "no secret but the platform's own token")
            for job in workflow["jobs"].values():
                self.assertIn("timeout-minutes", job)
                for step in job["steps"]:
                    script = step.get("run", ".ci/run").split()[0]
                    self.assertTrue(os.access(ROOT / script, os.X_OK), script)
                    self.assertNotIn("${{", step.get("run", ""), "an expression in a script can be a command of a stranger")

    def test_only_a_tag_that_is_pushed_publishes(self):
        release = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
        self.assertEqual(release[True]["push"], {"tags": ["v*"]})
        self.assertEqual(release["jobs"]["publish"]["if"], "github.event_name == 'push'")

    def test_the_site_follows_a_release_although_the_platforms_token_publishes_it(self):
        site, release = (yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text()) for name in ("site", "release"))
        # YAML reads the key "on" as true.
        self.assertEqual(set(site[True]), {"workflow_run", "workflow_dispatch"})
        self.assertEqual(site[True]["workflow_run"]["workflows"], [release["name"]])

    def test_what_belongs_to_all_packages_comes_from_their_content(self):
        done = self.run_script("scripts/release", "--together")
        self.assertEqual(done.returncode, 0, done.stderr)
        sums = dict(reversed(line.split("  ")) for line in (self.packages / "SHA256SUMS").read_text().splitlines())
        files = {file.name for file in self.packages.iterdir()} - {"SHA256SUMS"}
        self.assertEqual(set(sums), files)
        for name, found in sums.items():
            self.assertEqual(found, hashlib.sha256((self.packages / name).read_bytes()).hexdigest())
        script = (self.packages / "install.sh").read_text()
        self.assertIn(f"\nversion={self.version}\nrepository=https://github.com/Me/tare\n", script)
        self.assertNotIn("OWNER", script)
        # Docker takes no name of an image with a capital.
        self.assertIn("ghcr.io/me/tare", script)
        with tarfile.open(self.packages / f"tare-{self.version}-flake.tar.gz") as archive:
            flake = archive.extractfile("flake.nix").read().decode()
        for machine in ("x86_64", "aarch64"):
            self.assertIn(f'{machine}-linux = "{sums[f"tare-{self.version}-{machine}-linux.tar.gz"]}";', flake)
        self.assertIn("https://github.com/Me/tare/releases/download/", flake)
        notes = (self.project / "target/notes.md").read_text()
        self.assertIn(f"https://github.com/Me/tare/releases/download/v{self.version}/install.sh | sh", notes)
        self.assertIn(f"ghcr.io/me/tare:{self.version} load", notes)
        (self.folder / "flake.nix").write_text(flake)
        for tool in (["nix-instantiate", "--parse"], ["nixfmt", "--check"]):
            if shutil.which(tool[0]):
                done = subprocess.run([*tool, str(self.folder / "flake.nix")], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_notes_are_the_section_of_this_version(self):
        (self.project / "CHANGELOG.md").write_text(f"# Changelog\n\n## 9.0\n\nnewer\n\n## {self.version}\n\nthis one\n\n## 0.0\n\nolder\n")
        self.run_script("scripts/release", "--together")
        notes = (self.project / "target/notes.md").read_text()
        self.assertIn("this one", notes)
        self.assertNotRegex(notes, "newer|older")

    def test_links_of_the_notes_lead_to_this_version_of_the_repository(self):
        (self.project / "CHANGELOG.md").write_text(f"## {self.version}\n\n[a](docs/A.md#b), [c](https://example.org/d), [e](#f)\n")
        self.run_script("scripts/release", "--together")
        notes = (self.project / "target/notes.md").read_text()
        self.assertIn(f"[a](https://github.com/Me/tare/blob/v{self.version}/docs/A.md#b), [c](https://example.org/d), [e](#f)", notes)

    def test_packages_of_another_version_are_not_brought_together(self):
        for file in self.packages.iterdir():
            file.unlink()
        self.pack("tare-0.0.7-x86_64-linux")
        done = self.run_script("scripts/release", "--together")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"has no archive of version {self.version}", done.stderr)

    def test_documents_that_deny_a_release_get_no_tag(self):
        denials = {
            "README.md": "nothing is published yet",
            "CHANGELOG.md": f"## {self.version} (not yet released)",
            "docs/site/src/install.md": "**No release is published yet**",
        }
        for name, text in denials.items():
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            (self.project / name).write_text(f"{text}\n")
        (self.project / ".gitignore").write_text("target/\n")
        identity = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
        commit = (["add", "-A"], [*identity, "commit", "-qm", "all"])
        for words in (["init", "-q"], *commit):
            subprocess.run(["git", *words], cwd=self.project, check=True)
        done = self.run_script("scripts/release")
        self.assertEqual((done.returncode, "documents deny the release" in done.stderr), (1, True), done.stderr)
        for name, text in denials.items():
            self.assertIn(f"{name}:{text}", done.stderr)
        (self.project / "SECURITY.md").write_text("gh attestation verify FILE --repo OWNER/tare\n")
        for words in commit:
            subprocess.run(["git", *words], cwd=self.project, check=True)
        done = self.run_script("scripts/release")
        self.assertEqual((done.returncode, "SECURITY.md" in done.stderr), (1, True), done.stderr)
        self.assertIn("name the account in these files, too", done.stderr)

    def test_a_release_is_published_with_its_files_and_notes(self):
        self.run_script("scripts/release", "--together")
        done = self.run_script(".ci/publish", fakes=["gh"])
        self.assertEqual(done.returncode, 0, done.stderr)
        (call,) = self.calls.read_text().splitlines()
        self.assertTrue(call.startswith(f"gh release create v{self.version} --repo Me/tare --verify-tag --title tare {self.version}"), call)
        for file in ("SHA256SUMS", "install.sh", f"tare-{self.version}-aarch64-linux.tar.gz"):
            self.assertIn(f" target/packages/{file}", call)

    def test_a_tag_of_another_version_or_a_damaged_file_publishes_nothing(self):
        self.run_script("scripts/release", "--together")
        done = self.run_script(".ci/publish", fakes=["gh"], GITHUB_REF_NAME="v9.9.9")
        self.assertEqual((done.returncode, "set the tag v" in done.stderr), (1, True), done.stderr)
        (self.packages / "install.sh").write_text("damaged")
        self.assertEqual(self.run_script(".ci/publish", fakes=["gh"]).returncode, 1)
        self.assertFalse(self.calls.exists())

    def test_the_image_is_pushed_as_version_and_latest_and_its_digest_is_stated(self):
        done = self.run_script(".ci/publish-image", fakes=["skopeo"], TOKEN="secret")
        self.assertEqual(done.returncode, 0, done.stderr)
        login, *copies = self.calls.read_text().splitlines()
        self.assertEqual(login, "skopeo login --username me --password-stdin ghcr.io")
        self.assertEqual([copy.split()[-1] for copy in copies], [f"docker://ghcr.io/me/tare:{tag}" for tag in (self.version, "latest")])
        self.assertEqual((self.folder / "outputs").read_text(), "name=ghcr.io/me/tare\ndigest=sha256:1234\n")


if __name__ == "__main__":
    unittest.main()
