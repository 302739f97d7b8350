#!/usr/bin/env python3
"""Delivers much output to readers of every kind, and lets system calls fail one by one; prints a table.

usage: torture_output.py FLOWRUN [--bytes N] [--calls N]

    --bytes N   how much a step writes, 10 GiB if left out; slow readers get a hundredth of it
    --calls N   how many calls of each kind fail, one in each run; until a run without a failure if left out

Memory is the largest resident set of flowrun and of every process that it waited for, this script's own at the least. Exit 1 where a limit is broken:
32 MiB of memory, two seconds from a signal to the end beyond the grace, a hang, or an exit of 0 with a lost line.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

MEMORY = 32 << 10  # KiB
FAULTS = {
    "epoll_ctl": ["ENOSPC", "ENOMEM"],
    "timerfd_settime": ["EINVAL", "ENOMEM"],
    "read": ["EIO"],
    "write": ["EIO", "ENOSPC", "EINTR"],
    "openat": ["EMFILE", "ENFILE", "ENOMEM"],
    "pipe2": ["EMFILE", "ENFILE"],
    # A command begins by one of these: where it has a cgroup, or has none.
    "clone": ["EAGAIN", "ENOMEM"],
    "clone3": ["EAGAIN", "ENOMEM", "EACCES"],
    # To look who is left, and to mark who belongs to a step.
    "getdents64": ["ENOMEM"],
    "pread64": ["EIO"],
    "prlimit64": ["EPERM"],
    "pidfd_send_signal": ["EPERM"],
    "epoll_wait": ["EINTR"],
    "pwrite64": ["EIO", "ENOSPC"],
    "ftruncate": ["EIO", "ENOSPC"],
}
failures = []


def row(*cells):
    print(f"{cells[0]:<34} {cells[1]:>10} {cells[2]:>9} {cells[3]:>8}  {cells[4]}", flush=True)


def check(is_right, name, words):
    if not is_right:
        failures.append(f"{name}: {words}")
    return is_right


def workflow(folder, text):
    with open(os.path.join(folder, "flowrun.yml"), "w") as file:
        file.write(text)


def read_all(descriptor, rate, result):
    """Counts what comes out of a pipe, at most `rate` bytes a second."""
    start = time.monotonic()
    # One buffer: what this script takes itself counts below.
    buffer = bytearray(1 << 16)
    with os.fdopen(descriptor, "rb", buffering=0) as pipe:
        while count := pipe.readinto(buffer):
            result[0] += count
            if rate:
                time.sleep(max(0, result[0] / rate - (time.monotonic() - start)))


def deliver(arguments, name, steps, options, rate=None, is_blocked=False, is_foreign=False, expected=0):
    folder = tempfile.mkdtemp(prefix="flowrun-torture-")
    os.chmod(folder, 0o777)
    workflow(folder, steps)
    reader, writer = os.pipe()
    command = [arguments.flowrun, "run", "--progress", "none"] + options
    if is_foreign:
        # A pipe of root's, which nobody else can open once more.
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + command
    environment = {**os.environ, "TMPDIR": folder}
    process = subprocess.Popen(command, cwd=folder, stdout=writer, stderr=writer, env=environment)
    os.close(writer)
    counts, thread = [0], None
    if not is_blocked:
        thread = threading.Thread(target=read_all, args=(reader, rate, counts))
        thread.start()
    else:
        while not os.path.exists(os.path.join(folder, "up")):
            time.sleep(0.05)
        # Long enough to fill everything that can be filled.
        time.sleep(3)
        process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    lasted = time.monotonic() - began
    if thread:
        thread.join()
    else:
        os.close(reader)
    code = os.waitstatus_to_exitcode(status)
    right = check(usage.ru_maxrss <= MEMORY, name, f"{usage.ru_maxrss} KiB")
    if is_blocked:
        right &= check(code == -signal.SIGTERM, name, f"ended with {code}")
        right &= check(lasted < 3.5, name, f"{lasted:.1f} s from the signal to the end")
    else:
        right &= check(code == 0 and counts[0] >= expected, name, f"exit {code}, {counts[0]} bytes arrived")
    size = f"{counts[0] / 2**20:.0f} MiB" if not is_blocked else "-"
    row(name, size, f"{usage.ru_maxrss / 1024:.1f} MiB", f"{lasted:.1f} s", "ok" if right else "BROKEN")
    shutil.rmtree(folder)


def readers(arguments):
    lone = "version: 1\nsteps: { a: { run: 'touch up; { yes 0123456789abcde || :; } | head -c %d', grace: 1s } }\n"
    beside = (
        "version: 1\nsteps:\n  a: { run: 'touch up; { yes 0123456789abcde || :; } | head -c %d', grace: 1s }\n"
        "  b: { run: 'read _ < gone || sleep 1', grace: 1s }\n"
    )
    line = "version: 1\nsteps: { a: { run: \"touch up; head -c %d /dev/zero | tr '\\\\0' x\", grace: 1s } }\n"
    much, little = arguments.bytes, max(arguments.bytes // 100, 1 << 20)
    for form, steps, options in [
        ("text", lone, []), ("block", beside, ["-j", "2"]), ("stream", lone, ["--output", "stream"]),
        ("json", lone, ["--log", "json"]), ("line", line, ["--log", "json"]),
    ]:
        deliver(arguments, f"{form}, fast reader", steps % much, options, expected=much)
        deliver(arguments, f"{form}, slow reader", steps % little, options, rate=8e6, expected=little)
        deliver(arguments, f"{form}, blocked reader", steps % much, options, is_blocked=True)
        if os.geteuid() == 0 and shutil.which("setpriv"):
            deliver(arguments, f"{form}, reader of another user", steps % little, options, is_foreign=True, expected=little)
            deliver(
                arguments, f"{form}, blocked one of another user", steps % little, options, is_blocked=True,
                is_foreign=True)


def parsers(arguments):
    """A log of bytes of every value, and what two parsers make of each of its lines."""
    size = max(arguments.bytes // 100, 1 << 20)
    folder = tempfile.mkdtemp(prefix="flowrun-torture-")
    workflow(folder, f"version: 1\nsteps: {{ a: {{ run: 'head -c {size} /dev/urandom' }}, b: {{ run: 'seq 1 1000' }} }}\n")
    began = time.monotonic()
    process = subprocess.Popen(
        [arguments.flowrun, "run", "--progress", "none", "--log", "quiet", "--log-file", "log.jsonl"], cwd=folder,
        stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    lasted = time.monotonic() - began
    log = os.path.join(folder, "log.jsonl")
    right = check(status == 0 and usage.ru_maxrss <= MEMORY, "parsers", f"status {status}, {usage.ru_maxrss} KiB")
    lines, wrong = 0, 0
    with open(log, "rb") as file:
        for line in file:
            lines += 1
            try:
                wrong += json.loads(line)["seq"] != lines - 1
            except ValueError:
                wrong += 1
    right &= check(wrong == 0, "parsers", f"{wrong} of {lines} lines are wrong for Python")
    words = ""
    if shutil.which("jq"):
        with open(log, "rb") as file:
            jq = subprocess.run(["jq", "-c", ".seq"], stdin=file, capture_output=True)
        same = jq.stdout == b"".join(b"%d\n" % number for number in range(lines))
        right &= check(jq.returncode == 0 and same, "parsers", f"jq: {jq.stderr.decode()[:200]}")
    else:
        words = ", without jq, which is not installed"
    row("every byte value, two parsers", f"{os.path.getsize(log) / 2**20:.0f} MiB", f"{usage.ru_maxrss / 1024:.1f} MiB",
        f"{lasted:.1f} s", ("ok" if right else "BROKEN") + words)
    shutil.rmtree(folder)


def runner(pid):
    """The process that runs the steps: the one of flowrun's own that has no such child."""
    name = os.readlink(f"/proc/{pid}/exe")
    for child in open(f"/proc/{pid}/task/{pid}/children").read().split():
        if os.readlink(f"/proc/{child}/exe") == name:
            return runner(int(child))
    return pid


def fault(arguments, call, error, number):
    """One run whose `number`th call of a kind fails. Returns whether any did, and what went wrong."""
    folder = tempfile.mkdtemp(prefix="flowrun-torture-")
    workflow(
        folder,
        "version: 1\nsteps:\n  a: { run: 'seq 1 20000' }\n  b: { run: 'echo out; echo err >&2', streams: separate }\n"
        "  c: { needs: [a, b], run: 'echo x=1 >> \"$FLOWRUN_OUTPUT\"', outputs: { x: int } }\n"
        "  d: { run: 'sleep 1000', timeout: 200ms, continue-on-error: true }\n",
    )
    process = subprocess.Popen(
        [arguments.flowrun, "run", "--paused", "--log", "json", "--progress", "none"], cwd=folder,
        stdout=open(os.path.join(folder, "log"), "wb"), stderr=subprocess.PIPE)
    status = [arguments.flowrun, "ctl", "status"]
    while subprocess.run(status, cwd=folder, capture_output=True).returncode != 0 and process.poll() is None:
        time.sleep(0.02)
    trace = os.path.join(folder, "trace")
    tracer = subprocess.Popen(
        ["strace", "-o", trace, "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={number}",
         "-p", str(runner(process.pid))], stderr=subprocess.PIPE)
    tracer.stderr.readline()
    # The call that fails may be one that the request needs.
    resume = [arguments.flowrun, "ctl", "resume"]
    while subprocess.run(resume, cwd=folder, capture_output=True).returncode != 0 and process.poll() is None:
        time.sleep(0.02)
    words = ""
    try:
        errors = process.communicate(timeout=60)[1].decode()
    except subprocess.TimeoutExpired:
        words = "hangs"
        process.send_signal(signal.SIGKILL)
        process.wait()
        errors = ""
    tracer.terminate()
    tracer.wait()
    was_injected = "(INJECTED)" in open(trace, errors="replace").read()
    if not words:
        records = [json.loads(line) for line in open(os.path.join(folder, "log"), "rb")]
        texts = {}
        for record in records:
            if record["event"] == "step.output":
                key = (record["step"], record["stream"])
                texts[key] = texts.get(key, "") + record["text"]
        is_whole = (
            texts.get(("a", "output")) == "".join(f"{n}\n" for n in range(1, 20001))
            and texts.get(("b", "stderr")) == "err\n"
        )
        if process.returncode == 0 and not is_whole:
            words = "exit 0 with lost output"
        elif process.returncode not in (0, 1, 125):
            words = f"exit {process.returncode}: {errors.strip()}"
        elif process.returncode == 1 and not any(
            record["event"] == "run.finished" and record["errors"] for record in records):
            words = "exit 1 without a word"
    shutil.rmtree(folder)
    return was_injected, words


def faults(arguments):
    for call, errors in FAULTS.items():
        for error in errors:
            number, broken = 0, []
            while not arguments.calls or number < arguments.calls:
                number += 1
                was_injected, words = fault(arguments, call, error, number)
                if words:
                    broken.append(f"call {number}: {words}")
                    failures.append(f"{call} {error} {broken[-1]}")
                if not was_injected:
                    break
            row(f"{call}: {error}", f"{number} runs", "", "", "; ".join(broken) or "ok")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("flowrun")
    parser.add_argument("--bytes", type=int, default=10 << 30)
    parser.add_argument("--calls", type=int, default=0)
    parser.add_argument("--only", choices=["readers", "faults"])
    arguments = parser.parse_args()
    arguments.flowrun = os.path.abspath(arguments.flowrun)
    if arguments.only != "faults":
        readers(arguments)
        parsers(arguments)
    if arguments.only != "readers" and shutil.which("strace"):
        faults(arguments)
    for words in failures:
        print(words, file=sys.stderr)
    sys.exit(1 if failures else 0)


main()
