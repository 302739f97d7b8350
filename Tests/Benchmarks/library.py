"""The Swift library beside what Swift offers: one program measures all contenders in one process, one after another."""

import json
import os
import shutil
import statistics
import subprocess
from pathlib import Path

import report
from measuring import MeasuringError

package = Path(__file__).resolve().parent / "library"
# Against a task group that is as wide, but for operations that are awaited one by one.
budgets = {
    "compound, limited": ("TaskGroup", 3),
    "compound, in a queue": ("TaskGroup", 3),
    "queue, one by one": ("TaskGroup", 2),
    "queue, all at once": ("TaskGroup", 2),
    "waterfall": ("TaskGroup", 0.5),
    "start, result": ("Task, value", 5),
    "queue.run": ("Task, value", 5),
}


def build(scratch):
    """Path of the program, built for release."""
    command = [os.environ.get("SWIFT", "swift"), "build", "-c", "release", "--package-path", package,
               "--scratch-path", scratch]
    # Where a file of the repository was removed since, an old plan of the build still asks for it.
    for is_new in (False, True):
        if is_new:
            shutil.rmtree(scratch)
        built = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if built.returncode == 0:
            return scratch / "release" / "LibraryBenchmark"
    raise MeasuringError(f"the library's benchmark cannot be built\n{(built.stdout + built.stderr)[-2000:]}")


def run(program, *arguments):
    """The lines of a run of its own."""
    command = [program, *map(str, arguments)]
    answer = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise MeasuringError(f"{' '.join(map(str, command))}: status {answer.returncode}\n{answer.stderr[-600:]}")
    return answer.stdout.splitlines()


def speed(program, count, rounds):
    """Time of so many trivial operations, each contender against its yardstick in the same round."""
    # The first round warms up.
    samples = [{figures["name"]: figures for figures in json.loads(line)}
               for line in run(program, "speed", count, rounds + 1)][1:]

    def ratios(name, base, figure):
        return [sample[name][figure] / max(sample[base][figure], 1e-9) for sample in samples]

    print(f"\n  {count:,} operations{'wall':>22}{'ratio':>8}{'+-':>7}{'user+sys':>12}{'ratio':>8}{'each':>11}")
    for name in samples[0]:
        base = budgets.get(name, ("TaskGroup",))[0]
        wall = statistics.median(sample[name]["wall"] for sample in samples)
        cpu = statistics.median(sample[name]["cpu"] for sample in samples)
        walls = ratios(name, base, "wall")
        print(f"  {name:<24}{report.time(wall):>17}{statistics.median(walls):>8.2f}{(max(walls) - min(walls)) / 2:>7.2f}"
              f"{report.time(cpu):>12}{statistics.median(ratios(name, base, 'cpu')):>8.2f}{wall / count * 1e6:>8.2f} us")
    print(f"  ({rounds} {'round' if rounds == 1 else 'rounds'})", flush=True)
    for name, (base, limit) in budgets.items():
        report.budget(f"library: {name} : {base}", statistics.median(ratios(name, base, "wall")), limit, is_wall=True)


def memory(program, waiting, few, many):
    """Memory of operations that wait in a queue, and of a queue that is never idle."""
    empty, full = (int(run(program, "waiting", count)[0]) for count in (0, waiting))
    report.budget(f"library: each of {waiting:,} waiting", (full - empty) / waiting, 250, " B", 0)
    early, late = (int(peak) for peak in run(program, "flow", few, many))
    print(f"  {waiting:,} operations wait in {full / 1e6:.0f} MB; through a queue that is never idle: "
          f"{early / 1e6:.1f} MB after {few:,}, {late / 1e6:.1f} MB after {many:,}")
    # Nothing stays. What an allocator keeps in reserve is noise, and less than this.
    report.budget(f"library: each of {many:,} that are over", (late - early) / (many - few), 0.5, " B", 2)
