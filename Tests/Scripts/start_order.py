#!/usr/bin/env python3
"""Writes the order in which the linker lays out what a short run executes: the order in which it does so first.

    make build && Tests/Scripts/start_order.py .build/release/flowrun > start && mv start Sources/flowrun/start.order

Laid out like this, three thousand functions take forty page faults in place of a hundred, and a fault costs as much as
five thousand instructions. Every instruction of a few runs is watched, so it takes a minute or two. To be made anew
with a new toolchain, and when much of what a run begins with has changed; a name that is gone is left out by the linker
without a word.
"""

import bisect
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

workflow = 'version: 1\nparams: { p: { type: string, default: a } }\nsteps:\n  only: { run: ["true"] }\n'
runs = [
    ["run", "flowrun.yml"],
    ["run", "flowrun.yml", "--log", "json", "--param", "p=b", "--timeout", "1h", "--output", "stream", "-j", "2"],
    ["check", "flowrun.yml"],
]
# So many that the state folder has all that it will ever have.
runs_before = 40

# From <sys/ptrace.h> and <sys/user.h>.
TRACEME, PEEKUSER, SINGLESTEP, DETACH, SETOPTIONS = 0, 3, 9, 17, 0x4200
FOLLOW = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4  # fork, vfork, clone, exec
EVENT_EXEC = 4
PROGRAM_COUNTER = 16 * 8  # rip

ALL_CHILDREN = 0x40000000  # __WALL: those of clone, too

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def functions(binary):
    """The addresses of the program's functions in ascending order, and the names of each."""
    found = {}
    for line in subprocess.check_output(["nm", binary], text=True).splitlines():
        address, kind, name = line.split(maxsplit=2) if line[0] != " " else ("", "U", "")
        if kind in "tTwWi":
            found.setdefault(int(address, 16), []).append(name)
    return sorted(found), found


def start(argv, folder):
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        libc.ptrace(TRACEME, 0, None, None)
        os.execv(argv[0], argv)
    os.waitpid(child, 0)
    libc.ptrace(SETOPTIONS, child, None, FOLLOW)
    return child


def executed(argv, folder):
    """The addresses of all instructions that flowrun and what it forks execute, in the order of their first time."""
    first = start(argv, folder)
    libc.ptrace(SINGLESTEP, first, None, None)
    seen, programs = {}, {first}
    while programs:
        process, status = os.waitpid(-1, ALL_CHILDREN)
        if not os.WIFSTOPPED(status):
            programs.discard(process)
            continue
        number = os.WSTOPSIG(status)
        if status >> 16 == EVENT_EXEC:
            # A step's own program.
            programs.discard(process)
            libc.ptrace(DETACH, process, None, None)
            continue
        programs.add(process)
        if number in (signal.SIGTRAP, signal.SIGSTOP):
            seen.setdefault(libc.ptrace(PEEKUSER, process, PROGRAM_COUNTER, None))
            number = 0
        libc.ptrace(SINGLESTEP, process, None, number)
    return seen


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    # Watcher and watched take turns, which is several times faster on one processor.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    binary = os.path.realpath(sys.argv[1])
    starts, names = functions(binary)
    order = {}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "flowrun.yml").write_text(workflow)
        for _ in range(runs_before):
            subprocess.run([binary, *runs[0]], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        for arguments in runs:
            for address in executed([binary, *arguments], folder):
                if starts[0] <= address <= starts[-1]:
                    order.update(dict.fromkeys(names[starts[bisect.bisect(starts, address) - 1]]))
    print("\n".join(order))


main()
