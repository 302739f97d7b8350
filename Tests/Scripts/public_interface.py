#!/usr/bin/env python3
"""Prints what a program that imports AsyncOperations can see, from the compiler's symbol graphs.

    Tests/Scripts/public_interface.py [--undocumented | --documentation FOLDER] MODULES

MODULES is the folder of a build's modules, `.build/debug/Modules`. Prints each type with its members and, last, the number
of types, of symbols, and of symbols without documentation. With --undocumented: only those, one a line as `file:line: name`.
With --documentation: builds the documentation in FOLDER, which needs `docc`, and prints its warnings.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlparse

types = {"swift.struct", "swift.class", "swift.enum", "swift.protocol", "swift.actor", "swift.typealias"}
root = Path(__file__).resolve().parent.parent.parent


def extract(modules, output):
    """Writes the symbol graphs of the library, the words that it shares with its scheduler among them."""
    swift = os.environ.get("SWIFT", "swift")
    info = subprocess.run([swift, "-print-target-info"], capture_output=True, text=True, check=True)
    triple = json.loads(info.stdout)["target"]["triple"]
    subprocess.run(
        [swift, "symbolgraph-extract", "-module-name", "AsyncOperations", "-I", modules, "-target", triple,
         "-output-dir", output, "-minimum-access-level", "public", "-skip-synthesized-members",
         "-experimental-allowed-reexported-modules=Scheduling"],
        check=True)


def symbols(modules):
    """All public symbols, by the path of their names."""
    found = []
    with tempfile.TemporaryDirectory() as output:
        extract(modules, output)
        # An extension of another module's type has a file of its own.
        for graph in sorted(Path(output).glob("*.symbols.json")):
            found += json.loads(graph.read_text(encoding="utf-8"))["symbols"]
    return sorted(found, key=lambda symbol: symbol["pathComponents"])


def document(modules, folder):
    """Builds the documentation."""
    with tempfile.TemporaryDirectory() as graphs:
        extract(modules, graphs)
        catalog = root / "Sources" / "AsyncOperations" / "AsyncOperations.docc"
        subprocess.run(
            ["docc", "convert", catalog, "--additional-symbol-graph-dir", graphs, "--output-path", folder,
             "--fallback-display-name", "AsyncOperations", "--fallback-bundle-identifier", "AsyncOperations"],
            check=True)


def declaration(symbol):
    """Its line of Swift."""
    return " ".join("".join(part["spelling"] for part in symbol["declarationFragments"]).split())


def place(symbol):
    location = symbol.get("location")
    if not location:
        return "nowhere"
    path = Path(unquote(urlparse(location["uri"]).path)).resolve()
    path = path.relative_to(root) if path.is_relative_to(root) else path
    return f"{path}:{location['position']['line'] + 1}"


def main():
    parser = argparse.ArgumentParser(description="Prints the public interface of the library.")
    parser.add_argument("--undocumented", action="store_true", help="only the symbols without documentation")
    parser.add_argument("--documentation", type=Path, metavar="FOLDER", help="builds the documentation there")
    parser.add_argument("modules", type=Path, help="the folder of a build's modules")
    options = parser.parse_args()
    if options.documentation:
        document(options.modules, options.documentation)
        return
    found = symbols(options.modules)
    undocumented = [symbol for symbol in found if "docComment" not in symbol]
    if options.undocumented:
        for symbol in undocumented:
            print(f"{place(symbol)}: {'.'.join(symbol['pathComponents'])}")
        return
    for symbol in found:
        depth = len(symbol["pathComponents"]) - 1
        print(f"{'    ' * depth}{declaration(symbol)}")
    count = sum(symbol["kind"]["identifier"] in types for symbol in found)
    print(f"\n{count} types, {len(found)} symbols, {len(undocumented)} without documentation")


if __name__ == "__main__":
    main()
