#!/usr/bin/env python3
"""Measures flowrun against what there is, side by side, and prints tables with ratios.

    Tests/Benchmarks/bench.py [--only SUBJECT] [--rounds N] [--quick] [--flowrun PATH]

Run by `make bench` after a release build. Nothing here fails for being slow: the budgets of the design are ratios and
are printed beside the measured ones. Exit 1 means that something could not be measured.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import measuring
import peers
import workloads
from measuring import Contender, MeasuringError, cpu, median, peak, ratio, spread, wall

here = Path(__file__).resolve().parent
root = here.parent.parent


class Bench:
    """What all subjects share: the binaries, the peers, the folder and the number of rounds."""

    def __init__(self, flowrun, rounds, quick, folder):
        self.flowrun = str(flowrun)
        self.asked_rounds = rounds
        self.quick = quick
        self.folder = folder
        self.peers = {}

    def prepare(self):
        """Builds the C programs, finds the peers, says what machine this is."""
        kept = root / ".build" / "bench"
        kept.mkdir(parents=True, exist_ok=True)
        compiler = os.environ.get("CC", "cc")
        for name, libraries in (("measure", []), ("spawn_floor", []), ("yaml_floor", ["-lyaml"])):
            subprocess.run([compiler, "-O2", "-o", kept / name, here / f"{name}.c", *libraries], check=True)
        self.measure, self.spawn_floor, self.yaml_floor = (
            str(kept / name) for name in ("measure", "spawn_floor", "yaml_floor"))
        self.peers, absent = peers.find(kept / "peers")
        print(f"machine: {os.cpu_count()} cores, {processor()}, Linux {platform.release()}, "
              f"load {os.getloadavg()[0]:.2f}, {first_line([compiler, '--version'])}")
        print(f"flowrun: {first_line([self.flowrun, '--version'])} ({self.flowrun})")
        print("peers:   " + ", ".join(f"{name} ({peers.version(path)})" for name, path in self.peers.items()))
        for name, why in absent.items():
            print(f"left out: {name}: {why}")
        if os.getloadavg()[0] > 0.5:
            print("note:    the machine is busy with something else; wait until it is quiet for figures to quote")

    def rounds(self, usual, quick):
        return self.asked_rounds or (quick if self.quick else usual)

    def place(self, name):
        folder = self.folder / name
        folder.mkdir(parents=True)
        return folder

    def peer(self, name, folder, jobs):
        """The command line that runs the work of `workloads.independent` with JOBS at once; None where absent."""
        if name not in self.peers:
            return None
        path = self.peers[name]
        argv = {
            "ninja": [path, "-j", str(jobs)],
            "make": [path, "-s", "-j", str(jobs)],
            "just": [path],
            "task": [path, "-C", str(jobs)],
            "xargs": [path, "-a", "list", "-n", "1", "-P", str(jobs)],
        }[name]
        label = {"just": "just (one by one)", "task": "go-task"}.get(name, name)
        return Contender(label, argv, folder, leftovers=[".ninja_log", ".ninja_deps"] if name == "ninja" else [])

    def flowrun_json(self, name, folder, jobs, steps, items=1):
        return Contender(name, [self.flowrun, "run", "flowrun.yml", "-j", str(jobs), "--log", "json"], folder,
                         verify=lambda _: require_successes(folder / "stdout", steps), items=items)


def require_successes(log, steps):
    """The work was really done: the log's last record counts every step as a success."""
    with open(log, encoding="utf-8") as lines:
        last = json.loads(lines.readlines()[-1])
    counts = {outcome: count for outcome, count in last.get("counts", {}).items() if count}
    if last.get("event") != "run.finished" or counts != {"success": steps}:
        raise MeasuringError(f"{log}: not {steps} successes at the end, but {last.get('event')} {counts}")


def spawn(bench):
    """2,000 x `sh -c :`, two at once"""
    count, jobs, folder = 2000, 2, bench.place("spawn")
    workloads.independent(folder, count, ["sh", "-c", ":"])
    contenders = [Contender("C posix_spawn loop", [bench.spawn_floor, str(count), str(jobs), "sh", "-c", ":"], folder)]
    contenders += [
        Contender("flowrun, text log", [bench.flowrun, "run", "flowrun.yml", "-j", str(jobs)], folder),
        bench.flowrun_json("flowrun, JSON log", folder, jobs, count),
    ]
    contenders += [bench.peer(name, folder, jobs) for name in ("ninja", "make", "just", "task")]
    xargs = bench.peer("xargs", folder, jobs)
    if xargs:
        xargs.argv += ["sh", "-c", ":"]
    contenders = [contender for contender in contenders + [xargs] if contender]
    samples = measuring.rounds(bench.measure, contenders, bench.rounds(9, 2))
    table(contenders, samples)
    floor = samples["C posix_spawn loop"]
    for name in ("flowrun, text log", "flowrun, JSON log"):
        budget(f"{name} : C loop", ratio(samples[name], floor, wall), 1.10)
        if "ninja" in samples:
            budget(f"{name} : ninja", ratio(samples[name], samples["ninja"], wall), 1.0, strict=True)


def start(bench):
    """A workflow of one step `true`, whole process"""
    folder = bench.place("start")
    workloads.independent(folder, 1, ["true"], task_argv=[shutil.which("true") or "true"])
    (folder / "flowrun.yml").write_text('version: 1\nsteps:\n  only: { run: ["true"] }\n')
    contenders = [
        Contender("C posix_spawn loop", [bench.spawn_floor, "1", "1", "true"], folder),
        Contender("flowrun, text log", [bench.flowrun, "flowrun.yml"], folder),
        bench.flowrun_json("flowrun, JSON log", folder, 2, 1),
    ]
    contenders += [peer for peer in (bench.peer(name, folder, 2) for name in ("ninja", "make", "just", "task")) if peer]
    samples = measuring.rounds(bench.measure, contenders, bench.rounds(200, 30), warmups=3)
    table(contenders, samples)
    if "ninja" in samples:
        for name in ("flowrun, text log", "flowrun, JSON log"):
            budget(f"{name} : ninja", ratio(samples[name], samples["ninja"], wall), 1.0)
    else:
        print("  budget: not compared, ninja is absent")


def check(bench):
    """`check` of 1,000, 10,000 and 100,000 generated steps"""
    for count, rounds in ((1000, (40, 5)), (10_000, (15, 3)), (100_000, (7, 2))):
        folder = bench.place(f"check-{count}")
        size = workloads.realistic(folder, count)
        print(f"  {count:,} steps, {size / 1e6:.1f} MB, {size / count:.0f} bytes a step")
        contenders = [
            Contender("libyaml's bare events", [bench.yaml_floor, "flowrun.yml"], folder),
            Contender("flowrun check", [bench.flowrun, "check", "flowrun.yml"], folder),
        ]
        if "ninja" in bench.peers:
            contenders.append(Contender("ninja -n", [bench.peers["ninja"], "-n"], folder))
        samples = measuring.rounds(bench.measure, contenders, bench.rounds(*rounds))
        table(contenders, samples)
        if count == 100_000:
            mine = samples["flowrun check"]
            budget("flowrun check : libyaml's bare events", ratio(mine, samples["libyaml's bare events"], wall), 2.0)
            budget("flowrun check, peak memory", median(mine, peak), 150, unit=" MB")


def run(bench):
    """Runs of 1,000 and 10,000 no-op steps, two at once"""
    small, large, jobs = 1000, 10_000, 2
    contenders = []
    for count in (small, large):
        fan, chain = bench.place(f"fan-{count}"), bench.place(f"chain-{count}")
        workloads.independent(fan, count, ["true"])
        workloads.chained(chain, count)
        contenders += [
            Contender(f"C posix_spawn loop {count:,}", [bench.spawn_floor, str(count), str(jobs), "true"], fan,
                      items=count),
            bench.flowrun_json(f"flowrun, flat {count:,}", fan, jobs, count, items=count),
            bench.flowrun_json(f"flowrun, chains {count:,}", chain, jobs, count, items=count),
        ]
        if "ninja" in bench.peers:
            for shape, folder in (("flat", fan), ("chains", chain)):
                peer = bench.peer("ninja", folder, jobs)
                peer.name, peer.items = f"ninja, {shape} {count:,}", count
                contenders.append(peer)
    samples = measuring.rounds(bench.measure, contenders, bench.rounds(5, 1))
    table(contenders, samples)
    floor = [samples[f"C posix_spawn loop {count:,}"] for count in (large, small)]
    print(f"  the C loop's own cost of a step, {large:,} : {small:,}: {ratio(*floor, wall) * small / large:.2f} x")
    for shape in ("flowrun, flat", "flowrun, chains"):
        few, many = samples[f"{shape} {small:,}"], samples[f"{shape} {large:,}"]
        budget(f"{shape}: cost of a step, {large:,} : {small:,}", ratio(many, few, wall) * small / large, 1.10)
        grown = (median(many, peak) - median(few, peak)) * 1e6 / (large - small)
        budget(f"{shape}: memory of a step", grown, 1024, unit=" bytes", form=".0f")


def table(contenders, samples):
    """One line a contender; the first one of each size of work is the base of the ratios."""
    base = contenders[0]
    for contender in contenders:
        if contender.items != base.items:
            base = contender
        mine, theirs = samples[contender.name], samples[base.name]
        if contender is base:
            each = f"{'each step':>11}" if base.items > 1 else ""
            print(f"\n  {'':<26}{'wall':>11}{'ratio':>8}{'+-':>7}{'user+sys':>12}{'ratio':>8}{'peak':>10}{each}")
        line = (f"  {contender.name:<26}{time(median(mine, wall)):>11}{ratio(mine, theirs, wall):>8.2f}"
                f"{spread(mine, theirs, wall):>7.2f}{time(median(mine, cpu)):>12}{ratio(mine, theirs, cpu):>8.2f}"
                f"{median(mine, peak):>7.1f} MB")
        if contender.items > 1:
            line += f"{median(mine, wall) / contender.items * 1e6:>8.0f} us"
        print(line)
    print()


def time(seconds):
    return f"{seconds:.3f} s" if seconds >= 0.1 else f"{seconds * 1e3:.2f} ms"


def budget(what, measured, limit, strict=False, unit=" x", form=".2f"):
    """A budget of the design beside the figure; STRICT: equal is not enough."""
    met = measured < limit if strict else measured <= limit
    sign = "<" if strict else "<="
    print(f"  budget: {what}: {measured:{form}}{unit}, {sign} {limit:{form}}{unit}: {'met' if met else 'missed'}")


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def first_line(command):
    answer = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return (answer.stdout or answer.stderr).strip().split("\n")[0]


subjects = {"spawn": spawn, "start": start, "check": check, "run": run}


def main():
    parser = argparse.ArgumentParser(description="Measures flowrun against its peers, side by side.")
    parser.add_argument("--only", action="append", choices=subjects, metavar="SUBJECT",
                        help=f"measure only this: {', '.join(subjects)} (may be repeated)")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of every subject (each has its own default)")
    parser.add_argument("--quick", action="store_true", help="few rounds: shows that all works, not how fast it is")
    parser.add_argument("--flowrun", type=Path, default=root / ".build" / "release" / "flowrun", metavar="PATH",
                        help="the binary (default: .build/release/flowrun)")
    options = parser.parse_args()
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds takes a number from 1 up")
    if not os.access(options.flowrun, os.X_OK) or options.flowrun.is_dir():
        sys.exit(f"bench: no program at {options.flowrun}; build it with `make build`, or name one with --flowrun PATH")
    # Beside the build, so that logs and sources lie on one real file system (/tmp may be memory).
    (root / ".build").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=root / ".build"))
    try:
        bench = Bench(options.flowrun.resolve(), options.rounds, options.quick, folder)
        bench.prepare()
        for name in options.only or subjects:
            print(f"\n{name}: {subjects[name].__doc__}")
            subjects[name](bench)
    except (MeasuringError, subprocess.CalledProcessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
