#!/usr/bin/env python3
"""What strangers write traps nothing: workflows, expressions and journals, as libFuzzer changes those of the repository.

    Tests/Scripts/fuzz.py FLOWRUN RUNS

Builds `Tests/Fuzzing`, and runs each of its targets with RUNS inputs. FLOWRUN writes the journals to begin with. What
failed stays in .build/fuzz/failures, to be run again:

    FLOWRUN_FUZZING=journal .build/fuzz/release/Fuzzing .build/fuzz/failures/journal-crash-...
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

root = Path(__file__).resolve().parents[2]
scratch = root / ".build" / "fuzz"
failures = scratch / "failures"
# A change to a small input is more often one that matters.
longest = 4096


def build():
    command = [os.environ.get("SWIFT", "swift"), "build", "-c", "release", "--sanitize", "fuzzer", "--product", "Fuzzing",
               "--package-path", root, "--scratch-path", scratch]
    subprocess.run(command, env=os.environ | {"FLOWRUN_FUZZING": "yes"}, check=True)
    return scratch / "release" / "Fuzzing"


def workflows():
    """The examples, and the documents of the tests, which mark places with keycaps."""
    examples = [path.read_text(encoding="utf-8") for path in sorted((root / "examples").rglob("*.yml"))]
    documents = root / "Tests" / "PlanningTests" / "BadCases" / "Documents"
    cases = [case for path in sorted(documents.iterdir())
             for case in re.split("^====.*\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]]
    return [re.sub("[0-9]\ufe0f\u20e3", "", text).encode() for text in examples + cases]


def words():
    """The keys and words of the schema, to be put into inputs as a whole."""
    schema = (root / "schema" / "flowrun.schema.json").read_text(encoding="utf-8")
    return sorted(set(re.findall(r'"([a-z][a-z_]{2,})"', schema)))


def expressions():
    found = {match for text in workflows() for match in re.findall(rb"\$\{\{(.*?)\}\}", text, re.DOTALL)}
    return sorted(text.strip() for text in found)


def journals(flowrun, folder):
    """Those of runs of the examples that need nothing, without the checksums, which the target makes."""
    for name in "hello", "retry", "matrix", "hooks", "dynamic-fan-out", "outputs", "cleanup":
        shutil.copy(root / "examples" / f"{name}.yml", folder)
        subprocess.run([flowrun, f"{name}.yml"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return [re.sub(rb',"crc":"[0-9a-f]{8}"\}', b"}", path.read_bytes()) for path in folder.rglob("journal.jsonl")]


def fuzz(program, target, seeds, runs, folder):
    """Runs a target in `folder`. Returns true if it withstood all inputs."""
    corpus = folder / target
    corpus.mkdir()
    for index, seed in enumerate(seeds):
        (corpus / str(index)).write_bytes(seed[:longest])
    command = [program, f"-runs={runs}", f"-max_len={longest}", "-timeout=20", "-rss_limit_mb=2048", "-seed=1",
               "-print_final_stats=1", f"-dict={folder}/words", f"-artifact_prefix={failures}/{target}-", corpus]
    environment = os.environ | {"FLOWRUN_FUZZING": target, "TMPDIR": str(folder)}
    answer = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    said = answer.stderr.decode(errors="replace")
    done = re.search(r"stat::number_of_executed_units:\s*(\d+)", said)
    covered = re.findall(r"cov: (\d+)", said)
    print(f"{target}: {len(seeds)} inputs to begin with, {int(done[1]) if done else 0:,} tried, "
          f"{int(covered[-1]) if covered else 0:,} edges reached, status {answer.returncode}", flush=True)
    if answer.returncode != 0:
        print(said[-4000:])
    return answer.returncode == 0


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    flowrun, runs = Path(sys.argv[1]).resolve(), int(sys.argv[2])
    program = build()
    failures.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "runs").mkdir()
        (folder / "words").write_text("".join(f'"{word}"\n' for word in words()), encoding="utf-8")
        targets = {"workflow": workflows(), "expression": expressions(), "journal": journals(flowrun, folder / "runs")}
        withstood = [fuzz(program, target, seeds, runs, folder) for target, seeds in targets.items()]
    sys.exit(0 if all(withstood) else 1)


if __name__ == "__main__":
    main()
