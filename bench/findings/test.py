"""What the tool does with claims and evidence that are right, and what it says of those that are not: `python3 -m unittest bench.findings.test`."""

import json
import pathlib
import tempfile
import unittest

from . import claims, evidence, judgement, prose, setting, shelf, stacks, tables
from .problem import Problem


def estimate(value):
    return {"value": value, "lo": value * 0.9, "hi": value * 1.1}


def cell(variant, throughput, **changes):
    whole = {key: None for key in evidence.CELL}
    whole |= {"id": f"bare/Get/{variant}", "group": "bare", "scenario": "Get", "variant": variant, "family": "x", "forks": 3, "steady_forks": 3}
    whole |= {"validity": {"state": "suspect", "reasons": ["not steady in 2 of 3 forks"]}, "throughput_per_s": estimate(throughput)}
    percentiles = {"50.0": {"value_ns": 2e6}, "99.9": {"value_ns": 9e6}}
    load = {"model": "closed, 8 users", "kind": "saturating", "samples": 9000, "percentiles": percentiles}
    return whole | {"versions": {"tapir": "1.2.3"}, "throughputs_per_s": [throughput] * 3, "latency": [load]} | changes


def evidence_of(bare, layered):
    share = {"name": "throughput", "label": "throughput", "ratio": layered / bare, "lo": 0.7, "hi": 0.9, "forks": 3, "sd_forks": 0.1, "verdict": "worse"}
    comparison = {"id": "bare/Get/layered", "group": "bare", "scenario": "Get", "variant": "layered", "baseline": "bare", "currencies": [share]}
    run = {"id": "1", "started_at": "2026-01-01T00:00:00Z", "duration_s": 60, "status": "complete", "command": "tare run", "alpha": 0.05}
    machine = {"Machine": {"hypervisor steal and load at the start": "load 1.50, CPU pressure 2.0 %"}}
    return {"run": run, "machine": machine, "cells": [cell("bare", bare), cell("layered", layered)], "comparisons": [comparison]}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.shelf = shelf.Shelf(self.folder)
        self.put("one.json", json.dumps(evidence_of(1000, 800)))

    def put(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.folder / name

    def drawn(self, **show):
        return tables.drawn("07-x.toml, [[show]] 1", {"evidence": "one", **show}, self.shelf)

    def fails(self, *words):
        return self.assertRaisesRegex(Problem, "(?s)" + ".*".join(words))


class ATable(Case):
    def test_shows_shares_with_their_interval_and_says_how_they_were_measured(self):
        text = self.drawn(what="comparisons", columns=["throughput"])
        self.assertIn("| Get | layered | bare | **80 % [70, 90]** | 3 |", text)
        self.assertIn("Tapir 1.2.3 · closed, 8 users · as a share of the baseline · 95 % intervals · load 1.50 at its start", text)

    def test_of_cells_puts_the_best_first_and_says_why_they_are_not_valid(self):
        text = self.drawn(what="cells", columns=["throughput", "p99.9"])
        self.assertLess(text.index("| bare | 1.00 k/s [900 /s, 1.10 k/s] | 9.00 ms |"), text.index("| layered |"))
        self.assertIn("Not valid because: not steady (2).", text)

    def test_shows_no_figure_of_a_void_cell(self):
        whole = evidence_of(1000, 800)
        whole["cells"][1]["validity"] = {"state": "void", "reasons": ["failed: it ended (exit code 3)"]}
        self.put("one.json", json.dumps(whole))
        text = self.drawn(what="cells", columns=["throughput"])
        self.assertIn("| layered | – | 3 | void |", text)
        self.assertIn("Not valid because: it ended (1); not steady (1).", text)

    def test_of_repeats_says_by_how_much_two_runs_differ(self):
        self.put("two.json", json.dumps(evidence_of(1100, 800)))
        self.assertIn("| throughput of one server | 2 | 10.0 % | 10.0 % | 10.0 % |", self.drawn(what="repeats", beside=["two"]))

    def test_shows_the_same_of_other_runs_beside(self):
        self.put("two.json", json.dumps(evidence_of(1000, 500)))
        text = self.drawn(what="comparisons", columns=["throughput"], beside=["two"])
        self.assertIn("| throughput | throughput, two |", text)
        self.assertIn("| **80 % [70, 90]** | **50 % [70, 90]** |", text)
        self.assertIn("compared with [two](#two): 3 starts, load 1.50 at its start", text)
        self.assertIn("| layered | 800 /s [720 /s, 880 /s] | 500 /s [450 /s, 550 /s] |", self.drawn(what="cells", columns=["throughput"], beside=["two"]))

    def test_of_a_ladder_shows_what_each_step_adds_in_bold_where_it_is_certain(self):
        whole = evidence_of(1000, 800)
        step = {"group": "bare", "scenario": "Get", "forks": 3, "cpu_ns": estimate(1000)}
        one = {**step, "variant": "bare", "cpu_ns_added": None, "allocated_bytes_added": None}
        two = {**one, "variant": "layered", "cpu_ns_added": {"value": 200, "lo": 100, "hi": 1300}, "allocated_bytes_added": {"value": -3, "lo": -7, "hi": 1}}
        self.put("one.json", json.dumps(whole | {"steps": [{**one, "allocated_bytes": estimate(10)}, {**two, "allocated_bytes": estimate(7)}]}))
        self.assertEqual(prose.of({"file": "x", "because": "{step one layered cpu_per_request}"}, self.shelf), "+0.20 µs [0.10, 1.30]")
        text = self.drawn(what="steps")
        self.assertIn("| bare | 1.00 µs [900 ns, 1.10 µs] | – | 10.0 B [9.00 B, 11.0 B] | – | 3 |", text)
        self.assertIn("| layered | 1.00 µs [900 ns, 1.10 µs] | **+0.20 µs [0.10, 1.30]** | 7.00 B [6.30 B, 7.70 B] | −3.00 B [−7.00, 1.00] | 3 |", text)

    def test_with_a_mistyped_column_names_the_place_the_key_and_the_columns_that_there_are(self):
        for what in ("cells", "comparisons"):
            with self.fails("07-x.toml", "columns", f'{what} have no "thruput"', "throughput, cpu_per_request, allocated_per_request"):
                self.drawn(what=what, columns=["thruput"])

    def test_with_a_column_that_nobody_measured_names_the_percentiles_that_there_are(self):
        with self.fails('no cell has "p98"', "50.0, 99.9"):
            self.drawn(what="cells", columns=["p98"])

    def test_with_a_pattern_that_matches_nothing_names_what_there_is(self):
        with self.fails("variants", '"laired" matches no variant', "bare, layered"):
            self.drawn(what="cells", variants=["bare", "laired"])

    def test_refuses_keys_and_values_of_the_wrong_kind(self):
        wrong = {"column": ["p50"], "columns": "p50", "variants": [7], "what": "cell", "evidence": "none", "methods": ["*"]}
        for key, value in wrong.items():
            with self.subTest(key), self.fails("07-x.toml", key):
                self.drawn(**{"what": "cells", key: value})

    def test_needs_the_name_of_its_evidence(self):
        with self.fails("evidence is missing"):
            tables.drawn("07-x.toml", {"what": "cells"}, self.shelf)


class APlot(Case):
    SHOW = {"evidence": "one", "what": "plot", "kind": "push", "limit_ms": 30, "limit": "theirs"}

    def setUp(self):
        super().setUp()
        curve = [[0, 900_000], [90, 2e6], [99.9, 9e6], [100, 3e9]]
        load = {"model": "pushed", "kind": "push", "samples": 9000, "percentiles": {}, "curve": curve, "jvm_curve": [[50, 1e6], [99, 5e6]]}
        whole = evidence_of(1000, 800)
        whole["cells"][0]["latency"] = [load]
        self.put("one.json", json.dumps(whole))

    def claim(self, **show):
        return {"file": "07-x.toml", "show": [self.SHOW | show]}

    def test_has_a_panel_for_each_server_and_a_line_for_each_meter(self):
        ((name, svg),) = tables.pictures(self.claim(variants=["bare"]), self.shelf).items()
        self.assertEqual(name, "images/one.svg")
        self.assertEqual((svg.count("<polyline"), svg.count(">bare<")), (2, 1))
        for words in (">theirs<", ">1 ms<", ">10 ms<", ">99.999 %<", ">meter in the JVM<"):
            self.assertIn(words, svg)
        page = self.drawn(**self.SHOW | {"variants": ["bare"]})
        self.assertIn("](images/one.svg)", page)
        self.assertIn("bare", page.split("![")[1])

    def test_of_what_has_no_curve_names_it(self):
        with self.fails("07-x.toml", "no curve of layered under push load"):
            tables.pictures(self.claim(), self.shelf)

    def test_is_one_for_each_run(self):
        twice = {"file": "07-x.toml", "show": [self.SHOW | {"variants": ["bare"]}] * 2}
        with self.fails("07-x.toml", "has a plot already"):
            tables.pictures(twice, self.shelf)


class WhereItWasMeasured(unittest.TestCase):
    def test_is_told_by_the_evidence(self):
        quiet, busy = evidence_of(1000, 800), evidence_of(1000, 800)
        machine = {"CPU": "A", "cores tare may use": "0-1", "memory": "1 GiB"}
        for one, load in ((quiet, "load 0.50, CPU pressure 2.0 %"), (busy, "load 20.00")):
            one["profiles"] = []
            one["machine"] = {"Machine": machine | {"hypervisor steal and load at the start": load}, "JVM": {"JDK": "25.0.3 (/x)"}}
        quiet["plan"] = {"server_cpus": "0", "load_cpus": "1"}
        told = setting.of([quiet, busy])
        self.assertEqual(told[0], "Here: A, cores 0-1, 1 GiB, JDK 25.0.3. A measured server has core 0, and the generator has core 1.")
        self.assertEqual(told[1], "2 runs: 2 with three starts of each server.")
        self.assertIn("between 0.5 and 20.0. For 1 of them", told[2])
        self.assertIn("4 cells: 0 valid, 4 suspect, 0 void. 4 were not steady", told[3])


class Evidence(Case):
    def test_that_is_not_json_is_refused_by_the_name_of_its_file(self):
        self.put("bad.json", "{")
        with self.fails("bad.json"):
            self.shelf.get("bad", "here")

    def test_in_which_something_is_missing_is_refused_with_the_remedy(self):
        whole = evidence_of(1000, 800)
        for gone in ("run", "cells"):
            self.put(f"less-{gone}.json", json.dumps({key: value for key, value in whole.items() if key != gone}))
            with self.fails(f"less-{gone}.json", gone, "--take"):
                self.shelf.get(f"less-{gone}", "here")
        del whole["cells"][1]["latency"]
        self.put("cell.json", json.dumps(whole))
        with self.fails("cell.json", "number 2 of its cells has no latency"):
            self.shelf.get("cell", "here")

    def test_is_not_taken_from_a_folder_without_a_run(self):
        with self.fails("summary.json does not exist"):
            evidence.take("new", self.folder, ["*"], self.folder)
        for text in ("{", "[]", '{"run": {}}'):
            self.put("summary.json", text)
            with self.subTest(text), self.fails("summary.json"):
                evidence.take("new", self.folder, ["*"], self.folder)

    def test_of_a_profile_has_the_share_of_methods_that_its_tables_do_not_list(self):
        self.put("x-1-cpu.collapsed", "a.run_[0];a.B.uri_[j];a.C.uri_[i] 30\na.run_[j] 70\n")
        found = stacks.shares(self.folder, {"files": ["x@1-cpu-1.jfr", "x@1-cpu-2.jfr"]}, ["*.uri", "*.path"])
        self.assertEqual({name: share["value"] for name, share in found.items()}, {"a.B.uri": 0.3, "a.C.uri": 0.3, "*.path": 0})
        with self.fails("none does not exist"):
            stacks.shares(self.folder, {"files": []}, ["*"])

    def test_keeps_the_reasons_of_a_cell_without_their_remedies(self):
        reasons = [{"text": "not steady in 2 of 3 forks", "remedy": "Let it warm up longer."}, {"text": "2 requests failed", "remedy": None}]
        found = evidence.validity({"validity": {"state": "suspect", "reasons": reasons}})
        self.assertEqual(found, {"state": "suspect", "reasons": ["not steady in 2 of 3 forks", "2 requests failed"]})

    def test_is_not_taken_where_no_scenario_matches_or_with_an_invalid_name(self):
        run = {"run": {"command": "/a/b/tare run"}, "plan": [], "environment": [], "cells": [], "comparisons": [], "noise": []}
        self.put("summary.json", json.dumps(run))
        with self.fails("no figures for Gett"):
            evidence.take("new", self.folder, ["Gett"], self.folder)
        with self.fails("not a valid name of evidence"):
            evidence.take("../New", self.folder, ["*"], self.folder)


class AClaim(Case):
    TEXT = 'title = "t"\nsource = "s"\nclaim = "c"\njudgement = "agrees"\nbecause = "b"\n'

    def claim(self, because="", **rest):
        return {"file": "07-x.toml", "judgement": "agrees", "because": because, "rests_on": [{"evidence": "one", **rest}] if rest else []}

    def test_file_that_is_wrong_is_refused_with_its_name(self):
        wrong = {"because = 7": "because", "show = 7": "show", "shwo = []": "shwo", '[[shwo]]\na = "b"': "shwo", "=": "Invalid"}
        for text, words in wrong.items():
            with self.subTest(text), self.fails("07-x.toml", words):
                claims.read(self.put("07-x.toml", self.TEXT.replace('because = "b"\n', "") + text))
        with self.fails("x.toml", "begin with the claim's number"):
            claims.read(self.put("x.toml", self.TEXT))

    def test_number_is_given_once(self):
        self.put("07-x.toml", self.TEXT)
        self.put("07-y.toml", self.TEXT)
        with self.fails("07-y.toml", "07-x.toml has the number 7 too"):
            claims.all_of_them(self.folder)

    def test_that_the_evidence_contradicts_must_be_judged_again(self):
        rest = {"comparison": "bare/Get/layered", "currency": "throughput"}
        judgement.hold(self.claim(**rest, above=70, below=90), self.shelf)
        with self.fails("07-x.toml", "80.0 %: judge it again"):
            judgement.hold(self.claim(**rest, below=50), self.shelf)
        with self.fails("above or below is missing"):
            judgement.hold(self.claim(**rest), self.shelf)
        with self.fails("below must be a number"):
            judgement.hold(self.claim(**rest, below="50"), self.shelf)
        with self.fails('no comparison "bare/Get/laired"', "layered"):
            judgement.hold(self.claim(**rest | {"comparison": "bare/Get/laired"}, below=50), self.shelf)

    def test_has_figures_in_its_words_from_the_evidence(self):
        text = prose.of(self.claim("{share one Get layered throughput} is {cell one Get bare throughput}"), self.shelf)
        self.assertEqual(text, "80 % [70, 90] is 1.00 k/s [900 /s, 1.10 k/s]")

    def test_has_as_many_paragraphs_as_it_is_written_in(self):
        self.assertEqual(prose.of(self.claim("one\ntwo\n\n  three\n"), self.shelf), "one two\n\nthree")

    def test_says_in_how_many_starts_buffers_leaked_by_the_servers_logs(self):
        logs = self.folder / "logs"
        logs.mkdir()
        for name, text in {"g-a.Tapir-1": "12:00 ERROR LEAK: ByteBuf", "g-a.Tapir-2": "ready", "g_-b.Tapir-1": "LEAK: ByteBuf"}.items():
            (logs / f"{name}.log").write_text(text)
        self.assertEqual(evidence.leaks(logs), {"a.Tapir": [2, 1], "b.Tapir": [1, 1]})
        self.put("two.json", json.dumps(evidence_of(1000, 800) | {"leaks": evidence.leaks(logs)}))
        self.assertEqual(prose.of(self.claim("{leaks two a.*} and {leaks two *.Tapir}"), self.shelf), "1 of 2 and 2 of 3")

    def test_with_a_figure_that_is_not_there_says_which(self):
        wrong = {"{shape one Get layered x}": "shape", "{share one Get layered}": "RUN SCENARIO", "{share one Get laired x}": "laired"}
        wrong |= {"{share one Get layered x}": "throughput", "{cell one Get bare x}": "allocated_per_request", "{}": "share, cell"}
        for because, words in wrong.items():
            with self.subTest(because), self.fails("07-x.toml, because", words):
                prose.of(self.claim(because), self.shelf)


if __name__ == "__main__":
    unittest.main()
