#!/usr/bin/env python3
"""Hands random bytes to the readers of files: none ends the program, and none hangs it.

    Tests/Scripts/fuzz.py [--runs N] [--seed N] [TARGET...]

The targets are `yaml`, `expression` and `journal`. libFuzzer, which comes with the Swift toolchain, grows the inputs
from real ones towards code that has not run yet. A finding is left in the current folder, and the command that repeats
it is shown.
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

PACKAGE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SCRATCH = os.path.join(PACKAGE, ".build", "fuzz")
MODULES = ["CLinux", "Basics", "Syntax", "Workflow", "RunLog"]
TARGETS = ["yaml", "expression", "journal"]


def build():
    """Builds the readers with libFuzzer's marks in them; the path of the program."""
    swift = os.environ.get("SWIFT", "swift")
    for module in MODULES:
        subprocess.run([swift, "build", "-c", "release", "--scratch-path", SCRATCH, "--target", module,
                        "-Xswiftc", "-sanitize=fuzzer"], cwd=PACKAGE, check=True)
    folder = os.path.join(SCRATCH, "release")
    objects = [path for module in MODULES
               for path in glob.glob(os.path.join(folder, f"{module}.build", "**", "*.o"), recursive=True)]
    flags = []
    for module in ("CLibYAML", "CLinux", "CVector"):
        flags += ["-Xcc", f"-fmodule-map-file={module_map(folder, module)}"]
    program = os.path.join(SCRATCH, "fuzz")
    subprocess.run(["swiftc", "-O", "-swift-version", "6", "-package-name", "flowrun", "-sanitize=fuzzer",
                    "-parse-as-library", "-I", os.path.join(folder, "Modules"), *flags, "-o", program,
                    os.path.join(PACKAGE, "Tests", "Fuzzing", "Fuzz.swift"), *objects, "-lyaml"], check=True)
    return program


def module_map(folder, module):
    places = [os.path.join(PACKAGE, "Sources", module, "module.modulemap"),
              os.path.join(PACKAGE, "Sources", module, "include", "module.modulemap"),
              os.path.join(folder, f"{module}.build", "module.modulemap")]
    return next(place for place in places if os.path.exists(place))


def seeds(target, folder):
    """Fills a folder with inputs to begin with."""
    workflows = glob.glob(os.path.join(PACKAGE, "examples", "**", "*.yml"), recursive=True)
    workflows += glob.glob(os.path.join(PACKAGE, "Tests", "PlanningTests", "BadCases", "Documents", "**", "*.yml"),
                           recursive=True)
    inputs = []
    for path in workflows:
        with open(path, "rb") as file:
            text = file.read()
        if target == "yaml":
            inputs.append(text)
        elif target == "expression":
            inputs += re.findall(rb"\$\{\{(.*?)\}\}", text)
    if target == "journal":
        inputs = journals()
    for number, text in enumerate(inputs):
        with open(os.path.join(folder, str(number)), "wb") as file:
            file.write(text)


def journals():
    """The journals of small runs of the program that is built, if one is."""
    program = next((path for path in (os.path.join(PACKAGE, ".build", kind, "flowrun") for kind in ("release", "debug"))
                    if os.path.exists(path)), None)
    if program is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "flowrun.yml"), "w", encoding="utf-8") as file:
            file.write("version: 1\nsteps:\n  a: { run: echo x, outputs: { o: { from: stdout } } }\n"
                       "  b: { needs: [a], for-each: [1, 2], run: 'echo y >&2; exit 1', retry: { attempts: 2 } }\n"
                       "  g: { steps: { c: { run: [./missing] } } }\nfinally: { d: { run: 'true' } }\n")
        subprocess.run([program], cwd=folder, env={**os.environ, "XDG_STATE_HOME": folder},
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        found = []
        for path in glob.glob(os.path.join(folder, "**", "journal*"), recursive=True):
            with open(path, "rb") as file:
                found.append(file.read())
        return found


def main():
    parser = argparse.ArgumentParser(description="Fuzzes the readers of files.")
    parser.add_argument("targets", metavar="TARGET", nargs="*", choices=[*TARGETS, []], default=[])
    parser.add_argument("--runs", metavar="N", type=int, default=200_000, help="inputs for each target")
    parser.add_argument("--seed", metavar="N", type=int, default=1)
    options = parser.parse_args()
    program = build()
    bad = []
    for target in options.targets or TARGETS:
        corpus = tempfile.mkdtemp(prefix=f"fuzz-{target}-")
        seeds(target, corpus)
        command = [program, f"-runs={options.runs}", f"-seed={options.seed}", "-timeout=60", "-max_len=8192",
                   "-print_final_stats=1", "-verbosity=0", f"-artifact_prefix={target}-", corpus]
        run = subprocess.run(command, env={**os.environ, "FLOWRUN_FUZZ": target}, stdin=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, errors="replace", check=False)
        shutil.rmtree(corpus)
        if run.returncode != 0:
            bad.append(target)
            print(run.stderr[-4000:])
            print(f"FLOWRUN_FUZZ={target} {program} THE-FILE-ABOVE repeats it")
        found = re.search(r"stat::number_of_executed_units:\s*(\d+)", run.stderr)
        print(f"{target}: {found[1] if found else 0} inputs, {'ended' if target in bad else 'nothing found'}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
