"""A server of the catalog in a JVM whose Netty tracks every buffer."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

from ..problem import Problem

MANIFESTS = pathlib.Path("servers/target/manifests")
JVM_OPTIONS = ("-XX:+UseG1GC", "-Xms512m", "-Xmx512m", "-Dio.netty.leakDetection.level=paranoid", "-Dio.netty.leakDetection.targetRecords=32")
READY = re.compile(r"tare: ready on .*:(\d+)")


def read_manifest(target):
    """Reads the manifest that the build of FAMILY@VERSION wrote."""
    path = MANIFESTS / f"{target}.json"
    if not path.exists():
        raise Problem(f"{path} does not exist: servers/build {target} makes it, or says why it cannot be built here")
    return json.loads(path.read_text(encoding="utf-8"))


class Server:
    """A running server, its log, and its JVM."""

    def __init__(self, process, port, log, java):
        self.process, self.port, self.log, self.java = process, port, log, java

    def collect_garbage(self):
        """Makes the JVM collect garbage. A buffer counts as leaked once nothing refers to it."""
        subprocess.run([self.java.with_name("jcmd"), str(self.process.pid), "GC.run"], capture_output=True, check=True)

    def read_log(self):
        """The log so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")


@contextlib.contextmanager
def running_server(manifest, name):
    """Runs the server of that name during a `with` block."""
    main_classes = {server["name"]: server["main"] for server in manifest["servers"]}
    if name not in main_classes:
        raise Problem(f"{manifest['family']}@{manifest['version']} has no {name}; it has {', '.join(main_classes)}")
    java = pathlib.Path(os.environ.get("JAVA_HOME", "/usr")) / "bin/java"
    command = [java, *JVM_OPTIONS, "-cp", ":".join(manifest["classpath"]), main_classes[name], "0"]
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        with log.open("w", encoding="utf-8") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process:
            try:
                yield Server(process, wait_for_port(process, log), log, java)
            finally:
                process.kill()


def wait_for_port(process, log):
    """Waits up to 30 s for the line that says where the server listens; returns the port."""
    for _ in range(300):
        ready = READY.search(log.read_text(encoding="utf-8"))
        if ready:
            return int(ready[1])
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise Problem(f"the server did not start: {log.read_text(encoding='utf-8')[-500:]}")
