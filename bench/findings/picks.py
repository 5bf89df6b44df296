"""Selects the entries of evidence that a [[show]] names."""

import fnmatch

from .problem import Problem

SATURATING = "saturating"
NAMES = {"groups": "group", "scenarios": "scenario", "variants": "variant"}


def select_entries(show, entries):
    """The entries whose names match the patterns of the [[show]]; each pattern must match something."""
    for patterns, key in NAMES.items():
        known = sorted({entry[key] for entry in entries if key in entry})
        for pattern in show.get(patterns, []):
            if not fnmatch.filter(known, pattern):
                raise Problem(f'{patterns}: "{pattern}" matches no {key} in {show["evidence"]}; there are: {", ".join(known) or "none"}')
    if not matching_entries(show, entries):
        raise Problem(f"nothing in {show['evidence']} matches {', '.join(key for key in NAMES if key in show) or 'this kind of table'}")
    return matching_entries(show, entries)


def matching_entries(show, entries):
    fits = lambda entry, patterns, key: any(fnmatch.fnmatchcase(entry[key], pattern) for pattern in show[patterns])
    return [entry for entry in entries if all(fits(entry, *names) for names in NAMES.items() if names[0] in show)]


def starts_of(one):
    """The starts of an entry; a comparison has those of its first currency."""
    return one["forks"] if "forks" in one else one["currencies"][0]["forks"] if one["currencies"] else 0


def find_same(one, entries):
    """The entry of another run with the same scenario and variant: the one with the same id, or else the only one; None without one."""
    candidates = [entry for entry in entries if (entry["scenario"], entry["variant"]) == (one["scenario"], one["variant"])]
    return next((entry for entry in candidates if entry["id"] == one["id"]), candidates[0] if len(candidates) == 1 else None)
