"""Tests the page and the plot with invented rows, and that an interrupted part continues."""

import pathlib
import sys
import tempfile
import unittest

from ..problem import Problem
from ..wrap_prose import wrap
from . import checks, document, figures, overview, parts, plot, program, text
from .rows import Rows


def row(case, seed, ratio, spread, duration, verdict):
    run = {"duration_s": duration, "started_at": "2026-11-24T21:00:00Z"}
    ends = (ratio / (1 + spread), ratio * (1 + spread)) if spread else (None, None)
    return {"case": case, "seed": seed, "ratio": ratio, "lo": ends[0], "hi": ends[1], "verdict": verdict, "run": run, "baseline_value": 303_000}


class Results(unittest.TestCase):
    def test_a_part_continues_after_its_last_row(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = Rows("aa", pathlib.Path(folder) / "results")
            self.assertEqual(rows.read_all(), [])
            case = {"server": "a", "burners": 0}
            rows.append(row(case, 1, 1.0, 0.02, 200, "no_material_difference"))
            self.assertTrue(rows.has(case, 1))
            rows.replace([row(case, 1, 1.1, 0.02, 200, "worse")])
            self.assertEqual([kept["verdict"] for kept in rows.read_all()], ["worse"])
            self.assertFalse(rows.has(case, 2) or rows.has({"server": "b", "burners": 0}, 1))

    def test_the_true_ratio_is_relative_to_what_the_baseline_used(self):
        case = {"server": "reference", "percent": 5.0, "base_ns": 300_000, "burners": 0}
        planted = row(case, 1, 1.05, 0.01, 20, "worse")
        self.assertAlmostEqual(figures.planted_ratio(planted), 1 + 0.05 * 300 / 303)
        self.assertTrue(figures.covers_truth(planted))
        self.assertFalse(figures.covers_truth(row(case, 1, 1.08, 0.01, 20, "worse")))

    def test_the_time_to_the_verdict_ends_at_the_first_line_with_a_verdict(self):
        lines = {
            "· SimpleGet  http4s.Tapir  start 1   +9.7 %": False,
            "· SimpleGet  http4s.Tapir  start 3   inconclusive +11 % [−7, +33]  (about 2:34 more)": False,
            "start 4  SimpleGet  warming up 0:00 of ≤ 0:40": False,
            "· SimpleGet  http4s.Tapir  start 4   more CPU 13 % [3, 23]": True,
            "✓ SimpleGet  http4s.Tapir  start 3   no difference +1 % [−3, +5]": True,
        }
        self.assertEqual({line: bool(program.VERDICT.search(line)) for line in lines}, lines)
        say = "import sys; print('start 2   more CPU 9 % [5, 14]', file=sys.stderr)"
        self.assertIsNotNone(program.seconds_to_verdict([sys.executable, "-c", say]))
        self.assertIsNone(program.seconds_to_verdict([sys.executable, "-c", ""]))
        early = {**row({}, 1, 1.1, 0.02, 200, "worse"), "verdict_s": 120.0}
        self.assertEqual([figures.time_to_verdict(one) for one in (early, row({}, 1, 1.1, 0.02, 200, "worse"))], [120.0, 200])

    def test_a_row_names_the_processor_of_its_machine(self):
        machine = {"title": "Machine", "rows": [{"key": "CPU", "value": "Intel(R) Xeon(R) Processor"}, {"key": "memory", "value": "23.6 GiB"}]}
        summary = {"run": {"id": "1", "seed": 7, "started_at": "2026-11-27T00:45:00Z"}, "environment": [{"title": "Kernel", "rows": []}, machine]}
        run = program.describe_run(summary, "id", "started_at")
        self.assertEqual(run, {"id": "1", "started_at": "2026-11-27T00:45:00Z", "processor": "Intel(R) Xeon(R) Processor"})
        self.assertEqual(text.day_and_processor({"run": run}), ["2026-11-27", "Intel Xeon"])

    def test_the_true_ratio_of_a_jvm_server_uses_the_cost_that_its_loop_logged(self):
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder)
            (run / "logs").mkdir()
            for start, line in enumerate(("planted: 4000.0 ns a request, from 100 timed ones", "planted: 4400.5 ns a request, from 300 timed ones")):
                (run / f"logs/none+plus6us+{start}.log").write_text(f"ready on 127.0.0.1:8080\n{line}\n")
            planted_ns = parts.read_planted_ns(run, "plus6us")
            self.assertAlmostEqual(planted_ns, 4300.375)
            case = {"server": "http4s", "ns": 6_000, "burners": 0}
            planted = {**row(case, 1, 1.13, 0.02, 150, "worse"), "baseline_value": 35_000, "planted_ns": planted_ns}
            self.assertAlmostEqual(figures.planted_ratio(planted), 1 + 4300.375 / 35_000)
            (run / "logs/none+plus6us+2.log").write_text("ready on 127.0.0.1:8080\n")
            with self.assertRaisesRegex(Problem, "does not say what was planted"):
                parts.read_planted_ns(run, "plus6us")

    def test_the_number_of_pairs_follows_students_interval(self):
        # 12.706 · 0.05 / √2 = 0.449 with two pairs, 4.303 · 0.05 / √3 = 0.124 with three.
        self.assertEqual(figures.pairs_needed(0.05, 0.45), 2)
        self.assertEqual(figures.pairs_needed(0.05, 0.13), 3)

    def test_the_sequential_method_is_compared_by_cpu_and_by_throughput(self):
        case = {"server": "x.Tapir", "baseline": "x.Vanilla", "scenario": "Get", "burners": 2, "burst_s": 10.0}
        throughput = lambda ratio: {"throughput": {"ratio": ratio, "lo": ratio / 1.05, "hi": ratio * 1.05}}
        pairs = [{**row(case, seed, 1.1 + seed / 100, None, 100, "no_interval"), **throughput(0.8 + seed / 10)} for seed in range(3)]
        pairs.append(row(case, 3, 1.13, None, 100, "no_interval"))
        ours = [{**row(case, 1, 1.1, 0.03, 200, "worse"), **throughput(0.9)}]
        by_cpu = ["x.Tapir on x.Vanilla, Get", "2 burners, bursts of 10 s", "2026-11-24", "CPU per request", "4", "11.5 %", "1.2 %", "1", "10.0 %", "3.0 %", "3.3 min", "3", "5.0 min", "1.5"]
        lines = document.sequential_lines(pairs, ours)
        self.assertEqual(lines[0], by_cpu)
        self.assertEqual(lines[1][3:], ["throughput", "3", "−10.4 %", "11.2 %", "1", "−10.0 %", "4.9 %", "3.3 min", "23", "38.3 min", "11.5"])
        self.assertEqual(document.sequential_section(pairs, []), [])
        self.assertIn("| 2 burners, bursts of 10 s | CPU per request | 4 |", document.sequential_section(pairs, ours))
        # A day without runs of tare has no line of its own, and the page has the line of all days only.
        later = {"duration_s": 100, "started_at": "2026-11-27T21:00:00Z"}
        both = [*pairs, *({**pair, "run": later} for pair in pairs)]
        days = [line[2:5] for line in document.sequential_lines(both, ours) if line[3] == "CPU per request"]
        self.assertEqual(days, [["all", "CPU per request", "8"], ["2026-11-24", "CPU per request", "4"]])
        page = document.sequential_section(both, ours)
        self.assertEqual((page.count("| CPU per request | 8 |"), page.count("| CPU per request | 4 |")), (1, 0))

    def test_tables_state_what_the_rows_say(self):
        case = {"server": "x.Tapir", "scenario": "Get", "burners": 0}
        runs = [row(case, seed, 1.0, 0.03, 200 + seed, "no_material_difference") for seed in range(3)]
        runs.append(row(case, 4, 1.0, 0.08, 310, "inconclusive"))
        self.assertIn("| x.Tapir | nothing | 4 | 0 | 3 | 3 | 3.0 % | 3.4 min |", document.aa_section(runs))
        case = {"server": "reference", "percent": 2.0, "base_ns": 300_000, "burners": 2}
        runs = [row(case, 1, 1.02, 0.01, 40, "worse"), row(case, 2, 1.02, 0.03, 60, "inconclusive")]
        self.assertIn("| reference | 2 % | 2 burners | 2 | 1 of 2 | 40 s | 40 s | 2.0 % | 2.0 % | 2 of 2 |", document.planted_section(runs))

    def test_repeated_comparisons_are_listed_with_the_overlap_of_their_intervals(self):
        case = {"server": "x.Tapir", "baseline": "x.Vanilla", "scenario": "Get", "burners": 0}
        runs = [{**row(case, seed, ratio, 0.05, 200, "worse"), "forks": 5} for seed, ratio in ((1, 1.10), (2, 1.14), (3, 1.30))]
        runs.append({**row(case, 4, 1.10, None, 310, "no_interval"), "forks": 1})
        page = document.comparison_section(runs)
        self.assertIn("| x.Tapir on x.Vanilla, Get | nothing | 4 | 3 | 12.0 % | 4.9 % | – | 3.3 min | 67 % |", page)
        lines = document.comparison_lines(runs)
        self.assertEqual(lines[0][2:], ["1", "2026-11-24", "–", "303 µs", "10.0 %", "4.8 % to 15.5 %", "4.9 %", "–", "3.3 min", "worse", "5"])
        self.assertEqual(lines[3][2:], ["4", "2026-11-24", "–", "303 µs", "10.0 %", "–", "–", "–", "5.2 min", "no interval", "1"])

    def test_checks_are_counted_as_found_and_as_false_alarms(self):
        limit = lambda verdict: {"currency": "cpu_per_request", "ratio": 1.09, "short": "+9 % [+7, +11]", "verdict": verdict}
        case = {"server": "x.Tapir", "scenario": "Get", "old": "1.10.0", "new": "1.11.0", "differs": True}
        run = lambda duration_s: {"started_at": "2026-11-27T00:45:00Z", "duration_s": duration_s, "processor": "Intel(R) Xeon(R) Processor"}
        rows = [
            {"case": case, "seed": 1, "control": 1.01, "outcome": "regressed", "limits": [limit("regressed")], "run": run(200)},
            {"case": case, "seed": 1, "control": 1.01, "outcome": "undecided", "limits": [limit("undecided")], "run": run(300)},
            {"case": {**case, "differs": False}, "seed": 101, "control": 0.99, "outcome": "regressed", "limits": [limit("regressed")], "run": run(100)},
            {"case": {**case, "differs": False}, "seed": 101, "control": 0.99, "outcome": "holds", "limits": [limit("no_material_change")], "run": run(100)},
        ]
        self.assertEqual([checks.is_found(row) for row in rows], [True, False, True, False])
        self.assertEqual([checks.is_false_alarm(row) for row in rows], [False, False, True, False])
        self.assertEqual([checks.is_below_limits(row) for row in rows], [False, False, False, True])
        page = document.checks_section(rows)
        self.assertIn("| releases that differ | 2 | 1 | 0 | 1 | 0 | 4.2 min |", page)
        self.assertIn("| releases that do not differ | 2 | 1 | 1 | 0 | 1 | 1.7 min |", page)
        self.assertIn("| second start of the baseline | baseline first | 2 | 1.00 % ± 0.00 % |", page)
        self.assertIn("| second start of the baseline | random | 2 | −1.01 % ± 0.00 % |", page)
        self.assertNotIn("| empty commit |", page)
        self.assertIsNone(document.checks_section([]))
        line = ["2026-11-27", "Intel Xeon", "x.Tapir", "Get", "1.10.0", "1.11.0", "yes", "+9 % [+7, +11]: regressed", "–", "regressed", "3.3 min"]
        self.assertEqual(document.checks_table(rows)[1][0], line)

    def test_checks_of_a_planted_cost_state_true_and_measured_change(self):
        case = {"server": "http4s", "ns": 3_000, "burners": 0}
        limit = {"currency": "cpu_per_request", "ratio": 1.06, "lo": 1.02, "hi": 1.1, "short": "+6 % [+2, +10]", "verdict": "regressed"}
        found = {"case": case, "seed": 1, "outcome": "regressed", "limits": [limit], "run": {"duration_s": 200, "started_at": "2026-11-24T21:00:00Z"}, "baseline_value": 50_000, "planted_ns": 2_500}
        missed = {**found, "seed": 2, "outcome": "undecided", "limits": [{**limit, "lo": 1.06, "verdict": "undecided"}], "run": {**found["run"], "duration_s": 370}}
        rows = [found, {**found, "seed": 3, "run": {**found["run"], "duration_s": 370}}, missed]
        self.assertIn("| 3 µs | nothing | 3 | 5.0 % | 2 | 1 | 4.8 min | 2 |", document.planted_checks_section(rows))
        line = ["3 µs", "nothing", "1", "2026-11-24", "–", "5.0 %", "+6 % [+2, +10]: regressed", "regressed", "3.3 min"]
        self.assertEqual(document.planted_checks_table(rows)[1][0], line)
        self.assertEqual(document.planted_checks_section([]), [])

    def test_the_first_screen_has_a_row_for_each_question_with_data(self):
        nothing = {part: [] for part in ("replay", "aa", "planted", "compare", "sequential", "checks", "planted_checks")}
        self.assertEqual(overview.section(nothing).count("\n|"), 2, "the head alone")
        case = {"server": "x.Tapir", "baseline": "x.Vanilla", "scenario": "Get", "burners": 0}
        ours = [{**row(case, seed, ratio, 0.05, 200, "worse"), "verdict_s": 150.0} for seed, ratio in ((1, 1.10), (2, 1.12))]
        pairs = [row(case, seed, 1.1 + seed / 100, None, 100, "no_interval") for seed in range(3)]
        simulated = [
            {"source": source, "alpha": 0.05, "max_forks": 6, "with_prior": prior, "missed": missed, "any_look": 0.01}
            for source, prior, missed in (("normal", False, 0.05), ("two modes", False, 0.02), ("normal", True, 0.01))
        ]
        page = overview.section({**nothing, "compare": ours, "sequential": pairs, "replay": simulated})
        self.assertIn("In 2.0 to 5.0 % of simulated runs, by source of the forks; with a prior in 1.0 to 1.0 %.", page)
        self.assertIn("2 of 2 runs decided, the first verdict after 2.5 min, half-width 4.9 % after 3.3 min (medians). All intervals of a load agree.", page)
        self.assertIn("1.5 times as long beside nothing (CPU per request).", page)

    def test_the_claim_of_the_readme_is_the_one_of_the_results(self):
        readme = document.README.read_text(encoding="utf-8")
        self.assertEqual(document.with_claim(readme, document.read_rows()), readme, "bench/decide/run document writes it again")

    def test_the_claim_counts_false_alarms(self):
        case = {"server": "a", "baseline": "b", "burners": 0}
        compared = {**row(case, 1, 1.1, 0.02, 200, "worse"), "verdict_s": 120}
        rows = {"compare": [compared], "aa": [row(case, seed, 1.0, 0.02, 200, "no_material_difference") for seed in range(3)]}
        self.assertIn("no false alarm in 3 runs of a server against itself", overview.claim(rows))
        rows["aa"][0]["verdict"] = "better"
        self.assertIn("one false alarm in 3 runs", overview.claim(rows))
        self.assertIsNone(overview.claim({"compare": [], "aa": []}))

    def test_prose_is_wrapped_and_tables_and_code_are_not(self):
        long = "word " * 40
        lines = wrap(f"- {long}\n- 2 - {long}\n\n| {long} |\n```\n{long}\n```").splitlines()
        self.assertEqual([len(line) <= 120 for line in lines], [True] * 5 + [False, True, False, True])
        self.assertEqual([line[:6] for line in lines[:3]], ["- word", "  word", "- 2 - "])
        # A dash at the start of a line would be an item of a list.
        self.assertNotIn("\n  - ", wrap("- " + "1234 - " * 30))

    def test_a_plot_has_a_panel_for_each_kind_of_data(self):
        nothing = {part: [] for part in ("aa", "planted", "sequential", "compare")}
        self.assertIsNone(plot.render_svg(nothing))
        case = {"server": "reference", "percent": 2.0, "base_ns": 300_000, "burners": 0}
        one = plot.render_svg({**nothing, "planted": [row(case, 1, 1.02, 0.01, 40, "worse")]})
        self.assertIn("Time to the verdict, s", one)
        self.assertNotIn("Half-width", one)
        pairs = [row(case, seed, 1 + seed / 50, None, 100, "no_interval") for seed in range(4)]
        busy = [{**pair, "case": {**case, "burners": 2}} for pair in pairs]
        both = plot.render_svg({**nothing, "sequential": pairs + busy[:2]})
        self.assertEqual((both.count("<polyline"), ">nothing<" in both), (1, True))
        self.assertNotIn("2 burners", both, "two pairs have no curve")
        bursts = [{**pair, "case": {**case, "burners": 2, "burst_s": 10.0}} for pair in pairs]
        ours = [row(bursts[0]["case"], 1, 1.1, 0.03, 200, "worse")]
        all_curves = plot.render_svg({**nothing, "sequential": pairs + busy + bursts, "compare": ours})
        self.assertEqual(all_curves.count("<polyline"), 3)
        self.assertEqual(all_curves.count(">2 burners, bursts of 10 s<"), 1, "points and curve share a line of the legend")


if __name__ == "__main__":
    unittest.main()
