extension DiagnosticCode {
    /// Codes about hooks, locks and pools in the graph.
    var graphDetails: DiagnosticExplanation {
        switch self {
        case .sharedValueCycle:
            DiagnosticExplanation(
                "`vars` that read each other in a ring",
                """
                Each needs the value of the next before it has its own. One of `vars` reads another where an expression of
                it names that, as in `${{ vars.tag }}`, or where its script has the other's name as a word: then the script
                finds it in its environment.
                """,
                example: """
                    version: 1
                    vars:
                      image: "registry/app:${{ vars.tag }}"
                      tag: "${{ vars.image }}-debug"
                    steps:
                      push: { run: [docker, push, "${{ vars.image }}"] }
                    """,
                remedy: "give one of them a value that depends on none of the others, or rename it.")
        case .dependencyAcrossHook:
            DiagnosticExplanation(
                "a dependency into or out of a hook",
                """
                `finally` and `on-failure` start when everything else in their group has ended. Their steps can need each
                other; what is outside has ended by then, and nothing outside can wait for them.
                """,
                example: """
                    version: 1
                    steps:
                      build: { run: make }
                    finally:
                      report:
                        run: make report
                        needs: [build]
                    """,
                remedy: "remove the entry; write what is to run afterwards as a step with `needs`, or into the hook.")
        case .deadlineExceeded:
            DiagnosticExplanation(
                "a run can take longer than it may",
                """
                `flowrun check --deadline` was given less time than a run can take: with every step taking its whole
                `timeout` and `grace` in every attempt and leaving something behind that is killed after 2 s, and a
                fan-out whose items only the run knows as many copies as `max-items` lets it have. A step without a
                `timeout` can take forever, and so can the answer to a `confirm`. The notes name the longest chain of
                steps that wait for one another, what each of them takes, and what comes on top.
                """,
                remedy: "shorten the limits that `flowrun plan` shows, or give the workflow a `timeout` of its own.")
        case .passedFailure:
            DiagnosticExplanation(
                "a step that runs although something failed",
                """
                A step whose `if` asks for `always()` or `failure()` runs although something that it needs has failed, and
                what needs it only asks whether it succeeded itself. So a step behind it runs after the failure, too,
                unless it needs what failed by another way or says by its own `if` that it is to run in any case.
                """,
                example: """
                    version: 1
                    steps:
                      test: { run: make test }
                      logs: { needs: [test], if: always(), run: ./collect-logs }
                      publish: { needs: [logs], run: ./publish }
                    """,
                remedy: "add what may fail to its `needs`, or write `if: always()` to say that it is meant.")
        case .coveredMutex:
            DiagnosticExplanation(
                "a mutex named again inside its holder",
                """
                A group that names a mutex holds it for all its members, from its start to its end. A member that names
                the same mutex gains nothing: it does not wait for the group, and other members run beside it.
                """,
                example: """
                    version: 1
                    steps:
                      deploy:
                        mutex: registry
                        steps:
                          push: { run: ./push, mutex: registry }
                          tag: { run: ./tag, mutex: registry }
                    """,
                remedy: "remove it from the members, or from the group if they are to exclude each other.")
        case .poolExceeded:
            DiagnosticExplanation(
                "more than the pool has",
                "A step asks for more units of a pool than the pool has, so that it could never start.",
                example: """
                    version: 1
                    pools: { emulator: 2 }
                    steps:
                      test: { run: ./test, pool: { emulator: 3 } }
                    """,
                remedy: "ask for less, or make the pool larger.")
        case .unknownPool:
            DiagnosticExplanation(
                "an undeclared pool",
                "A step asks for units of a pool that `pools` at the top of the file does not declare.",
                example: """
                    version: 1
                    pools: { emulator: 2 }
                    steps:
                      test: { run: ./test, pool: { emulators: 1 } }
                      other: { run: ./test, pool: emulator }
                    """,
                remedy: "write the name as it is declared, or declare it: pools: { NAME: SIZE }.")
        default:
            DiagnosticExplanation(
                "an unused pool",
                "No step asks for the pool, which does no harm, but usually means that a step lacks its `pool`.",
                example: """
                    version: 1
                    pools: { emulator: 2 }
                    steps:
                      test: { run: ./test }
                    """,
                remedy: "add `pool` to the steps that share it, or remove the pool.")
        }
    }
}
