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
        default:
            preconditionFailure("not of the graph: \(rawValue)")
        }
    }
}
