#!/usr/bin/env python3
"""Writes the order in which the linker lays out what a short run executes and writes: that in which it executes it.

    Tests/Scripts/start_order.py .build/release/flowrun > .build/start.order

Laid out like this, three thousand functions take fifty page faults in place of a hundred, and variables half of theirs;
a fault costs as much as five thousand instructions. Every instruction of a few runs is watched, so it takes a minute; on
x86-64 only. A name that is gone is left out by the linker without a word.
"""

import bisect
import ctypes
import os
import re
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

# From <sys/ptrace.h>, <sys/wait.h> and, for x86-64, <sys/user.h>.
TRACEME, PEEKUSER, SINGLESTEP, DETACH, SETOPTIONS = 0, 3, 9, 17, 0x4200
FOLLOW = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6  # fork, vfork, clone, exec, exit
EVENT_EXEC, EVENT_EXIT = 4, 6
ALL_CHILDREN = 0x40000000  # __WALL: those of clone, too
PROGRAM_COUNTER = 16 * 8  # rip

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


class Program:
    """What the linker has put where."""

    def __init__(self, path):
        self.path = path
        self.functions, self.variables = {}, []
        for line in subprocess.check_output(["nm", "-S", path], text=True).splitlines():
            address, *size, kind, name = line.split() if line[0] != " " else ("", "U", "")
            if kind in "tTwWi":
                self.functions.setdefault(int(address, 16), []).append(name)
            elif kind in "bBdDvV" and size:
                self.variables.append((name, int(address, 16), int(size[0], 16)))
        self.starts = sorted(self.functions)
        sections = re.findall(r"(\.data|\.bss) +(\w+) +(\w+) +(\w+) +(\w+)",
                              subprocess.check_output(["readelf", "-SW", path], text=True))
        contents = Path(path).read_bytes()
        self.sections = []
        for _, kind, *numbers in sections:
            address, offset, size = (int(number, 16) for number in numbers)
            self.sections.append((address, contents[offset:offset + size] if kind == "PROGBITS" else bytes(size)))

    def functions_at(self, address):
        if self.starts[0] <= address <= self.starts[-1]:
            return self.functions[self.starts[bisect.bisect(self.starts, address) - 1]]
        return []

    def changed_variables(self, process):
        """Those that have other values in a process than in the file."""
        with open(f"/proc/{process}/mem", "rb") as memory:
            for start, before in self.sections:
                memory.seek(start)
                now = memory.read(len(before))
                for name, address, size in self.variables:
                    part = slice(address - start, address - start + size)
                    if part.start >= 0 and now[part] != before[part]:
                        yield name


def start(argv, folder):
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            libc.ptrace(TRACEME, 0, None, None)
            os.execv(argv[0], argv)
        finally:
            os._exit(127)
    os.waitpid(child, 0)
    libc.ptrace(SETOPTIONS, child, None, FOLLOW)
    return child


def watch(program, arguments, folder, functions, variables):
    """Adds to both, which keep their order, what flowrun and the processes that it forks execute and write."""
    first = start([program.path, *arguments], folder)
    libc.ptrace(SINGLESTEP, first, None, None)
    seen, processes = set(), {first}
    while processes:
        process, status = os.waitpid(-1, ALL_CHILDREN)
        if not os.WIFSTOPPED(status):
            processes.discard(process)
            continue
        if status >> 16 == EVENT_EXEC:
            # A step's own program.
            processes.discard(process)
            libc.ptrace(DETACH, process, None, None)
            continue
        processes.add(process)
        if status >> 16 == EVENT_EXIT:
            variables.update(dict.fromkeys(program.changed_variables(process)))
        number = os.WSTOPSIG(status)
        if number in (signal.SIGTRAP, signal.SIGSTOP):
            address = libc.ptrace(PEEKUSER, process, PROGRAM_COUNTER, None)
            if address not in seen:
                seen.add(address)
                functions.update(dict.fromkeys(program.functions_at(address)))
            number = 0
        libc.ptrace(SINGLESTEP, process, None, number)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    # Watcher and watched take turns, which is several times faster on one processor.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    program = Program(os.path.realpath(sys.argv[1]))
    functions, variables = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "flowrun.yml").write_text(workflow)
        for _ in range(runs_before):
            subprocess.run([program.path, *runs[0]], check=True, cwd=folder, stdout=subprocess.DEVNULL)
        for arguments in runs:
            watch(program, arguments, folder, functions, variables)
    if len(functions) < 1000:
        sys.exit(f"only {len(functions)} functions of {program.path} were executed; is it position-independent?")
    print("\n".join([*functions, *variables]))


main()
