internal import Glibc
internal import Processes
internal import Workflow

/// The part of flowrun's own environment that steps get, by policy.
@EventLoopActor
final class BaseEnvironments {
    private let options: RunOptions
    /// Makes the folder for `$FLOWRUN_TEMP` and returns its path; nil if there is none.
    private let scratchFolder: @EventLoopActor () -> String?
    private lazy var inherited = inheritedBlock()
    private lazy var clean = EnvironmentBlock(inherited, keeping: Self.cleanNames)

    private static let cleanNames = ["PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR", "FLOWRUN_RUN", "FLOWRUN_TEMP"]

    init(_ options: RunOptions, scratchFolder: @escaping @EventLoopActor () -> String?) {
        self.options = options
        self.scratchFolder = scratchFolder
    }

    private func inheritedBlock() -> EnvironmentBlock {
        // An enclosing flowrun has set them for its own step. If a secret comes from a variable, only the steps that
        // list the secret see its value.
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
