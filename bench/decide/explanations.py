"""The prose of docs/DECIDE.md, section by section."""

from . import checks
from .figures import DECISION_TARGET_S
from .parts import BASE_NS, NATIVE_FLAGS

HEAD = """\
# How quickly and how truthfully tare decides

`bench/decide/run document` writes this page from the rows in `bench/decide/results`. No number is typed. [METHOD.md](METHOD.md) has the rules, and
[GLOSSARY.md](GLOSSARY.md) the terms."""

DATA = """\
The tables in full are CSV files: [the same question again](../bench/decide/results/compare.csv), [checks](../bench/decide/results/checks.csv), [checks of a
planted cost](../bench/decide/results/planted-checks.csv), [simulated runs](../bench/decide/results/replay.csv), [one start after the
other](../bench/decide/results/sequential.csv)."""

REPLAY = """\
## False verdicts in simulated runs of a server against itself

A simulated run looks after each fork from the third on, up to its declared forks. Where it may continue, it goes on for as many forks
again. The code that judges real runs judges it: interval, verdict and stop rule. Looks after the stop count too. Odd forks are left out and
replaced, as in a real run.

Forks come from known distributions, or from the forks and rounds of records. Two forks of one recorded comparison differ as two starts of one
server do. Their difference, divided by √2, is a fork whose true difference is 0. With a prior, every 100 runs have one that is fitted to 20
earlier runs of the same source. Each fork of a run comes from a comparison that is drawn again, so all runs of a source scatter alike, and as
their prior says. [The whole procedure](notebook/2026-11-28-whole-procedure.md) has runs that scatter more than that.

"Interval" is the share of runs in which the interval of any look misses the truth. It holds when it is at most α plus three standard errors.
"Verdict" is the share in which any look says "different". An interval that misses 0 may still lie inside the region. The table has α = 0.05,
and of each source the larger share: with 6 declared forks, or with 12 and a run that may continue."""

AA = f"""\
## Real runs of a server against itself

Each run has its own seed. "In time" means within {DECISION_TARGET_S // 60} minutes."""

PLANTED = f"""\
## Planted slowdowns

"Found" means a verdict of the right sign. Its time is that of the first verdict. Of older runs only the time at which they ended is known. "True" is what
was planted, as a share of the baseline's CPU per request in the same run. "Covered" is the share of intervals that contain it.

The reference server burns {BASE_NS / 1000:g} µs of CPU for a request, and so many percent more. It ran with `{' '.join(NATIVE_FLAGS)}`. In a handler
of http4s, a loop of a fixed number of steps times one of its runs in sixteen. Cores are below full speed for a good part of the time. So the loop costs
more than on the idle machine where its steps were chosen."""

SEQUENTIAL = """\
## One start after the other

The articles' method: 25 s of warm-up and 25 s of load for each server, one start after the other, and Student's 95 % interval over pairs of starts. The
table states how long this takes for the median half-width of tare's runs. It does so by the CPU of a request, and by throughput, which the articles compare.

*Burners* are programs that use a core each: all the time, or in bursts and rests of random length, as other guests of a machine do. They cost throughput,
and hardly change the CPU of a request. But a warm-up of 25 s can then end before the compilers have, and they compile during the load. The same happens on
a slow day of the machine ([notebook](notebook/2026-11-27-slow-day.md)). The table is of all days together. The CSV file has the days on which both methods
were measured. The curves of the plot are of all days together, too.

tare's interval holds with a look after each start. Student's holds for a number of pairs that was fixed before. The deviation of so few pairs is itself
uncertain."""

COMPARED = f"""\
## The same question again and again

What a layer costs, each time with another seed and a budget of {DECISION_TARGET_S // 60} minutes. The first verdict comes before the end: a run goes on until
the size is known to ± 4 % or a quarter of it. Of older runs the first verdict is not known, so its median is of the others. Builds are not in the time.

In the CSV file, "baseline" is the CPU of a request to the vanilla server. Machines differ, and one machine is not equally fast on all days. Rows of before
2026-11-27 do not name their processor. Seeds from 101 on ran with servers that alternate in turns while they warm up, and with twelve rounds in a start.
`bench/decide/run judge compare` judges older records by the program of today. They stopped by the rules of their own day."""

CHECKS = f"""\
## Checks of releases and of empty commits

`tare check` with the limits `{checks.LIMITS}`, each time with a budget of five minutes. Pairs of releases were chosen from what changed in the code between
them, before they were measured: `bench/decide/releases.toml` says why. An empty commit is the last commit beside itself.

A change is *found* where a limit says *regressed* or *improved*. It is *below the limits* where they all say *no material change*: the code differs, and a
request costs the same. A *false alarm* is *regressed* without a change. Allocation of long uploads is not measured: G1 does not count objects of half a
region or more. In the CSV file, brackets are 90 % intervals since 2026-11-27, by which a limit is judged. Those of earlier days have 95 %."""

EQUALITY = f"""\
Each check starts the baseline a second time (A/A control). That start and an empty commit should cost what the baseline does. The table has the mean of their
CPU per request, with its standard error. Checks with seeds below {checks.FIRST_RANDOM_ORDER_SEED} loaded the baseline first in the rounds of a warm-up that have
no turns."""

PLANTED_CHECKS = f"""\
## Checks of a planted cost

`tare check` of http4s beside itself with a busy loop in its handler, with the limit `{checks.PLANTED_LIMIT}`. "True" is what the loop has cost, as a share of the
baseline's CPU per request in the same check. "In time" means *regressed* within {checks.PLANTED_TARGET_S // 60} minutes. Seeds up to 103 ran when even a single
limit needed the interval at α to be *regressed*. The brackets are those at 2 α, by which it is judged since."""
