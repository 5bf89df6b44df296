"""Runs install.sh against a local server that serves packages as a release has them."""

import functools
import hashlib
import http.server
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tarfile
import tempfile
import threading
import tomllib
import unittest

from .test_job import ACTION

SCRIPT = ACTION.parent / "install.sh"
VERSION = "9.9.9"
NAME = f"tare-{VERSION}-{platform.machine()}-linux"
SETPRIV = shutil.which("setpriv") or "setpriv"
TOOLS = "sh uname mkdir mktemp rm grep sha256sum tar gzip mv printf".split()


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


class Install(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.packages = self.folder / "packages"
        self.packages.mkdir()
        self.pack(f"#!/bin/sh\necho tare {VERSION}\n")
        handler = functools.partial(Files, directory=self.packages)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(lambda: (server.shutdown(), thread.join(), server.server_close()))
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.target = self.folder / "bin"
        # The script as the release writes it.
        self.script = self.folder / "install.sh"
        self.script.write_text(SCRIPT.read_text().replace("\nversion=VERSION\n", f"\nversion={VERSION}\n"))

    def pack(self, program):
        file = self.folder / "program"
        file.write_text(program)
        file.chmod(0o755)
        with tarfile.open(self.packages / f"{NAME}.tar.gz", "w:gz") as archive:
            archive.add(file, f"{NAME}/bin/tare")
        data = (self.packages / f"{NAME}.tar.gz").read_bytes()
        (self.packages / "SHA256SUMS").write_text(f"{hashlib.sha256(data).hexdigest()}  {NAME}.tar.gz\n")

    def install(self, *arguments, tools=("curl",), script=None, prefix=(), **environment):
        """Runs the script with these download programs; returns its status and all that it said."""
        path = self.folder / "tools"
        path.mkdir(exist_ok=True)
        for tool in (*TOOLS, *tools):
            found = subprocess.run(["which", tool], capture_output=True, text=True, check=True).stdout.strip()
            if not (path / tool).exists():
                (path / tool).symlink_to(found)
        environment = {"PATH": str(path), "HOME": str(self.folder), "TARE_URL": self.url, "TARE_DIR": str(self.target), **environment}
        command = [*prefix, "/bin/sh", str(script or self.script), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def assert_nothing_is_left(self):
        found = list(self.target.iterdir()) if self.target.exists() else []
        self.assertEqual(found, [])

    def test_curl_or_wget_alone_installs_and_says_where(self):
        for tools in (("curl",), ("wget",)):
            status, said = self.install(tools=tools)
            self.assertEqual(status, 0, said)
            self.assertIn(f"tare {VERSION} is installed: {self.target}/tare", said)
            self.assertIn("This folder is not on the PATH", said)
            self.assertEqual([file.name for file in self.target.iterdir()], ["tare"])
            (self.target / "tare").unlink()
            for tool in tools:
                (self.folder / "tools" / tool).unlink()

    def test_a_program_that_is_there_is_replaced(self):
        self.install()
        self.pack(f"#!/bin/sh\necho tare {VERSION}\n# newer\n")
        self.assertEqual(self.install()[0], 0)
        self.assertIn("newer", (self.target / "tare").read_text())

    def test_neither_curl_nor_wget_is_an_error_that_names_both(self):
        status, said = self.install(tools=())
        self.assertEqual((status, "neither curl nor wget is installed" in said), (1, True), said)
        self.assertFalse(self.target.exists())

    def test_a_wrong_sum_installs_nothing(self):
        (self.packages / "SHA256SUMS").write_text(f"{'0' * 64}  {NAME}.tar.gz\n")
        status, said = self.install()
        self.assertEqual((status, "is not the file that SHA256SUMS names" in said), (1, True), said)
        self.assert_nothing_is_left()

    def test_a_mac_gets_the_line_of_the_page_for_its_container(self):
        (self.folder / "tools").mkdir()
        (self.folder / "tools/uname").write_text("#!/bin/sh\necho Darwin\n")
        (self.folder / "tools/uname").chmod(0o755)
        status, said = self.install()
        line = said.partition("use the image: ")[2].strip()
        # Before a release, the page has the name of the account; the script has it from the release.
        page = re.sub(r"ghcr\.io/[\w-]+/", "ghcr.io/OWNER/", (ACTION.parent / "docs/site/src/install.md").read_text())
        self.assertEqual((status, line in page), (1, True), said)
        # The network of the host is that of the machine in which a Mac runs containers.
        self.assertIn("host.docker.internal", line)

    def test_a_machine_without_a_package_is_named(self):
        (self.folder / "tools").mkdir()
        (self.folder / "tools/uname").write_text('#!/bin/sh\n[ "$1" = -s ] && echo Linux || echo riscv64\n')
        (self.folder / "tools/uname").chmod(0o755)
        status, said = self.install()
        self.assertEqual((status, "there is no package for riscv64" in said), (1, True), said)
        self.assertIn("tare && cd tare && ./tare build && cargo install --path crates/tare --locked", said)

    def test_a_release_without_this_package_is_an_error(self):
        (self.packages / f"{NAME}.tar.gz").unlink()
        for tools in (("curl",), ("wget",)):
            status, said = self.install(tools=tools)
            self.assertEqual((status, f"cannot download {self.url}/{NAME}.tar.gz" in said), (1, True), said)
            self.assert_nothing_is_left()

    def test_a_folder_that_cannot_be_written_is_named_before_the_download(self):
        self.target.write_text("a file, where a folder should be")
        status, said = self.install()
        self.assertEqual((status, f"cannot make the folder {self.target}" in said), (1, True), said)
        self.target.unlink()
        self.target.mkdir(mode=0o555)
        prefix = ()
        if os.geteuid() == 0:
            # Root may write anywhere: another user tries.
            if subprocess.run([SETPRIV, "--reuid=65534", "true"], capture_output=True).returncode != 0:
                self.skipTest("root cannot become another user here")
            prefix = (SETPRIV, "--reuid=65534", "--clear-groups")
            self.folder.chmod(0o755)
        status, said = self.install(prefix=prefix)
        self.assertEqual((status, f"cannot write to {self.target}: give another folder with --dir" in said), (1, True), said)

    def test_a_full_disk_leaves_nothing(self):
        self.target.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tare", str(self.target)]
        if subprocess.run(mount, capture_output=True).returncode != 0:
            self.skipTest("this user cannot mount a small disk")
        self.addCleanup(subprocess.run, ["umount", str(self.target)], check=True)
        noise = os.urandom(300_000).hex()
        self.pack(f"#!/bin/sh\necho tare {VERSION}\n# {noise}\n")
        for tools in (("curl",), ("wget",)):
            status, said = self.install(tools=tools)
            self.assertEqual((status, "and space for it?" in said), (1, True), said)
            self.assert_nothing_is_left()
        # The archive fits, and the program does not.
        self.pack(f"#!/bin/sh\necho tare {VERSION}\n# {'0' * 600_000}\n")
        status, said = self.install()
        self.assertEqual((status, "is its disk full?" in said), (1, True), said)
        self.assert_nothing_is_left()

    def test_a_folder_that_allows_no_programs_is_said_to_be_one(self):
        self.target.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "noexec", "tare", str(self.target)]
        if subprocess.run(mount, capture_output=True).returncode != 0:
            self.skipTest("this user cannot mount a folder")
        self.addCleanup(subprocess.run, ["umount", str(self.target)], check=True)
        status, said = self.install()
        self.assertEqual((status, "allows no programs (noexec; try --dir)" in said), (1, True), said)
        self.assert_nothing_is_left()

    def test_a_script_that_was_cut_off_does_nothing(self):
        text = self.script.read_text()
        cut = self.folder / "cut.sh"
        cut.write_text(text[: text.rindex('main "$@"')])
        self.assertEqual(self.install(script=cut), (0, ""))
        self.assert_nothing_is_left()

    def test_the_script_of_the_source_says_that_it_is_not_the_one_of_a_release(self):
        status, said = self.install(script=SCRIPT, TARE_URL="")
        self.assertEqual((status, "The release has the one that knows its version" in said), (1, True), said)

    def test_a_relative_folder_is_named_in_full(self):
        status, said = self.install("--dir", "my bin", prefix=("/usr/bin/env", "-C", str(self.folder)))
        self.assertEqual((status, (self.folder / "my bin/tare").exists()), (0, True), said)
        self.assertIn(f'export PATH="{self.folder.resolve()}/my bin:$PATH"', said)

    def test_a_user_without_a_home_says_where_it_goes(self):
        status, said = self.install(HOME="", TARE_DIR="")
        self.assertEqual((status, "HOME is not set: say where the program goes with --dir" in said), (1, True), said)
        status, said = self.install("--dir", str(self.target), HOME="", TARE_DIR="")
        self.assertEqual((status, (self.target / "tare").exists()), (0, True), said)

    def test_help_says_what_can_be_chosen_and_installs_nothing(self):
        status, said = self.install("--help")
        self.assertEqual(status, 0, said)
        for choice in ("--dir", "TARE_URL"):
            self.assertIn(choice, said)
        self.assert_nothing_is_left()

    def test_a_folder_in_the_place_of_the_program_is_left_alone(self):
        (self.target / "tare").mkdir(parents=True)
        status, said = self.install()
        self.assertEqual(status, 1, said)
        self.assertIn(f"{self.target}/tare is a folder", said)
        self.assertEqual(list((self.target / "tare").iterdir()), [])

    def test_cargo_binstall_finds_the_archive_on_linux_and_none_on_a_mac(self):
        package = tomllib.loads((ACTION.parent / "crates/tare/Cargo.toml").read_text())["package"]
        binstall = package["metadata"]["binstall"]
        self.assertNotIn("pkg-url", binstall)
        self.assertEqual(
            sorted(binstall["overrides"]),
            [f"{machine}-unknown-linux-{library}" for machine in ("aarch64", "x86_64") for library in ("gnu", "musl")],
        )
        for target, of_target in binstall["overrides"].items():
            name = f"tare-{{ version }}-{target.split('-')[0]}-linux"
            self.assertEqual(of_target["pkg-url"], f"{{ repo }}/releases/download/v{{ version }}/{name}.tar.gz")
        # QuickInstall has programs of others, and Cargo alone builds one without the report page.
        self.assertEqual(binstall["disabled-strategies"], ["quick-install", "compile"])
        # Of each machine: what the script unpacks, too.
        self.assertEqual(binstall["bin-dir"], "tare-{ version }-{ target-arch }-linux/bin/{ bin }")

    def test_the_folder_is_chosen_by_flag_and_other_flags_are_refused(self):
        other = self.folder / "other place"
        status, said = self.install("--dir", str(other))
        self.assertEqual((status, (other / "tare").exists()), (0, True), said)
        status, said = self.install("--prefix", "x")
        self.assertEqual((status, "unknown argument --prefix" in said), (1, True), said)


if __name__ == "__main__":
    unittest.main()
