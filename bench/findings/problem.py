"""The error that the user can fix, and a look-up that fails with it."""

from ..problem import Problem


def pick(what, name, things):
    """`things[name]`; fails with the known names if there is no such `what`."""
    if name not in things:
        raise Problem(f'there is no {what} "{name}"; there are: {", ".join(map(str, things)) or "none"}')
    return things[name]
