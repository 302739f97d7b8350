"""What is measured: a function for each row of the budgets, with its contenders and its limits."""

import json
import shutil
import subprocess

import library as swift_library
import measuring
import report
import workloads
from measuring import Contender, MeasuringError, cpu, median, peak, ratio, wall

jobs = 2


def compare(bench, contenders, rounds, warmups=1):
    """Samples of all contenders that are there, by name, as a table and to be judged."""
    contenders = [contender for contender in contenders if contender]
    samples = measuring.rounds(bench.measure, contenders, rounds, warmups)
    report.table(contenders, samples)
    return samples


def against(samples, name, base, limit, what=None, value=wall):
    """Judges the wall time of a contender, or its processor time, against that of another one, where that one is
    there; LIMIT is None for information."""
    if base in samples:
        kind = ", processor time" if value is cpu else ""
        report.budget(f"{what or name} : {base}{kind}", ratio(samples[name], samples[base], value), limit,
                      is_wall=value is wall)


def floors(bench, folder, count, at_once, argv):
    """The bare loop in C, and the program in C that promises what flowrun does."""
    words = [str(count), str(at_once), *argv]
    return [
        Contender("C loop", [bench.spawn_floor, *words], folder),
        Contender("C, same promises", [bench.guarded_floor, *words], folder, leftovers=[".guarded"],
                  verify=report.successes(folder / "stdout", count)),
    ]


def spawn(bench):
    """2,000 x `sh -c :`, `:` in flowrun's default shell, and `/bin/true`, two at once, whole process"""
    count = bench.size(2000, 100)
    commands = {
        "sh": ["sh", "-c", ":"],
        # As flowrun starts it for `run: ':'`.
        "default shell": ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", ":"],
        "true": ["/bin/true"],
    }
    names = ("flowrun, text log", "flowrun, JSON log")
    for command, argv in commands.items():
        folder = bench.place(f"spawn-{command.replace(' ', '-')}")
        if command == "default shell":
            workloads.scripts(folder, count, ":")
        else:
            workloads.independent(folder, count, argv)
        peers = ("ninja", "make", "just", "task", "xargs") if command == "sh" else ()
        print(f"\n  {' '.join(argv)}", end="")
        samples = compare(bench, [
            *floors(bench, folder, count, jobs, argv),
            bench.run(names[0], folder, jobs, count, options=()),
            bench.run(names[1], folder, jobs, count),
            *(bench.peer(name, folder, jobs) for name in peers),
        ], bench.rounds(11))
        for name in names:
            what = f"{count:,} x {command}, {name}"
            for value, limit in ((wall, 1.08), (cpu, 1.05)):
                against(samples, name, "C loop", limit, what, value)
                against(samples, name, "C, same promises", None, what, value)
            against(samples, name, "ninja", None, what)


def start(bench):
    """A workflow of one step `true`, whole process"""
    folder = bench.place("start")
    workloads.independent(folder, 1, ["true"], task_argv=[shutil.which("true") or "true"])
    (folder / "flowrun.yml").write_text(
        'version: 1\nparams: { channel: { type: string, default: stable } }\nsteps:\n  only: { run: ["true"] }\n')
    everything = ("--log", "json", "--param", "channel=beta", "--timeout", "1h", "--output", "stream", "--color", "never",
                  "-C", str(folder))
    apart = ("--log", "json", "--state-dir", str(folder / "state"))
    options = {"flowrun, text log": (), "flowrun, state folder": apart, "flowrun, seven options": everything}
    samples = compare(bench, [
        *floors(bench, folder, 1, 1, ["true"]),
        *(bench.run(name, folder, jobs, 1, options=given) for name, given in options.items()),
        *(bench.peer(name, folder, jobs) for name in ("ninja", "make", "just", "task")),
    ], bench.rounds(101, 3), warmups=2)
    for name in options:
        against(samples, name, "ninja", 0.90, f"one step, {name}")
        against(samples, name, "C, same promises", None, f"one step, {name}")


def answers(bench):
    """`--version`, a TAB, and `check` of five steps"""
    folder = bench.place("answers")
    workloads.independent(folder, 5, ["true"])
    ninja = bench.peers.get("ninja")
    samples = compare(bench, [
        ninja and Contender("ninja --version", [ninja, "--version"], folder),
        Contender("flowrun --version", [bench.flowrun, "--version"], folder),
        ninja and Contender("ninja -n", [ninja, "-n"], folder),
        Contender("flowrun check", [bench.flowrun, "check", "flowrun.yml"], folder),
    ], bench.rounds(101, 3), warmups=2)
    against(samples, "flowrun --version", "ninja --version", 0.5)
    against(samples, "flowrun check", "ninja -n", 0.6, "flowrun check, five steps")
    name = "flowrun, behind a TAB"
    words = ["__complete", "bash", "run", "flowrun.yml", "step-"]
    samples = compare(bench, [Contender(name, [bench.flowrun, *words], folder)], bench.rounds(31, 3))
    report.budget(name, median(samples[name], wall) * 1e3, 20, " ms", is_wall=True)


def check(bench):
    """`check` of generated workflows, against libyaml's bare pass over the same bytes"""
    for count, rounds in ((1000, 31), (10_000, 15), (100_000, 5), (300_000, 3)):
        count = bench.size(count, count // 100)
        folder = bench.place(f"check-{count}")
        size = workloads.realistic(folder, count)
        print(f"\n  {count:,} steps, {size / 1e6:.1f} MB, {size / count:.0f} bytes a step", end="")
        samples = compare(bench, [
            Contender("libyaml's events", [bench.yaml_floor, "flowrun.yml"], folder),
            Contender("flowrun check", [bench.flowrun, "check", "flowrun.yml"], folder),
            "ninja" in bench.peers and Contender("ninja -n", [bench.peers["ninja"], "-n"], folder),
        ], bench.rounds(rounds))
        against(samples, "flowrun check", "libyaml's events", 1.75, f"flowrun check, {count:,} steps")
        if count == 100_000:
            report.budget("flowrun check, 100,000 steps, peak", median(samples["flowrun check"], peak), 50, " MB")


def output(bench):
    """500 MB from a lone step, and from two at once, against `cat`; a reader that sleeps"""
    size, folder = bench.size(500, 4), bench.place("output")
    workloads.lines(folder / "whole", size)
    workloads.lines(folder / "half", size // 2)
    lone = 'version: 1\nsteps:\n  lone: { run: [cat, whole] }\n'
    pair = 'version: 1\nsteps:\n  one: { run: [cat, half] }\n  two: { run: [cat, half] }\n'
    (folder / "lone.yml").write_text(lone)
    (folder / "pair.yml").write_text(pair)

    def shown(name, file, *options):
        # As a user has it: the text log in a file, by the shell. The step's own words stay in the log.
        argv = ["sh", "-c", f'"$0" run {file} -j 2 {" ".join(options)} > log.txt', bench.flowrun]
        return Contender(name, argv, folder, leftovers=["log.txt"],
                         verify=lambda _: require(folder / "log.txt", size * 1_000_000))

    names = ["flowrun, lone step", "flowrun, lone, stream", "flowrun, lone, JSON", "flowrun, two, grouped"]
    samples = compare(bench, [
        # Through a pipe, as any runner gets it: `cat whole > copy` lets the kernel copy the file and reads no byte.
        Contender("cat", ["sh", "-c", "cat whole | cat > copy"], folder, leftovers=["copy"]),
        shown(names[0], "lone.yml"),
        shown(names[1], "lone.yml", "--output", "stream"),
        shown(names[2], "lone.yml", "--log json"),
        shown(names[3], "pair.yml"),
    ], bench.rounds(5))
    for name, limit in zip(names, (1.2, 1.2, 1.2, 2.0)):
        against(samples, name, "cat", limit, f"{size} MB, {name}")
    for name in names:
        report.budget(f"{name}, peak", median(samples[name], peak), 16, " MB", 1)
    # It sleeps until flowrun has had the time to read all that a step writes, then takes everything.
    slow = {"sleeping reader, lone": "lone.yml", "sleeping reader, two": "pair.yml"}
    sleeping = compare(bench, [
        Contender(name, ["sh", "-c", f'"$0" run {file} -j 2 | (sleep 1; cat > /dev/null)', bench.flowrun], folder)
        for name, file in slow.items()
    ], 1, warmups=0)
    for name in slow:
        report.budget(f"flowrun, {name}, peak", median(sleeping[name], peak), 16, " MB", 1)


def require(log, size):
    if log.stat().st_size < size:
        raise MeasuringError(f"{log}: {log.stat().st_size} bytes, not {size}")


def memory(bench):
    """Memory of a run that waits for 30,000 steps or copies of a fan-out, and that has ended the steps"""
    few, many, found = 1000, bench.size(30_000, 2000), {}
    for count in (few, many):
        folder = bench.place(f"memory-{count}")
        workloads.watched(folder, count)
        measuring.run(bench.measure, bench.run(f"flowrun, {count:,} steps", folder, jobs, count))
        report.successes(folder / "stdout", count)(None)
        found[count] = [int((folder / name).read_text().split()[1]) * 1024 for name in ("first", "last")]
        print(f"  {count:,} steps: {found[count][0] / 1e6:.2f} MB when the first one runs, "
              f"{found[count][1] / 1e6:.2f} MB when the last one does")
    waiting = (found[many][0] - found[few][0]) / (many - few)
    finished = ((found[many][1] - found[many][0]) - (found[few][1] - found[few][0])) / (many - few)
    report.budget("memory of a waiting step", waiting, 300, " B", 0)
    # Nothing more than a waiting step has; what an allocator keeps in reserve is noise of some bytes.
    report.budget("memory that a finished step adds", finished, 16, " B", 0)
    for kind, is_group in (("copy of a step", False), ("copy of a group with one step", True)):
        sizes = []
        for count in (few, many):
            folder = bench.place(f"memory-{kind.replace(' ', '-')}-{count}")
            workloads.fanned(folder, count, is_group)
            measuring.run(bench.measure, bench.run(f"flowrun, {count:,} copies", folder, jobs, count + 1))
            report.successes(folder / "stdout", count + 1)(None)
            sizes.append(int((folder / "first").read_text().split()[1]) * 1024)
        report.budget(f"memory of a waiting {kind}", (sizes[1] - sizes[0]) / (many - few), 600, " B", 0)


def edges(bench):
    """10,000 steps with 1,000,000 edges against the same without, less what `check` takes"""
    layers, width = bench.size(101, 5), bench.size(100, 20)
    contenders = []
    for name, joined in (("no edges", False), ("all edges", True)):
        folder = bench.place(f"edges-{joined}")
        workloads.layered(folder, layers, width, joined)
        contenders += [
            bench.run(f"flowrun, {name}", folder, jobs, layers * width),
            Contender(f"flowrun check, {name}", [bench.flowrun, "check", "flowrun.yml"], folder),
        ]
    samples = compare(bench, contenders, bench.rounds(5))
    net = {
        name: [run.wall - check.wall for run, check in
               zip(samples[f"flowrun, {name}"], samples[f"flowrun check, {name}"])]
        for name in ("no edges", "all edges")
    }
    ratios = sorted(with_edges / without for with_edges, without in zip(net["all edges"], net["no edges"]))
    report.budget(f"run of {(layers - 1) * width * width:,} edges : none", ratios[len(ratios) // 2], 1.1, is_wall=True)


def scale(bench):
    """What a step costs in a run of 1,000 and in one of 100,000"""
    few, many = 1000, bench.size(100_000, 3000)
    contenders = []
    for count in (few, many):
        folder = bench.place(f"scale-{count}")
        workloads.independent(folder, count, ["true"])
        contenders += [
            Contender(f"C loop {count:,}", [bench.spawn_floor, str(count), str(jobs), "true"], folder, items=count),
            bench.run(f"flowrun {count:,}", folder, jobs, count, items=count),
        ]
    # The large ones would take minutes as often as the small ones have to be run.
    small = compare(bench, contenders[:2], bench.rounds(9))
    large = compare(bench, contenders[2:], bench.rounds(1), warmups=0)
    contenders[3].verify(None)
    each = {name: median(samples[name], wall) / count for samples, count in ((small, few), (large, many))
            for name in samples}
    print(f"  the C loop's own step, {many:,} : {few:,}: {each[f'C loop {many:,}'] / each[f'C loop {few:,}']:.2f} x")
    report.budget(f"flowrun's step, {many:,} : {few:,}", each[f"flowrun {many:,}"] / each[f"flowrun {few:,}"], 1.1,
                  is_wall=True)


def library(bench):
    """The Swift library: 100,000 trivial operations beside tasks and Foundation's queue; memory of a million"""
    program = swift_library.build(bench.kept / "library")
    swift_library.speed(program, bench.size(100_000, 2000), bench.rounds(5))
    swift_library.memory(program, bench.size(1_000_000, 20_000), bench.size(1_000_000, 20_000),
                         bench.size(10_000_000, 40_000))


def schedule(bench):
    """Length of simulated schedules of task graphs whose optimum is known"""
    ratios = []
    for jobs in (2, 4, 8, 16):
        for steps in (30, 100, 300, 1000):
            for seed in range(bench.size(5, 1)):
                folder = bench.place(f"schedule-{jobs}-{steps}-{seed}")
                optimum = workloads.packed(folder, jobs, steps, seed)
                ratios.append(makespan(bench, folder, jobs) / optimum)
    print(f"  {len(ratios)} graphs of 30 to 1,000 steps on 2 to 16 places")
    report.budget("schedule : optimum, on average", sum(ratios) / len(ratios), 1.002, digits=4)
    report.budget("schedule : optimum, at worst", max(ratios), 1.05, digits=4)


def makespan(bench, folder, jobs):
    words = ["plan", "flowrun.yml", "--simulate", "--durations", "durations.json", "-j", str(jobs), "--format", "json"]
    answer = subprocess.run([bench.flowrun, *words], cwd=folder, capture_output=True, check=True).stdout
    return json.loads(answer)["makespan"]


all = {subject.__name__: subject for subject in
       (spawn, start, answers, check, output, memory, edges, scale, library, schedule)}
