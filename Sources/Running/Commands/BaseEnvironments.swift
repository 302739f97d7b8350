internal import Glibc
internal import Processes
internal import Workflow

/// What steps get of flowrun's own environment, by policy.
@EventLoopActor
final class BaseEnvironments {
    private let options: RunOptions
    /// Makes `$FLOWRUN_TEMP`; nil if there is none.
    private let scratchFolder: @EventLoopActor () -> String?
    private lazy var inherited = inheritedBlock()
    private lazy var clean = EnvironmentBlock(inherited, keeping: Self.cleanNames)

    private static let cleanNames = ["PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR", "FLOWRUN_RUN", "FLOWRUN_TEMP"]

    init(_ options: RunOptions, scratchFolder: @escaping @EventLoopActor () -> String?) {
        self.options = options
        self.scratchFolder = scratchFolder
    }

    private func inheritedBlock() -> EnvironmentBlock {
        // A flowrun around this one has set them for its own step. Where a secret comes from a variable, only the steps
        // that list the secret see its value.
        let changes: [(name: String, value: String?)] = [
            ("FLOWRUN_STEP", nil), ("FLOWRUN_ATTEMPT", nil), ("FLOWRUN_OUTPUT", nil), ("FLOWRUN_ROUND", nil),
            ("FLOWRUN_IDEMPOTENCY_KEY", nil), ("FLOWRUN_RUN", options.run),
            ("FLOWRUN_TEMP", scratchFolder()),
        ]
        return EnvironmentBlock(
            EnvironmentBlock(inheriting: environ), changes: changes + options.secrets.sources.map { ($0, nil) })
    }

    subscript(policy: EnvironmentPolicy) -> EnvironmentBlock {
        switch policy {
        case .inherit: inherited
        case .clean: clean
        }
    }
}
