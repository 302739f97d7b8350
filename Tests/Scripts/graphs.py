#!/usr/bin/env python3
"""Writes a graph of steps that has the shape and size of a real one, for corpus.py and check_order.py.

    Tests/Scripts/graphs.py SHAPE > graph.json

The shapes are those that runners meet: a mosaic of images (montage, 58 steps), a study of genomes (genome, 902, and
genome-large, 9,998), an analysis pipeline with long names (pipeline, 26) and the build of a firmware with headers that
wait for one another (build, 1,971). The same on every machine and at every call.
"""

import argparse
import json
import random
import sys


class Graph:
    """Steps in the order in which they are added."""

    def __init__(self, name):
        self.name = name
        self.steps = []

    def add(self, step, needs=()):
        self.steps.append({"id": step, "needs": list(needs)})
        return step

    def add_each(self, stem, count, needs=lambda index: ()):
        return [self.add(f"{stem}_{index:05}", needs(index)) for index in range(count)]


def montage():
    """Images are projected, neighbours fitted to one another, the background evened out, all joined, in three bands."""
    graph, views = Graph("montage"), []
    for band in ("red", "green", "blue"):
        projected = graph.add_each(f"project_{band}", 4)
        # Each with each.
        pairs = [(one, other) for index, one in enumerate(projected) for other in projected[index + 1:]]
        fitted = graph.add_each(f"fit_{band}", len(pairs), lambda index: pairs[index])
        model = graph.add(f"model_{band}", [graph.add(f"concat_{band}", fitted)])
        evened = graph.add_each(f"background_{band}", 4, lambda index: [projected[index], model])
        table = graph.add(f"table_{band}", evened)
        views.append(graph.add(f"view_{band}", [graph.add(f"add_{band}", [table, *evened])]))
    graph.add("view_all", views)
    return graph


def genome(name, parts):
    """PARTS has the number of slices of each chromosome: slices are merged, and seven populations compared twice."""
    graph = Graph(name)
    for chromosome, slices in enumerate(parts, 1):
        read = graph.add_each(f"individuals.{chromosome}", slices)
        merged = graph.add(f"merge.{chromosome}", read)
        sifted = graph.add(f"sifting.{chromosome}")
        for work in ("overlap", "frequency"):
            graph.add_each(f"{work}.{chromosome}", 7, lambda _: [merged, sifted])
    return graph


def pipeline():
    """Names as long as generated pipelines have them, up to 124 characters, three samples and one report."""
    graph = Graph("pipeline")

    def name(*parts):
        return ".".join(("CORE_VARIANTS", *parts))

    references = [graph.add(name("PREPARE", tool)) for tool in ("DICTIONARY", "INDEX", "FAIDX", "INTERVALS", "KNOWN")]
    checked, called = [], []
    for sample in ("normal", "tumour", "relapse"):
        quality = graph.add(name("QUALITY", sample))
        mapped = graph.add(name("MAPPING", sample, "WITH_A_NAME_THAT_GOES_ON" * 4)[:124], [quality, references[1]])
        marked = graph.add(name("DUPLICATES", sample), [mapped, references[2]])
        recalibrated = graph.add(name("RECALIBRATION", sample), [marked, references[0], *references[2:]])
        checked += [quality, graph.add(name("COVERAGE", sample), [recalibrated])]
        called.append(graph.add(name("CALLING", sample), [recalibrated, references[3]]))
    joined = graph.add(name("JOIN"), called)
    graph.add(name("REPORT"), [joined, graph.add(name("VERSIONS"), called), *checked])
    return graph


def build():
    """Fifty-eight components, each with headers that include those before it, objects, and an archive that is declared
    before them, as generators of build files do."""
    graph, choose = Graph("build"), random.Random(58)
    headers, archives = [], []
    sizes = [choose.choice((8, 12, 20, 35, 60)) for _ in range(57)]
    # All that is not an object: the headers and archives of 58 components, four tables and the image.
    sizes.append(1971 - sum(sizes) - 2 * 58 - 5)
    assert sizes[-1] > 0, sizes
    tables = graph.add_each("table", 4)
    for component, size in enumerate(sizes):
        stem = f"component-{component:02}"
        objects = [f"{stem}/source-{index:03}.c.o" for index in range(size)]
        archives.append(graph.add(f"{stem}/lib{component}.a", [f"{stem}/headers", *objects]))
        included = headers[-1:] + choose.sample(headers[:-1], min(len(headers[:-1]), choose.choice((0, 0, 1, 2))))
        headers.append(graph.add(f"{stem}/headers", included or tables))
        for step in objects:
            graph.add(step, [headers[-1]])
    graph.add("image.elf", archives)
    return graph


def genome_large():
    choose = random.Random(227)
    parts = [choose.randint(19, 34) for _ in range(226)]
    # Sixteen more of each chromosome: the merge, the sifting and two times seven comparisons.
    parts.append(9998 - sum(parts) - 16 * 227)
    assert parts[-1] > 0, parts
    return genome("genome-large", parts)


shapes = {
    "montage": montage,
    "genome": lambda: genome("genome", [25] * 22),
    "pipeline": pipeline,
    "build": build,
    "genome-large": genome_large,
}


def main():
    parser = argparse.ArgumentParser(description="Writes a graph that has the shape and size of a real one.")
    parser.add_argument("shape", choices=shapes)
    graph = shapes[parser.parse_args().shape]()
    json.dump({"name": graph.name, "steps": graph.steps}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
