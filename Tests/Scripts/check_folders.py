#!/usr/bin/env python3
"""Folders, files and types keep their shape.

    Tests/Scripts/check_folders.py [PACKAGE]

The folders of a target form no ring: where files of one mention types of another, none of the other leads back. Files
directly in the target's folder count as a folder, too. A ring is shown with the mentions that close it. A file has at
most 400 lines, and a type is in at most five files, its extensions included.
"""

import glob
import os
import re
import sys

MODIFIERS = (r"^(?:(?:public|package|internal|private|fileprivate|final|indirect|nonisolated|@\w+(?:\([^)]*\))?)\s+)*"
             r"(?:struct|class|enum|protocol|actor|")
DECLARATION = re.compile(MODIFIERS + r"typealias)\s+(\w+)", re.MULTILINE)
PART = re.compile(MODIFIERS + r"extension)\s+([A-Z]\w*(?:\.[A-Z]\w*)*)", re.MULTILINE)
WORDS = re.compile(r"\b[A-Z]\w*")
NOISE = re.compile(r'//.*|"(?:\\.|[^"\\\n])*"')


def mentions(root):
    """The pairs of folders of which the first mentions types of the second, each with file and type."""
    texts, homes = {}, {}
    for path, _, names in os.walk(root):
        folder = os.path.relpath(path, root).split(os.sep)[0]
        for name in names:
            if name.endswith(".swift"):
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    texts[os.path.join(path, name)] = (folder, NOISE.sub("", file.read()))
    for folder, text in texts.values():
        for name in DECLARATION.findall(text):
            homes.setdefault(name, set()).add(folder)
    found = {}
    for path, (folder, text) in sorted(texts.items()):
        for word in sorted(set(WORDS.findall(text))):
            # A name that two folders declare may mean either.
            home = homes.get(word, set())
            if len(home) == 1 and folder not in home:
                found.setdefault((folder, *home), []).append(f"{os.path.relpath(path, root)} mentions {word}")
    return found


def reachable(start, edges):
    found, pending = set(), [start]
    while pending:
        folder = pending.pop()
        for first, second in edges:
            if first == folder and second not in found:
                found.add(second)
                pending.append(second)
    return found


package = sys.argv[1] if len(sys.argv) > 1 else "."
# Types that are in more files. These numbers only fall.
MORE_FILES = {
    "OperationCore": 16, "QueueCore": 14, "WorkflowDecoder": 11, "OperationScheduler": 8, "QueueCore.State": 7, "Plan": 6,
}


def shapes(root):
    """What is wrong with the sizes of files and the spread of types below a folder."""
    homes = {}
    for path in sorted(glob.glob("**/*.swift", root_dir=root, recursive=True)):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        if (count := text.count("\n")) > 400:
            yield f"{path} has {count} lines, at most 400 are accepted: take a type or a part of one out"
        for name in set(PART.findall(text)):
            homes.setdefault(name, []).append(path)
    for name, paths in homes.items():
        if len(paths) > MORE_FILES.get(name, 5):
            yield f"{name} is in {len(paths)} files, at most {MORE_FILES.get(name, 5)} are accepted: {', '.join(paths)}"


faults = 0
for target in sorted(glob.glob("Sources/*/", root_dir=package) + glob.glob("Packages/*/Sources/", root_dir=package)):
    for fault in shapes(os.path.join(package, target)):
        faults += 1
        print(f"{target}{fault}")
    edges = mentions(os.path.join(package, target))
    for (first, second), places in sorted(edges.items()):
        if first in reachable(second, edges):
            faults += 1
            print(f"{target.rstrip('/')}: {first} and {second} are in a ring; {'; '.join(places[:3])}")
sys.exit(1 if faults else 0)
