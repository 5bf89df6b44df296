"""What the user can do something about."""


class Problem(Exception):
    """Ends the program with its text."""
