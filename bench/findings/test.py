"""Tests the errors for mistakes in claims, the tables, and what is stored of runs: `python3 -m unittest bench.findings.test`.
`bench/findings/make --check` checks the figures of claims."""

import json
import pathlib
import tempfile
import unittest

from . import claims, judge, leaks, machines, overview, page, runs, tables, take, variation
from .figures import format_amount, format_significant
from .problem import Problem
from ..leaks import reports

EVIDENCE = runs.read()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def assert_problem(self, *words):
        return self.assertRaisesRegex(Problem, "(?s)" + ".*".join(words))


class Figures(unittest.TestCase):
    def test_a_figure_has_three_digits_also_where_it_is_rounded_up(self):
        for value, text in [(0, "0.00"), (0.0004, "0.000"), (0.9996, "1.00"), (9.994, "9.99"), (9.996, "10.0"), (99.98, "100"), (162.4, "162")]:
            self.assertEqual(format_significant(value), text)
        for ns, text in [(999.4, "999 ns"), (999.6, "1.00 µs"), (9.25e3, "9.25 µs"), (999.6e6, "1.00 s")]:
            self.assertEqual(format_amount(ns, "ns"), text)


class Mistakes(Case):
    CONDITION = {"evidence": "pekko-3-users", "comparison": "pekko.VanillaMulti/SimpleGet/pekko.TapirMulti", "currency": "throughput"}

    def words(self, because, *conditions):
        claim = {"file": "07-x.toml", "judgement": "agrees", "because": because, "show": [], "rests_on": conditions}
        return page.render_claim(page.make_environment(EVIDENCE), claim, EVIDENCE)["because"]

    def test_a_mistake_in_a_table_lists_the_known_names(self):
        wrong = {
            ("columns", "p98"): ('no cell has "p98"', "throughput, cpu_per_request, .*p50"),
            ("variants", "laired"): ('variants: "laired" matches no variant', "pekko.TapirMulti, pekko.VanillaMulti"),
        }
        for (key, value), words in wrong.items():
            with self.subTest(key), self.assert_problem(*words):
                tables.build_table({"evidence": "pekko-3-users", "what": "cells", key: [value]}, EVIDENCE)
        with self.assert_problem('no evidence "three"', "ladder, matrix"):
            tables.build_table({"evidence": "three", "what": "cells"}, EVIDENCE)

    def test_a_mistake_in_a_text_names_the_file_and_the_known_names(self):
        run = '"pekko-3-users", "SimpleGet"'
        wrong = {f'share({run}, "laired", "x")': "pekko.TapirMulti", f'share({run}, "pekko.TapirMulti", "x")': "throughput", "shape()": "shape"}
        for figure, words in (wrong | {f'cell({run}, "pekko.TapirMulti", "x")': "allocated_per_request"}).items():
            with self.subTest(figure), self.assert_problem("07-x.toml", words):
                self.words(f"{{{{ {figure} }}}}")

    def test_a_judgement_that_the_evidence_contradicts_is_refused(self):
        self.assertEqual(self.words("b", self.CONDITION | {"above": 0}), "b")
        with self.assert_problem("07-x.toml", "%: judge it again"):
            self.words("b", self.CONDITION | {"below": 1})

    def test_a_file_with_a_mistake_is_refused_with_its_name(self):
        text = 'title = "t"\nsource = "s"\nclaim = "c"\njudgement = "agrees"\n'
        for more, words in {"": "because is missing", 'because = "b"\nshwo = []': "shwo", "=": "Invalid", 'because = "b"\n[[show]]\nwhat = ""': "evidence is missing"}.items():
            with self.subTest(more), self.assert_problem("07-x.toml", words):
                claims.read_file(self.put("07-x.toml", text + more))


class Judge(Case):
    def test_uploads_are_long(self):
        lengths = judge.lengths_of_scenarios()
        self.assertEqual([lengths[name] for name in ("SimpleGet", "PostBytes", "PostLongBytes", "PostJson")], ["short", "short", "long", "long"])

    def test_a_run_that_looked_after_each_start_is_refused(self):
        figure = {"verdict": "worse", "sd_forks": 0.1, "method": "repeated intervals up to 6 starts, α 0.05"}
        path = self.put("looked.json", json.dumps({"comparisons": [{"currencies": [figure]}]}))
        with self.assert_problem("looked.json", "fixed number of starts"):
            judge.judge_again("looked", path.parent)


class Overview(Case):
    """The tables with one route, made of a run with known figures."""

    @staticmethod
    def run_of(forks=4, **ratios):
        """A run in which each variant has one comparison on Get, with this ratio ± 0.1 of CPU per request; None for a void one."""
        figure = lambda ratio: {"name": "cpu_per_request", "verdict": ("worse" if ratio > 1.1 else "inconclusive") if ratio else "void", "forks": forks, "ratio": ratio or 1, "lo": (ratio or 1) - 0.1, "hi": (ratio or 1) + 0.1}
        return {
            "comparisons": [{"variant": f"{name}.Tapir", "scenario": "Get", "currencies": [figure(ratio)]} for name, ratio in ratios.items()],
            "cells": [{"variant": f"{name}.Tapir", "resolved": [{"key": "tapir", "value": "1.11.15"}]} for name in ratios],
        }

    def test_the_cheapest_server_comes_first_and_a_void_one_last(self):
        servers = overview.build_overview("one-route", self.run_of(dear=2.0, void=None, cheap=1.05))
        heading, *rows = servers["tables"]["cpu_per_request"]
        self.assertEqual(heading, ["server", "version", "Get", "starts"])
        self.assertEqual(rows, [
            ["cheap.Tapir", "1.11.15", "+5 % [−5, 15]", "4"],
            ["dear.Tapir", "1.11.15", "**+100 % [90, 110]**", "4"],
            ["void.Tapir", "1.11.15", "–", "0"],
        ])
        self.assertEqual([row[2] for row in servers["tables"]["throughput"][1:]], ["–"] * 3)
        self.assertEqual((servers["decided"], servers["figures"], servers["missing"]), (1, 2, 1))

    def test_an_open_cost_says_which_starts_would_decide_it(self):
        run = self.run_of(near=1.05, far=1.04)
        for one, needed in zip(run["comparisons"], (9, None)):
            one["currencies"][0]["starts_needed"] = needed
        servers = overview.build_overview("one-route", run)
        self.assertEqual([row[2] for row in servers["tables"]["cpu_per_request"][1:]], ["+4 % [−6, 14] over 1,000 starts", "+5 % [−5, 15] 9 starts"])
        self.assertEqual(servers["lengths"], {"short": [0, 2], "long": [0, 0]})

    def test_each_table_has_its_own_variants(self):
        run = self.run_of(some=2.0)
        run["comparisons"].append({**run["comparisons"][0], "variant": "some.TapirMulti"})
        run["cells"].append({**run["cells"][0], "variant": "some.TapirMulti"})
        shown = {name: [row["variant"] for row in overview.build_overview(name, run)["drawn"]] for name in overview.TABLES}
        self.assertEqual(shown, {"one-route": ["some.Tapir"], "routes-128": ["some.TapirMulti"]})

    def test_two_starts_are_too_few_for_a_figure(self):
        self.assertEqual(overview.build_overview("one-route", self.run_of(forks=3, some=2.0))["figures"], 1)
        with self.assert_problem("no cpu_per_request with an interval"):
            overview.build_overview("one-route", self.run_of(forks=2, some=2.0))

    def test_a_bound_near_zero_keeps_its_sign(self):
        self.assertEqual(overview.build_overview("one-route", self.run_of(near=1.102))["tables"]["cpu_per_request"][1][2], "**+10.2 % [0.2, 20.2]**")

    def test_the_axis_holds_every_interval(self):
        for ratio, first, last in ((1.05, -0.25, 0.25), (0.7, -0.5, 0.25), (0.3, -0.9, 0.25), (4.5, 0, 4), (11.0, 0, 16)):
            with self.subTest(ratio):
                marks = overview.build_overview("one-route", self.run_of(one=ratio))["marks"]
                self.assertEqual((marks[0][0], marks[-1][0]), (first, last))
                self.assertIn((0, True), marks)

    def test_labels_of_the_axis_do_not_overlap(self):
        self.assertEqual([mark for mark, has_label in overview.with_labels([0, 0.25, 0.5, 1, 2, 4, 8]) if has_label], [0, 0.5, 2, 4, 8])

    def test_the_image_has_a_line_for_each_figure(self):
        servers = overview.build_overview("one-route", self.run_of(dear=2.0, void=None, cheap=1.05))
        image = page.make_environment(EVIDENCE).get_template("overview.svg.jinja").render(label="CPU/request", **servers)
        self.assertEqual(image.count("<circle"), 2)
        self.assertIn(f'viewBox="0 0 {servers["left"] + overview.PANEL_WIDTH + 74} ', image, "one panel needs no room for three")
        self.assertIn(f'<text x="{10 + 7 * len("cheap.Tapir")}"', image, "there is room for the longest name")

    def test_the_fourth_scenario_begins_a_row_of_panels(self):
        run = self.run_of(some=2.0)
        run["comparisons"] = [{**run["comparisons"][0], "scenario": name} for name in ("PostA", "PostB", "PostC", "SimpleGet")]
        servers = overview.build_overview("one-route", run)
        self.assertEqual(servers["scenarios"], ["SimpleGet", "PostA", "PostB", "PostC"])
        image = page.make_environment(EVIDENCE).get_template("overview.svg.jinja").render(label="CPU/request", **servers)
        height = 52 + 24 + 44
        self.assertIn(f'viewBox="0 0 {servers["left"] + 3 * (overview.PANEL_WIDTH + 74)} {2 * height}"', image)
        self.assertIn(f'<g transform="translate(0 {height})">', image)
        self.assertEqual(image.count("<circle"), 4)

    def test_a_run_without_intervals_is_refused(self):
        with self.assert_problem("one-route has no cpu_per_request with an interval"):
            overview.build_overview("one-route", self.run_of(void=None))


class Validity(Case):
    def test_the_state_names_measures_that_alone_are_suspect(self):
        of = lambda state, *concerns: tables.validity_text({"validity": {"state": state, "reasons": [{"text": "x", "concerns": one} for one in concerns]}})
        self.assertEqual(of("valid"), "valid")
        self.assertEqual(of("valid", "latency", "cpu_per_request", "latency"), "valid, CPU per request and latency suspect")
        self.assertEqual(of("suspect", "everything", "latency"), "suspect")
        self.assertEqual(tables.validity_text({"validity": {"state": "suspect", "reasons": [{"text": "of an older run"}]}}), "suspect")


class Variation(Case):
    def test_cpu_time_on_two_machines_is_divided_within_classes_of_allocation(self):
        def cell(name, cpu, allocated, state="valid"):
            figures = {"cpu_ns_per_request": {"value": cpu}, "allocated_bytes_per_request": allocated and {"value": allocated}}
            return {"id": name, "scenario": "Get", "variant": name, "validity": {"state": state}, **figures}

        here = [cell("a", 30, 1e3), cell("b", 50, 1e3), cell("c", 80, 50e3), cell("void", 9, 1e3, "void"), cell("native", 9, None), cell("new", 9, 1e3)]
        there = [cell("a", 20, 1e3), cell("b", 50, 1e3), cell("c", 40, 50e3), cell("void", 9, 1e3), cell("native", 9, None)]
        rows = variation.machine_rows({}, here, {"other": {"cells": there}}, {})
        self.assertEqual(rows[1:], [["less than 4 KB", "2", "1.00", "1.50", "1.50"], ["40 KB and more", "1", "2.00", "2.00", "2.00"]])


class Machines(Case):
    def figure(self, variant, ratios, second, differ, scenario="SimpleGet"):
        estimate = lambda value, off=0.01: {"value": value, "lo": value * (1 - off), "hi": value * (1 + off)}
        names = {"scenario": scenario, "variant": variant, "name": "cpu_per_request", "machines_differ": differ}
        return {**names, "machines": [{"ratio": estimate(one)} for one in ratios], "second_to_first": estimate(second)}

    def test_costs_that_differ_are_counted_by_length_and_the_most_certain_is_listed_first(self):
        figures = [
            self.figure("a", (1.1, 1.2), 1.2 / 1.1, True),
            self.figure("b", (1.1, 2.2), 2, True),
            self.figure("c", (1.1, 1.1), 1, False),
            self.figure("a", (1.1, 1.0), 1 / 1.1, False, "PostLongBytes"),
        ]
        named = [{"name": "EPYC, cores 0-1", "runs": ["one"]}, {"name": "Xeon, cores 0-1", "runs": ["two"]}]
        table = machines.read(self.put("machines.json", json.dumps({"machines": named, "figures": figures})))
        self.assertEqual(table["rows"][1:], [["CPU per request", "short requests", "3", "2", "9 %", "9 %"], ["CPU per request", "uploads", "1", "0", "10 %", "10 %"]])
        self.assertEqual([row[:2] for row in table["listed"]], [["CPU per request of", "on"], ["b", "SimpleGet"], ["a", "SimpleGet"]])
        self.assertEqual(table["listed"][0][2:], ["EPYC", "Xeon"])

    def test_runs_of_one_machine_are_refused(self):
        with self.assert_problem("matrix, matrix-earlier are runs of one machine, AMD EPYC", "two or more"):
            machines.combine(["matrix", "matrix-earlier"])


class Leaks(Case):
    LOG = """12:00:00.001 ERROR i.n.u.ResourceLeakDetector LEAK: ByteBuf.release() was not called before it's garbage-collected. See
Recent access records:
#1:
\tHint: 'streams-body-publisher' will handle the message from this point.
\tio.netty.handler.codec.http.DefaultHttpContent.touch(DefaultHttpContent.java:86)
\torg.x.Handler.channelRead(Handler.java:7)
Created at:
\tio.netty.buffer.Pool.get(Pool.java:1)
12:00:00.002 INFO  x something else
"""

    def test_a_report_names_the_last_handler_and_the_last_access(self):
        (report,) = reports.parse_log(self.LOG + "12:00:01.000 INFO  y LEAK is a word\n")
        self.assertEqual(report, {"type": "ByteBuf", "handlers": ["streams-body-publisher"], "last_access": ["org.x.Handler.channelRead(Handler.java:7)"]})

    def test_the_functions_for_texts_show_which_requests_leak_and_where(self):
        row = {"server": "a.Tapir", "version": "1", "request": "Post", "body_bytes": 4, "status": 200, "reports": 0, "first_report": None}
        refused = {**row, "request": "refused", "status": 405, "reports": 2, "first_report": {"last_access": ["x.Y.z(Y.java:1)"]}}
        words = leaks.lookup_functions([row, refused, {**row, "server": "b.Tapir"}, {**row, "request": "Get", "body_bytes": 0}])
        self.assertEqual(words["leaking"]("a.Tapir@1"), "1 of 2")
        self.assertIn("| refused | 405 | **buffers left** | not sent |", words["leak_table"]("a.Tapir@1", "b.Tapir@1"))
        self.assertIn("x.Y.z(Y.java:1)", words["leak_stack"]("a.Tapir@1", "refused"))
        with self.assert_problem("leaks no buffers"):
            words["leak_stack"]("a.Tapir@1", "Post")
        with self.assert_problem("no server", "a.Tapir@1, b.Tapir@1"):
            words["leaking"]("c.Tapir@1")
        self.assertNotIn("Get", words["leak_table"]("a.Tapir@1"))


class Storing(Case):
    def test_stores_only_what_the_pages_need(self):
        for name in ("pekko-3-users", "push-500-users", "ladder"):
            summary = json.loads(json.dumps(EVIDENCE[name] | {"findings": [], "noise": []}))
            for section in (summary["environment"], summary["plan"]):
                section.append({"title": "Paths", "rows": [{"key": "home", "value": "/x", "source": None}]})
            self.put("run/summary.json", json.dumps(summary))
            take.store_run("new", self.folder / "run", ["*"], folder=self.folder)
            self.assertEqual(runs.read(self.folder)["new"], EVIDENCE[name] | {"leaks": {}})

    def test_looks_up_methods_that_the_tables_of_a_profile_do_not_list(self):
        path = self.put("g-1-Get-x-1-cpu.collapsed", "a.run_[0];a.B.uri_[j];a.C.uri_[i] 30\na.run_[j] 70\n")
        names = {"group": "g@1", "scenario": "Get", "variant": "x@1", "event": "cpu"}
        view = {**names, "hot": [], "moved": [{"name": "a.run", "share": {"value": 1}}]}
        found = take.add_methods(view, path.parent, ["*.uri", "*.path", "a.run"])["hot"]
        self.assertEqual({one["name"]: one["total"]["value"] for one in found}, {"a.run": 1, "a.B.uri": 0.3, "a.C.uri": 0.3, "*.path": 0})

    def test_counts_the_starts_whose_logs_report_leaks(self):
        for name, text in {"g+a.Tapir+1": "12:00 ERROR LEAK: ByteBuf", "g+a.Tapir+2": "ready", "g-x+b.Tapir+1": "LEAK: ByteBuf"}.items():
            self.put(f"logs/{name}.log", text)
        self.assertEqual(take.count_leaks(self.folder / "logs"), {"a.Tapir": [2, 1], "b.Tapir": [1, 1]})

    def test_refuses_a_file_that_is_not_a_summary(self):
        for text, words in {"{": "Expecting", "[]": "not a summary", json.dumps(EVIDENCE["ladder"]): "no figures for Gett"}.items():
            self.put("run/summary.json", text)
            with self.subTest(text[:9]), self.assert_problem("summary.json", words):
                take.store_run("new", self.folder / "run", ["Gett"], folder=self.folder)
        with self.assert_problem("not a valid name of evidence"):
            take.store_run("../New", self.folder, ["*"], folder=self.folder)


if __name__ == "__main__":
    unittest.main()
