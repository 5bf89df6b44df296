"""What the stacks of a profile say of methods that its tables do not list: their share over all starts together, which has no interval."""

import collections
import fnmatch
import re

from .problem import Problem

# async-profiler's marks of a frame: inlined, compiled, interpreted, kernel. The method is the same with any mark.
MARK = re.compile(r"_\[\w\]$")


def shares(folder, view, patterns):
    """Of each method that matches, the part of the profile's weight in whose stacks it stands; of a pattern that matches none, nothing of it."""
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
    """The file of stacks of all starts, which stands beside the file of each."""
    path = folder / re.sub(r"-\d+\.\w+$", ".collapsed", (view["files"] or ["none"])[0]).replace("@", "-")
    if not path.exists():
        raise Problem(f"{path} is not there, and the methods asked for are looked up in it")
    return path
