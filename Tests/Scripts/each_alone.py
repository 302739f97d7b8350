#!/usr/bin/env python3
"""Runs each test in a process of its own: none may need what another leaves behind.

    each_alone.py [--workers N] [PATTERN]

PATTERN is a regular expression that the test's name has to contain, such as `ProcessesTests`. Prints the output of
each test that fails, ends by a signal or hangs; exits with 1 if there is one.
"""

import argparse
import concurrent.futures
import functools
import os
import re
import subprocess
import sys

PATIENCE = 600


def swift(*words):
    return subprocess.run(["swift", *words], stdout=subprocess.PIPE, text=True, check=True).stdout


def names(pattern):
    listed = swift("test", "list")
    return sorted({line[:line.rindex("(")] for line in listed.splitlines() if "(" in line and re.search(pattern, line)})


def run(program, name):
    # Not by `swift test`, of which only one at a time gets at the build.
    command = [program, "--testing-library", "swift-testing", "--filter", "^%s\\(" % re.escape(name)]
    try:
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
    except subprocess.TimeoutExpired as error:
        return name, "hangs", error.stdout or b""
    if ended.returncode != 0:
        return name, "fails", ended.stdout
    if b"Test run with 1 test" not in ended.stdout:
        return name, "is not found by its name", ended.stdout
    return name, None, b""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("pattern", nargs="?", default="")
    arguments = parser.parse_args()
    tests = names(arguments.pattern)
    program = os.path.join(swift("build", "--show-bin-path").strip(), "flowrunPackageTests.xctest")
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.workers) as pool:
        for name, failure, output in pool.map(functools.partial(run, program), tests):
            if failure is None:
                continue
            bad += 1
            print("%s %s when it is alone:\n%s" % (name, failure, output.decode(errors="replace")), flush=True)
    print("%d tests alone, %d bad" % (len(tests), bad))
    return 1 if bad or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
