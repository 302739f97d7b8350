#!/usr/bin/env python3
"""Measures flowrun against what there is, side by side, and holds the figures against the budgets.

    Tests/Benchmarks/bench.py [--only SUBJECT] [--rounds N] [--quick] [--peers] [--flowrun PATH]

Run by `make bench` after a release build; under ten minutes on a quiet machine with two cores. Contenders run in turn,
so that whatever else the machine does falls on all alike; figures are medians of rounds, and budgets are ratios.
flowrun is run as a user would: with a state folder, a control socket, a log file and options. Wall times are judged
only if the machine is quiet. Nothing here fails for being slow; exit status 1 means that something could not be
measured.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import peers
import report
import subjects
from calibration import Calibration
from measuring import Contender, MeasuringError

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

    def prepare(self, all_peers):
        """Builds the C programs, finds the peers, says what machine this is."""
        self.kept = kept = root / ".build" / "bench"
        kept.mkdir(parents=True, exist_ok=True)
        compiler = os.environ.get("CC", "cc")
        programs = {"measure": [], "spawn_floor": [], "guarded_floor": ["-static"], "yaml_floor": ["-lyaml"]}
        for name, libraries in programs.items():
            subprocess.run([compiler, "-O2", "-o", kept / name, here / f"{name}.c", *libraries], check=True)
        self.measure, self.spawn_floor, self.guarded_floor, self.yaml_floor = (str(kept / name) for name in programs)
        self.peers, absent = peers.find(kept / "peers", all_peers)
        print(f"machine: {os.cpu_count()} cores, {processor()}, Linux {platform.release()}, "
              f"{first_line([compiler, '--version'])}")
        print(f"flowrun: {first_line([self.flowrun, '--version'])} ({self.flowrun})")
        print("peers:   " + ", ".join(f"{name} ({peers.version(path)})" for name, path in self.peers.items()))
        for name, why in absent.items():
            print(f"left out: {name}: {why}")

    def rounds(self, usual, quick=1):
        """How many rounds a subject has: its USUAL number, QUICK ones with --quick, or what was asked for."""
        return quick if self.quick else self.asked_rounds or usual

    def size(self, usual, quick):
        """How much work a subject has; less of it with --quick."""
        return quick if self.quick else usual

    def place(self, name):
        folder = self.folder / name
        folder.mkdir(parents=True)
        return folder

    def peer(self, name, folder, jobs, items=1):
        """The command line that runs the work of `workloads.independent` with JOBS at once; None where absent."""
        if name not in self.peers:
            return None
        path = self.peers[name]
        argv = {
            "ninja": [path, "-j", str(jobs)],
            "make": [path, "-s", "-j", str(jobs)],
            "just": [path],
            "task": [path, "-C", str(jobs)],
            "xargs": [path, "-a", "list", "-n", "1", "-P", str(jobs), "sh", "-c", ":"],
        }[name]
        label = {"just": "just (one by one)", "task": "go-task"}.get(name, name)
        leftovers = [".ninja_log", ".ninja_deps"] if name == "ninja" else []
        return Contender(label, argv, folder, leftovers=leftovers, items=items)

    def run(self, name, folder, jobs, steps, options=("--log", "json"), items=1):
        """A run as a user has it, its log in a file; STEPS are to succeed."""
        argv = [self.flowrun, "run", "flowrun.yml", "-j", str(jobs), *options]
        return Contender(name, argv, folder, verify=report.successes(folder / "stdout", steps), items=items)


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def first_line(command):
    answer = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return (answer.stdout or answer.stderr).strip().split("\n")[0]


def main():
    parser = argparse.ArgumentParser(description="Measures flowrun against its peers, side by side.")
    parser.add_argument("--only", action="append", choices=subjects.all, metavar="SUBJECT",
                        help=f"measure only this: {', '.join(subjects.all)} (may be repeated)")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of every subject (each has its own default)")
    parser.add_argument("--quick", action="store_true", help="one round of little work: shows that all works, no more")
    parser.add_argument("--peers", action="store_true", help="also just, go-task and xargs")
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
    begin, failed = time.monotonic(), []
    try:
        bench = Bench(options.flowrun.resolve(), options.rounds, options.quick, folder)
        bench.prepare(options.peers)
        before = Calibration()
        print(f"quiet?   before: {before}")
        for name in options.only or subjects.all:
            print(f"\n{name}: {subjects.all[name].__doc__}", flush=True)
            try:
                subjects.all[name](bench)
            except (MeasuringError, subprocess.CalledProcessError, OSError) as error:
                print(f"bench: {name}: {error}", file=sys.stderr)
                failed.append(name)
        after = Calibration()
        report.verdicts(before.is_quiet(after))
        print(f"\nquiet?   before: {before}\n         after:  {after}\n         {before.verdict(after)}")
    except (MeasuringError, subprocess.CalledProcessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        failed.append("all")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{time.monotonic() - begin:.0f} s in all")
    if options.quick:
        print("--quick: one round of little work; the figures mean nothing")
    if failed:
        print(f"not measured: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
