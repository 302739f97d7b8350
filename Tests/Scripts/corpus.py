#!/usr/bin/env python3
"""Turns a graph {"steps": [{"id", "needs", ...}, ...]} into a workflow file.

    Tests/Scripts/corpus.py GRAPH [--command COMMAND] > workflow.yml

Every step runs `true`, or COMMAND, split into words as a shell would but run without one. Steps keep their order; only
`id` and `needs` of the graph are used.

Ids that a workflow file may not have become legal ones, the same way in every program that calls `legal_ids`: each
character outside [A-Za-z0-9_-] becomes `_`, a leading `-` (or nothing at all) gets a `_` in front, what is longer than
128 characters is cut there, and an id that is taken already gets `-2`, `-3`, … at its end.
"""

import argparse
import json
import re
import shlex
import sys

longest = 128


def legal_ids(graph):
    """The workflow's id of each step of GRAPH by the graph's own id, in the graph's order."""
    result, taken = {}, set()
    for step in graph["steps"]:
        name = re.sub(r"[^A-Za-z0-9_-]", "_", step["id"])
        if name == "" or name.startswith("-"):
            name = "_" + name
        legal, count = name[:longest], 1
        while legal in taken:
            count += 1
            end = f"-{count}"
            legal = name[:longest - len(end)] + end
        taken.add(legal)
        result[step["id"]] = legal
    return result


def workflow(graph, argv):
    """The text of the workflow file, every step running ARGV."""
    ids = legal_ids(graph)
    lines = ["version: 1\n", f"name: {json.dumps(graph.get('name', 'graph'))}\n", "steps:\n"]
    for step in graph["steps"]:
        lines.append(f"  {ids[step['id']]}:\n")
        if step["needs"]:
            lines.append(f"    needs: [{', '.join(ids[need] for need in step['needs'])}]\n")
        lines.append(f"    run: {json.dumps(argv)}\n")
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description="Turns a graph of steps into a workflow file.")
    parser.add_argument("graph", metavar="GRAPH", help="a JSON file with `steps`, each with `id` and `needs`")
    parser.add_argument("--command", default="true", help="what every step runs (default: true)")
    options = parser.parse_args()
    argv = shlex.split(options.command)
    if not argv:
        parser.error("--command takes at least one word")
    with open(options.graph, encoding="utf-8") as file:
        sys.stdout.write(workflow(json.load(file), argv))


if __name__ == "__main__":
    main()
