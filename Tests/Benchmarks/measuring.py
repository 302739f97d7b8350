"""Runs contenders in turn and compares them round by round."""

import os
import shutil
import statistics
import sys
from dataclasses import dataclass, field


@dataclass
class Contender:
    """One command line to be measured in FOLDER."""
    name: str
    argv: list
    folder: object
    # Files and folders that an earlier round left and that would change this one.
    leftovers: list = field(default_factory=list)
    # Looks at the captured standard output of a warm-up round and raises if the work was not done.
    verify: object = None
    # Work items, for a cost per item; 1 where the whole process counts.
    items: int = 1


@dataclass
class Sample:
    """What one run cost."""
    wall: float  # seconds
    cpu: float  # seconds, user and system, of the process and all it waited for
    peak: float  # MB (10^6 bytes), the largest of the process and all it waited for


class MeasuringError(Exception):
    """A contender did not do its work; the figures would mean nothing."""


def environment():
    """What every contender gets. A jobserver of the make around this one would change who may run what."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return kept | {"LANG": "C", "LC_ALL": "C"}


def remove(path):
    """Removes a file, or a folder with all that is in it; nothing may be there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def run(measure, contender):
    """One run, with standard output and standard error in files of the contender's folder."""
    for name in contender.leftovers:
        remove(contender.folder / name)
    result, out, err = (contender.folder / name for name in ("measured", "stdout", "stderr"))
    writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    here = os.open(".", os.O_RDONLY)
    os.chdir(contender.folder)
    try:
        pid = os.posix_spawn(
            measure, ["measure", *contender.argv], environment(),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(out), writing, 0o644),
                (os.POSIX_SPAWN_OPEN, 2, str(err), writing, 0o644),
                (os.POSIX_SPAWN_OPEN, 3, str(result), writing, 0o644),
            ])
        _, status, _ = os.wait4(pid, 0)
    finally:
        os.fchdir(here)
        os.close(here)
    fields = result.read_text().split()
    if status != 0 or len(fields) != 5 or fields[4] != "0":
        said = err.read_text(errors="replace")[-600:] or out.read_text(errors="replace")[-600:]
        how = f"status {fields[4]} of wait4" if len(fields) == 5 else "could not be started"
        raise MeasuringError(f"{contender.name}: {' '.join(contender.argv[:6])}: {how}\n{said}")
    wall, user, system, peak = (int(value) for value in fields[:4])
    return Sample(wall / 1e9, (user + system) / 1e6, peak * 1024 / 1e6)


def rounds(measure, contenders, count, warmups=1):
    """Samples of each contender by name, one a round. Every round runs all of them, one after another, so that
    whatever else the machine does falls on all alike."""
    for _ in range(warmups):
        for contender in contenders:
            run(measure, contender)
            if contender.verify:
                contender.verify(contender)
    samples = {contender.name: [] for contender in contenders}
    for index in range(count):
        for contender in contenders:
            samples[contender.name].append(run(measure, contender))
        if sys.stderr.isatty():
            print(f"\r  round {index + 1} of {count}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return samples


def median(samples, value):
    """The median of a value of each round."""
    return statistics.median(value(sample) for sample in samples)


def ratio(samples, base, value):
    """The median over the rounds of a value against the same value of BASE in the same round."""
    return statistics.median(value(mine) / max(value(theirs), 1e-9) for mine, theirs in zip(samples, base))


def spread(samples, base, value):
    """Half the distance between the quartiles of the ratios: how far the ratio may be trusted."""
    ratios = [value(mine) / max(value(theirs), 1e-9) for mine, theirs in zip(samples, base)]
    if len(ratios) < 4:
        return (max(ratios) - min(ratios)) / 2
    quartiles = statistics.quantiles(ratios, n=4)
    return (quartiles[2] - quartiles[0]) / 2


def wall(sample):
    return sample.wall


def cpu(sample):
    return sample.cpu


def peak(sample):
    return sample.peak
