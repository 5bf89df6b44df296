"""The claims as they are written: one file each in `claims/`, with whose it is, what it says, and how it is judged."""

import pathlib
import tomllib

from .problem import Problem

FOLDER = pathlib.Path(__file__).parent / "claims"
JUDGEMENTS = ["agrees", "agrees in part", "differs", "cannot be told", "cannot be tested here", "not measured"]
REQUIRED = {"title": str, "source": str, "claim": str, "judgement": str, "because": str}
OPTIONAL = {"show": list, "rests_on": list}


def all_of_them():
    """Every claim in the order of its number, which is its file's name."""
    return [read(path) for path in sorted(FOLDER.glob("*.toml"))]


def read(path):
    try:
        claim = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise Problem(f"{path.name}: {error}") from error
    known = REQUIRED | OPTIONAL
    for key, value in claim.items():
        if key not in known:
            raise Problem(f'{path.name}: unknown key "{key}"; there are: {", ".join(known)}')
        if not isinstance(value, known[key]):
            raise Problem(f"{path.name}: {key} must be a {known[key].__name__}")
    for key in REQUIRED:
        if key not in claim:
            raise Problem(f"{path.name}: {key} is missing")
    for table in OPTIONAL:
        if any("evidence" not in entry for entry in claim.get(table, [])):
            raise Problem(f'{path.name}: a [[{table}]] without evidence = "NAME"')
    if not path.stem.split("-")[0].isdigit():
        raise Problem(f"{path.name}: the file's name must begin with the claim's number, as in 07-words.toml")
    if claim["judgement"] not in JUDGEMENTS:
        raise Problem(f'{path.name}: "{claim["judgement"]}" is no judgement; there are: {", ".join(JUDGEMENTS)}')
    return {"show": [], "rests_on": [], **claim, "number": int(path.stem.split("-")[0]), "file": path.name}
