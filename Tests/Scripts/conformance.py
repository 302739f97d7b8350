#!/usr/bin/env python3
"""Writes the names of the tests that prove each case into the table of the library's documentation.

usage: conformance.py      (in the package's folder)

A test says which cases it proves in the comment line above it: `// D6, D7`. The behaviours in the table are kept; a
documentation test holds the table against the tests.
"""

import pathlib
import re

TABLE = pathlib.Path("Sources/AsyncOperations/AsyncOperations.docc/ConformanceCases.md")
PROOF = re.compile(r"// ([A-Z][0-9]+(?:, [A-Z][0-9]+)*)\n\s*@Test.*?func `(.*?)`", re.DOTALL)
ROW = re.compile(r"^\| ([A-Z]\d+) \| (.*?) \| .* \|$", re.MULTILINE)
# More would make the table harder to read and prove nothing else.
SHOWN = 4


def proofs(*folders):
    names = {}
    for file in sorted(file for folder in folders for file in pathlib.Path(folder).rglob("*.swift")):
        for cases, name in PROOF.findall(file.read_text(encoding="utf-8")):
            for case in cases.split(", "):
                known = names.setdefault(case, [])
                if name not in known:
                    known.append(name)
    return names


def main():
    library = proofs("Tests/AsyncOperationsTests", "Tests/SchedulingTests")
    program = proofs("Tests/FlowrunEndToEndTests")

    def row(match):
        case, behaviour = match.groups()
        cells = (" · ".join(names.get(case, [])[:SHOWN]) for names in (library, program))
        return f"| {case} | {behaviour} | {' | '.join(cells)} |"

    TABLE.write_text(ROW.sub(row, TABLE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
