"""An error in a claim or its evidence, with its place and a remedy."""


class Problem(Exception):
    pass
