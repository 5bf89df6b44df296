"""Combines claims, tables and runs, and renders the pages with Jinja."""

import math
import pathlib

import jinja2

from ..wrap_prose import wrap
from . import claims, leaks, machines, overview, runs, tables
from .figures import excludes_value, format_added, format_share
from .picks import find_same
from .problem import Problem, pick

FOLDER = pathlib.Path(__file__).parent


def render_pages():
    """All pages and images by their path below docs/."""
    all_claims, evidence = claims.read(), runs.read()
    environment = make_environment(evidence)
    rendered_claims = [render_claim(environment, claim, evidence) for claim in all_claims]
    users = {name: [claim for claim in rendered_claims if name in claims.evidence_of(claim)] for name in evidence}
    matrix = pick("evidence", overview.EVIDENCE, evidence)
    used = [{**run, **runs.facts_of(run), "name": name, "claims": users[name]} for name, run in evidence.items() if users[name] or run is matrix]
    overviews = {name: overview.build_overview(name, matrix) for name in overview.TABLES}
    of_matrix = {"overviews": overviews, "currencies": overview.CURRENCIES, "matrix": next(run for run in used if run["name"] == overview.EVIDENCE)}
    render = lambda template, **what: environment.get_template(template).render(**what)
    pages = {
        "FINDINGS.md": render("page.md.jinja", claims=rendered_claims, runs=used, machines=machines.read(), **of_matrix),
        "findings/matrix.md": render("matrix.md.jinja", **of_matrix),
        **{f"findings/{name}.svg": render("overview.svg.jinja", label=overview.CURRENCIES[overview.DRAWN_CURRENCY], **of_run) for name, of_run in overviews.items()},
        **{f"findings/{claim['page']}": render("claim.md.jinja", claim=claim) for claim in rendered_claims},
        "findings/runs.md": render("runs.md.jinja", runs=used),
        **{f"findings/{table['image']}": render("plot.svg.jinja", cells=table["chosen"], kind=table["kind"]) for claim in rendered_claims for table in claim["tables"] if table["what"] == "image"},
    }
    return {name: wrap(text) if name.endswith(".md") else text for name, text in pages.items()}


def make_environment(evidence):
    loader = jinja2.FileSystemLoader(FOLDER)
    environment = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    environment.globals |= claims.lookup_functions(evidence) | leaks.lookup_functions(leaks.read()) | {"nines": nines, "log10": math.log10}
    return environment


def render_claim(environment, claim, evidence):
    """The claim with its tables, and with the figures in its text. Fails if the claim has a mistake or the evidence contradicts it."""
    try:
        claims.check_conditions(claim, evidence)
        because = environment.from_string(claim["because"].strip()).render()
        shown = [tables.build_table(show, evidence) for show in claim["show"]]
        return {**claim, "because": because, "tables": shown, "page": f"{pathlib.Path(claim['file']).stem}.md", **summarise_figures(shown, evidence)}
    except (Problem, KeyError, jinja2.TemplateError) as error:
        raise Problem(f"{claim['file']}: {error}") from error


def summarise_figures(shown, evidence):
    """How many figures of these tables are decided, and which one is decided most clearly."""
    figures = [figure for table in shown for figure in figures_of(table, evidence)]
    decided = [(strength, words) for strength, words in figures if strength > 0]
    rank = (len(decided) / len(figures), len(decided)) if figures else (-1, 0)
    clearest = max(decided)[1] if decided else "–"
    return {"decided": f"{len(decided)} of {len(figures)}" if figures else "–", "rank": rank, "clearest": clearest}


def figures_of(table, evidence):
    """Each figure of a table that has an interval, as its distance from "no difference" (0 if the interval contains that) and its text."""
    if table["what"] == "comparisons":
        columns = table.get("columns", list(tables.HEADINGS))
        beside = [(find_same(one, evidence[name]["comparisons"]), columns[:1]) for name in table.get("beside", []) for one in table["chosen"]]
        for comparison, names in [*((one, columns) for one in table["chosen"]), *(found for found in beside if found[0])]:
            where = f"{comparison['variant']} on {comparison['scenario']}"
            for figure in comparison["currencies"]:
                if figure["name"] in names and figure["verdict"] != "void" and figure["lo"] and figure["hi"]:
                    strength = min(abs(math.log(figure[end])) for end in ("lo", "hi")) if excludes_value(figure, 1) else 0
                    yield strength, f"{where}: {figure['label']} {format_share(figure)} of {comparison['baseline']}"
    if table["what"] == "steps":
        for step in (step for ladder in table["chosen"] for step in ladder["steps"]):
            for key, unit, label in (("cpu_ns", "ns", "CPU/request"), ("allocated_bytes", "bytes", "allocated/request")):
                more = step[f"{key}_added"]
                if more and more["lo"] is not None:
                    strength = min(abs(more[end]) for end in ("lo", "hi")) / step[key]["value"] if excludes_value(more, 0) else 0
                    yield strength, f"{step['variant']}: {label} {format_added(more, unit)}"


def nines(percentile):
    """0 at the smallest sample, 1 at 90 %, 2 at 99 %, up to 5."""
    return min(-math.log10(max(1 - percentile / 100, 1e-9)), 5)
