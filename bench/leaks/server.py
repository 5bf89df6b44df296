"""A server of the catalog in a JVM whose Netty tracks every buffer."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

MANIFESTS = pathlib.Path("servers/target/manifests")
OPTIONS = ("-XX:+UseG1GC", "-Xms512m", "-Xmx512m", "-Dio.netty.leakDetection.level=paranoid", "-Dio.netty.leakDetection.targetRecords=32")
READY = re.compile(r"tare: ready on .*:(\d+)")


class Problem(Exception):
    """Ends the program with its text."""


def manifest_of(target):
    """What the build says of FAMILY@VERSION."""
    path = MANIFESTS / f"{target}.json"
    if not path.exists():
        raise Problem(f"{path} is not there: servers/build {target} makes it, or says why it cannot be had here")
    return json.loads(path.read_text(encoding="utf-8"))


class Server:
    """One start."""

    def __init__(self, process, port, log, java):
        self.process, self.port, self.log, self.java = process, port, log, java

    def collect(self):
        """Has the JVM collect its garbage: a buffer is leaked once nothing refers to it."""
        subprocess.run([self.java.with_name("jcmd"), str(self.process.pid), "GC.run"], capture_output=True, check=True)

    def reported(self):
        """What the log holds so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")


@contextlib.contextmanager
def started(manifest, name):
    """Starts the server of that name; it ends with the block."""
    mains = {server["name"]: server["main"] for server in manifest["servers"]}
    if name not in mains:
        raise Problem(f"{manifest['family']}@{manifest['version']} has no {name}; it has {', '.join(mains)}")
    java = pathlib.Path(os.environ.get("JAVA_HOME", "/usr")) / "bin/java"
    command = [java, *OPTIONS, "-cp", ":".join(manifest["classpath"]), mains[name], "0"]
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        with log.open("w", encoding="utf-8") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process:
            try:
                yield Server(process, port_of(process, log), log, java)
            finally:
                process.kill()


def port_of(process, log):
    """Waits for the line that says where the server listens."""
    for _ in range(300):
        ready = READY.search(log.read_text(encoding="utf-8"))
        if ready:
            return int(ready[1])
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise Problem(f"the server did not start: {log.read_text(encoding='utf-8')[-500:]}")
