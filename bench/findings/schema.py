"""Checks the tables of a claim's file: the names of its keys, and the type of each value."""

from .problem import Problem

TEXT = ("a text", lambda value: isinstance(value, str))
NUMBER = ("a number", lambda value: isinstance(value, (int, float)) and not isinstance(value, bool))
TEXTS = ("a list of texts", lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value))
TABLES = ("tables, each with its name in double brackets", lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value))


def hold(place, table, known, required=()):
    """Fails unless `table` has all required keys and only known ones; `place` names it in errors."""
    for key, value in table.items():
        if key not in known:
            raise Problem(f'{place}: unknown key "{key}"; there are: {", ".join(known)}')
        words, fits = known[key]
        if not fits(value):
            raise Problem(f"{place}: {key} must be {words}")
    for key in required:
        if key not in table:
            raise Problem(f"{place}: {key} is missing")


def one_of(place, what, name, names):
    """Fails unless `name`, the name of a `what`, is one of `names`."""
    if name not in names:
        raise Problem(f'{place}: there is no {what} "{name}"; there are: {", ".join(names) or "none"}')
