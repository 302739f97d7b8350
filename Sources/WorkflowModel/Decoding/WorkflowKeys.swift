/// Which keys may stand where. The JSON schema is held against these sets by a test.
package enum WorkflowKeys {
    /// At the top of the file.
    package static let top: [WorkflowKey] = [
        .version, .name, .description, .env, .dotenv, .defaults, .timeout, .maxParallel, .failFast, .order, .steps,
    ]
    /// Under `defaults`.
    package static let defaults: [WorkflowKey] = [.shell, .workingDirectory, .timeout, .grace, .killSignal]
    /// In a step: the keys that say how it runs, and those of a fan-out.
    package static let step: [WorkflowKey] = [
        .name, .description, .needs, .run, .env, .dotenv, .shell, .workingDirectory, .timeout, .grace, .killSignal,
        .continueOnError, .matrix, .forEach, .as, .maxItems, .maxParallel, .failFast,
    ]
    /// In a group.
    package static let group: [WorkflowKey] = [
        .name, .description, .needs, .env, .dotenv, .shell, .workingDirectory, .timeout, .grace, .killSignal,
        .continueOnError, .maxParallel, .failFast, .order, .matrix, .forEach, .as, .maxItems, .steps,
    ]
    /// Words of version 1 that are not built yet, wherever they stand.
    package static let notSupportedYet = WorkflowKey.allCases.filter { !$0.isSupported }
    /// Beside the axes of a `matrix`.
    package static let matrixReserved = ["include", "exclude"]
    /// Of a `dotenv` entry in its long form.
    package static let dotenvFile = ["path", "optional"]
}

/// A place that has keys.
enum KeyPlace: String {
    case top = "the workflow"
    case defaults = "`defaults`"
    case step = "a step"
    case group = "a group"

    var keys: [WorkflowKey] {
        switch self {
        case .top: WorkflowKeys.top
        case .defaults: WorkflowKeys.defaults
        case .step: WorkflowKeys.step
        case .group: WorkflowKeys.group
        }
    }

    var keySet: KeySet {
        switch self {
        case .top: Self.topSet
        case .defaults: Self.defaultsSet
        case .step: Self.stepSet
        case .group: Self.groupSet
        }
    }

    private static let topSet = KeySet(WorkflowKeys.top)
    private static let defaultsSet = KeySet(WorkflowKeys.defaults)
    private static let stepSet = KeySet(WorkflowKeys.step)
    private static let groupSet = KeySet(WorkflowKeys.group)
}

/// A set of keys in one word.
struct KeySet: Equatable {
    private var bits: UInt64 = 0

    init() {}

    init(_ keys: some Sequence<WorkflowKey>) {
        for key in keys { insert(key) }
    }

    var isEmpty: Bool { bits == 0 }

    func contains(_ key: WorkflowKey) -> Bool { bits & (1 << UInt64(key.rawValue)) != 0 }

    mutating func insert(_ key: WorkflowKey) { bits |= 1 << UInt64(key.rawValue) }

    func subtracting(_ other: KeySet) -> KeySet {
        var result = self
        result.bits &= ~other.bits
        return result
    }
}
