"""The error that the user can fix."""


class Problem(Exception):
    """Ends the program; its text is the error message."""
