#!/usr/bin/env python3
"""Holds a JSON Lines log against schema/flowrun-event.schema.json.

usage: validate_events.py SCHEMA [LOG]      (LOG: standard input if left out)

Exit 0: every line is a record that the schema accepts. Exit 1: at least one is not; the first twenty findings are
printed with their line numbers. Exit 77: the module jsonschema is not installed.
"""

import json
import sys

try:
    from jsonschema import Draft7Validator
except ImportError:
    print("skipped: python3 has no module jsonschema", file=sys.stderr)
    sys.exit(77)


def findings(validator, lines):
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
        except ValueError as error:
            yield f"line {number}: not JSON: {error}"
            continue
        for error in validator.iter_errors(record):
            event = record.get("event") if isinstance(record, dict) else None
            place = "/".join(str(part) for part in error.absolute_path)
            yield f"line {number}: {event}: {place or 'record'}: {error.message[:300]}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    Draft7Validator.check_schema(schema)
    source = open(sys.argv[2], "rb") if len(sys.argv) > 2 else sys.stdin.buffer
    with source:
        # Only b"\n" ends a record; text mode would also split at other line ends.
        lines = source.read().split(b"\n")
    if lines.pop() != b"":
        print("the last record has no line end")
        return 1
    found = list(findings(Draft7Validator(schema), lines))
    for finding in found[:20]:
        print(finding)
    return 1 if found else 0


sys.exit(main())
