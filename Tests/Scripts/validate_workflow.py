#!/usr/bin/env python3
"""Checks workflow files against the schema: prints what does not fit and exits 1 if anything does not.

    validate_workflow.py [--schema SCHEMA] FILE...

Reads YAML as flowrun does, by the core schema of YAML 1.2: PyYAML's own idea of `yes`, `0o7` and dates is 1.1's.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import jsonschema
import yaml

root = Path(__file__).resolve().parent.parent.parent


class CoreLoader(yaml.SafeLoader):
    """The core schema's scalars, and no others."""


CoreLoader.yaml_implicit_resolvers = {}
for tag, pattern, first in (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", list("-+0123456789")),
    ("float", r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
     list("-+.0123456789")),
):
    CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), first)


def construct_int(loader, node):
    text = node.value
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


CoreLoader.add_constructor("tag:yaml.org,2002:int", construct_int)


def findings(validator, path):
    """What does not fit, as lines of text."""
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), CoreLoader)
    except yaml.YAMLError as error:
        return [f"{path}: {error}"]
    return [
        f"{path}: at /{'/'.join(map(str, error.absolute_path))}: {error.message}"
        for error in sorted(validator.iter_errors(document), key=lambda error: list(map(str, error.absolute_path)))
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schema", type=Path, default=root / "schema" / "flowrun.schema.json")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    arguments = parser.parse_args()

    schema = json.loads(arguments.schema.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    lines = [line for path in arguments.files for line in findings(validator, path)]
    print(*lines, sep="\n", end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
