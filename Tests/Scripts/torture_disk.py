#!/usr/bin/env python3
"""Lets the disk with the state of a run fill up at random points, and checks that the hooks run.

    torture_disk.py FLOWRUN [POINTS]

Each run keeps its state in a small file system of its own (a tmpfs in a mount namespace, so that it needs the rights for
that), with room for a random part of what the run would write, or for so many files; TMPDIR is elsewhere. 200 points if not
said. Exits with 1 if a run that has begun did not run its hooks, did not report their end on standard output, or did
not end with 125 when it could not keep its journal.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

WORKFLOW = """
version: 1
output-limit: 256KiB
steps:
  first: { run: echo > ../started }
  small: { needs: [first], for-each: [1, 2, 3, 4], run: seq 1 400 }
  group:
    needs: [small]
    continue-on-error: true
    steps: { fails: { run: "echo > ../failed; seq 1 2000; exit 3" } }
    on-failure: { told: { run: "seq 1 9000; echo > ../told" } }
    finally: { swept: { run: echo > ../swept } }
  large: { needs: [group], for-each: [1, 2, 3, 4, 5, 6], max-parallel: 2, run: seq 1 30000 }
  read: { needs: [large], run: seq 1 30000 }
  reads: { needs: [read], stdin: "${{ steps.read.stdout }}", run: cat }
finally:
  tidy: { run: "seq 1 20000; echo > ../tidied" }
  after: { needs: [tidy], run: echo > ../after }
"""
MARKERS = ["started", "failed", "told", "swept", "tidied", "after"]


def run(flowrun, folder, options):
    """One run in a fresh file system. Returns its status, its log, what it said, and which markers are there."""
    state = os.path.join(folder, "state")
    os.makedirs(state, exist_ok=True)
    for name in MARKERS:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            os.unlink(path)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=700,%s" % options, "none", state], check=True)
    try:
        process = subprocess.run(
            [flowrun, "run", "-f", "w.yml", "--state-dir", "../state", "--log", "json"],
            cwd=os.path.join(folder, "work"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=dict(os.environ, TMPDIR=os.path.join(folder, "tmp")), timeout=600)
        used = os.statvfs(state)
        size = (used.f_blocks - used.f_bfree) * used.f_frsize
        files = used.f_files - used.f_ffree
    finally:
        subprocess.run(["umount", "-l", state], check=True)
    log = [json.loads(line) for line in process.stdout.splitlines()]
    found = {name for name in MARKERS if os.path.exists(os.path.join(folder, name))}
    return process.returncode, log, process.stderr.decode(), found, size, files


def mistakes(status, log, said, found):
    """The mistakes of a run that has begun."""
    wanted = {"swept", "tidied", "after"} | ({"told"} if "failed" in found else set())
    if "failed" not in found:
        # A run that has not begun has nothing to sweep.
        wanted.discard("swept")
    missing = sorted(wanted - found)
    ended = {record["step"]: record["outcome"] for record in log if record["event"] == "step.finished"}
    wrong = ["no %s" % name for name in missing]
    for hook in ["finally.tidy", "finally.after"]:
        if ended.get(hook) != "success":
            wrong.append("%s ended as %s" % (hook, ended.get(hook)))
    if not log or log[-1]["event"] != "run.finished":
        wrong.append("the log has no end")
    if status not in (0, 125) or status == 125 and "the journal is incomplete" not in said:
        wrong.append("status %d" % status)
    return wrong


def main():
    flowrun = os.path.abspath(sys.argv[1])
    points = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    if os.environ.get("TORTURE_DISK") != "inside":
        os.environ["TORTURE_DISK"] = "inside"
        os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable] + sys.argv)
    seed = int(os.environ.get("SEED", random.randrange(1_000_000)))
    rng = random.Random(seed)
    folder = tempfile.mkdtemp(prefix="flowrun-disk-")
    try:
        for name in ["work", "tmp"]:
            os.makedirs(os.path.join(folder, name))
        with open(os.path.join(folder, "work", "w.yml"), "w") as file:
            file.write(WORKFLOW)
        status, log, said, found, size, files = run(flowrun, folder, "size=64m")
        assert status == 0 and not mistakes(status, log, said, found), (said, mistakes(status, log, said, found))
        page = 4096
        done = full = 0
        while done < points:
            by_files = rng.random() < 0.2
            options = (
                "size=64m,nr_inodes=%d" % rng.randrange(4, files + 1) if by_files
                else "size=%d" % (rng.randrange(2, size // page) * page))
            status, log, said, found, _, _ = run(flowrun, folder, options)
            if "started" not in found:
                # There was not even room for the journal's beginning.
                assert status == 125 and not found, (options, status, said)
                continue
            wrong = mistakes(status, log, said, found)
            done += 1
            full += status == 125
            if wrong:
                print("seed %d, %s: %s\n%s" % (seed, options, ", ".join(wrong), said))
                print("hooks ran at %d of %d points" % (done - 1, points))
                sys.exit(1)
        print("hooks ran at %d of %d points; the disk was full at %d of them (seed %d)" % (done, points, full, seed))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
