#!/usr/bin/env python3
"""Compares real runs, one at a time, with the times that `plan` gives for them.

usage: bound_runs.py FLOWRUN [RUNS [SLEEPS]]

RUNS workflows (150) whose steps leave background children behind, ignore TERM, take longer than they may and read commands
of `vars`: none takes longer than its bound and 5 ms a process. SLEEPS workflows (20) of steps that sleep, run twice: the
second run takes what `plan --simulate` said before it, within 2 % and 5 ms a step on the longest chain.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time

PROCESS = 0.005
LINGERS = "sleep 30 > /dev/null 2>&1 & sleep 30 & "


def write(folder, lines):
    with open(os.path.join(folder, "workflow.yml"), "w") as file:
        file.write("\n".join(["version: 1"] + lines) + "\n")


def flowrun(binary, folder, *words):
    return subprocess.run(
        [binary, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def limited(seed):
    """A workflow in which everything has a limit, and how many processes it may start."""
    rng = random.Random(seed)
    lines = ["defaults: { timeout: 400ms, grace: 200ms }"]
    if rng.random() < 0.4:
        command = rng.choice(["sleep 0.1; echo v", "sleep 9", "trap '' TERM; sleep 9", "sleep 9 & echo v"])
        lines.append(f"vars: {{ v: {{ run: \"{command}\" }} }}")
    lines.append("steps:")
    names, processes = [], 2
    for number in range(rng.randint(2, 6)):
        name = f"s{number}"
        kind = rng.choice(["short", "lingers", "deaf", "long", "fails", "reads"])
        command = {
            "short": "sleep 0.05",
            "lingers": LINGERS + "true",
            "deaf": "trap '' TERM; while :; do sleep 0.05; done",
            "long": "sleep 9",
            "fails": LINGERS + "exit 1",
            "reads": "echo $v",
        }[kind]
        keys = [f'run: "{command}"']
        needs = [other for other in names if rng.random() < 0.3]
        if needs:
            keys.append("needs: { " + ", ".join(f"{other}: done" for other in needs) + " }")
        attempts = 1
        if rng.random() < 0.25:
            attempts = 2
            keys.append("retry: { attempts: 2, delay: 100ms }")
        if rng.random() < 0.25:
            keys.append("mutex: m")
        processes += 3 * attempts
        if rng.random() < 0.25:
            group = f"g{number}"
            lines.append(f"  {group}: {{ timeout: 600ms, {keys.pop(1) + ', ' if needs else ''}steps: {{ {name}: "
                         f"{{ {', '.join(keys)} }} }} }}")
            names.append(group)
        else:
            lines.append(f"  {name}: {{ {', '.join(keys)} }}")
            names.append(name)
    if rng.random() < 0.3:
        lines.append(f"finally: {{ clean: {{ timeout: 300ms, run: \"{LINGERS}true\" }} }}")
        processes += 3
    return lines, processes


def check_bounds(binary, runs):
    worst, failures = 0.0, 0
    for seed in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            lines, processes = limited(seed)
            write(folder, lines)
            jobs = str(random.Random(seed).randint(1, 3))
            plan = flowrun(binary, folder, "plan", "workflow.yml", "--format", "json", "-j", jobs)
            bound = json.loads(plan.stdout)["bound"]
            before = time.monotonic()
            flowrun(binary, folder, "workflow.yml", "-j", jobs)
            taken = time.monotonic() - before
            worst = max(worst, taken / bound)
            if taken > bound + PROCESS * processes:
                failures += 1
                print(f"run {seed} took {taken:.3f} s, at most {bound} s with {jobs}:\n" + "\n".join(lines))
    print(f"{runs} runs with a bound: {failures} too long, the longest took {worst:.2f} of its bound")
    return failures


def check_simulation(binary, count):
    failures, worst, orders = 0, 0.0, 0
    for seed in range(count):
        rng = random.Random(1000 + seed)
        with tempfile.TemporaryDirectory() as folder:
            steps = rng.randint(5, 12)
            lines = ["steps:"]
            for number in range(steps):
                needs = [f"s{other}" for other in range(number) if rng.random() < 0.15]
                lines.append(
                    f"  s{number}: {{ run: [sleep, \"{rng.randint(10, 120) / 100}\"]"
                    + (f", needs: [{', '.join(needs)}]" if needs else "") + " }")
            write(folder, lines)
            jobs = str(rng.randint(2, 3))
            flowrun(binary, folder, "workflow.yml", "-j", jobs)
            plan = json.loads(
                flowrun(binary, folder, "plan", "workflow.yml", "--simulate", "--format", "json", "-j", jobs).stdout)
            result = flowrun(binary, folder, "workflow.yml", "-j", jobs, "--log", "json")
            events = [json.loads(line) for line in result.stdout.splitlines()]
            real = max(event["t"] for event in events if event["event"] == "step.finished")
            allowed = 0.02 * plan["makespan"] + PROCESS * len(plan["critical_path"])
            off = abs(real - plan["makespan"])
            worst = max(worst, off / plan["makespan"])
            if off > allowed:
                failures += 1
                print(f"sleeps {seed}: simulated {plan['makespan']:.3f} s, took {real:.3f} s")
            started = [event["step"] for event in events if event["event"] == "step.started"]
            simulated = sorted((step["start"], step["id"]) for step in plan["steps"] if step["start"] is not None)
            orders += {step for _, step in simulated[: int(jobs)]} == set(started[: int(jobs)])
    print(f"{count} workflows of sleeps: {failures} off, at most by {100 * worst:.2f} %; {orders} began as simulated")
    return failures + (count - orders)


def main():
    binary = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    sleeps = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    sys.exit(1 if check_bounds(binary, runs) + check_simulation(binary, sleeps) else 0)


main()
