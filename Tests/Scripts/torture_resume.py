#!/usr/bin/env python3
"""Kills runs at random moments, resumes them, and holds every effect against the journals.

    torture_resume.py FLOWRUN [KILLS]

Each round makes a workflow of random shape whose steps note themselves in a ledger, and kills its run, or the guard
around it, or both, again and again until a run gets through. Then every step must be in the ledger, no step whose end a
journal has may be there more often than when that end was written, and no end may be in a journal without its effect.
Then a run that resumes another is killed at each call that it makes, one kind after the other, until one gets through
(with strace). Prints a table; exits with 1 if a rule was broken.
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


def workflow(rng):
    """A random acyclic graph of 4 to 24 steps, some of them in a fan-out."""
    count = rng.randint(4, 24)
    lines = ["version: 1", "steps:"]
    for step in range(count):
        needs = sorted(rng.sample(range(step), min(step, rng.randint(0, 2))))
        pause = rng.choice(["", "", "sleep 0.00%d; " % rng.randint(1, 9)])
        lines.append(
            "  s%d: { needs: [%s], run: '%secho s%d >> ledger' }"
            % (step, ", ".join("s%d" % need for need in needs), pause, step))
    return "\n".join(lines) + "\n", {"s%d" % step for step in range(count)}


def ledger(folder):
    try:
        with open(os.path.join(folder, "ledger")) as file:
            return Counter(file.read().split())
    except FileNotFoundError:
        return Counter()


def finished(folder):
    """Steps that a journal says have succeeded."""
    found = set()
    runs = os.path.join(folder, ".flowrun", "runs")
    for run in os.listdir(runs) if os.path.isdir(runs) else []:
        try:
            with open(os.path.join(runs, run, "journal.jsonl"), "rb") as file:
                lines = file.read().split(b"\n")
        except FileNotFoundError:
            continue
        for line in lines[:-1]:
            record = json.loads(line)
            if record["event"] == "step.finished" and record["outcome"] == "success":
                found.add(record["step"])
    return found


def runner(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            return int(file.read().split()[0])
    except (OSError, IndexError, ValueError):
        return None


def kill(process, rng):
    """Returns which of the two was killed."""
    child = runner(process.pid)
    victim = rng.choice(["runner", "guard", "both"])
    targets = {"runner": [child], "guard": [process.pid], "both": [child, process.pid]}[victim]
    for target in targets:
        try:
            os.kill(target or process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()
    return victim


CALLS = ["openat", "mkdirat", "fcntl", "flock", "write", "pwrite64", "ftruncate", "fsync", "fdatasync", "unlinkat"]


def resume(flowrun, folder, call=None, number=0):
    """Resumes the run in a folder, and kills whoever makes the call of that number. Returns the exit status."""
    trace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e",
             "inject=%s:signal=KILL:when=%d" % (call, number)] if call else []
    run = [flowrun, "--resume", "--durable", "--log", "quiet", "-j", "2"]
    return subprocess.run(trace + run, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).returncode


def kill_at_each_call(flowrun, faults):
    """Returns how many kinds of calls there were, and kills."""
    text = "version: 1\nsteps:\n"
    for step in range(8):
        output = "seq 1 20000; " if step == 3 else ""
        text += "  s%d: { needs: [%s], run: '%secho s%d >> ledger' }\n" % (
            step, "s%d" % (step - 2) if step > 1 else "", output, step)
    tally = Counter()
    for call in CALLS:
        for number in range(1, 1000):
            folder = tempfile.mkdtemp(prefix="flowrun-torture-")
            with open(os.path.join(folder, "flowrun.yml"), "w") as file:
                file.write(text)
            resume(flowrun, folder, "write", 9)
            done, came = finished(folder), ledger(folder)
            is_over = resume(flowrun, folder, call, number) == 0
            ended, before = finished(folder), ledger(folder)
            status = 75
            while status == 75:
                status = resume(flowrun, folder)
            after = ledger(folder)
            again = {step for step in ended if after[step] != before[step]}
            again |= {step for step in done if before[step] != came[step]}
            lost = {"s%d" % step for step in range(8)} - set(after)
            if status != 0 or again or lost or not ended <= set(before):
                faults.append("%s %d: ended with %d, again %s, lost %s" % (call, number, status, sorted(again), sorted(lost)))
            shutil.rmtree(folder)
            if is_over:
                break
            tally[call] += 1
        else:
            faults.append("%s: no run gets through" % call)
    return tally


def main():
    flowrun = os.path.abspath(sys.argv[1])
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(os.environ.get("SEED", time.time_ns() % 1_000_000))
    rng = random.Random(seed)
    print("seed %d" % seed)
    kills, faults, rounds = Counter(), [], 0
    while sum(kills.values()) < wanted:
        rounds += 1
        folder = tempfile.mkdtemp(prefix="flowrun-torture-")
        text, steps = workflow(rng)
        with open(os.path.join(folder, "flowrun.yml"), "w") as file:
            file.write(text)
        span = 0.02
        while True:
            before, ended = ledger(folder), finished(folder)
            if not ended <= set(before):
                faults.append("round %d: the journal has an end without its effect: %s" % (rounds, ended - set(before)))
            start = time.monotonic()
            process = subprocess.Popen(
                [flowrun, "--resume", "--log", "quiet", "-j", "3"], cwd=folder, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT)
            try:
                output, _ = process.communicate(timeout=rng.uniform(0, span))
            except subprocess.TimeoutExpired:
                kills[kill(process, rng)] += 1
                process.stdout.close()
                # Longer and longer, so that a slow machine gets through.
                span *= 1.2
                time.sleep(0 if rng.random() < 0.5 else 0.05)
                output = None
            after = ledger(folder)
            again = {step for step in ended if after[step] != before[step]}
            if again:
                faults.append("round %d: finished steps ran again: %s" % (rounds, sorted(again)))
            if output is None:
                continue
            if process.returncode == 75 and time.monotonic() - start < 5:
                continue
            if process.returncode != 0:
                faults.append("round %d: ended with %d: %s" % (rounds, process.returncode, output.decode()))
            elif set(after) != steps:
                faults.append("round %d: steps lost: %s" % (rounds, steps - set(after)))
            break
        shutil.rmtree(folder)
    print("kills of the runner / the guard / both   %d / %d / %d" % (kills["runner"], kills["guard"], kills["both"]))
    print("workflows that got through               %d" % rounds)
    if shutil.which("strace"):
        tally = kill_at_each_call(flowrun, faults)
        print("kills at each call                       %s" % ", ".join("%s %d" % pair for pair in tally.items()))
    print("rules broken                             %d" % len(faults))
    for fault in faults[:20]:
        print("  " + fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
