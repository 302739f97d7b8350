#!/usr/bin/env python3
"""Counts what flowrun costs, in figures that do not depend on the machine's load, and holds them against a table.

    Tests/Benchmarks/count.py [--flowrun PATH] [--update]

Instructions are counted by valgrind's callgrind on a copy without debug sections, system calls by strace, both of the
process that runs the workflow alone. Each figure is the cost of one thing: a start, or the difference between many steps
and few, divided by their number. `counts.json` beside this file has the figures of each toolchain, C library and way to
contain a step, with the functions that take most; --update writes them. Exit 1 if a figure has grown by more than 2 % and by more than
it changes from link to link, with the functions that grew; 2 if something could not be counted. Where the table has no
such figures, they are shown.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

here = Path(__file__).resolve().parent
root = here.parent.parent
table = here / "counts.json"
TOLERANCE = 0.02
# Instructions by which a whole process differs from link to link: the runtime hashes addresses.
CHANCE = {"start": 5000, "--version": 5000}
# The functions of a figure that the table keeps.
KEPT = 40


def flat(count, last="/bin/true"):
    steps = "".join(f"  s{number}: {{ run: [/bin/true] }}\n" for number in range(count))
    return f"version: 1\nsteps:\n{steps}  last: {{ run: [{last}] }}\n"


def rich(count):
    """Groups, locks, pools, conditions and needs, as real files have them."""
    text = "version: 1\npools: { p: 2 }\nparams: { fast: { type: bool, default: false } }\nsteps:\n"
    for number in range(count // 4):
        text += (f"  g{number}:\n    steps:\n      a: {{ run: make a, mutex: m{number % 10}, timeout: 10m }}\n"
                 f"      b: {{ run: make b, needs: [a], if: '!params.fast', pool: p }}\n"
                 f"      c: {{ run: make c, needs: {{ a: done }}, retry: {{ attempts: 2, delay: 1s }} }}\n"
                 f"      d: {{ run: make d, needs: [b, c], env: {{ MODE: release }} }}\n")
    return text


class Counter:
    def __init__(self, flowrun, folder):
        self.folder = folder
        self.flowrun = folder / "flowrun"
        shutil.copy(flowrun, self.flowrun)
        subprocess.run(["objcopy", "--strip-debug", self.flowrun], check=True)

    def prepare(self, name, text, *arguments):
        """A folder with a workflow file whose state folder is as a second run finds it."""
        work = self.folder / name
        work.mkdir()
        (work / "w.yml").write_text(text)
        if arguments:
            self.run(work, [self.flowrun, *arguments])
        return work

    @staticmethod
    def run(work, command):
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/", "LC_ALL": "C"}
        return subprocess.run(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace")

    def instructions(self, work, *arguments):
        """The instructions of a run by function; the cheapest of three, since a busy machine wakes a run more often."""
        return min((self.once(work, *arguments) for _ in range(3)), key=lambda cost: sum(cost.values()))

    def once(self, work, *arguments):
        for old in work.glob("callgrind.*"):
            old.unlink()
        ended = self.run(
            work, ["valgrind", "--tool=callgrind", f"--callgrind-out-file={work}/callgrind.%p", self.flowrun, *arguments])
        # The guard is another process, and writes a file of its own.
        costs = [by_function(path.read_text(errors="replace")) for path in work.glob("callgrind.*")]
        if not costs:
            sys.exit(f"count: valgrind failed: {ended.stderr[-500:]}")
        return max(costs, key=lambda cost: sum(cost.values()))

    def calls(self, work, *arguments):
        """The number of system calls of a run, without those that wait for events: a slow machine needs more."""
        out = work / "strace"
        self.run(work, ["strace", "-f", "-qq", "-o", out, self.flowrun, *arguments])
        calls, starts = {}, {}
        for line in out.read_text(errors="replace").splitlines():
            process, _, call = line.partition(" ")
            if "resumed>" in call or call.lstrip().startswith(("+++", "---", "epoll_", "timerfd_settime(")):
                continue
            calls[process] = calls.get(process, 0) + 1
            starts[process] = starts.get(process, 0) + call.lstrip().startswith("clone3(")
        if not any(starts.values()):
            sys.exit("count: strace has seen no step start")
        return {"calls": calls[max(starts, key=starts.get)]}


def by_function(text):
    """The cost of each function itself, from callgrind's file."""
    names, costs = {}, {}
    current, is_call = None, False
    for line in text.splitlines():
        if line.startswith("fn="):
            number, _, name = line[3:].partition(" ")
            current = names.setdefault(number, name or number)
        elif line.startswith("cfn="):
            number, _, name = line[4:].partition(" ")
            names.setdefault(number, name or number)
        elif line.startswith("calls="):
            is_call = True
        elif line and line[0] in "0123456789+-*":
            # The line after a call has the cost of what was called.
            if not is_call and current:
                costs[current] = costs.get(current, 0) + int(line.split()[-1])
            is_call = False
    return costs


def per(many, few, number):
    """The cost of one of the things of which there are so many more."""
    return {name: (many.get(name, 0) - few.get(name, 0)) / number for name in many.keys() | few.keys()}


def measure(counter):
    """The figures by their names: what each function takes."""
    one = counter.prepare("one", flat(0), "w.yml")
    many = counter.prepare("many", flat(300), "w.yml", "-j", "1")
    figures = {}
    figures["start"] = counter.instructions(one, "w.yml", "-j", "1")
    figures["--version"] = counter.once(one, "--version")
    figures["step, text"] = per(counter.instructions(many, "w.yml", "-j", "1"), figures["start"], 300)
    few = counter.instructions(one, "w.yml", "-j", "1", "--log", "json")
    figures["step, JSON"] = per(counter.instructions(many, "w.yml", "-j", "1", "--log", "json"), few, 300)
    for name, make in (("flat", flat), ("rich", rich)):
        works = [counter.prepare(f"{name}{size}", make(size)) for size in (400, 2400)]
        costs = [counter.once(work, "check", "w.yml") for work in works]
        figures[f"checked step, {name}"] = per(costs[1], costs[0], 2000)
    works = [counter.prepare(f"past{size}", flat(size, "/bin/false"), "w.yml", "-j", "1") for size in (100, 300)]
    costs = [counter.instructions(work, "w.yml", "-j", "1", "--resume") for work in works]
    figures["restored step"] = per(costs[1], costs[0], 200)
    few = counter.calls(one, "w.yml", "-j", "1")
    figures["system calls of a start"] = few
    figures["system calls of a step"] = per(counter.calls(many, "w.yml", "-j", "1"), few, 300)
    return figures


def surroundings(counter):
    """What the figures depend on besides the source."""
    swift = subprocess.run([os.environ.get("SWIFT", "swift"), "--version"], capture_output=True, text=True).stdout
    library = " ".join(platform.libc_ver())
    # Of those that valgrind runs, processes are contained in the simplest way.
    journals = "".join(path.read_text() for path in counter.folder.glob("*/.flowrun/runs/*/journal.jsonl"))
    ways = re.findall(r'"containment":"(\w+)"', journals)
    contained = next(way for way in ("cgroup", "guard", "session") if way in ways)
    return ", ".join([re.search(r"Swift version \S+", swift)[0], os.uname().machine, library, contained])


def growth(name, now, before):
    """The functions that have grown most, a line each."""
    grown = sorted(((now.get(function, 0) - old, function) for function, old in before.items()), reverse=True)
    new = sorted(((cost, function) for function, cost in now.items() if function not in before), reverse=True)
    least = min(before.values(), default=0)
    lines = [(more, function, "") for more, function in grown[:5] if more > 0]
    lines += [(cost, function, ", new among those that take most") for cost, function in new[:5] if cost > least]
    return "".join(f"    {more:+,.0f} {function[:100]}{note}\n" for more, function, note in sorted(lines, reverse=True)[:6])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flowrun", default=root / ".build" / "release" / "flowrun", type=Path)
    parser.add_argument("--update", action="store_true", help="write the table of this toolchain")
    options = parser.parse_args()
    for tool in ("valgrind", "strace", "objcopy"):
        if shutil.which(tool) is None:
            print(f"count: {tool} is missing", file=sys.stderr)
            return 2
    # A path of a fixed length: what is copied with it is counted.
    with tempfile.TemporaryDirectory(prefix="flowrun-count-", dir="/tmp") as folder:
        counter = Counter(options.flowrun, Path(folder))
        figures = measure(counter)
        key = surroundings(counter)
    known = json.loads(table.read_text()) if table.exists() else {}
    before = known.get(key, {})
    bad = 0
    for name, costs in figures.items():
        total = sum(costs.values())
        old = before.get(name)
        if old is None:
            print(f"{name:24}{total:>14,.1f}")
            continue
        change = total / old["total"] - 1
        print(f"{name:24}{total:>14,.1f}{old['total']:>14,.1f}  {change:+.1%}")
        if total - old["total"] > max(TOLERANCE * old["total"], CHANCE.get(name, 0)) and not options.update:
            bad += 1
            print(growth(name, costs, old["functions"]), end="")
    if options.update:
        known[key] = {
            name: {"total": round(sum(costs.values()), 1),
                   "functions": {function: round(cost, 1) for function, cost in
                                 sorted(costs.items(), key=lambda item: -item[1])[:KEPT]}}
            for name, costs in figures.items()}
        table.write_text(json.dumps(known, indent=0, sort_keys=True) + "\n")
        return 0
    if not before:
        print(f"count: no table for {key}; `make count UPDATE=1` writes one")
    elif bad:
        print(f"count: {bad} figures have grown by more than {TOLERANCE:.0%}; `make count UPDATE=1` if that is meant")
    return 1 if bad else 0


sys.exit(main())
