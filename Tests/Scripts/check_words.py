#!/usr/bin/env python3
"""What the formatter does not look at: comments fit into 120 columns, say what a thing is or does, and name no people.

    Tests/Scripts/check_words.py [PACKAGE]

The formatter breaks code, and leaves comments and texts in quotes as they are.
"""

import glob
import itertools
import os
import re
import sys

COLUMNS = 120
# A doc comment that opens with one of these describes the reader's question, not the symbol.
OPENERS = re.compile(r"(?:Whether|What|Who|Whose|How|Which|Where|When)\b")
PEOPLE = re.compile(r"\b(?:nobody|somebody|anybody|everybody|whoever|someone|anyone|anew)\b", re.IGNORECASE)
SOURCES = (".swift", ".c", ".h")


def findings(path):
    """The places of a file that break a rule, each with the rule."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    was_documentation = False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        is_documentation = text.startswith("///")
        if len(line) > COLUMNS:
            yield number, f"{len(line)} columns, at most {COLUMNS}"
        if text.startswith("//"):
            if is_documentation and not was_documentation and OPENERS.match(text[3:].strip()):
                yield number, "a doc comment says what the thing is or does, found a question"
            if found := PEOPLE.search(text):
                yield number, f"no people in the code, found `{found[0]}`"
        was_documentation = is_documentation


def main():
    package = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..")
    bad = 0
    places = [os.path.join(package, "Sources"), *glob.glob(os.path.join(package, "Packages", "*", "Sources"))]
    for root, folders, names in itertools.chain.from_iterable(map(os.walk, places)):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(SOURCES):
                continue
            path = os.path.join(root, name)
            for number, problem in findings(path):
                print(f"{os.path.relpath(path, package)}:{number}: {problem}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
