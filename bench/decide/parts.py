"""The parts of the bench that measure: which runs, and what of each is kept."""

import tempfile

from . import program
from .burners import burning
from .problem import Problem
from .rows import Rows

# As the default suite decides: warm-up, rounds, α and declared starts.
SETTINGS = "suites/quick.toml"
# CPU that the reference server burns for a request; a planted slowdown is a share of it.
BASE_NS = 300_000
NATIVE_FLAGS = ["--warmup", "2s", "--poisson", "0", "--no-control", "--at-least", "3", "--max-forks", "6", "--alpha", "0.05", "--users", "8"]


def measure(part, case, seeds, flags, env=None, burners=0):
    """One run for each seed that has no row yet."""
    rows = Rows(part)
    for seed in seeds:
        if rows.has(case, seed):
            continue
        with burning(burners):
            summary = program.run(part, flags, seed, env)
        if summary is None:
            raise Problem("interrupted: the same command goes on with this run")
        row = {"case": case, "seed": seed, **program.outcome(summary)}
        rows.append(row)
        print(f"  {part} {case} seed {seed}: {row['short']} · {row['forks']} starts · {row['run']['duration_s']:.0f} s", flush=True)


def aa(options):
    """Real runs of a server against itself."""
    program.build("-p", "tare")
    case = {"server": options.server, "scenario": options.scenario, "burners": options.burners}
    flags = [SETTINGS, "--aa", options.server, "-m", options.scenario, "--budget", options.budget, *options.flags]
    measure("aa", case, seeds(options), flags, burners=options.burners)


def planted(options):
    """A slowdown that was planted in the reference server."""
    program.build("-p", "tare")
    for percent in options.percent:
        with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as suite:
            suite.write(native_suite(percent))
            suite.flush()
            case = {"server": "reference", "percent": percent, "base_ns": BASE_NS, "burners": options.burners}
            flags = [suite.name, *NATIVE_FLAGS, "--budget", options.budget, *options.flags]
            measure("planted", case, seeds(options), flags, burners=options.burners)


def planted_jvm(options):
    """A slowdown that was planted in a JVM server: an environment variable says how much."""
    program.build("-p", "tare")
    for percent in options.percent:
        case = {"server": options.server, "percent": percent, "burners": options.burners}
        flags = [SETTINGS, "-s", options.server, "--baseline", options.baseline, "-m", options.scenario, "--budget", options.budget, *options.flags]
        env = {options.variable: options.value.format(percent=f"{percent:g}")}
        measure("planted", case, seeds(options), flags, env, options.burners)


def sequential(options):
    """The articles' method: 25 s of warm-up and 25 s of load for each server, one start after the other."""
    program.build("-p", "tare")
    case = {"server": options.server, "baseline": options.baseline, "scenario": options.scenario, "burners": options.burners}
    servers = f"{options.baseline},{options.server}"
    flags = ["-s", servers, "-m", options.scenario, "-d", "25", "--warmup", "25s", "--warmup-users", "128", "-u", "128", *options.flags]
    measure("sequential", case, seeds(options), flags, burners=options.burners)


def compare(options):
    """The same question by tare, to compare with the sequential method."""
    program.build("-p", "tare")
    case = {"server": options.server, "baseline": options.baseline, "scenario": options.scenario, "burners": options.burners}
    flags = [SETTINGS, "-s", options.server, "--baseline", options.baseline, "-m", options.scenario, "--budget", options.budget, *options.flags]
    measure("compare", case, seeds(options), flags, burners=options.burners)


def replay(options):
    """Simulated runs from records and known distributions."""
    program.build("-p", "bench-programs", "--bin", "replay")
    file = Rows("replay").file.with_suffix(".json")
    file.parent.mkdir(parents=True, exist_ok=True)
    program.subprocess.run([str(program.REPLAY), "--runs", str(options.runs), "--out", str(file), *options.records], check=False)


def seeds(options):
    """1, 2, 3 … as many as were asked for."""
    return range(1, options.runs + 1)


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
