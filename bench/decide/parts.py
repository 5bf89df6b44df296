"""The parts of the bench that measure: which runs, and what of each is kept."""

import re
import tempfile

from . import program, warm
from .burners import burning
from .problem import Problem
from .rows import Rows

# As the default suite decides: order of groups and declared starts.
SETTINGS = "suites/quick.toml"
# CPU that the reference server burns for a request; a planted slowdown is a share of it.
BASE_NS = 300_000
NATIVE_FLAGS = ["--warmup", "500ms", "--slice", "500ms", "--saturating", "1", "--poisson", "0", "--max-forks", "4", "--users", "8", "--region", "1"]
JVM_SUITE = "bench/decide/planted-http4s.toml"
# What a server of that suite prints when it ends.
PLANTED_COST = re.compile(r"^planted: (?P<ns>[\d.]+) ns a request, from (?P<timed>\d+) timed ones$", re.MULTILINE)
# Its servers that burn more, by microseconds.
JVM_SERVERS = {2.0: "plus2us", 3.0: "plus3us", 6.0: "plus6us"}

# Of each family what `families` compares: a server with its baseline, or with itself where Tapir's cannot be had everywhere.
FAMILIES = {
    "http4s": ["-s", "http4s.Vanilla,http4s.Tapir"],
    "netty": ["-s", "netty.Vanilla,netty.future.Tapir"],
    "vertx": ["-s", "vertx.Vanilla,vertx.Tapir"],
    "pekko": ["-s", "pekko.Vanilla,pekko.Tapir"],
    "play": ["--aa", "play.Vanilla"],
    "zio": ["-s", "zio.Vanilla,zio.Tapir"],
    "nima": ["--aa", "nima.Vanilla"],
}
# How servers are scheduled and warmed up.
ARMS = {
    "batch": ["--server-scheduling", "batch"],
    "normal": ["--server-scheduling", "normal"],
    "pinned": ["--server-scheduling", "batch", "--warmup-pinned"],
}


def measure(part, case, options, flags, some_seeds=None, currency=None, more=lambda folder: {}):
    """One run for each seed, or for some, that has no row yet; `more` reads further figures from the run's folder."""
    rows, case = Rows(part), with_burners(case, options)
    for seed in some_seeds or seeds(options):
        if rows.has(case, seed):
            continue
        with burning(options.burners, options.burst_s, seed):
            summary, verdict_s = program.run(part, flags, seed)
        if summary is None:
            raise Problem("interrupted: the same command goes on with this run")
        row = {"case": case, "seed": seed, **program.outcome(summary, currency), "verdict_s": verdict_s, **more(program.newest(program.RECORDS / part))}
        rows.append(row)
        print(f"  {part} {case} seed {seed}: {row['short']} · {row['forks']} starts · {row['run']['duration_s']:.0f} s", flush=True)


def with_burners(case, options):
    """The case, and what runs beside it."""
    return {**case, "burners": options.burners, **({"burst_s": options.burst_s} if options.burst_s else {})}


def aa(options):
    """Real runs of a server against itself."""
    program.build("-p", "tare")
    case = {"server": options.server, "scenario": options.scenario}
    flags = [SETTINGS, "--aa", options.server, "-m", options.scenario, "--budget", options.budget, *options.flags]
    measure("aa", case, options, flags)


def planted(options):
    """A slowdown that was planted in the reference server."""
    program.build("-p", "tare")
    for percent in options.percent:
        with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as suite:
            suite.write(native_suite(percent))
            suite.flush()
            case = {"server": "reference", "percent": percent, "base_ns": BASE_NS}
            flags = [suite.name, *NATIVE_FLAGS, "--budget", options.budget, *options.flags]
            measure("planted", case, options, flags)


def planted_jvm(options):
    """A cost that was planted in a handler of http4s."""
    program.build("-p", "tare")
    for micros in options.micros:
        server = planted_server(micros)
        case = {"server": "http4s", "ns": round(micros * 1000)}
        flags = [JVM_SUITE, "-s", server, "--budget", options.budget, *options.flags]
        measure("planted", case, options, flags, more=lambda run: {"planted_ns": planted_ns(run, server)})


def planted_server(micros):
    """The server of JVM_SUITE that burns so many microseconds more."""
    if micros not in JVM_SERVERS:
        raise Problem(f"{JVM_SUITE} plants {', '.join(f'{known:g}' for known in JVM_SERVERS)} µs, not {micros:g}")
    return JVM_SERVERS[micros]


def planted_ns(run, server):
    """What the loop has cost a request on average, in all starts of the server together. Each start says so in its log when it ends."""
    logs = [log.read_text(encoding="utf-8", errors="replace") for log in sorted((run / "logs").glob(f"*-{server}-*.log"))]
    said = [PLANTED_COST.search(log) for log in logs]
    if not logs or None in said:
        raise Problem(f"a log of {server} in {run / 'logs'} does not say what was planted; build the server again: tare run -s http4s.Vanilla -d 1")
    weights = [int(one["timed"]) for one in said]
    return sum(float(one["ns"]) * weight for one, weight in zip(said, weights)) / sum(weights)


def sequential(options):
    """The articles' method: 25 s of warm-up and 25 s of load for each server, one start after the other."""
    program.build("-p", "tare")
    case = {"server": options.server, "baseline": options.baseline, "scenario": options.scenario}
    servers = f"{options.baseline},{options.server}"
    flags = ["-s", servers, "-m", options.scenario, "-d", "25", "--warmup", "25s", "--warmup-users", "128", "-u", "128", *options.flags]
    # By the currency that decides tare's own runs, which is the less noisy one.
    measure("sequential", case, options, flags, currency="cpu_per_request")


def compare(options):
    """The same question by tare, to compare with the sequential method."""
    program.build("-p", "tare")
    case = {"server": options.server, "baseline": options.baseline, "scenario": options.scenario}
    flags = [SETTINGS, "-s", options.server, "--baseline", options.baseline, "-m", options.scenario, "--budget", options.budget, *options.flags]
    measure("compare", case, options, flags)


def judge(options):
    """Makes the reports of a part's runs again. Runs whose records are gone keep their rows."""
    program.build("-p", "tare")
    rows = Rows(options.part)
    judged = []
    for row in rows.all():
        summary = program.report(options.part, row["run"]["id"])
        judged.append({**row, **program.outcome(summary, row["name"])} if summary else row)
        print(f"  {options.part} seed {row['seed']}: {row['short']} → {judged[-1]['short']}", flush=True)
    rows.replace(judged)


def families(options):
    """One start of each family for each seed, in turns: how they are scheduled, and how long their compilers work."""
    program.build("-p", "tare")
    for seed in seeds(options):
        for family in options.families:
            for arm in options.arms:
                flags = [*FAMILIES[family], *ARMS[arm], "-m", options.scenario, "--forks", "1", "--saturating", "3", "--poisson", "0", *options.flags]
                case = {"family": family, "arm": arm, "scenario": options.scenario}
                measure("families", case, options, flags, some_seeds=[seed], more=lambda folder: {"warm": warm.of_record(folder / "record.sqlite")})


def trace(options):
    """Prints how the cost of a request went in one start of a record."""
    rows = warm.trace(options.record, options.server, options.start)
    if not rows:
        raise Problem(f"{options.record} has no saturating slice of {options.server} in start {options.start}")
    print("scenario           phase    round   application, µs   compilers, ms   switches/request   code, KB")
    for row in rows:
        number = row["round"] if row["round"] < 2**31 else "–"
        figures = f"{row['application_us']:15.1f} {row['compilers_ms']:15.0f} {row['switches']:18.2f} {row['code_kb']:10.0f}"
        print(f"{row['scenario']:18} {row['phase']:8} {number:>5} {figures}")


def replay(options):
    """Simulated runs from records and known distributions."""
    program.build("-p", "bench-programs", "--bin", "replay")
    file = Rows("replay").file.with_suffix(".json")
    file.parent.mkdir(parents=True, exist_ok=True)
    program.subprocess.run([str(program.REPLAY), "--runs", str(options.runs), "--out", str(file), *options.records], check=False)


def seeds(options):
    """As many as were asked for, from the first one on."""
    return range(options.first_seed, options.first_seed + options.runs)


def native_suite(percent):
    """Two reference servers, one of them slower by so many percent."""
    server = lambda name, more: (
        f'[servers.{name}]\ncommand = ["{program.TARE.resolve()}", "reference", "--port", "{{port}}", "--base-ns", "{BASE_NS}"{more}]\n'
        "ready = '^tare: ready on .*:(?<port>\\d+)$'\n"
    )
    return (
        server("bare", "")
        + server("planted", f', "--spin-percent", "{percent:g}"')
        + 'baseline = "bare"\n\n[scenarios.Get]\ntitle = "GET one small text"\nrequest = { path = "/path0/4" }\n'
        + 'expect = { status = 200, headers = { content-type = "text/plain; charset=UTF-8" }, body = "4" }\n'
    )
