"""Puts claims, tables and runs together, and renders the page with Jinja."""

import pathlib

import jinja2

from . import claims, runs, tables
from .problem import Problem

HERE = pathlib.Path(__file__).parent


def rendered():
    """docs/FINDINGS.md."""
    known, evidence = claims.read(), runs.read()
    environment = environment_of(evidence)
    content = [content_of(environment, claim, evidence) for claim in known]
    users = {name: [claim["number"] for claim in known if name in claims.evidence_of(claim)] for name in evidence}
    used = [{**run, **runs.facts_of(run), "name": name, "claims": users[name]} for name, run in evidence.items() if users[name]]
    return environment.get_template("page.md.jinja").render(claims=content, runs=used)


def environment_of(evidence):
    loader = jinja2.FileSystemLoader(HERE)
    environment = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    environment.globals |= claims.lookups(evidence)
    environment.filters["anchor"] = anchor
    return environment


def content_of(environment, claim, evidence):
    """The claim with its tables, and with the figures in its words. Fails if it has a mistake, or if the evidence contradicts its judgement."""
    try:
        claims.check_conditions(claim, evidence)
        because = environment.from_string(claim["because"].strip()).render()
        return {**claim, "because": because, "tables": [tables.of(show, evidence) for show in claim["show"]]}
    except (Problem, KeyError, jinja2.TemplateError) as error:
        raise Problem(f"{claim['file']}: {error}") from error


def anchor(heading):
    """The anchor that usual renderers give a heading."""
    return "".join(c for c in heading.lower() if c.isalnum() or c in " -_").replace(" ", "-")
