#!/usr/bin/env python3
"""Checks that the cost of `flowrun check` grows with the file, whatever is large in it.

    Tests/Scripts/check_sizes.py FLOWRUN [--time] [--only WORD,...] [--sizes N,N,...] [--limit SLOPE] [--jobs N]

For each key, list and kind of finding of the file format there is a family of files that grow in one thing. Each family
is checked at every size, and a line through the costs, both as logarithms, has to rise by at most SLOPE (1.2): twice the
size may cost at most 2.3 times as much. The cost is the number of instructions, counted by valgrind, above those for an
empty workflow; with `--time` it is processor time, for a quick look. Edits are left out: how many are tried has a limit,
which would hide a slope.
"""

import argparse
import concurrent.futures
import math
import os
import re
import resource
import subprocess
import sys
import tempfile

# The machine-readable form that has no edits.
CHECK = ["check", "--format", "github", "workflow.yml"]
families = {}


def numbered(count, form, between="\n"):
    return between.join(form.replace("#", str(index)) for index in range(count))


def flow(steps="  a: { run: x }", top=""):
    return f"version: 1\n{top}\nsteps:\n{steps}\n"


def define(name, make):
    """A family of one expression: `make` gets the size."""
    assert name not in families, name
    families[name] = make


def steps(name, form, first="", top="", last=""):
    """Many steps of one form, in which # is the number."""
    define(name, lambda n: flow("\n".join(part for part in (first, numbered(n, "  s#: " + form), last) if part), top))


def listed(name, form, item, between=", ", top="", before="", shift=0):
    """One step with a long list in it."""
    define(name, lambda n: flow(before + "  a: " + form.replace("%", numbered(n, item, between)),
                                top.replace("%", numbered(n, item, between))))


def tops(name, form, item, step="  a: { run: x }", between=", "):
    """A long value of a key at the top."""
    define(name, lambda n: flow(step, form.replace("%", numbered(n, item, between))))


# Steps and what they need.
steps("steps", "{ run: x }")
steps("steps-in-lines", "\n    name: one\n    run: x")
steps("steps-need-one", "{ needs: [a], run: x }", first="  a: { run: x }")
define("step-needs-all", lambda n: flow(numbered(n, "  s#: { run: x }") + f"\n  a: {{ needs: [{numbered(n, 's#', ', ')}], run: x }}"))
define("step-needs-kinds", lambda n: flow(numbered(n, "  s#: { run: x }") + f"\n  a: {{ needs: {{ {numbered(n, 's#: done', ', ')} }}, run: x }}"))
define("chain", lambda n: flow("  s0: { run: x }\n" + "\n".join(f"  s{i}: {{ needs: [s{i - 1}], run: x }}" for i in range(1, n))))
define("chain-backwards", lambda n: flow("\n".join(f"  s{i}: {{ needs: [s{i + 1}], run: x }}" for i in range(n)) + f"\n  s{n}: {{ run: x }}"))
define("chain-of-success", lambda n: flow("  s0: { run: x }\n" + "\n".join(f"  s{i}: {{ needs: {{ s{i - 1}: success }}, run: x }}" for i in range(1, n))))
define("layers", lambda n: flow("\n".join(f"  l{i}s{j}: {{ run: x{', needs: [' + ', '.join(f'l{i - 1}s{k}' for k in range(16)) + ']' if i else ''} }}" for i in range(n // 16) for j in range(16))))
listed("needs-unknown", "{ needs: [%], run: x }", "u#")
steps("steps-need-unknown", "{ needs: [u#], run: x }")
steps("steps-need-misspelt", "{ needs: [compi], run: x }", first="  compile: { run: x }")
define("needs-misspelt", lambda n: flow(numbered(n, "  step#: { run: x }") + "\n" + numbered(n, "  other#: { needs: [stp#], run: x }")))
listed("needs-repeated", "{ needs: [%], run: x }", "b", before="  b: { run: x }\n")
define("ring", lambda n: flow("\n".join(f"  s{i}: {{ needs: [s{(i + 1) % n}], run: x }}" for i in range(n))))
define("rings", lambda n: flow("\n".join(f"  s{i}: {{ needs: [s{i ^ 1}], run: x }}" for i in range(n // 2 * 2))))
define("rings-through-groups", lambda n: flow("\n".join(f"  l{i}: {{ steps: {{ a: {{ needs: [r{i}], run: x }} }} }}\n  r{i}: {{ steps: {{ a: {{ needs: [l{i}], run: x }} }} }}" for i in range(n // 2))))
define("ring-with-chords", lambda n: flow("\n".join(f"  s{i}: {{ needs: [s{(i + 1) % n}, s{(i * 7 + 3) % n}], run: x }}" for i in range(n))))
steps("needs-itself", "{ needs: [s#], run: x }")
define("needs-a-member", lambda n: flow("  g:\n    steps:\n" + numbered(n, "      m#: { run: x }") + "\n" + numbered(n, "  s#: { needs: [m#], run: x }")))
define("member-needs-group", lambda n: flow("  g:\n    steps:\n" + numbered(n, "      m#: { needs: [g], run: x }")))
define("ids-repeated", lambda n: flow(numbered(n, "  same: { run: x }")))
define("ids-wrong", lambda n: flow(numbered(n, "  a.b#: { run: x }")))
define("ids-alike", lambda n: flow(numbered(n, "  build_some_thing_#: { run: x }") + "\n" + numbered(n, "  s#: { needs: [build-some-thing-#], run: x }")))
steps("ids-long", "{ run: x, name: " + "n" * 100 + " }")

# Groups.
steps("groups-wide", "{ steps: { a: { run: x } } }")
steps("groups-of-three", "{ steps: { a: { run: x }, b: { run: x, needs: [a] }, c: { run: x, needs: [a, b] } } }")
define("groups-deep", lambda n: flow("\n".join("  " + f"g{i}: " + "{ steps: { g: " * 12 + "{ run: x }" + " } }" * 12 for i in range(n // 12))))
define("group-members", lambda n: flow("  g:\n    steps:\n" + numbered(n, "      s#: { run: x }")))
define("group-in-order", lambda n: flow("  g:\n    order: sequence\n    steps:\n" + numbered(n, "      s#: { run: x }")))
define("group-in-order-always", lambda n: flow("  g:\n    order: sequence\n    steps:\n" + numbered(n, "      s#: { if: always(), run: x }")))
define("group-in-order-some-always", lambda n: flow("  g:\n    order: sequence\n    steps:\n" + numbered(n // 2, "      s#: { if: always(), run: x }\n      t#: { run: x }")))
steps("groups-empty", "{ steps: {} }")
steps("groups-without-steps", "{ steps: }")
steps("finally-in-groups", "{ steps: { a: { run: x } }, finally: { b: { run: x } } }")
steps("on-failure-in-groups", "{ steps: { a: { run: x } }, on-failure: { b: { run: x } } }")
define("finally-of-many", lambda n: flow() + "finally:\n" + numbered(n, "  f#: { run: x }"))
define("finally-reads", lambda n: flow(numbered(n, "  s#: { run: x }")) + "finally:\n" + numbered(n, "  f#: { run: ['${{ steps.s#.outcome }}'] }"))
define("on-failure-of-many", lambda n: flow() + "on-failure:\n" + numbered(n, "  f#: { run: x }"))
define("needs-across-hook", lambda n: flow(numbered(n, "  s#: { needs: [f#], run: x }")) + "finally:\n" + numbered(n, "  f#: { needs: [s#], run: x }"))

define("undoes", lambda n: flow(numbered(n, "  s#: { run: x }")) + "finally:\n" + numbered(n, "  f#: { undoes: [s#], run: x }"))
define("undoes-unknown", lambda n: flow(numbered(n, "  s#: { run: x }")) + "finally:\n" + numbered(n, "  f#: { undoes: [t#], run: x }"))

# Params.
tops("params", "params: { % }", "p#: { type: string, default: x }")
tops("params-short", "params: { % }", "p#: x")
tops("params-repeated", "params: { % }", "p: { type: string }")
tops("params-required", "params: { % }", "p#: { required: true }")
tops("params-wrong-type", "params: { % }", "p#: { type: int, default: x }")
tops("params-pattern", "params: { % }", "p#: { pattern: 'a+', default: aa }")
tops("params-env", "params: { % }", "p#: { env: P# }")
tops("param-values", "params: { p: { type: enum, values: [%] } }", "v#")
tops("param-values-repeated", "params: { p: { type: enum, values: [%] } }", "v")
tops("param-default-not-in-values", "params: { p: { type: enum, values: [%], default: none } }", "v#")
tops("param-default-list", "params: { p: { type: list, default: [%] } }", "v#")
tops("param-default-list-of-pattern", "params: { p: { type: list, pattern: '[a-z0-9]+', default: [%] } }", "v#")
define("params-read", lambda n: flow(numbered(n, "  s#: { run: ['${{ params.p# }}'] }"), f"params: {{ {numbered(n, 'p#: { default: x }', ', ')} }}"))
define("params-read-unknown", lambda n: flow(numbered(n, "  s#: { run: ['${{ params.u# }}'] }"), f"params: {{ {numbered(n, 'p#: { default: x }', ', ')} }}"))
define("params-read-without-root", lambda n: flow(numbered(n, "  s#: { run: ['${{ p# }}'] }"), f"params: {{ {numbered(n, 'p#: { default: x }', ', ')} }}"))
define("param-read-often", lambda n: flow(numbered(n, "  s#: { run: ['${{ params.p }}'] }"), "params: { p: { default: x } }"))
define("params-in-scripts", lambda n: flow(numbered(n, "  s#: { run: 'echo ${{ params.p# }}' }"), f"params: {{ {numbered(n, 'p#: { default: x }', ', ')} }}"))
define("params-and-secrets", lambda n: flow("  a: { run: x }", f"params: {{ {numbered(n, 'n#: {}', ', ')} }}\nsecrets: {{ {numbered(n, 'n#: { env: A }', ', ')} }}"))
define("params-and-vars", lambda n: flow("  a: { run: x }", f"params: {{ {numbered(n, 'n#: {}', ', ')} }}\nvars: {{ {numbered(min(n, 1000), 'n#: x', ', ')} }}"))

# Secrets, pools, mutexes.
tops("secrets", "secrets: { % }", "s#: { env: S# }")
tops("secrets-wrong", "secrets: { % }", "s#: { emv: S# }")
define("secrets-of-one-step", lambda n: flow(f"  a: {{ run: x, secrets: [{numbered(n, 'S#', ', ')}] }}", f"secrets: {{ {numbered(n, 'S#: { env: S# }', ', ')} }}"))
define("secrets-of-steps", lambda n: flow(numbered(n, "  s#: { run: x, secrets: [S#] }"), f"secrets: {{ {numbered(n, 'S#: { env: S# }', ', ')} }}"))
define("secrets-undeclared", lambda n: flow(f"  a: {{ run: x, secrets: [{numbered(n, 'T#', ', ')}] }}", f"secrets: {{ {numbered(n, 'S#: { env: S# }', ', ')} }}"))
define("secrets-of-steps-undeclared", lambda n: flow(numbered(n, "  s#: { run: x, secrets: [T#] }"), f"secrets: {{ {numbered(n, 'S#: { env: S# }', ', ')} }}"))
listed("secrets-repeated", "{ run: x, secrets: [%] }", "S", top="secrets: { S: { env: S } }")
define("secrets-and-env", lambda n: flow(f"  a: {{ run: x, secrets: [{numbered(n, 'S#', ', ')}], env: {{ {numbered(n, 'S#: x', ', ')} }} }}", f"secrets: {{ {numbered(n, 'S#: { env: S# }', ', ')} }}"))
define("secrets-in-expressions", lambda n: flow(numbered(n, "  s#: { run: ['${{ S# }}'] }"), f"secrets: {{ {numbered(n, 'S#: { env: S# }', ', ')} }}"))
tops("pools", "pools: { % }", "p#: 2")
define("pools-of-steps", lambda n: flow(numbered(n, "  s#: { run: x, pool: p# }"), f"pools: {{ {numbered(n, 'p#: 2', ', ')} }}"))
define("pools-of-one-step", lambda n: flow(f"  a: {{ run: x, pool: {{ {numbered(n, 'p#: 1', ', ')} }} }}", f"pools: {{ {numbered(n, 'p#: 2', ', ')} }}"))
define("pools-listed", lambda n: flow(f"  a: {{ run: x, pool: [{numbered(n, 'p#', ', ')}] }}", f"pools: {{ {numbered(n, 'p#: 2', ', ')} }}"))
define("pools-unknown", lambda n: flow(numbered(n, "  s#: { run: x, pool: q# }"), f"pools: {{ {numbered(n, 'p#: 2', ', ')} }}"))
define("pools-exceeded", lambda n: flow(numbered(n, "  s#: { run: x, pool: { p#: 3 } }"), f"pools: {{ {numbered(n, 'p#: 2', ', ')} }}"))
steps("pool-shared", "{ run: x, pool: p }", top="pools: { p: 2 }")
define("pools-of-files", lambda n: {"workflow.yml": flow(numbered(n // 16, "  u#: { uses: f#.yml }"), "pools: { p: 2 }"), **{f"f{i}.yml": flow("  a: { run: x, pool: p }", "pools: { p: 2 }") for i in range(n // 16)}})
listed("mutexes", "{ run: x, mutex: [%] }", "m#")
listed("mutexes-repeated", "{ run: x, mutex: [%] }", "m")
steps("mutex-shared", "{ run: x, mutex: m }")
define("mutexes-held", lambda n: flow(f"  g:\n    mutex: [{numbered(n, 'm#', ', ')}]\n    steps:\n" + numbered(n, "      s#: { run: x, mutex: m# }")))
define("mutexes-held-of-one", lambda n: flow(f"  g:\n    mutex: [{numbered(n, 'm#', ', ')}]\n    steps:\n      a: {{ run: x, mutex: [{numbered(n, 'm#', ', ')}] }}"))

# Vars, env, dotenv.
tops("vars", "vars: { % }", "v#: x")
tops("vars-of-commands", "vars: { % }", "v#: { run: x }")
define("vars-in-groups", lambda n: flow(numbered(n, "  g#: { vars: { v: x }, steps: { a: { run: ['${{ vars.v }}'] } } }")))
define("vars-read", lambda n: flow(numbered(n, "  s#: { run: ['${{ vars.v }}'] }"), "vars: { v: x }"))
define("vars-read-unknown", lambda n: flow(numbered(n, "  s#: { run: ['${{ vars.w# }}'] }"), f"vars: {{ {numbered(min(n, 1000), 'v#: x', ', ')} }}"))
define("vars-read-in-scripts", lambda n: flow(numbered(n, "  s#: { run: 'echo $v' }"), "vars: { v: { run: x } }"))
define("vars-many-in-scripts", lambda n: flow(numbered(n, "  s#: { run: 'echo $v#' }"), f"vars: {{ {numbered(min(n, 900), 'v#: { run: x }', ', ')} }}"))
define("vars-chained", lambda n: flow("  a: { run: x }", "vars: { v0: x, " + ", ".join(f"v{i}: '${{{{ vars.v{i - 1} }}}}'" for i in range(1, min(n, 1000))) + " }"))
define("vars-chained-in-groups", lambda n: flow("\n".join("  g%d: { vars: { v0: x, %s }, steps: { a: { run: x } } }" % (g, ", ".join(f"v{i}: '${{{{ vars.v{i - 1} }}}}'" for i in range(1, 32))) for g in range(n // 32))))
define("vars-value-list", lambda n: flow("  a: { run: x }", f"vars: {{ v: [{numbered(n, 'x#', ', ')}] }}"))
listed("env", "{ run: x, env: { % } }", "E#: x")
listed("env-repeated", "{ run: x, env: { % } }", "E: x")
listed("env-of-expressions", "{ run: x, env: { % } }", "E#: '${{ run.id }}'")
listed("env-wrong-names", "{ run: x, env: { % } }", "E-#: x")
listed("env-reserved-names", "{ run: x, env: { % } }", "FLOWRUN_#: x")
listed("env-alike", "{ run: x, env: { % } }", "E#: '$HOME/x'")
tops("env-at-top", "env: { % }", "E#: x")
define("env-at-top-read", lambda n: flow(numbered(n, "  s#: { run: ['${{ env.E# }}'] }"), f"env: {{ {numbered(n, 'E#: x', ', ')} }}"))
steps("env-unset-read", "{ run: ['${{ env.E# }}'] }")
steps("env-of-steps", "{ run: x, env: { A: x, B: y } }")
tops("dotenv", "dotenv: [%]", "f#.env")
tops("dotenv-mappings", "dotenv: [%]", "{ path: f#.env, optional: true }")
tops("dotenv-repeated", "dotenv: [%]", "f.env")

# Fan-outs.
listed("for-each", "{ run: x, max-items: 100000, for-each: [%] }", "v#")
listed("for-each-repeated", "{ run: x, max-items: 100000, for-each: [%] }", "v")
listed("for-each-alike", "{ run: x, max-items: 100000, for-each: [%] }", "'v #'")
listed("for-each-too-many", "{ run: x, for-each: [%] }", "v#")
define("for-each-label", lambda n: flow(f"  a: {{ run: x, max-items: 100000, label: 'l-${{{{ item }}}}', for-each: [{numbered(n, 'v#', ', ')}] }}"))
steps("for-each-of-steps", "{ run: ['${{ item }}'], for-each: [a, b] }")
define("for-each-of-group", lambda n: flow(f"  g:\n    max-items: 100000\n    for-each: [{numbered(n // 4, 'v#', ', ')}]\n    steps: {{ a: {{ run: ['${{{{ item }}}}'] }}, b: {{ run: x, needs: [a] }} }}"))
define("for-each-over-params", lambda n: flow("  a: { run: ['${{ item }}'], max-items: 100000, for-each: '${{ params.p }}' }", f"params: {{ p: {{ type: list, default: [{numbered(n, 'v#', ', ')}] }} }}"))
listed("matrix-axis", "{ run: x, max-items: 100000, matrix: { os: [%] } }", "v#")
define("matrix-two-axes", lambda n: flow(f"  a: {{ run: x, max-items: 100000, matrix: {{ os: [{numbered(math.isqrt(n), 'v#', ', ')}], arch: [{numbered(math.isqrt(n), 'w#', ', ')}] }} }}"))
listed("matrix-include", "{ run: x, max-items: 100000, matrix: { os: [a], include: [%] } }", "{ os: v#, extra: e# }")
listed("matrix-include-names", "{ run: x, max-items: 100000, matrix: { os: [a], include: [%] } }", "{ os: a, extra#: e }")
listed("matrix-include-repeated", "{ run: x, max-items: 100000, matrix: { os: [a], include: [%] } }", "{ os: v, extra: e }")
define("matrix-exclude", lambda n: flow(f"  a: {{ run: x, max-items: 100000, matrix: {{ os: [z, {numbered(n, 'v#', ', ')}], exclude: [{numbered(n, '{ os: v# }', ', ')}] }} }}"))
listed("matrix-exclude-unknown", "{ run: x, matrix: { os: [a], exclude: [%] } }", "{ os: v# }")
listed("matrix-exclude-axes", "{ run: x, matrix: { os: [a], exclude: [%] } }", "{ oz#: v }")
listed("matrix-axes", "{ run: x, max-items: 100000, matrix: { % } }", "a#: [x]")
define("matrix-variables-read", lambda n: flow(f"  a: {{ run: [{numbered(n, '${{ a# }}', ', ').replace('${{', chr(39) + '${{').replace('}}', '}}' + chr(39))}], max-items: 100000, matrix: {{ {numbered(n, 'a#: [x]', ', ')} }} }}"))
define("matrix-extra-read", lambda n: flow(f"  g:\n    max-items: 100000\n    matrix: {{ os: [a], include: [{numbered(n, '{ os: v#, extra: e# }', ', ')}] }}\n    steps:\n" + numbered(n, "      s#: { run: ['${{ extra }}'] }")) if n <= 200 else flow(f"  g:\n    max-items: 100000\n    matrix: {{ os: [a], include: [{numbered(200, '{ os: v#, extra: e# }', ', ')}] }}\n    steps:\n" + numbered(n, "      s#: { run: ['${{ os }}'] }")))

# Values.
listed("platforms", "{ run: x, platforms: [%] }", "linux")
steps("platforms-of-steps", "{ run: x, platforms: [linux, macos] }")
listed("retry-when", "{ run: x, retry: { attempts: 2, when: '%' } }", "exit_code == #", between=" || ")
listed("retry-when-listed", "{ run: x, retry: { attempts: 2, when: [%] } }", "#")
steps("retry-of-steps", "{ run: x, retry: { attempts: 3, delay: 1s } }")
steps("timeouts", "{ run: x, timeout: 1m, grace: 1s }")
listed("run-words", "{ run: [%] }", "word#")
listed("run-words-of-expressions", "{ run: [x, %] }", "'${{ run.id }}'")
listed("shell-words", "{ run: x, shell: [%] }", "word#")
define("run-lines", lambda n: flow("  a:\n    run: |\n" + numbered(n, "      echo $A# >> \"$FLOWRUN_OUTPUT\"")))
define("run-long-line", lambda n: flow("  a: { run: 'echo " + "x " * n + "' }"))
define("run-folded", lambda n: flow("  a:\n    run: >\n" + numbered(n, "      echo #")))
define("run-escapes", lambda n: flow("  a: { run: \"" + "\\x41\\n" * n + "\" }"))
define("run-expressions", lambda n: flow("  a: { run: 'echo " + "${{ params.p }} " * n + "' }", "params: { p: {} }"))
define("run-expressions-escaped", lambda n: flow("  a: { run: \"echo " + "${{ params.p }}\\n" * n + "\" }", "params: { p: {} }"))
define("run-heredocs", lambda n: flow("  a:\n    run: |\n" + numbered(n, "      cat <<EOF#\n      ${{ params.p }}\n      EOF#"), "params: { p: {} }"))
define("require", lambda n: flow() + f"require: [{numbered(n, '{ if: true, message: no }', ', ')}]")
define("stdin", lambda n: flow("  a: { run: x, stdin: '" + "${{ run.id }}" * n + "' }"))
define("description-long", lambda n: flow("  a: { run: x, description: '" + "d" * n * 10 + "' }"))
tops("default", "default: [%]", "s#", step="%")
families["default"] = lambda n: flow(numbered(n, "  s#: { run: x }"), f"default: [{numbered(n, 's#', ', ')}]")
define("default-of-members", lambda n: flow("  g:\n    steps:\n" + numbered(n, "      s#: { run: x }"), f"default: [{numbered(n, 'g.s#', ', ')}]"))
define("default-of-copies", lambda n: flow(f"  a: {{ run: x, max-items: 100000, for-each: [{numbered(n, 'v#', ', ')}] }}", f"default: [{numbered(n, chr(39) + 'a[v#]' + chr(39), ', ')}]"))
define("default-unknown", lambda n: flow(numbered(n, "  s#: { run: x }"), f"default: [{numbered(n, 'u#', ', ')}]"))
define("default-misspelt", lambda n: flow(numbered(n, "  step#: { run: x }"), f"default: [{numbered(n, 'stp#', ', ')}]"))
define("default-unknown-deep", lambda n: flow(numbered(n, "  g#: { steps: { step: { run: x } } }"), f"default: [{numbered(n, 'g#.stp', ', ')}]"))
define("default-dynamic", lambda n: flow(numbered(n, "  s#: { run: x, for-each: '${{ params.p }}' }"), f"params: {{ p: {{ type: list, default: [a] }} }}\ndefault: [{numbered(n, chr(39) + 's#[a]' + chr(39), ', ')}]"))
define("default-repeated", lambda n: flow("  a: { run: x }", f"default: [{numbered(n, 'a', ', ')}]"))

# Outputs and who reads them.
listed("outputs", "{ run: x, outputs: { % } }", "o#: string")
define("outputs-read", lambda n: flow(f"  a: {{ run: x, outputs: {{ {numbered(n, 'o#: string', ', ')} }} }}\n" + numbered(n, "  s#: { needs: [a], run: ['${{ steps.a.outputs.o# }}'] }")))
define("outputs-read-by-one", lambda n: flow(f"  a: {{ run: x, outputs: {{ {numbered(n, 'o#: string', ', ')} }} }}\n  b: {{ needs: [a], run: [x, {numbered(n, chr(39) + '${{ steps.a.outputs.o# }}' + chr(39), ', ')}] }}"))
define("outputs-unknown", lambda n: flow(f"  a: {{ run: x, outputs: {{ {numbered(n, 'o#: string', ', ')} }} }}\n" + numbered(n, "  s#: { needs: [a], run: ['${{ steps.a.outputs.u# }}'] }")))
define("outputs-of-group", lambda n: flow("  g:\n    outputs: { " + numbered(n, "o#: '${{ steps.m#.outputs.v }}'", ", ") + " }\n    steps:\n" + numbered(n, "      m#: { run: x, outputs: { v: string } }") + "\n" + numbered(n, "  s#: { needs: [g], run: ['${{ steps.g.outputs.o# }}'] }")))
define("reads-direct", lambda n: flow("  s0: { run: x, outputs: { v: string } }\n" + "\n".join(f"  s{i}: {{ needs: [s{i - 1}], run: ['${{{{ steps.s{i - 1}.outputs.v }}}}'], outputs: {{ v: string }} }}" for i in range(1, n))))
define("reads-one-further", lambda n: flow("  s0: { run: x, outputs: { v: string } }\n  s1: { needs: [s0], run: x, outputs: { v: string } }\n" + "\n".join(f"  s{i}: {{ needs: [s{i - 1}], run: ['${{{{ steps.s{i - 2}.outputs.v }}}}'], outputs: {{ v: string }} }}" for i in range(2, n))))
define("reads-setup", lambda n: flow("  s0: { run: x, outputs: { v: string } }\n" + "\n".join(f"  s{i}: {{ needs: [s{i - 1}], run: ['${{{{ steps.s0.outputs.v }}}}'] }}" for i in range(1, n))))
define("reads-setup-in-layers", lambda n: flow("  s: { run: x, outputs: { v: string } }\n" + "\n".join(f"  l{i}s{j}: {{ run: ['${{{{ steps.s.outputs.v }}}}'], needs: [{', '.join(f'l{i - 1}s{k}' for k in range(16)) if i else 's'}] }}" for i in range(n // 16) for j in range(16))))
define("reads-many-from-one", lambda n: flow(numbered(n, "  s#: { run: x, outputs: { v: string } }") + f"\n  m: {{ needs: [{numbered(n, 's#', ', ')}] }}\n  b: {{ needs: [m], run: [x, {numbered(n, chr(39) + '${{ steps.s#.outputs.v }}' + chr(39), ', ')}] }}"))
define("reads-by-members", lambda n: flow(numbered(n, "  s#: { run: x, outputs: { v: string } }") + f"\n  g:\n    needs: [{numbered(n, 's#', ', ')}]\n    steps:\n" + numbered(n, "      m#: { run: ['${{ steps.s#.outputs.v }}'] }")))
define("reads-previous", lambda n: flow("  g:\n    order: sequence\n    steps:\n      a: { run: x, outputs: { v: string } }\n" + numbered(n, "      s#: { run: ['${{ previous.outputs.v }}'], outputs: { v: string } }")))
define("reads-unordered", lambda n: flow("  a: { run: x, outputs: { v: string } }\n" + numbered(n, "  s#: { run: ['${{ steps.a.outputs.v }}'] }")))
define("reads-unordered-chain", lambda n: flow("\n".join(f"  s{i}: {{ run: ['${{{{ steps.s{i + 1}.outputs.v }}}}'], needs: [s{i - 1}], outputs: {{ v: string }} }}" if i else "  s0: { run: x, outputs: { v: string } }" for i in range(n - 1)) + f"\n  s{n - 1}: {{ run: x, outputs: {{ v: string }} }}"))
define("reads-in-ring", lambda n: flow("\n".join(f"  s{i}: {{ needs: [s{(i + 1) % n}], run: ['${{{{ steps.s{(i + 2) % n}.outputs.v }}}}'], outputs: {{ v: string }} }}" for i in range(n))))
define("reads-unknown-steps", lambda n: flow(numbered(n, "  s#: { run: ['${{ steps.t#.outputs.v }}'] }")))
define("reads-own", lambda n: flow(numbered(n, "  s#: { run: ['${{ steps.s#.outputs.v }}'], outputs: { v: string } }")))
define("reads-maybe-absent", lambda n: flow("  a: { run: x, if: 'params.p == 1', outputs: { v: string } }\n" + numbered(n, "  s#: { needs: [a], run: ['${{ steps.a.outputs.v }}'] }"), "params: { p: { type: int, default: 1 } }"))
define("reads-copies", lambda n: flow("  a: { run: x, for-each: [p, q], outputs: { v: string } }\n" + numbered(n, "  s#: { needs: [a], run: ['${{ join(steps.a.items.*.outputs.v, 1) }}'] }")))
define("reads-items-of-steps", lambda n: flow("  s0: { run: x, outputs: { v: list } }\n" + "\n".join(f"  s{i}: {{ needs: [s{i - 1}], for-each: '${{{{ steps.s{i - 1}.outputs.v }}}}', run: x, outputs: {{ v: list }} }}" if i < 2 else f"  s{i}: {{ needs: [s0], for-each: '${{{{ steps.s0.outputs.v }}}}', run: x }}" for i in range(1, n))))
define("previous-outside", lambda n: flow(numbered(n, "  s#: { run: ['${{ previous.outputs.v }}'] }")))

# Conditions.
steps("if", "{ if: params.p, run: x }", top="params: { p: { type: bool, default: true } }")
steps("if-always", "{ if: always(), run: x }")
define("if-always-behind", lambda n: flow("  a: { run: x }\n" + numbered(n, "  s#: { needs: [a], if: always(), run: x }\n  t#: { needs: [s#], run: x }")))
define("if-always-above-many", lambda n: flow(numbered(n, "  s#: { run: x }") + f"\n  logs: {{ if: always(), needs: [{numbered(n, 's#', ', ')}], run: x }}\n  publish: {{ needs: [logs], run: x }}"))
define("if-always-above-many-below-many", lambda n: flow(numbered(n, "  s#: { run: x }") + f"\n  logs: {{ if: always(), needs: [{numbered(n, 's#', ', ')}], run: x }}\n" + numbered(n, "  p#: { needs: [logs], run: x }")))
define("if-always-many-guards", lambda n: flow(numbered(n, "  s#: { run: x }") + f"\n  logs: {{ if: always(), needs: [{numbered(n, 's#', ', ')}], run: x }}\n" + numbered(n, f"  p#: {{ needs: [logs, s#], run: x }}")))
define("if-always-many-between", lambda n: flow("  a: { run: x }\n" + numbered(n, "  l#: { needs: [a], if: always(), run: x }") + f"\n  p: {{ needs: [{numbered(n, 'l#', ', ')}], run: x }}"))
define("if-always-long-chain", lambda n: flow("  a: { run: x }\n  s0: { run: x }\n" + "\n".join(f"  s{i}: {{ needs: [s{i - 1}], run: x }}\n  l{i}: {{ needs: [a], if: always(), run: x }}\n  p{i}: {{ needs: [s{i}, l{i}], run: x }}" for i in range(1, n // 3 + 2))))
define("if-outcome-of-many", lambda n: flow(numbered(n, "  s#: { run: x }") + "\n  logs: { if: \"always() && " + numbered(n // 2, "steps.s#.outcome == 'success'", " && ") + f"\", needs: [{numbered(n, 's#', ', ')}], run: x }}\n" + numbered(n, "  p#: { needs: [logs], run: x }")))
define("if-always-in-chain", lambda n: flow("  s0: { run: x }\n" + "\n".join(f"  s{i}: {{ needs: [s{i - 1}], {'if: always(), ' if i % 2 else ''}run: x }}" for i in range(1, n))))
define("if-always-wide-groups", lambda n: flow("  g:\n    steps:\n" + numbered(n, "      m#: { run: x }") + "\n  l: { needs: [g], if: always(), run: x }\n" + numbered(n, "  p#: { needs: [g, l], run: x }")))
steps("if-command", "{ if: 'test -f x', run: x }")
steps("if-wrong", "{ if: 'a ==', run: x }")
steps("if-text", "{ if: \"'${{ params.b }}'\", run: x }", top="params: { b: { default: x } }")
define("if-group-deep", lambda n: flow("\n".join("  " + f"g{i}: " + "{ if: always(), steps: { g: " * 12 + "{ run: x, if: always() }" + " } }" * 12 for i in range(n // 12))))

# Expressions.
listed("expression-or", "{ if: \"%\", run: x }", "run.id == 'a#'", between=" || ")
listed("expression-coalesce", "{ run: [\"${{ % }}\"] }", "env.A#", between=" ?? ")
listed("expression-arguments", "{ run: [\"${{ format('x', %) }}\"] }", "run.id")
listed("expression-contains", "{ if: \"%\", run: x }", "contains('a#', 'a')", between=" && ")
define("expression-text-long", lambda n: flow("  a: { run: [\"${{ '" + "x" * min(n * 4, 60000) + "' }}\"] }"))
steps("expression-unknown-names", "{ run: ['${{ nonsense# }}'] }")
steps("expression-foreign-names", "{ run: ['${{ inputs.a# }}'] }")
steps("expression-unknown-functions", "{ run: ['${{ tojsn(run.id) }}'] }")
steps("expression-wrong-types", "{ run: ['${{ len(1) }}'] }")
steps("expression-unclosed", "{ run: ['${{ run.id'] }")
steps("expression-not-closed-bracket", "{ run: ['${{ (run.id }}'] }")
steps("expression-where-none-may-be", "{ run: x, kill-signal: '${{ run.id }}' }")
define("template-parts", lambda n: flow("  a: { run: [\"" + "x${{ run.id }}" * n + "\"] }"))
define("template-parts-wrong", lambda n: flow("  a: { run: [\"" + "x${{ nonsense }}" * n + "\"] }"))
define("template-parts-unclosed", lambda n: flow("  a: { run: [\"" + "x${{ " * n + "\"] }"))
steps("status-outside-if", "{ run: ['${{ always() }}'] }")

# Keys that are wrong.
steps("keys-unknown", "{ run: x, nonsense#: 1 }")
steps("keys-misspelt", "{ runn: x }")
steps("keys-foreign", "{ run: x, retries: 3 }")
steps("keys-foreign-values", "{ run: x, ignore_errors: yes }")
steps("keys-without-blank", "{ run: x, name:y }")
steps("keys-of-other-places", "{ run: x, pools: { a: 1 } }")
listed("keys-unknown-in-one", "{ run: x, % }", "nonsense#: 1")
listed("keys-repeated", "{ %, run: x }", "name: a")
listed("keys-repeated-unknown", "{ %, run: x }", "nonsense: a")
steps("values-of-wrong-type", "{ run: [[x]], manual: 1, timeout: x }")
steps("values-lookalike", "{ run: x, manual: yes }")
steps("values-of-blank-programs", "{ run: ['echo #'] }")
steps("values-empty", "{ run: , needs: }")
steps("run-missing", "{ name: x, timeout: 1s }")
steps("output-undeclared", "{ run: 'echo a=1 >> $FLOWRUN_OUTPUT' }")
steps("timeout-without-unit", "{ run: x, timeout: 5 }")
steps("kill-signal-wrong", "{ run: x, kill-signal: sigterm }")
steps("order-wrong", "{ order: serial, steps: { a: { run: x } } }")
steps("needs-kind-wrong", "{ run: x, needs: { a: ok } }", first="  a: { run: x }")
steps("needs-text", "{ run: x, needs: a b }", first="  a: { run: x }\n  b: { run: x }")
steps("make-lookalike", "{ run: make -j4 }")

# Uses.
define("uses-template", lambda n: flow(numbered(min(n, 9000), "  u#: { uses: t }"), "templates: { t: { steps: { a: { run: x } } } }"))
define("uses-template-with", lambda n: flow(numbered(min(n, 9000), "  u#: { uses: t, with: { p: v } }"), "templates: { t: { params: { p: {} }, steps: { a: { run: ['${{ params.p }}'] } } } }"))
define("uses-many-arguments", lambda n: flow(f"  u: {{ uses: t, with: {{ {numbered(n, 'p#: v', ', ')} }} }}", f"templates: {{ t: {{ params: {{ {numbered(n, 'p#: {}', ', ')} }}, steps: {{ a: {{ run: x }} }} }} }}"))
define("uses-many-params-read", lambda n: flow(f"  u: {{ uses: t, with: {{ {numbered(n, 'p#: v', ', ')} }} }}", f"templates: {{ t: {{ params: {{ {numbered(n, 'p#: {}', ', ')} }}, steps: {{ a: {{ run: [x, {numbered(n, chr(39) + '${{ params.p# }}' + chr(39), ', ')}] }} }} }} }}"))
define("uses-unknown-arguments", lambda n: flow(f"  u: {{ uses: t, with: {{ {numbered(n, 'q#: v', ', ')} }} }}", f"templates: {{ t: {{ params: {{ {numbered(n, 'p#: {}', ', ')} }}, steps: {{ a: {{ run: x }} }} }} }}"))
define("uses-missing-arguments", lambda n: flow("  u: { uses: t }", f"templates: {{ t: {{ params: {{ {numbered(n, 'p#: { required: true }', ', ')} }}, steps: {{ a: {{ run: x }} }} }} }}"))
define("templates", lambda n: flow(numbered(min(n, 9000), "  u#: { uses: t# }"), f"templates: {{ {numbered(min(n, 9000), 't#: { steps: { a: { run: x } } }', ', ')} }}"))
tops("templates-unused", "templates: { % }", "t#: { steps: { a: { run: x } } }")
define("templates-unknown", lambda n: flow(numbered(min(n, 9000), "  u#: { uses: q# }"), f"templates: {{ {numbered(n, 't#: { steps: { a: { run: x } } }', ', ')} }}"))
define("uses-files", lambda n: {"workflow.yml": flow(numbered(n // 16, "  u#: { uses: f#.yml }")), **{f"f{i}.yml": flow() for i in range(n // 16)}})
define("uses-files-wrong", lambda n: {"workflow.yml": flow(numbered(n // 16, "  u#: { uses: f#.yml }")), **{f"f{i}.yml": flow("  a: { runn: x }") for i in range(n // 16)}})
define("uses-file-often", lambda n: {"workflow.yml": flow(numbered(min(n, 9000), "  u#: { uses: f.yml }")), "f.yml": flow()})
define("uses-missing-files", lambda n: flow(numbered(n // 4, "  u#: { uses: f#.yml }")))

# YAML.
define("comments", lambda n: flow() + numbered(n, "# comment #"))
define("blank-lines", lambda n: flow() + "\n" * n)
define("anchors", lambda n: flow(numbered(n, "  s#: &a# { run: x }")))
define("anchors-and-aliases", lambda n: flow(numbered(n, "  s#: &a# { run: x }\n  t#: *a#")))
define("aliases-of-one", lambda n: flow("  a: &a { run: x }\n" + numbered(n, "  s#: *a")))
define("aliases-unknown", lambda n: flow(numbered(n, "  s#: *a#")))
define("aliases-unknown-of-many", lambda n: flow(numbered(n, "  s#: &a# { run: x }\n  t#: *b#")))
define("aliases-of-a-finding", lambda n: flow("  a: &a { runn: x }\n" + numbered(n, "  s#: *a")))
define("aliases-of-needs", lambda n: flow("  a: { run: x }\n  b: { run: x, needs: &n [a] }\n" + numbered(n, "  s#: { run: x, needs: *n }")))
define("aliases-of-wrong-needs", lambda n: flow("  b: { run: x, needs: &n [zz] }\n" + numbered(n, "  s#: { run: x, needs: *n }")))
define("aliases-of-expressions", lambda n: flow("  a: { run: x, env: &e { A: '${{ nonsense }}' } }\n" + numbered(n, "  s#: { run: x, env: *e }")))
define("aliases-of-scripts", lambda n: flow("  a: { run: &r 'echo ${{ params.p }}' }\n" + numbered(n, "  s#: { run: *r }"), "params: { p: {} }"))
define("aliases-of-a-long-list", lambda n: flow(f"  a: {{ run: x, env: &e {{ {numbered(math.isqrt(n), 'E#: x', ', ')} }} }}\n" + numbered(math.isqrt(n), "  s#: { run: x, env: *e }")))
define("merge-keys", lambda n: flow("  a: &a { run: x }\n" + numbered(n, "  s#: { <<: *a }")))
define("tags", lambda n: flow(numbered(n, "  s#: !x { run: x }")))
define("keys-not-scalar", lambda n: flow(numbered(n, "  [s#]: { run: x }")))
define("nesting", lambda n: flow("  a: " + "[" * n))
define("tabs", lambda n: flow(numbered(n, "  s#:\n\trun: x")))
define("controls", lambda n: flow(numbered(n, "  s#: { run: x\x01 }")))
define("unclosed-brackets", lambda n: flow(numbered(n, "  s#: { run: x")))
define("unclosed-quote", lambda n: flow("  a: { run: \"" + "x y\n   " * n))
define("documents", lambda n: flow() + "---\na: 1\n" * n)
define("one-line", lambda n: "{ version: 1, steps: { " + numbered(n, "s#: { run: x }", ", ") + " } }")
define("one-line-of-findings", lambda n: "{ version: 1, steps: { " + numbered(n, "s#: { runn: x }", ", ") + " } }")
define("json", lambda n: '{"version": 1, "steps": {' + numbered(n, '"s#": {"run": "x", "needs": []}', ", ") + "}}")


def write(folder, files):
    if isinstance(files, str):
        files = {"workflow.yml": files}
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


def instructions(flowrun, folder):
    """The number of instructions that the check of a folder's workflow takes."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", flowrun, *CHECK]
    run = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True, check=False)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode not in (0, 2) or not found:
        raise SystemExit(f"{' '.join(command)}: status {run.returncode}\n{run.stderr[-2000:]}")
    return int(found[1])


def processor_time(flowrun, folder):
    """The processor time of a check in microseconds."""
    process = subprocess.Popen([flowrun, *CHECK], cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 2):
        raise SystemExit(f"status {process.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1e6


def slope(sizes, costs):
    """The slope of the least squares line through the points, both as logarithms."""
    points = [(math.log(size), math.log(max(cost, 1))) for size, cost in zip(sizes, costs)]
    x, y = (sum(values) / len(points) for values in zip(*points))
    return sum((px - x) * (py - y) for px, py in points) / sum((px - x) ** 2 for px, _ in points)


def main():
    parser = argparse.ArgumentParser(description="Checks that the cost of `flowrun check` grows with the file.")
    parser.add_argument("flowrun", metavar="FLOWRUN")
    parser.add_argument("--time", action="store_true", help="processor time in place of instructions")
    parser.add_argument("--only", metavar="WORD,...", default="", help="families that have one of these in their name")
    parser.add_argument("--sizes", metavar="N,N,...", help="(default: 1000,2000,4000,8000)", default="1000,2000,4000,8000")
    parser.add_argument("--limit", metavar="SLOPE", type=float, default=1.2)
    parser.add_argument("--jobs", metavar="N", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    measure = processor_time if options.time else instructions
    scratch = tempfile.TemporaryDirectory()
    # Valgrind does not know the form of Swift's debug sections, and ends at the first.
    flowrun = os.path.join(scratch.name, "flowrun")
    subprocess.run(["strip", "--strip-debug", "-o", flowrun, options.flowrun], check=True)
    words = options.only.split(",")
    chosen = {name: make for name, make in families.items() if any(word in name for word in words)}
    if not chosen:
        parser.error(f"no family has one of {options.only} in its name")

    def cost(files):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, files)
            return measure(flowrun, folder)

    # Part of every cost, whatever the size.
    floor = cost(flow())
    # Less than this, a millisecond or an instruction, cannot be measured.
    least = 1000 if options.time else 1

    def measured(make):
        costs = [max(least, cost(make(size)) - floor) for size in sizes]
        # Other work of the machine makes a time longer, never shorter.
        for _ in range(4 if options.time else 0):
            if slope(sizes, costs) <= options.limit:
                break
            costs = [min(known, max(least, cost(make(size)) - floor)) for known, size in zip(costs, sizes)]
        return costs

    bad = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, costs in zip(chosen, pool.map(measured, chosen.values())):
            # A check that ends after a fixed number of findings, or at a fixed limit, may rise less than linearly.
            rise = slope(sizes, costs)
            verdict = "" if rise <= options.limit else "  TOO STEEP"
            if verdict:
                bad.append(name)
            print(f"{name:34} {rise:5.2f}  {' '.join(f'{value:14,.0f}' for value in costs)}{verdict}", flush=True)
    print(f"{len(chosen)} families, {len(bad)} too steep{': ' + ', '.join(bad) if bad else ''}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
