"""Wraps the prose of a Markdown page. Tables, code, headings and pictures stay as they are."""

import re
import textwrap

COLUMNS = 120
UNWRAPPED = ("|", "#", "<", "!", "    ")
ITEM = re.compile(r"\s*([-*] |\d+\. )?")
# A number stays with its unit.
UNIT = re.compile(r"(?<=\d) (?=%|(µs|ms|s|min|h)\b)")
# A line that begins with one of these would be a list, a heading, a quotation or a table.
MARK = re.compile(r"([-+*#>|=]+|\d+[.)])\s")


def wrap(text):
    """The page with lines of at most COLUMNS columns where it has longer ones."""
    lines, block, in_code = [], [], False
    for line in text.split("\n"):
        is_fence = line.lstrip().startswith("```")
        if is_fence or in_code or not line.strip() or line.startswith(UNWRAPPED):
            lines += wrap_block(block) + [line]
            block = []
            in_code ^= is_fence
        else:
            if ITEM.match(line)[1]:
                lines += wrap_block(block)
                block = []
            block.append(line)
    return "\n".join(lines + wrap_block(block))


def wrap_block(block):
    """The lines of a paragraph or of an item of a list."""
    if all(len(line) <= COLUMNS for line in block):
        return block
    mark = ITEM.match(block[0])[0]
    words = " ".join(line.strip() for line in block)[len(mark.lstrip()) :]
    lines = textwrap.wrap(UNIT.sub("\0", words), COLUMNS - len(mark), break_long_words=False, break_on_hyphens=False)
    for index in range(1, len(lines)):
        while MARK.match(lines[index]) and " " in lines[index - 1]:
            lines[index - 1], moved = lines[index - 1].rsplit(" ", 1)
            lines[index] = f"{moved} {lines[index]}"
    return [(" " * len(mark) if index else mark) + line.replace("\0", " ") for index, line in enumerate(lines)]
