#!/usr/bin/env python3
"""Lets one run last long while its steps are killed and cancelled at random, and looks for anything that grows.

    torture_soak.py FLOWRUN [STEPS]

The steps, 100,000 of them if not said, mostly do nothing; some last a moment, leave an orphan that ends by itself, or one
that flowrun has to kill. Meanwhile the processes of running steps are killed, and steps cancelled by `flowrun ctl`. Prints a
table of the descriptors, zombies and memory of the run; exits with 1 if one of them grows, or if a step has no end or
two.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from statistics import median

PAUSE = 0.05
ROWS = 10
KINDS = [
    (0.90, '["true"]'),
    (0.08, '[sleep, "0.05"]'),
    (0.018, "\"(sleep 0.02 > /dev/null 2>&1 &)\""),
    (0.002, "\"setsid sleep 1000 > /dev/null 2>&1 &\""),
]


def write_workflow(path, count, rng):
    with open(path, "w") as file:
        file.write("version: 1\nsteps:\n")
        for step in range(count):
            needs = "needs: { s%d: done }, " % rng.randrange(max(0, step - 500), step) if step and rng.random() < 0.3 else ""
            run = rng.choices([text for _, text in KINDS], [share for share, _ in KINDS])[0]
            file.write("  s%d: { %scontinue-on-error: true, grace: 100ms, run: %s }\n" % (step, needs, run))


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def state(pid):
    """The letter of proc(5); an empty text for a process that is gone."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return ""


def memory(pid):
    """The anonymous memory of a process in KiB."""
    with open("/proc/%d/status" % pid) as file:
        return int(next(line for line in file if line.startswith("RssAnon")).split()[1])


class Samples:
    def __init__(self, guard, runner):
        self.guard, self.runner = guard, runner
        self.descriptors, self.memory, self.zombies = [], [], []
        self.guard_memory = []
        self.finished = []
        self.lasting = Counter()

    def take(self, finished):
        zombies = {pid for parent in (self.guard, self.runner) for pid in children(parent) if state(pid) == "Z"}
        # One that waits to be reaped at this moment is none that is forgotten.
        self.lasting = Counter({pid: self.lasting[pid] + 1 for pid in zombies})
        self.descriptors.append(len(os.listdir("/proc/%d/fd" % self.runner)))
        self.memory.append(memory(self.runner))
        self.guard_memory.append(memory(self.guard))
        self.zombies.append(max(self.lasting.values(), default=0))
        self.finished.append(finished)

    def part(self, values, begin, end):
        return values[int(len(values) * begin):max(int(len(values) * end), int(len(values) * begin) + 1)]


def finished_steps(log, counts):
    """Counts the ends that are new in the log, by step."""
    for line in log:
        if '"event":"step.finished"' in line:
            counts[json.loads(line)["step"]] += 1


def whole_lines(file):
    """What has been added since the last call, up to the last whole line."""
    rest = ""
    while True:
        chunk = rest + file.read()
        lines = chunk.split("\n")
        rest = lines.pop()
        yield lines


def disturb(flowrun, folder, runner, rng, tally):
    """Kills the process of a step, or cancels a step by its name."""
    if rng.random() < 0.8:
        steps = children(runner)
        if steps:
            try:
                os.kill(rng.choice(steps), rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV]))
                tally["kills"] += 1
            except ProcessLookupError:
                pass
        return
    status = subprocess.run([flowrun, "ctl", "status", "--format", "json"], cwd=folder, capture_output=True)
    if status.returncode != 0:
        return
    running = [step["step"] for step in json.loads(status.stdout)["running"]]
    if running:
        cancel = [flowrun, "ctl", "cancel", rng.choice(running)]
        tally["cancels"] += subprocess.run(cancel, cwd=folder, capture_output=True).returncode == 0


def main():
    flowrun = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    seed = int(os.environ.get("SEED", time.time_ns() % 1_000_000))
    rng = random.Random(seed)
    print("seed %d" % seed)
    folder = tempfile.mkdtemp(prefix="flowrun-torture-")
    write_workflow(os.path.join(folder, "flowrun.yml"), count, rng)
    log = os.path.join(folder, "log.jsonl")
    process = subprocess.Popen(
        [flowrun, "-j", "4", "--log", "quiet", "--log-file", "log.jsonl", "--progress", "none"], cwd=folder,
        stdout=subprocess.DEVNULL)
    while not os.path.exists(log) or os.path.getsize(log) == 0:
        time.sleep(PAUSE)
    runner = children(process.pid)[0]
    samples, tally, ends, faults = Samples(process.pid, runner), Counter(), Counter(), []
    print("%9s %12s %14s %12s %8s %8s" % ("finished", "descriptors", "most zombies", "memory", "kills", "cancels"))
    with open(log) as file:
        lines = whole_lines(file)
        shown = 0
        while process.poll() is None:
            finished_steps(next(lines), ends)
            try:
                samples.take(len(ends))
            except (OSError, StopIteration):
                break
            if len(ends) >= shown:
                print("%9d %12d %14d %8d KiB %8d %8d" % (
                    len(ends), samples.descriptors[-1], sum(samples.lasting.values()), samples.memory[-1],
                    tally["kills"], tally["cancels"]), flush=True)
                shown += count // ROWS
            disturb(flowrun, folder, runner, rng, tally)
            time.sleep(PAUSE)
        process.wait()
        finished_steps(next(lines), ends)
    early, late = (0.25, 0.5), (0.75, 1)
    grown = median(samples.part(samples.descriptors, *late)) - median(samples.part(samples.descriptors, *early))
    if grown > 2:
        faults.append("descriptors have grown by %d" % grown)
    for name, values in [("the run", samples.memory), ("the guard", samples.guard_memory)]:
        grown = median(samples.part(values, *late)) - median(samples.part(values, *early))
        # What went wrong is kept for the summary.
        allowed = 2048 + 4 * sum(tally.values())
        if grown > allowed:
            faults.append("the memory of %s has grown by %d KiB, of which %d are the failures'" % (name, grown, allowed))
    if max(samples.zombies, default=0) > 20:
        faults.append("a zombie stayed for %d looks" % max(samples.zombies))
    if process.returncode not in (0, 1):
        faults.append("ended with %d" % process.returncode)
    wrong = [step for step, times in ends.items() if times != 1]
    if len(ends) != count or wrong:
        faults.append("%d of %d steps have ended, twice: %s" % (len(ends), count, wrong[:5]))
    print("kills of steps / steps cancelled   %d / %d" % (tally["kills"], tally["cancels"]))
    print("looks                              %d" % len(samples.finished))
    print("rules broken                       %d" % len(faults))
    for fault in faults:
        print("  " + fault)
    shutil.rmtree(folder)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
