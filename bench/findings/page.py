"""Puts claims, tables and runs together, and renders the pages with Jinja."""

import math
import pathlib

import jinja2

from . import claims, leaks, overview, runs, tables
from .figures import added, excludes, share
from .picks import same
from .problem import Problem, pick

HERE = pathlib.Path(__file__).parent


def rendered():
    """Every page by its path below docs/: the claims, a page for each of them, and the runs."""
    known, evidence = claims.read(), runs.read()
    environment = environment_of(evidence)
    content = [content_of(environment, claim, evidence) for claim in known]
    users = {name: [claim for claim in content if name in claims.evidence_of(claim)] for name in evidence}
    matrix = pick("evidence", overview.EVIDENCE, evidence)
    used = [{**run, **runs.facts_of(run), "name": name, "claims": users[name]} for name, run in evidence.items() if users[name] or run is matrix]
    overviews = {name: overview.of(name, matrix) for name in overview.TABLES}
    of_matrix = {"overviews": overviews, "currencies": overview.CURRENCIES, "matrix": next(run for run in used if run["name"] == overview.EVIDENCE)}
    page = lambda template, **what: environment.get_template(template).render(**what)
    return {
        "FINDINGS.md": page("page.md.jinja", claims=content, runs=used, **of_matrix),
        "findings/matrix.md": page("matrix.md.jinja", **of_matrix),
        **{f"findings/{name}.svg": page("overview.svg.jinja", label=overview.CURRENCIES[overview.DRAWN], **of_run) for name, of_run in overviews.items()},
        **{f"findings/{claim['page']}": page("claim.md.jinja", claim=claim) for claim in content},
        "findings/runs.md": page("runs.md.jinja", runs=used),
        **{f"findings/{table['image']}": page("plot.svg.jinja", cells=table["chosen"], kind=table["kind"]) for claim in content for table in claim["tables"] if table["what"] == "image"},
    }


def environment_of(evidence):
    loader = jinja2.FileSystemLoader(HERE)
    environment = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    environment.globals |= claims.lookups(evidence) | leaks.lookups(leaks.read()) | {"nines": nines, "log10": math.log10}
    return environment


def content_of(environment, claim, evidence):
    """The claim with its tables, and with the figures in its words. Fails if it has a mistake, or if the evidence contradicts its judgement."""
    try:
        claims.check_conditions(claim, evidence)
        because = environment.from_string(claim["because"].strip()).render()
        shown = [tables.of(show, evidence) for show in claim["show"]]
        return {**claim, "because": because, "tables": shown, "page": f"{pathlib.Path(claim['file']).stem}.md", **answers_of(shown, evidence)}
    except (Problem, KeyError, jinja2.TemplateError) as error:
        raise Problem(f"{claim['file']}: {error}") from error


def answers_of(shown, evidence):
    """How many figures of these tables are decided, and which of them most clearly."""
    figures = [figure for table in shown for figure in figures_of(table, evidence)]
    decided = [(strength, words) for strength, words in figures if strength > 0]
    rank = (len(decided) / len(figures), len(decided)) if figures else (-1, 0)
    clearest = max(decided)[1] if decided else "–"
    return {"decided": f"{len(decided)} of {len(figures)}" if figures else "–", "rank": rank, "clearest": clearest}


def figures_of(table, evidence):
    """The figures of a table that have an interval: how far it lies from "no difference", 0 if it contains it, and the figure in words."""
    if table["what"] == "comparisons":
        columns = table.get("columns", list(tables.HEADINGS))
        beside = [(same(one, evidence[name]["comparisons"]), columns[:1]) for name in table.get("beside", []) for one in table["chosen"]]
        for comparison, names in [*((one, columns) for one in table["chosen"]), *(found for found in beside if found[0])]:
            where = f"{comparison['variant']} on {comparison['scenario']}"
            for figure in comparison["currencies"]:
                if figure["name"] in names and figure["verdict"] != "void" and figure["lo"] and figure["hi"]:
                    strength = min(abs(math.log(figure[end])) for end in ("lo", "hi")) if excludes(figure, 1) else 0
                    yield strength, f"{where}: {figure['label']} {share(figure)} of {comparison['baseline']}"
    if table["what"] == "steps":
        for step in (step for ladder in table["chosen"] for step in ladder["steps"]):
            for key, unit, label in (("cpu_ns", "ns", "CPU/request"), ("allocated_bytes", "bytes", "allocated/request")):
                more = step[f"{key}_added"]
                if more and more["lo"] is not None:
                    strength = min(abs(more[end]) for end in ("lo", "hi")) / step[key]["value"] if excludes(more, 0) else 0
                    yield strength, f"{step['variant']}: {label} {added(more, unit)}"


def nines(percentile):
    """0 at the smallest sample, 1 at 90 %, 2 at 99 %, up to 5."""
    return min(-math.log10(max(1 - percentile / 100, 1e-9)), 5)
