#!/usr/bin/env python3
"""How many processes are left of trees that are hard to take down, for every way in which a run can end.

    torture_processes.py FLOWRUN [--times N] [--shapes a,b] [--ends a,b] [--layers a,b] [--peers]

A row is a shape of treegen.c, a column a way to end; a cell is the largest number of processes of the tree that were alive
one second after the end (two after a kill -9), `hangs` where the runner did not end within a minute. Exits 1 if flowrun
leaves one. The layers are `cgroup` and `guard`, both where both can be had: for the second one cgroup v2 is hidden, which
takes root. What the log calls the containment is held against it. With --peers the same for ninja, make, just and go-task,
where they are installed.
"""
import argparse
import concurrent.futures
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SHAPES = "plain fork doublefork setsid daemon deaf stopped holdpipe leaderdies respawn comet scrub".split()
ENDS = "timeout ctrl-c TERM QUIT sibling normal kill-runner kill-guard".split()
PEER_ENDS = "ctrl-c TERM QUIT sibling normal kill-runner".split()

WORKFLOW = """version: 1
defaults: {{ grace: 500ms }}
steps:
  g:
    fail-fast: true
    steps:
      tree: {{ {timeout}run: [./tree, {shape}, {mode}, up] }}
{sibling}"""
SIBLING = '      sibling: { run: "until test -e up; do sleep 0.05; done; exit 1" }\n'
AWAIT = "until test -e up; do sleep 0.05; done; exit 1"


def survivors(program):
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.readlink(f"/proc/{name}/exe").removesuffix(" (deleted)") == program:
                found.append(int(name))
        except OSError:
            pass
    return found


def command_of(tool, folder, shape, end):
    """Writes what the tool reads; returns its command line."""
    mode = "end" if end == "normal" else "stay"
    sibling = end == "sibling"

    def write(name, text):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)

    tree = f"./tree {shape} {mode} up"
    if tool.endswith("flowrun"):
        timeout = "timeout: 500ms, " if end == "timeout" else ""
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


def attempt(launcher, tool, treegen, shape, end):
    folder = tempfile.mkdtemp(prefix="torture-")
    program = os.path.join(folder, "tree")
    shutil.copy(treegen, program)
    with open(os.path.join(folder, "log"), "w") as log:
        process = subprocess.Popen(
            launcher + command_of(tool, folder, shape, end), cwd=folder, stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT, process_group=0, env=dict(os.environ, SWIFT_BACKTRACE="enable=no"))
    try:
        up = os.path.join(folder, "up")
        while not os.path.exists(up) and process.poll() is None:
            time.sleep(0.01)
        if end == "ctrl-c":
            os.killpg(process.pid, signal.SIGINT)
        elif end in ("TERM", "QUIT"):
            os.kill(process.pid, getattr(signal, "SIG" + end))
        elif end == "kill-runner":
            runner = process.pid
            if tool.endswith("flowrun"):
                with open(f"/proc/{runner}/task/{runner}/children") as file:
                    runner = int(file.read().split()[0])
            os.kill(runner, signal.SIGKILL)
        elif end == "kill-guard":
            os.kill(process.pid, signal.SIGKILL)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            return "hangs"
        deadline = time.monotonic() + (2 if end.startswith("kill") else 1)
        left = len(survivors(program))
        while left and time.monotonic() < deadline:
            time.sleep(0.02)
            left = len(survivors(program))
        return left
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        # A tree may outrun any look, but not the end of its whole group.
        while left := survivors(program):
            for pid in left:
                try:
                    os.killpg(os.getpgid(pid), signal.SIGKILL)
                except ProcessLookupError:
                    pass
        shutil.rmtree(folder, ignore_errors=True)


def table(title, launcher, tool, treegen, shapes, ends, times):
    print(f"{title}\n{'':12}" + "".join(f"{end:>13}" for end in ends), flush=True)
    worst = 0
    cells = {}
    # Four comets at once would leave thousands of zombies to whoever adopts them, and no processor to anybody else.
    for width, together in (4, [shape for shape in shapes if shape != "comet"]), (1, shapes):
        with concurrent.futures.ThreadPoolExecutor(width) as pool:
            for cell in [(shape, end) for shape in together for end in ends if (shape, end) not in cells]:
                cells[cell] = [pool.submit(attempt, launcher, tool, treegen, *cell) for _ in range(times)]
    for shape in shapes:
        row = f"{shape:12}"
        for end in ends:
            results = [future.result() for future in cells[shape, end]]
            cell = "hangs" if "hangs" in results else max(results)
            worst = max(worst, 1 if cell == "hangs" else cell)
            row += f"{cell:>13}"
        print(row, flush=True)
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("flowrun")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--ends", default=",".join(ENDS))
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
        subprocess.run(["cc", "-O1", "-o", treegen, source], check=True)
        for layer in options.layers.split(","):
            launcher = next((words for words in LAYERS[layer] if layer_of(words, flowrun) == layer), None)
            if launcher is None:
                print(f"flowrun, {layer}: not to be had here", flush=True)
                continue
            tables += 1
            worst |= table(f"flowrun, {layer}", launcher, flowrun, treegen, shapes, ends, options.times)
        for peer in ("ninja", "make", "just", "task") if options.peers else ():
            if shutil.which(peer):
                table(peer, [], peer, treegen, shapes, [end for end in PEER_ENDS if end in ends], options.times)
    sys.exit(1 if worst or not tables else 0)


if __name__ == "__main__":
    main()
