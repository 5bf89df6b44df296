"""What the user can do something about."""


class Problem(Exception):
    """Ends the program with its text."""


def pick(what, name, things):
    """`things[name]`, the `what` of that name; fails with the names that there are."""
    if name not in things:
        raise Problem(f'there is no {what} "{name}"; there are: {", ".join(map(str, things)) or "none"}')
    return things[name]
