"""The measuring parts of the bench: which runs they start, and what each row stores."""

import re
import tempfile

from ..problem import Problem
from . import program, trace
from .burners import running_burners
from .rows import Rows

# The default suite sets the order of groups and the declared starts.
SETTINGS = "suites/quick.toml"
# CPU that the reference server burns for a request; a planted slowdown is a share of it.
BASE_NS = 300_000
NATIVE_FLAGS = ["--warmup", "500ms", "--slice", "500ms", "--saturating", "1", "--latency", "0s", "--max-forks", "4", "--users", "8", "--region", "1"]
JVM_SUITE = "bench/decide/planted-http4s.toml"
# What a server of that suite prints when it ends.
PLANTED_COST = re.compile(r"^planted: (?P<ns>[\d.]+) ns a request, from (?P<timed>\d+) timed ones$", re.MULTILINE)
# Its servers with a planted cost, by microseconds.
JVM_SERVERS = {2.0: "plus2us", 3.0: "plus3us", 4.0: "plus4us", 6.0: "plus6us"}


def run_seeds(part, case, options, flags, currency=None, read_extra=lambda folder: {}):
    """Runs `tare run` for each seed that has no row yet, and stores a row. `read_extra(folder)` returns further keys of the row."""
    rows, case = Rows(part), with_burners(case, options)
    for seed in seeds_of(options):
        if rows.has(case, seed):
            continue
        with running_burners(options.burners, options.burst_s, seed):
            summary, verdict_s = program.run(part, flags, seed)
        if summary is None:
            raise Problem("interrupted: the same command continues with this run")
        row = {"case": case, "seed": seed, **program.figures_of_comparison(summary, currency), "verdict_s": verdict_s, **read_extra(program.newest_run(program.RECORDS_FOLDER / part))}
        rows.append(row)
        print(f"  {part} {case} seed {seed}: {row['short']} · {row['forks']} starts · {row['run']['duration_s']:.0f} s", flush=True)


def with_burners(case, options):
    """The case with the burners that run at the same time."""
    return {**case, "burners": options.burners, **({"burst_s": options.burst_s} if options.burst_s else {})}


def run_aa(options):
    """Compares a server with itself."""
    program.build("-p", "tare")
    case = {"server": options.server, "scenario": options.scenario}
    flags = [SETTINGS, "--aa", options.server, "-m", options.scenario, "--budget", options.budget, *options.flags]
    run_seeds("aa", case, options, flags)


def run_planted(options):
    """Compares the reference server with a copy that has a planted slowdown."""
    program.build("-p", "tare")
    for percent in options.percent:
        with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as suite:
            suite.write(reference_suite(percent))
            suite.flush()
            case = {"server": "reference", "percent": percent, "base_ns": BASE_NS}
            flags = [suite.name, *NATIVE_FLAGS, "--budget", options.budget, *options.flags]
            run_seeds("planted", case, options, flags)


def run_planted_jvm(options):
    """Compares http4s with a copy that has a cost planted in its handler."""
    program.build("-p", "tare")
    for micros in options.micros:
        server = server_with_planted_cost(micros)
        case = {"server": "http4s", "ns": round(micros * 1000)}
        flags = [JVM_SUITE, "-s", server, "--budget", options.budget, *options.flags]
        run_seeds("planted", case, options, flags, read_extra=lambda run: {"planted_ns": read_planted_ns(run, server)})


def server_with_planted_cost(micros):
    """The server of JVM_SUITE with a planted cost of `micros` microseconds."""
    if micros not in JVM_SERVERS:
        raise Problem(f"{JVM_SUITE} plants {', '.join(f'{known:g}' for known in JVM_SERVERS)} µs, not {micros:g}")
    return JVM_SERVERS[micros]


def read_planted_ns(run, server):
    """The mean cost of the planted loop per request, in ns, over all starts of the server. Each start logs its own mean when it ends."""
    logs = [log.read_text(encoding="utf-8", errors="replace") for log in sorted((run / "logs").glob(f"*+{server}+*.log"))]
    costs = [PLANTED_COST.search(log) for log in logs]
    if not logs or None in costs:
        raise Problem(f"a log of {server} in {run / 'logs'} does not say what was planted; build the server again: tare run -s http4s.Vanilla -d 1")
    weights = [int(one["timed"]) for one in costs]
    return sum(float(one["ns"]) * weight for one, weight in zip(costs, weights)) / sum(weights)


def run_sequential(options):
    """The articles' method: 25 s of warm-up and 25 s of load for each server, one start after the other."""
    program.build("-p", "tare")
    case = {"server": options.server, "baseline": options.baseline, "scenario": options.scenario}
    servers = f"{options.baseline},{options.server}"
    flags = ["-s", servers, "-m", options.scenario, "-d", "25", "--warmup", "25s", "--warmup-users", "128", "-u", "128", *options.flags]
    # By the currency that decides tare's own runs, which is the less noisy one.
    run_seeds("sequential", case, options, flags, currency="cpu_per_request")


def run_comparison(options):
    """Measures the comparison of `sequential` with tare."""
    program.build("-p", "tare")
    case = {"server": options.server, "baseline": options.baseline, "scenario": options.scenario}
    flags = [SETTINGS, "-s", options.server, "--baseline", options.baseline, "-m", options.scenario, "--budget", options.budget, *options.flags]
    run_seeds("compare", case, options, flags)


def judge_again(options):
    """Makes the reports of a part's runs again and updates the rows. Runs without a record keep their rows."""
    program.build("-p", "tare")
    rows = Rows(options.part)
    judged = []
    for row in rows.read_all():
        summary = program.remake_report(options.part, row["run"]["id"])
        judged.append({**row, **program.figures_of_comparison(summary, row["name"])} if summary else row)
        print(f"  {options.part} seed {row['seed']}: {row['short']} → {judged[-1]['short']}", flush=True)
    rows.replace(judged)


def print_trace(options):
    """Prints CPU per request, and what the compilers did, for each round of one start of a record."""
    rows = trace.trace_of_start(options.record, options.server, options.start)
    if not rows:
        raise Problem(f"{options.record} has no saturating slice of {options.server} in start {options.start}")
    print("scenario           phase    round   application, µs   compilers, ms   switches/request   code, KB")
    for row in rows:
        # The last slices of a warm-up settle the load. They belong to no round, and have a number of 2^31 or more.
        number = row["round"] if row["round"] < 2**31 else "–"
        figures = f"{row['application_us']:15.1f} {row['compilers_ms']:15.0f} {row['switches']:18.2f} {row['code_kb']:10.0f}"
        print(f"{row['scenario']:18} {row['phase']:8} {number:>5} {figures}")


def simulate_runs(options):
    """Simulates runs from records and known distributions."""
    program.build("-p", "bench-programs", "--bin", "replay")
    file = Rows("replay").file.with_suffix(".json")
    file.parent.mkdir(parents=True, exist_ok=True)
    program.subprocess.run([str(program.REPLAY), "--runs", str(options.runs), "--out", str(file), *options.records], check=False)


def seeds_of(options):
    """The seeds that the options select."""
    return range(options.first_seed, options.first_seed + options.runs)


def reference_suite(percent):
    """The suite (TOML) of two reference servers, one of them slower by `percent`."""
    server = lambda name, more_flags: (
        f'[servers.{name}]\ncommand = ["{program.TARE.resolve()}", "reference", "--port", "{{port}}", "--base-ns", "{BASE_NS}"{more_flags}]\n'
        "ready = '^tare: ready on .*:(?<port>\\d+)$'\n"
    )
    return (
        server("bare", "")
        + server("planted", f', "--spin-percent", "{percent:g}"')
        + 'baseline = "bare"\n\n[scenarios.Get]\ntitle = "GET one small text"\nrequest = { path = "/path0/4" }\n'
        + 'expect = { status = 200, headers = { content-type = "text/plain; charset=UTF-8" }, body = "4" }\n'
    )
