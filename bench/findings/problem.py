"""What is wrong with a claim or its evidence, in words that say where and what to do."""


class Problem(Exception):
    pass
