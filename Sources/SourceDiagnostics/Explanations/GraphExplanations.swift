extension DiagnosticCode {
    /// Of what hooks and locks make of the graph.
    var graphDetails: DiagnosticExplanation {
        switch self {
        case .dependencyAcrossHook:
            DiagnosticExplanation(
                "a dependency into or out of a hook",
                """
                `finally` and `on-failure` start when everything else in their group has ended. Their steps can need each
                other; what is outside of them is over anyway, and nothing outside can wait for them.
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
        case .lockDeadlock:
            DiagnosticExplanation(
                "locks that could deadlock",
                """
                A group holds its mutexes while its members run. Here a holder waits for something that waits for a mutex of
                another holder, and so on round in a circle, and nothing in the file says that they do not run at the same
                time. Whether they ever meet is a matter of luck; once they do, nothing goes on. The finding shows every hop:
                what holds, what waits, and the needs and members between them.
                """,
                example: """
                    version: 1
                    steps:
                      a:
                        mutex: registry
                        steps:
                          push: { run: ./push, mutex: database }
                      b:
                        mutex: database
                        steps:
                          dump: { run: ./dump, mutex: registry }
                    """,
                remedy: "order the groups with `needs`, or let each take all its mutexes at once, when it starts.")
        case .lockWantedAgain:
            DiagnosticExplanation(
                "a mutex wanted again inside its holder",
                """
                A group holds its mutex to its end and does not share it with its members. A member that wants the same
                mutex would wait for the group to end, and the group for the member.
                """,
                example: """
                    version: 1
                    steps:
                      deploy:
                        mutex: registry
                        steps:
                          push: { run: ./push, mutex: registry }
                    """,
                remedy: "remove the mutex from the member: nothing else runs with it while the group does.")
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
                "a pool that nobody declares",
                "A step asks for units of a pool that does not stand in `pools` at the top of the file.",
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
                "a pool that nobody uses",
                "No step asks for the pool, which does no harm, and is mostly a step whose `pool` was forgotten.",
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
