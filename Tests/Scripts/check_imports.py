#!/usr/bin/env python3
"""A target imports only what its line in Package.swift names, test targets too, which the compiler does not check.

    Tests/Scripts/check_imports.py [PACKAGE]
"""

import json
import os
import re
import subprocess
import sys

package = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
text = subprocess.run(["swift", "package", "--package-path", package, "dump-package"], check=True,
                      stdout=subprocess.PIPE, text=True).stdout
targets = json.loads(text)["targets"]
ours = {target["name"] for target in targets}
pattern = re.compile(r"^\s*(?:@\w+(?:\(\w+\))?\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?import\s+"
                     r"(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)", re.MULTILINE)
folders = {"test": "Tests", "regular": "Sources", "executable": "Sources", "system": "Sources"}
found = checked = 0
for target in targets:
    named = {next(iter(part.values()))[0] for part in target["dependencies"]} | {target["name"]}
    folder = os.path.join(package, target.get("path") or os.path.join(folders[target["type"]], target["name"]))
    for path, _, files in os.walk(folder):
        for name in sorted(files):
            if not name.endswith(".swift"):
                continue
            checked += 1
            with open(os.path.join(path, name), encoding="utf-8") as file:
                imports = set(pattern.findall(file.read()))
            for module in sorted((imports & ours) - named):
                found += 1
                print(f"{os.path.relpath(os.path.join(path, name), package)}: imports {module}, which the line of "
                      f"{target['name']} in Package.swift does not name")
if not checked:
    sys.exit("no Swift file found")
sys.exit(1 if found else 0)
