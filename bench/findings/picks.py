"""Selects what a [[show]] shows of its evidence."""

import fnmatch

from .problem import Problem

SATURATING = "saturating"
NAMES = {"groups": "group", "scenarios": "scenario", "variants": "variant"}


def selected(show, entries):
    """The entries whose names match the patterns of the [[show]]; each pattern must match something."""
    for patterns, key in NAMES.items():
        there = sorted({entry[key] for entry in entries if key in entry})
        for pattern in show.get(patterns, []):
            if not fnmatch.filter(there, pattern):
                raise Problem(f'{patterns}: "{pattern}" matches no {key} in {show["evidence"]}; there are: {", ".join(there) or "none"}')
    if not matching(show, entries):
        raise Problem(f"nothing in {show['evidence']} matches {', '.join(key for key in NAMES if key in show) or 'this kind of table'}")
    return matching(show, entries)


def matching(show, entries):
    fits = lambda entry, patterns, key: any(fnmatch.fnmatchcase(entry[key], pattern) for pattern in show[patterns])
    return [entry for entry in entries if all(fits(entry, *names) for names in NAMES.items() if names[0] in show)]


def starts_of(one):
    """The starts of an entry; a comparison has those of its first currency."""
    return one["forks"] if "forks" in one else one["currencies"][0]["forks"] if one["currencies"] else 0


def same(one, entries):
    """The same scenario and variant in another run: of the same group, or the only one if the groups have other names."""
    alike = [entry for entry in entries if (entry["scenario"], entry["variant"]) == (one["scenario"], one["variant"])]
    return next((entry for entry in alike if entry["id"] == one["id"]), alike[0] if len(alike) == 1 else None)
