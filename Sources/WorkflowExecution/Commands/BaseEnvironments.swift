internal import Glibc
internal import ProcessExecution
internal import WorkflowModel

/// What steps get of flowrun's own environment, by policy.
@EventLoopActor
final class BaseEnvironments {
    private let inherited: EnvironmentBlock
    private lazy var clean = EnvironmentBlock(inherited, keeping: Self.cleanNames)

    private static let cleanNames = ["PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR", "FLOWRUN_RUN"]

    init(_ options: RunOptions) {
        // A flowrun around this one has set the first two for its own step. Where a secret comes from a variable, only
        // the steps that list the secret see its value.
        let changes: [(name: String, value: String?)] =
            [("FLOWRUN_STEP", nil), ("FLOWRUN_ATTEMPT", nil), ("FLOWRUN_OUTPUT", nil), ("FLOWRUN_RUN", options.run)]
        inherited = EnvironmentBlock(
            EnvironmentBlock(inheriting: environ), changes: changes + options.secrets.sources.map { ($0, nil) })
    }

    subscript(policy: EnvironmentPolicy) -> EnvironmentBlock {
        switch policy {
        case .inherit: inherited
        case .clean: clean
        }
    }
}
