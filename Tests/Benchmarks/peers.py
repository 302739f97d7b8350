"""Finds or fetches the programs flowrun is measured against."""

import os
import shutil
import subprocess
import sys

# The registries' packages hold the programs' own binaries, no wrappers.
packages = {"ninja": "ninja", "just": "rust-just", "task": "go-task-bin"}


def find(folder, everyone):
    """Path of each peer by name, and a word on each that cannot be had. What is fetched goes into FOLDER. Not EVERYONE:
    only those that a budget names."""
    names = ["ninja", "make", "just", "task", "xargs"] if everyone else ["ninja", "make"]
    missing = [name for name in packages if name in names and not (folder / "bin" / name).exists()]
    if missing:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                   "--no-warn-script-location", "--root-user-action=ignore", "--target", str(folder), "--upgrade"]
        subprocess.run(command + [packages[name] for name in missing], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    found, absent = {}, {}
    for name in names:
        fetched = folder / "bin" / name
        # A `task` on the PATH may as well be Taskwarrior.
        path = str(fetched) if fetched.exists() else None if name == "task" else shutil.which(name)
        if path is None and name in ("ninja", "make") and os.geteuid() == 0 and shutil.which("apt-get"):
            package = "ninja-build" if name == "ninja" else name
            subprocess.run(["apt-get", "install", "-qq", "-y", package], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            path = shutil.which(name)
        if path is None:
            source = f"pip package {packages[name]}" if name in packages else "system package"
            absent[name] = f"not installed, and its {source} could not be had"
        else:
            found[name] = path
    return found, absent


def version(path):
    """The first line a peer says about itself; go-task and just print only a number."""
    answer = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return (answer.stdout or answer.stderr).strip().split("\n")[0]
