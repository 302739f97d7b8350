#!/usr/bin/env python3
"""Holds the JSON log of a run against the graph its workflow was made from (see corpus.py).

    Tests/Scripts/check_order.py LOG GRAPH

Checked: `seq` counts from 0 without a gap, the first event is run.started and the last run.finished; every step of the
graph has exactly one step.finished and no other step has one; a step started only after all it needs had finished.
Prints every violation and exits 1, or a line of figures and exits 0.
"""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from corpus import legal_ids


def violations(records, graph):
    """A sentence for each thing that is wrong with RECORDS, the log's records in file order."""
    if not records:
        return ["the log is empty"]
    found = []
    for index, record in enumerate(records):
        if record.get("seq") != index:
            found.append(f"record {index} has seq {record.get('seq')}")
            break
    for position, event in ((0, "run.started"), (-1, "run.finished")):
        if records[position].get("event") != event:
            found.append(f"{event} should stand at {position}, but there is {records[position].get('event')}")

    started, finished = {}, {}
    for record in records:
        for event, table in (("step.started", started), ("step.finished", finished)):
            if record.get("event") == event:
                table.setdefault(record["step"], []).append(record["seq"])

    ids = legal_ids(graph)
    for step in graph["steps"]:
        name = ids[step["id"]]
        ends, starts = finished.pop(name, []), started.pop(name, [])
        if len(ends) != 1:
            found.append(f"{name} has {len(ends)} step.finished")
        if len(starts) > 1:
            found.append(f"{name} has {len(starts)} step.started")
        if starts and ends and starts[0] > ends[0]:
            found.append(f"{name} finished at seq {ends[0]} before it started at {starts[0]}")
        step["start"], step["end"] = (starts or [None])[0], (ends or [None])[-1]
    found += [f"{name} is not in the graph" for name in [*started, *finished]]

    ends = {step["id"]: step["end"] for step in graph["steps"]}
    for step in graph["steps"]:
        for need in step["needs"]:
            if step["start"] is not None and (ends[need] is None or ends[need] > step["start"]):
                found.append(f"{ids[step['id']]} started at seq {step['start']}, "
                             f"but {ids[need]}, which it needs, ended at {ends[need]}")
    return found


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: check_order.py LOG GRAPH")
    with open(sys.argv[1], encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    with open(sys.argv[2], encoding="utf-8") as file:
        graph = json.load(file)
    found = violations(records, graph)
    if found:
        print("\n".join(found), file=sys.stderr)
        sys.exit(1)
    edges = sum(len(step["needs"]) for step in graph["steps"])
    print(f"{len(graph['steps'])} steps, {edges} edges, {len(records)} records: every dependency respected")


if __name__ == "__main__":
    main()
