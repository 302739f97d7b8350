/// The bad cases that are texts rather than documents, as workflow files: a list of steps becomes a mapping by hand. The
/// marker stands where a finding must be.
let badCaseTexts: [String: String] = [
    "doc-empty": "1️⃣",
    "doc-only-comment": "1️⃣# nothing here\n",
    "key-duplicate-step": "version: 1\nsteps:\n  a:\n    run: echo 1\n    1️⃣run: echo 2\n",
    "key-duplicate-env": "version: 1\nenv:\n  A: 1\n  1️⃣A: 2\nsteps:\n  a: { run: echo a }\n",
    "timeout-infinite": "version: 1\nsteps:\n  a:\n    run: sleep 1\n    timeout: 1️⃣.inf\n",
    "timeout-octal-look": "version: 1\nsteps:\n  a:\n    run: echo a\n    timeout: 010s\n",
    "bool-word": "version: 1\nfail-fast: 1️⃣off\nsteps:\n  f: { run: echo f }\n",
    "env-yes-value": "version: 1\nsteps:\n  a:\n    run: echo $V\n    env: {V: no}\n",
    "yaml-colon-in-plain": "version: 1\nsteps:\n  a:\n    run: say price1️⃣: ten\n",
    "yaml-tab-indent": "version: 1\nsteps:\n  a:\n1️⃣\t\trun: echo a\n",
    "yaml-comma-missing": "version: 1\nsteps: {a: {run: echo a\n   1️⃣timeout: 5s}}\n",
    "yaml-bad-escape": "version: 1\nsteps:\n  a:\n    run: \"echo 1️⃣\\'a\\'\"\n",
    "yaml-directive-late": "version: 1\n1️⃣%YAML 1.2\n---\nsteps:\n  a: { run: echo a }\n",
    "yaml-version-2": "1️⃣%YAML 2.0\n---\nversion: 1\nsteps:\n  a: { run: echo a }\n",
    "yaml-trailing-text": "version: 1\nsteps:\n  a:\n    run: \"echo\" 1️⃣more\n",
    "yaml-unknown-anchor": "version: 1\nsteps:\n  a:\n    run: echo a\n    env: 1️⃣*none\n",
    "yaml-recursive-alias": "version: 1\nsteps: &all\n  a:\n    run: echo a\n    needs: 1️⃣*all\n",
    "yaml-recursive-mapping": "version: 1\nsteps:\n  a: &s\n    run: echo a\n    env: 1️⃣*s\n",
    "yaml-anchor-empty": "version: 1\nsteps:\n  a:\n    run: echo a\n    env: 1️⃣&e\n",
    "yaml-tag-unknown": "version: 1\nsteps:\n  a:\n    run: 1️⃣!secret cmd\n",
    "yaml-tag-python": "version: 1\nsteps:\n  a:\n    run: 1️⃣!!python/object/apply:os.system [\"true\"]\n",
    "yaml-bomb-steps": """
    a: &a {x: {run: echo a}}
    b: &b {0: *a, 1: *a, 2: *a, 3: *a, 4: *a, 5: *a, 6: *a, 7: *a, 8: *a, 9: *a}
    c: &c {0: *b, 1: *b, 2: *b, 3: *b, 4: *b, 5: *b, 6: *b, 7: *b, 8: *b, 9: *b}
    d: &d {0: *c, 1: *c, 2: *c, 3: *c, 4: *c, 5: *c, 6: *c, 7: *c, 8: *c, 9: *c}
    steps: 1️⃣*d

    """,
    "yaml-deep-block": "version: 1\nsteps:\n  a: { run: echo }\n"
        + (0..<300).map { String(repeating: " ", count: $0) + ($0 == 64 ? "1️⃣" : "") + "x:\n" }.joined(),
    "yaml-block-text": "version: 1\nsteps:\n  a:\n    run: |\n      # not a comment of the file\n      echo \"a: b\"\n",
    "yaml-flow-json": #"{"version": 1, "steps": {"a": {"run": "echo a"}, "b": {"run": "echo b", "needs": ["a"]}}}"#,
    "yaml-crlf": "version: 1\r\nsteps:\r\n  a:\r\n    run: echo a\r\n",
    "yaml-document-marks": "%YAML 1.2\n---\nversion: 1\nsteps:\n  a: {run: echo a}\n...\n",
    "yaml-comment-everywhere":
        "# top\nversion: 1\nsteps: # here\n# between\n  a: # id\n    # deeper\n    run: echo a # command\n#end\n",
    "yaml-long-line": "version: 1\nsteps:\n  a:\n    run: \(String(repeating: "x", count: 20_000))\n",
]
