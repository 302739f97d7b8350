#!/usr/bin/env python3
"""Writes the order in which the linker lays out what a short run executes of the Swift runtime and the C library.

    make build && Tests/Scripts/start_order.py .build/release/flowrun > Sources/flowrun/start.order

Laid out side by side, these thousand functions are on twenty pages in place of eighty, and each page that is touched
first costs a page fault. To be made anew with a new toolchain; a name that is gone is left out by the linker without a
word. flowrun's own functions are not named: they change daily and stand together anyway. Needs valgrind.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

root = Path(__file__).resolve().parent.parent.parent
own = [f"{len(folder.name)}{folder.name}" for folder in (root / "Sources").iterdir() if folder.is_dir()]
workflow = 'version: 1\nparams: { p: { type: string, default: a } }\nsteps:\n  only: { run: ["true"] }\n'
runs = [
    ["run", "flowrun.yml", "--log-file", "log.jsonl"],
    ["run", "flowrun.yml", "--log", "json", "--param", "p=b", "--timeout", "1h", "--output", "stream", "-j", "2"],
    ["check", "flowrun.yml"],
]


def output(*argv, **options):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def symbols(binary):
    """Names of functions as the linker has them, by what valgrind calls them."""
    found = {}
    for mangled, plain in zip(output("nm", binary).splitlines(), output("nm", "-C", binary).splitlines()):
        fields = mangled.split(" ", 2)
        if len(fields) == 3 and fields[1] in "tTwW":
            for name in (fields[2], plain.split(" ", 2)[2]):
                found.setdefault(name, set()).add(fields[2])
    return found


def executed(binary, arguments, folder):
    trace = folder / "trace"
    subprocess.run(
        ["valgrind", "--tool=callgrind", "--compress-strings=no", f"--callgrind-out-file={trace}", "-q", binary,
         *arguments],
        check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {re.sub(r"'\d+$", "", name) for name in re.findall(r"^fn=(.*)$", trace.read_text(), re.MULTILINE)}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        binary = folder / "flowrun"
        # valgrind does not read the compiler's debug information.
        output("strip", "-g", "-o", binary, sys.argv[1])
        (folder / "flowrun.yml").write_text(workflow)
        names = symbols(binary)
        used = set().union(*(executed(binary, arguments, folder) for arguments in runs))
    found = {symbol for name in used for symbol in names.get(name, ())}
    print("\n".join(sorted(symbol for symbol in found if not any(module in symbol for module in own))))


main()
