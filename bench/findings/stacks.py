"""Looks up methods in the stacks of a profile, if its tables do not list them: the share over all starts together, without an interval."""

import collections
import fnmatch
import re

from .problem import Problem

# async-profiler's marks of a frame: inlined, compiled, interpreted, kernel. The method is the same with any mark.
MARK = re.compile(r"_\[\w\]$")


def shares(folder, view, patterns):
    """The share of the profile's weight with each matching method in the stack; 0 for a pattern without a match."""
    weights, whole = weighed(collapsed(folder, view), patterns)
    unseen = {pattern: 0 for pattern in patterns if not fnmatch.filter(weights, pattern)}
    return {name: {"value": weight / whole, "lo": None, "hi": None} for name, weight in {**weights, **unseen}.items()}


def weighed(path, patterns):
    weights, whole = collections.Counter(), 0
    for line in path.read_text(encoding="utf-8").splitlines():
        stack, _, weight = line.rpartition(" ")
        frames = {MARK.sub("", frame) for frame in stack.split(";")}
        weights.update({frame: int(weight) for pattern in patterns for frame in fnmatch.filter(frames, pattern)})
        whole += int(weight)
    return weights, whole


def collapsed(folder, view):
    """The file with the stacks of all starts, in the folder with those of single starts."""
    path = folder / re.sub(r"-\d+\.\w+$", ".collapsed", (view["files"] or ["none"])[0]).replace("@", "-")
    if not path.exists():
        raise Problem(f"{path} does not exist, and the requested methods must be looked up in it")
    return path
