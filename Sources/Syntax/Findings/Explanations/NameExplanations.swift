// Codes about names and the graph: the rest of FR02xx, and FR03xx.
extension DiagnosticCode {
    var nameDetails: DiagnosticExplanation {
        switch self {
        case .unknownDependency:
            DiagnosticExplanation(
                "unknown dependency",
                """
                `needs` names ids: of steps and groups beside this one, or beside a group around it. There is none of this
                name, and a step whose dependency never ends would never start.
                """,
                example:
                    "version: 1\nsteps:\n  compile: { run: make }\n  test:\n    run: make test\n    needs: [compil]",
                remedy: "write the id as it is declared.")
        case .unknownStep:
            DiagnosticExplanation(
                "`default` or `undoes` names an unknown step",
                """
                `default` lists what runs when nobody names a step: full ids of steps and groups, as on the command line,
                such as `build` or `build.compile`. An instance of a fan-out can be named if the file says its items.
                `undoes` lists what a hook undoes: ids of members of the body that the hook belongs to.
                """,
                example: "version: 1\ndefault: [biuld]\nsteps:\n  build: { run: make }",
                remedy: "write the id as it is declared, with those of the groups around it.")
        case .invalidID:
            DiagnosticExplanation(
                "not an id",
                """
                Ids begin with a letter, a digit or _, followed by these and -, at most 128 characters. A dot separates a
                group from its member in logs and on the command line, and so cannot be part of an id. The names of
                pools, mutexes and outputs follow the same rule. `finally` and `on-failure` cannot be ids in a group that
                has a block of that name.
                """,
                example: "version: 1\nsteps:\n  r4.5.6: { run: echo }",
                remedy: "write r4-5-6, here and in every `needs` that names it; a `name` may be any text.")
        case .invalidEnvironmentName:
            DiagnosticExplanation(
                "not the name of a variable",
                """
                Environment variables, parameters, secrets, axes of a matrix and loop variables begin with a letter or _
                followed by letters, digits and _. Others could not be read in a shell.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: echo\n    env: { MY-NAME: x }",
                remedy: "write MY_NAME.")
        case .reservedEnvironmentName:
            DiagnosticExplanation(
                "a reserved variable",
                """
                Variables that begin with FLOWRUN_ are flowrun's own. Parameters, secrets, axes and loop variables may also
                not have the name of one that shells and programs obey, such as PATH, IFS, HOME, BASH_ENV or
                LD_PRELOAD: an item of a list could then decide what runs. In `env` those may be set. `args` and `vars` have
                a meaning of their own in expressions.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: echo\n    for-each: [a, b]\n    as: PATH",
                remedy: "choose another name.")
        case .fanOutTooLarge:
            DiagnosticExplanation(
                "too many instances",
                """
                A fan-out makes at most a thousand instances, unless `max-items` says otherwise, and never more than a
                hundred thousand. The product of the axes counts, before anything is excluded, and `include` adds to it.
                Groups with `uses` and rows of `vars` that follow from one another are limited, too.
                """,
                example: """
                    version: 1
                    steps:
                      test:
                        run: echo
                        max-items: 3
                        matrix: { os: [a, b], size: [1, 2] }
                    """,
                remedy: "shorten an axis, or raise `max-items` if that many are meant.")
        case .duplicateItem:
            DiagnosticExplanation(
                "the same item twice",
                """
                Instances of a fan-out are named by their items, in logs and on the command line, so no two may have
                the same. In a list of pools, mutexes, secrets, values or exit codes a second mention adds nothing, and is
                usually a typo.
                """,
                example: "version: 1\nsteps:\n  hello:\n    run: echo\n    for-each: [a, b, a]",
                remedy: "remove one of the two.")
        case .unknownAxis:
            DiagnosticExplanation(
                "an exclusion that excludes nothing",
                """
                An entry of `exclude` names an axis that the matrix does not have, or a value that the axis does not have.
                What was meant to be left out would stay in. A text in quotes and a number without are two values.
                """,
                example: """
                    version: 1
                    steps:
                      test:
                        run: echo
                        matrix:
                          os: [linux, mac]
                          exclude: [{ os: macos }]
                    """,
                remedy: "write the axis and the value as the matrix does.")
        case .repeatedDependency:
            DiagnosticExplanation(
                "the same dependency twice",
                "`needs` names an id twice. It does no harm, but is usually a typo for another id.",
                example: "version: 1\nsteps:\n  a: { run: echo }\n  b:\n    run: echo\n    needs: [a, a]",
                remedy: "remove one of the two.")
        case .dependencyInsideGroup:
            DiagnosticExplanation(
                "a dependency inside another group",
                """
                `needs` reaches siblings, and the siblings of the groups around. What is inside another group is private to
                it: the group may fan out, and then there is no single step to wait for.
                """,
                example: """
                    version: 1
                    steps:
                      build:
                        steps:
                          compile: { run: make }
                      test:
                        run: make test
                        needs: [build.compile]
                    """,
                remedy: "need the group: needs: [build].")
        case .undeclaredSecret:
            DiagnosticExplanation(
                "an undeclared secret",
                """
                The `secrets` of a step name some of those that the top of the file declares, with the place each comes
                from. An undeclared secret would be an empty variable, which only shows when the step fails.
                """,
                example: "version: 1\nsteps:\n  publish:\n    run: ./publish\n    secrets: [TOKEN]",
                remedy: "declare it at the top: secrets: { TOKEN: { env: TOKEN } }.")
        default:
            DiagnosticExplanation(
                "a cycle of dependencies",
                """
                Each of these waits for the next, and the last for the first, so that none could ever start. A group waits
                for its members to end, a member for its group to start, and in a sequence each member for the one before.
                The finding shows every hop with the place that makes it, and the fewest dependencies to remove.
                """,
                example: "version: 1\nsteps:\n  a: { run: echo, needs: [b] }\n  b: { run: echo, needs: [a] }",
                remedy: "remove one of the dependencies.")
        }
    }
}
