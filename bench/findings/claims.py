"""Reads the claims: one file each in `claims/`, with its source, its content and our judgement."""

import pathlib
import tomllib

from . import schema
from .problem import Problem

FOLDER = pathlib.Path(__file__).parent / "claims"
JUDGEMENTS = ["agrees", "agrees in part", "differs", "cannot be told", "cannot be tested here", "not measured", "measured"]
REQUIRED = {key: schema.TEXT for key in ("title", "source", "claim", "judgement", "because")}
OPTIONAL = {"show": schema.TABLES, "rests_on": schema.TABLES}


def all_of_them(folder=FOLDER):
    """Every claim, ordered by the number in its file name."""
    claims = [read(path) for path in sorted(folder.glob("*.toml"))]
    if not claims:
        raise Problem(f"{folder} has no claims, which are files such as 07-words.toml")
    files = {}
    for claim in claims:
        other = files.setdefault(claim["number"], claim["file"])
        if other != claim["file"]:
            raise Problem(f"{claim['file']}: {other} has the number {claim['number']} too; each claim needs its own")
    return claims


def read(path):
    claim = parsed(path)
    schema.hold(path.name, claim, REQUIRED | OPTIONAL, REQUIRED)
    schema.one_of(path.name, "judgement", claim["judgement"], JUDGEMENTS)
    number = path.stem.split("-")[0]
    if not number.isdecimal():
        raise Problem(f"{path.name}: the file's name must begin with the claim's number, as in 07-words.toml")
    return {"show": [], "rests_on": [], **claim, "number": int(number), "file": path.name}


def parsed(path):
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Problem(f"{path.name}: {error}") from error
