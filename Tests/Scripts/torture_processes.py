#!/usr/bin/env python3
"""Counts the processes that are left of trees that are hard to take down, for every way in which a run can end.

    torture_processes.py FLOWRUN [--times N] [--starts N] [--shapes a,b] [--ends a,b] [--moments a,b] [--layers a,b] [--peers]

A row is a shape of treegen.c, a column a way to end; a cell is the largest number of processes of the tree that were alive
one second after the end (two after a kill -9), `hangs` where the runner did not end within a minute. Exits 1 if flowrun
leaves one. The layers are `cgroup` and `guard`, both if the machine has both: for the second one cgroup v2 is hidden, which
takes root. The log has to name the same containment. With --peers the same for ninja, make, just and go-task,
where they are installed.

A KILL comes at one of four moments, in turn: `up`, once the tree stands; `start`, at random within 200 ms of the start of
flowrun; `hook`, once the tree stands in a hook; `drain`, once the first process of the step has ended and the tree goes on.
If a KILL of guard and runner came before there was a sentinel, which takes longer on a busy machine, the next start has to
end what is left: only what that start leaves counts, and the number of these cases is below the table.

Then come starts of a file after its run was killed, in turn: guard, runner and sentinel at once, so that nothing
has been ended, or guard and runner alone; with and without a journal. The first step of the new run counts what is left of the
old one: a cell is the number of starts in which that was more than nothing.
"""
import argparse
import concurrent.futures
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SHAPES = "plain fork doublefork setsid daemon deaf stopped holdpipe leaderdies respawn comet scrub".split()
SHAPES += "farcomet cloneparent threadleader traced".split()
ENDS = "timeout ctrl-c TERM QUIT sibling normal stop-cont kill-runner kill-guard kill-both kill-group pkill".split()
DOUBLE = "kill-both kill-group pkill".split()
# What was left to the next start.
swept = []
MOMENTS = "up start hook drain".split()
PEER_ENDS = "ctrl-c TERM QUIT sibling normal kill-runner".split()

WORKFLOW = """version: 1
defaults: {{ grace: 500ms }}
steps:
  g:
    fail-fast: true
    steps:
      tree: {{ {timeout}run: [./tree, {shape}, {mode}, up] }}
{sibling}"""
HOOK = """version: 1
defaults: {{ grace: 500ms }}
steps: {{ a: {{ run: exit 0 }} }}
finally: {{ tree: {{ run: [./tree, {shape}, stay, up] }} }}
"""
SIBLING = '      sibling: { run: "until test -e up; do sleep 0.05; done; exit 1" }\n'
AWAIT = "until test -e up; do sleep 0.05; done; exit 1"


def comet_of(program):
    """The process group of a comet; None where the tree has none."""
    try:
        with open(os.path.join(os.path.dirname(program), "group")) as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def flies(group):
    """True while a comet goes on: a process of its group has begun within the last moment."""
    start = time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")
    time.sleep(0.1)
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rpartition(")")[2].split() if name.isdigit() else []
            if fields and int(fields[2]) == group and int(fields[19]) > start + 1:
                return True
        except OSError:
            pass
    return False


def survivors(program):
    found = []
    group = comet_of(program)
    if group is not None and flies(group):
        found.append(-group)
    for name in os.listdir("/proc"):
        try:
            # A process whose first thread has ended has its program in another one only.
            for thread in os.listdir(f"/proc/{name}/task") if name.isdigit() else ():
                if os.readlink(f"/proc/{name}/task/{thread}/exe").removesuffix(" (deleted)") == program:
                    found.append(int(name))
                    break
        except OSError:
            pass
    return found


def named_flowrun(root):
    """The processes that `pkill -9 flowrun` or `pkill -9 -f flowrun` ends: those below one, itself included, with `flowrun`
    in their name or command line."""
    parents, named = {}, set()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                text = file.read()
            with open(f"/proc/{name}/cmdline", "rb") as file:
                line = file.read()
        except OSError:
            continue
        start, end = text.index("("), text.rindex(")")
        parents[int(name)] = int(text[end + 1:].split()[1])
        if "flowrun" in text[start:end] or b"flowrun" in line:
            named.add(int(name))
    found = []
    for pid in named:
        above = pid
        while above not in (root, 0, None):
            above = parents.get(above)
        if above == root:
            found.append(pid)
    return found


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(number) for number in file.read().split()]
    except OSError:
        return []


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().rstrip("\n")
    except OSError:
        return None


def sentinel_of(guard):
    """The sentinel among the guard's children; None where none stands."""
    return next((pid for pid in children_of(guard) if name_of(pid) == "sentinel"), None)


def state_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


def kill(*pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def command_of(tool, folder, shape, end, moment="up"):
    """Writes what the tool reads; returns its command line."""
    mode = "end" if end == "normal" or moment == "drain" else "stay"
    sibling = end == "sibling"

    def write(name, text):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)

    tree = f"./tree {shape} {mode} up"
    if tool.endswith("flowrun"):
        timeout = "timeout: 500ms, " if end == "timeout" else ""
        if moment == "hook":
            write("w.yml", HOOK.format(shape=shape))
        else:
            write("w.yml", WORKFLOW.format(timeout=timeout, shape=shape, mode=mode, sibling=SIBLING if sibling else ""))
        return [tool, "w.yml", "-j", "2", "--log", "json"]
    if tool == "ninja":
        write("build.ninja", f"rule t\n command = {tree}\nrule s\n command = {AWAIT}\nbuild tree: t\nbuild sib: s\n")
        return ["ninja", "-j2", "tree"] + (["sib"] if sibling else [])
    if tool == "make":
        write("Makefile", f"a:\n\t{tree}\nb:\n\t{AWAIT}\n.PHONY: a b\n")
        return ["make", "-j2", "a"] + (["b"] if sibling else [])
    if tool == "just":
        write("justfile", f"a:\n    {tree}\nb:\n    {AWAIT}\n[parallel]\nboth: a b\n")
        return ["just", "both" if sibling else "a"]
    write("Taskfile.yml", f"version: '3'\ntasks:\n  a: '{tree}'\n  b: '{AWAIT}'\n  both: {{ deps: [a, b] }}\n")
    return ["task", "both" if sibling else "a"]


HIDE = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/fs/cgroup && exec "$0" "$@"']
# What leads to each, the first one that does.
LAYERS = {"cgroup": [[]], "guard": [[], HIDE]}


def layer_of(launcher, flowrun):
    """How flowrun tells the processes of a step from others there, in the log's word; None where it cannot be started."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "w.yml"), "w") as file:
            file.write("version: 1\nsteps: { a: { run: 'true' } }\n")
        log = subprocess.run([*launcher, flowrun, "w.yml", "--log", "json"], cwd=folder, capture_output=True, text=True)
        for line in log.stdout.splitlines():
            record = json.loads(line)
            if record["event"] == "step.finished":
                return record["containment"]
    return None


def end_run(process, tool, end):
    """Ends a run in one of the ways that do not depend on the workflow."""
    # The launcher may not have become flowrun yet.
    is_guard = tool.endswith("flowrun") and name_of(process.pid) == "flowrun"
    runner = (children_of(process.pid) or [process.pid])[0] if is_guard else process.pid
    if end == "ctrl-c":
        os.killpg(process.pid, signal.SIGINT)
    elif end in ("TERM", "QUIT"):
        os.kill(process.pid, getattr(signal, "SIG" + end))
    elif end == "stop-cont":
        os.kill(runner, signal.SIGSTOP)
        while state_of(process.pid) != "T":
            time.sleep(0.002)
        os.kill(runner, signal.SIGCONT)
        os.kill(runner, signal.SIGTERM)
    elif end == "kill-runner":
        kill(runner)
    elif end == "kill-guard":
        kill(process.pid)
    elif end == "kill-both":
        kill(*random.sample([process.pid, runner], 2))
    elif end == "kill-group":
        os.killpg(process.pid, signal.SIGKILL)
    elif end == "pkill":
        kill(*named_flowrun(process.pid))


def start(launcher, words, folder):
    with open(os.path.join(folder, "log"), "w") as log:
        return subprocess.Popen(
            launcher + words, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            process_group=0, env=dict(os.environ, SWIFT_BACKTRACE="enable=no"))


def attempt(launcher, tool, treegen, shape, end, moment):
    folder = tempfile.mkdtemp(prefix="torture-")
    program = os.path.join(folder, "tree")
    shutil.copy(treegen, program)
    process = start(launcher, command_of(tool, folder, shape, end, moment), folder)
    try:
        up = os.path.join(folder, "up")
        if moment == "start":
            time.sleep(random.uniform(0, 0.2))
        while moment != "start" and not os.path.exists(up) and process.poll() is None:
            time.sleep(0.01)
        is_watched = True
        if process.poll() is None:
            is_watched = sentinel_of(process.pid) is not None
            end_run(process, tool, end)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            return "hangs"
        deadline = time.monotonic() + (2 if "kill" in end else 1)
        left = len(survivors(program))
        while left and time.monotonic() < deadline:
            time.sleep(0.02)
            left = len(survivors(program))
        if left and not is_watched and end in DOUBLE:
            swept.append((shape, end))
            if os.path.exists(up):
                os.remove(up)
            process = start(launcher, command_of(tool, folder, shape, end), folder)
            while not os.path.exists(up) and process.poll() is None:
                time.sleep(0.01)
            process.terminate()
            process.wait(60)
            left = len(survivors(program))
        return left
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        clear(folder)


def clear(folder):
    # A tree may outrun any look, but not the end of its whole group.
    while left := survivors(os.path.join(folder, "tree")):
        for pid in left:
            try:
                os.killpg(os.getpgid(pid) if pid > 0 else -pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    shutil.rmtree(folder, ignore_errors=True)


AGAIN = """version: 1
steps: { a: { run: "test ! -e up || exec ./tree count > seen; exec ./tree SHAPE stay up" } }
"""


def start_again(launcher, flowrun, treegen, shape, number):
    """True if the first step of a start after a KILL saw nothing of the run before it."""
    folder = tempfile.mkdtemp(prefix="torture-")
    shutil.copy(treegen, os.path.join(folder, "tree"))
    with open(os.path.join(folder, "w.yml"), "w") as file:
        file.write(AGAIN.replace("SHAPE", shape))
    words = [flowrun, "w.yml"] + (["--no-journal"] if number % 2 else [])
    first = start(launcher, words, folder)
    try:
        while not os.path.exists(os.path.join(folder, "up")):
            time.sleep(0.005)
        while (sentinel := sentinel_of(first.pid)) is None:
            time.sleep(0.005)
        runner = children_of(first.pid)[0]
        # So that neither ends what the other one leaves.
        os.kill(first.pid, signal.SIGSTOP)
        os.kill(runner, signal.SIGSTOP)
        kill(*([sentinel] if number % 4 < 2 else []), runner, first.pid)
        first.wait()
        second = start(launcher, words, folder)
        try:
            status = second.wait(60)
        except subprocess.TimeoutExpired:
            kill(second.pid)
            return False
        with open(os.path.join(folder, "seen")) as file:
            return status == 0 and file.read() == "0\n"
    finally:
        clear(folder)


def again(launcher, flowrun, treegen, shapes, starts):
    print(f"starts after a KILL that left something: beside what was left, of {starts}", flush=True)
    failures = 0
    for shape in shapes:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            seen = list(pool.map(lambda number: start_again(launcher, flowrun, treegen, shape, number), range(starts)))
        failures += seen.count(False)
        print(f"{shape:12}{seen.count(False):>13}", flush=True)
    return failures


def table(title, launcher, tool, treegen, shapes, ends, times, moments=("up",)):
    print(f"{title}\n{'':12}" + "".join(f"{end:>13}" for end in ends), flush=True)
    worst = 0
    cells = {}
    # Four comets at once would leave thousands of zombies to whoever adopts them, and no processor to anybody else.
    for width, together in (4, [shape for shape in shapes if "comet" not in shape]), (1, shapes):
        with concurrent.futures.ThreadPoolExecutor(width) as pool:
            for cell in [(shape, end) for shape in together for end in ends if (shape, end) not in cells]:
                at = moments if "kill" in cell[1] else ["up"]
                cells[cell] = [
                    pool.submit(attempt, launcher, tool, treegen, *cell, at[number % len(at)])
                    for number in range(times)
                ]
    for shape in shapes:
        row = f"{shape:12}"
        for end in ends:
            results = [future.result() for future in cells[shape, end]]
            cell = "hangs" if "hangs" in results else max(results)
            worst = max(worst, 1 if cell == "hangs" else cell)
            row += f"{cell:>13}"
        print(row, flush=True)
    if swept:
        print(f"left to the next start: {len(swept)}", flush=True)
        swept.clear()
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("flowrun")
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--starts", type=int, default=4)
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--ends", default=",".join(ENDS))
    parser.add_argument("--moments", default=",".join(MOMENTS))
    parser.add_argument("--layers", default=",".join(LAYERS))
    parser.add_argument("--peers", action="store_true")
    options = parser.parse_args()
    # What is ignored in the background of a shell, or under nohup, would stay ignored.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    flowrun = os.path.abspath(options.flowrun)
    shapes, ends = options.shapes.split(","), options.ends.split(",")
    worst, tables = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        treegen = os.path.join(folder, "treegen")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "treegen.c")
        subprocess.run(["cc", "-O1", "-pthread", "-o", treegen, source], check=True)
        for layer in options.layers.split(","):
            launcher = next((words for words in LAYERS[layer] if layer_of(words, flowrun) == layer), None)
            if launcher is None:
                print(f"flowrun, {layer}: not to be had here", flush=True)
                continue
            tables += 1
            moments = options.moments.split(",")
            worst |= table(f"flowrun, {layer}", launcher, flowrun, treegen, shapes, ends, options.times, moments)
            # A comet that is not ended fills the machine's table of processes.
            lasting = [shape for shape in shapes if "comet" not in shape]
            if options.starts and lasting:
                worst |= again(launcher, flowrun, treegen, lasting, options.starts)
        for peer in ("ninja", "make", "just", "task") if options.peers else ():
            if shutil.which(peer):
                table(peer, [], peer, treegen, shapes, [end for end in PEER_ENDS if end in ends], options.times)
    sys.exit(1 if worst or not tables else 0)


if __name__ == "__main__":
    main()
