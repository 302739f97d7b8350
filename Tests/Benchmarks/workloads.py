"""Writes one piece of work in the format of each program that is measured."""

import json
import random


def independent(folder, count, argv, task_argv=None):
    """COUNT steps that all run ARGV and need nothing, as a file for each program.

    Each program is given the form in which it starts exactly one process a step: ninja and just hand a command to
    `sh -c` by themselves, make starts a plain command directly, and go-task has a shell of its own inside, so that
    it is given a program's path where a word would be one of its built-ins.
    """
    command = " ".join(argv)
    through_shell = argv[-1] if argv[:2] == ["sh", "-c"] else command
    steps = [f"step-{index:05}" for index in range(count)]
    flowrun_argv = ", ".join(f'"{word}"' for word in argv)
    with open(folder / "flowrun.yml", "w") as out:
        out.write("version: 1\nsteps:\n")
        out.writelines(f"  {step}: {{ run: [{flowrun_argv}] }}\n" for step in steps)
    with open(folder / "build.ninja", "w") as out:
        out.write(f"rule step\n  command = {through_shell}\n")
        out.writelines(f"build {step}: step\n" for step in steps)
    with open(folder / "Makefile", "w") as out:
        out.write(f"all: {' '.join(steps)}\n.PHONY: all {' '.join(steps)}\n")
        # make leaves out `sh -c :` when nothing follows it.
        plain = f"{command} make" if through_shell == ":" else command
        out.writelines(f"{step}:\n\t@{plain}\n" for step in steps)
    with open(folder / "justfile", "w") as out:
        out.write(f"all: {' '.join(steps)}\n")
        out.writelines(f"{step}:\n    @{through_shell}\n" for step in steps)
    with open(folder / "Taskfile.yml", "w") as out:
        out.write("version: '3'\nsilent: true\ntasks:\n  default:\n    deps:\n")
        out.writelines(f"      - {step}\n" for step in steps)
        task_command = " ".join(task_argv or argv)
        out.writelines(f"  {step}:\n    cmds: ['{task_command}']\n" for step in steps)
    with open(folder / "list", "w") as out:
        out.writelines(f"{step}\n" for step in steps)


def scripts(folder, count, text):
    """COUNT steps that give TEXT to flowrun's default shell and need nothing."""
    with open(folder / "flowrun.yml", "w") as out:
        out.write("version: 1\nsteps:\n")
        out.writelines(f"  step-{index:05}: {{ run: '{text}' }}\n" for index in range(count))


def layered(folder, layers, width, joined):
    """LAYERS of WIDTH no-op steps; JOINED: each step needs all of the layer before."""
    with open(folder / "flowrun.yml", "w") as out:
        out.write("version: 1\nsteps:\n")
        for layer in range(layers):
            needs = ", ".join(f"s{layer - 1}-{step}" for step in range(width)) if joined and layer else ""
            for step in range(width):
                out.write(f"  s{layer}-{step}: {{ needs: [{needs}], run: [\"true\"] }}\n" if needs else
                          f"  s{layer}-{step}: {{ run: [\"true\"] }}\n")


def look(name):
    """A command that writes down flowrun's own memory."""
    return f'[sh, -c, "grep ^Anonymous: /proc/$PPID/smaps_rollup > {name}"]'


def watched(folder, count):
    """COUNT steps of which the first and the last one write down flowrun's own memory, and the rest does nothing."""
    with open(folder / "flowrun.yml", "w") as out:
        out.write(f"version: 1\nsteps:\n  first: {{ run: {look('first')} }}\n")
        out.writelines(f"  step-{index:05}: {{ run: [\"true\"] }}\n" for index in range(count - 2))
        out.write(f"  last: {{ run: {look('last')} }}\n")


def fanned(folder, count, is_group):
    """A step that writes down flowrun's own memory while COUNT copies of another one, or of a group of one, wait."""
    command = 'run: ["true"]'
    with open(folder / "flowrun.yml", "w") as out:
        out.write(f"version: 1\nsteps:\n  first: {{ run: {look('first')} }}\n")
        out.write(f"  each:\n    needs: [first]\n    as: item\n    max-items: {count}\n")
        out.write(f"    for-each: [{', '.join(map(str, range(count)))}]\n")
        out.write(f"    steps: {{ only: {{ {command} }} }}\n" if is_group else f"    {command}\n")


def lines(file, megabytes):
    """Text as builds print it: lines of 80 bytes, all different."""
    with open(file, "w") as out:
        for block in range(megabytes):
            out.write("".join(f"[{block:04}/{line:05}] Compiling src/lib/part-{line % 97:02}/unit-{line:05}.c".ljust(79, "-")
                              + "\n" for line in range(12_500)))


def realistic(folder, count):
    """A workflow of COUNT steps as a project's generator would write it (about 117 bytes a step, most with two
    needs), as flowrun.yml and build.ninja. Returns the bytes of the workflow file. The same on every machine."""
    choose = random.Random(2)
    kinds = ["compile", "compile", "compile", "check", "link", "package"]
    names = [f"{choose.choice(kinds)}-{index:06}" for index in range(count)]
    with open(folder / "flowrun.yml", "w") as workflow, open(folder / "build.ninja", "w") as ninja:
        workflow.write("version: 1\nname: generated\nsteps:\n")
        ninja.write("rule step\n  command = $run\n")
        for index, name in enumerate(names):
            window = range(max(0, index - 400), index)
            needed = sorted(choose.sample(window, min(len(window), choose.choice([1, 2, 2, 2, 2]))))
            command = f"cc -O2 -c src/lib/{index:06}.c -o out/lib/{index:06}.o"
            workflow.write(f"  {name}:\n")
            if needed:
                workflow.write(f"    needs: [{', '.join(names[other] for other in needed)}]\n")
            if index % 9 == 4:
                workflow.write("    timeout: 10m\n")
            if index % 4 == 3:
                workflow.write(f"    run: [{', '.join(command.split())}]\n")
            else:
                workflow.write(f"    run: {command}\n")
            ninja.write(f"build {name}: step {' '.join(names[other] for other in needed)}\n  run = {command}\n")
    return (folder / "flowrun.yml").stat().st_size


def packed(folder, jobs, steps, seed):
    """About STEPS steps whose best schedule on JOBS places is known, with their durations; returns its length.

    A rectangle of JOBS rows is cut into steps without a gap, and a step may need only what ends before it starts in
    that rectangle: so nothing is shorter than the rectangle, and the rectangle is a schedule.
    """
    chance = random.Random(seed)
    length = 1000 * max(1, steps // jobs)
    pieces = []
    for _ in range(jobs):
        cuts = sorted(chance.sample(range(1, length), max(1, steps // jobs) - 1))
        pieces += zip([0, *cuts], [*cuts, length])
    chance.shuffle(pieces)
    with open(folder / "flowrun.yml", "w") as out:
        out.write("version: 1\nsteps:\n")
        for index, (start, _) in enumerate(pieces):
            before = [other for other, (_, end) in enumerate(pieces) if end <= start]
            needs = ", ".join(f"s{other}" for other in chance.sample(before, min(len(before), chance.randrange(4))))
            out.write(f"  s{index}: {{ needs: [{needs}], run: 'true' }}\n")
    with open(folder / "durations.json", "w") as out:
        json.dump({f"s{index}": (end - start) / 1000 for index, (start, end) in enumerate(pieces)}, out)
    return length / 1000
