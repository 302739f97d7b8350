// Codes about keys and what they may hold: part of FR02xx.
extension DiagnosticCode {
    var keyDetails: DiagnosticExplanation {
        switch self {
        case .unknownKey:
            DiagnosticExplanation(
                "unknown key",
                """
                The format has no such key here. A misspelt key that went unnoticed would be a timeout that
                never fires, so flowrun refuses unknown keys.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: echo\n    timout: 5m",
                remedy: "write the suggested key, or remove it.")
        case .foreignKey:
            DiagnosticExplanation(
                "a word of another tool",
                "flowrun has another word for what this key says in other tools.",
                example: "version: 1\nsteps:\n  a: { run: echo }\n  b:\n    run: echo\n    depends_on: [a]",
                remedy: "write the flowrun word that the finding names.")
        case .missingKey:
            DiagnosticExplanation(
                "a key is missing",
                """
                A workflow needs `steps`, a step needs `run`, and a group needs `steps`; `retry` needs `attempts`, a
                parameter of type enum needs `values`, and a secret the place it comes from. An enum, a path and a
                parameter with a `pattern` need a `default` or `required: true`, because an empty text is not one of their values.

                A step without `run` that has `needs` joins others. It starts no process, so it has no keys that are
                about one.
                """,
                example: "version: 1\nsteps:\n  hello:\n    timeout: 5m",
                remedy: "add the key.")
        case .wrongType:
            DiagnosticExplanation(
                "a value of the wrong kind",
                """
                The key takes another kind of value: a list in place of a text, a text in place of a boolean. Only true and
                false are booleans. A command that YAML reads as a boolean or a number needs quotes.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: true",
                remedy: "write run: \"true\", or run: [\"true\"].")
        case .invalidValue:
            DiagnosticExplanation(
                "an impossible value",
                """
                The value is of the right kind but out of range. Durations have units: 90s, 10m, 1h30m,
                250ms, 1d. Counts are whole numbers from 1.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: echo\n    timeout: 30",
                remedy: "write timeout: 30s, or 30m if minutes are meant.")
        case .notSupportedYet:
            DiagnosticExplanation(
                "not supported yet",
                """
                The word belongs to version 1 of the format, and this version of flowrun cannot do it yet. It is refused
                rather than ignored: a workflow that passes does all that it says.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: echo\n    jobserver: true",
                remedy: "remove it, or use a newer flowrun.")
        case .conflictingKeys:
            DiagnosticExplanation(
                "keys that do not go together",
                """
                A node runs one command or holds steps, fans out by `matrix` or by `for-each`. Some keys mean
                nothing on their own: `as` belongs to `for-each`, `max-items` to a fan-out, `shell` to a script, `backoff` to
                a `delay`. A required parameter has no default, and a secret comes from one place. An
                interactive step has the terminal, and neither `stdin` nor `streams`.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: echo\n    steps:\n      inner: { run: echo }",
                remedy: "remove one of them, or move one into a step of its own.")
        case .expressionInScript:
            DiagnosticExplanation(
                "an expression in a script",
                """
                What other tools put in place of ${{ }} becomes part of the script, and a value with a quote or a semicolon
                becomes a command. In flowrun a value is never code: a script reaches the shell as it is written.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: echo ${{ name }}",
                remedy: "set an environment variable with `env` and read it as \"$NAME\", or write `run` as a list.")
        case .emptyList:
            DiagnosticExplanation(
                "nothing in it",
                """
                A list or mapping that must hold something is empty. Without steps nothing would run; an axis without
                values makes the whole matrix empty. An empty `needs` or `for-each`, or a group without members, is a
                warning: it does no harm.
                """,
                example: "version: 1\nsteps: {}",
                remedy: "add an entry, or remove the key.")
        case .formatVersion:
            DiagnosticExplanation(
                "format version",
                """
                Every workflow file says which version of the format it is written in, so that a later flowrun can still
                read it as it was meant. The only version so far is 1.
                """,
                example: "steps:\n  hello: { run: echo }",
                remedy: "write `version: 1` as the first line.")
        case .invalidPattern:
            DiagnosticExplanation(
                "not a regular expression",
                """
                The `pattern` of a parameter is a regular expression which the whole of a given text has to match.
                Characters such as ( [ * + ? have a meaning in it; a backslash takes it away. Every pattern is matched in
                time that grows with the text alone; what cannot be (lookaround, references back to groups) is refused.
                """,
                example: """
                    version: 1
                    params:
                      tag: { type: string, pattern: "v[0-9" }
                    steps:
                      hello: { run: echo }
                    """,
                remedy: "close the bracket: \"v[0-9]+\".")
        default:
            DiagnosticExplanation(
                "not what it looks like",
                """
                YAML 1.1 reads yes, no, on and off as booleans, YAML 1.2 reads them as text, and tools differ. Where a
                boolean is wanted write true or false. As an id such a word is a warning, and so are an environment variable
                without a value, which is taken away rather than set to an empty text, and axes that differ in capitals only.
                So is what looks like shell syntax but is not: `~` and $NAME in `env`, whose values are taken as they are, a
                command with its arguments as one word of a `run` list, and $FLOWRUN_OUTPUT in a step without `outputs`,
                where it is not set.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: echo\n    continue-on-error: yes",
                remedy: "write true or false; quote a word that is meant as text; write what the finding suggests.")
        }
    }
}
