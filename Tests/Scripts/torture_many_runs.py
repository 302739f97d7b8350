#!/usr/bin/env python3
"""Many runs of one file at once: no step and no lock is ever in two of them, all end, and kills leave nothing taken.

    torture_many_runs.py FLOWRUN [ROUNDS]

Each round starts 20 runs of one file at random moments, each of a few random steps. A step takes a `flock -n` mark of its
own name and of its mutex, waits a moment, and may call `flowrun` with another step, fail and be tried again. Meanwhile
the file is edited, runs are killed with SIGKILL (runner, guard, or all of it), and some start with --no-wait. Prints a
table; exits with 1 if a mark was taken, a run does not end, or something is left.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

from torture_soak import children

RUNS = 20
STEPS = 14
LIMIT = 120

MARK = """exec 8>"marks/$FLOWRUN_STEP"; flock -n 8 || { echo "step $FLOWRUN_STEP" >> clashes; exit 9; }
"""


def workflow(rng, version):
    lines = ["version: 1", "pools: { p: 1 }", "steps:"]
    for number in range(STEPS):
        words = [MARK]
        keys = []
        if rng.random() < 0.3:
            # As long as the name of a step, and unlike it in the first letter only.
            name = "r%d" % rng.randrange(3)
            keys.append("mutex: %s" % name)
            words.append('exec 7>"marks/%s"; flock -n 7 || { echo "mutex %s" >> clashes; exit 9; }\n' % (name, name))
        if rng.random() < 0.2:
            keys.append("pool: p")
            words.append('exec 6>"marks/p"; flock -n 6 || { echo "pool p" >> clashes; exit 9; }\n')
        if number and rng.random() < 0.4:
            keys.append("needs: [%s]" % ", ".join("s%d" % other for other in rng.sample(range(number), 1)))
        if rng.random() < 0.2:
            keys.append("retry: { attempts: 2 }")
            words.append("[ $FLOWRUN_ATTEMPT = 2 ] || exit 1\n")
        words.append("sleep 0.0%d\n" % rng.randrange(1, 9))
        if rng.random() < 0.25:
            # Descriptors of marks are not handed on, so that a run inside may not hold them.
            words.append('"$FLOWRUN" flowrun.yml s%d 8>&- 7>&- 6>&- || [ $? = 75 ] || [ $? = 1 ]\n' % rng.randrange(STEPS))
        words.append(": version %d\n" % version)
        if number and rng.random() < 0.15:
            keys.append("for-each: '${{ steps.list.outputs.items }}'")
            keys = [key for key in keys if not key.startswith("needs:")] + ["needs: [list]", "max-parallel: 1"]
        body = "".join("      " + line + "\n" for line in "".join(words).splitlines())
        lines.append("  s%d:" % number)
        lines += ["    " + key for key in keys]
        lines.append("    grace: 100ms")
        lines.append("    run: |\n" + body.rstrip("\n"))
    lines.append("  list:\n    outputs: { items: 'list' }\n    run: |")
    lines += ["      " + line for line in (MARK + 'sleep 0.02\necho \'items=["x","y"]\' >> "$FLOWRUN_OUTPUT"').splitlines()]
    return "\n".join(lines) + "\n"


def kill(rng, process, folder):
    """Kills a run, or one inside of it, in one of the ways in which one dies."""
    if rng.random() < 0.4:
        inside = [pid for pid in left_in(folder) if pid != process.pid and os.path.basename(program(pid)) == "flowrun"]
        if inside:
            try:
                os.kill(rng.choice(inside), signal.SIGKILL)
            except ProcessLookupError:
                pass
            return "any"
    below = children(process.pid)
    way = rng.choice(["runner", "guard", "all"])
    targets = {"runner": below[:1], "guard": [process.pid], "all": below + [process.pid]}[way]
    for target in targets:
        try:
            os.kill(target, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return way


def program(pid):
    try:
        return os.readlink("/proc/%d/exe" % pid)
    except OSError:
        return ""


def left_in(folder):
    """Processes whose current folder is this one."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.readlink("/proc/%s/cwd" % name) == folder:
                    found.append(int(name))
            except OSError:
                pass
    return found


def play(flowrun, rng, tally):
    folder = os.path.realpath(tempfile.mkdtemp(prefix="flowrun-many-"))
    os.mkdir(folder + "/marks")
    os.mkdir(folder + "/home")
    path, version, faults = folder + "/flowrun.yml", 0, []
    with open(path, "w") as file:
        file.write(workflow(rng, version))
    environment = {name: os.environ[name] for name in ["PATH"]}
    environment.update(FLOWRUN=flowrun, HOME=folder + "/home", LANG="C.UTF-8")
    running = []
    output = open(folder + "/output", "wb")
    for number in range(RUNS):
        words = ["s%d" % step for step in rng.sample(range(STEPS), rng.randrange(1, 4))]
        options = ["--no-wait"] if rng.random() < 0.1 else []
        running.append(
            (subprocess.Popen([flowrun, "flowrun.yml", "-j", "3"] + options + words, cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True), options))
        time.sleep(rng.random() * 0.03)
        if rng.random() < 0.1:
            version += 1
            with open(path + "~", "w") as file:
                file.write(workflow(rng, version))
            # In its place: a file of another name would be another lock.
            shutil.copyfile(path + "~", path)
        if rng.random() < 0.15:
            process, _ = rng.choice(running)
            if process.poll() is None:
                tally["killed: " + kill(rng, process, folder)] += 1
    end = time.monotonic() + LIMIT
    for process, options in running:
        try:
            status = process.wait(max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            faults.append("a run does not end")
            tally["runs that do not end"] += 1
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            continue
        tally["exit %d" % status] += 1
        if status == 75 and not options:
            faults.append("a run that may wait ended with 75")
        if status not in (0, 1, 2, 75, -9):
            faults.append("exit %d" % status)
    if os.path.exists(folder + "/clashes"):
        with open(folder + "/clashes") as file:
            faults += ["in two runs: " + line.strip() for line in file]
    for _ in range(300):
        if not (left := left_in(folder)):
            break
        time.sleep(0.02)
    faults += ["process %d is left" % process for process in left]
    if not faults:
        # Nothing that the killed ones had may be taken still.
        last = subprocess.run([flowrun, "flowrun.yml", "--no-wait", "--log", "quiet"], cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
        if last.returncode not in (0, 1):
            faults.append("afterwards: exit %d, %s" % (last.returncode, last.stderr.decode()))
    output.close()
    if faults:
        print("kept: " + folder)
    else:
        shutil.rmtree(folder)
    return faults


def main():
    flowrun = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    seed = int(os.environ.get("SEED", time.time_ns() % 1_000_000))
    print("seed %d" % seed, flush=True)
    tally, faults = Counter(), []
    for number in range(rounds):
        faults += ["round %d: %s" % (number, fault) for fault in play(flowrun, random.Random("%d/%d" % (seed, number)), tally)]
        if len(faults) > 50:
            break
    for key in sorted(tally):
        print("%-40s %8d" % (key, tally[key]))
    print("%-40s %8d" % ("rules broken", len(faults)))
    for fault in faults[:20]:
        print("  " + fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
