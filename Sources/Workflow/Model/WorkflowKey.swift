internal import Glibc

/// Every word that the file format of version 1 knows as a key.
package enum WorkflowKey: UInt8, CaseIterable, Sendable {
    case version, name, description, env, dotenv, defaults, steps, needs, run, shell, workingDirectory, timeout, grace
    case killSignal, continueOnError, maxParallel, failFast, order, matrix, forEach, `as`, maxItems, params, secrets
    case `if`, outputs, retry, pool, pools, mutex, finally, onFailure, stdin, envPolicy, platforms, log, `default`,
        manual, streams, vars, uses, with, templates, label, require, confirm, detach, interactive, undoes,
        outputLimit

    // Words of version 1 that this program answers with "not supported yet".
    case jobserver, sources, generates, services

    /// The word as a file has it: the case's name in kebab case.
    package var spelling: String { "\(letters)" }

    fileprivate var letters: StaticString { Self.spellings[Int(rawValue)] }

    // Written out, because every run reads it first and reflection takes a tenth of a small one.
    private static let spellings: [StaticString] = [
        "version", "name", "description", "env", "dotenv", "defaults", "steps", "needs", "run", "shell",
        "working-directory", "timeout", "grace", "kill-signal", "continue-on-error", "max-parallel", "fail-fast",
        "order", "matrix", "for-each", "as", "max-items", "params", "secrets", "if", "outputs", "retry", "pool",
        "pools", "mutex", "finally", "on-failure", "stdin", "env-policy", "platforms", "log", "default", "manual",
        "streams", "vars", "uses", "with", "templates", "label", "require", "confirm", "detach", "interactive",
        "undoes", "output-limit", "jobserver", "sources", "generates", "services",
    ]

    /// Whether this program does what the word says; the cases are in this order.
    var isSupported: Bool { rawValue < Self.jobserver.rawValue }

    static func named(_ word: String) -> WorkflowKey? { allCases.first { $0.spelling == word } }

    /// The key spelt by these bytes.
    static func named(_ bytes: UnsafeBufferPointer<UInt8>) -> WorkflowKey? {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return nil }
        var slot = hash(bytes)
        while slots[slot] != free {
            let candidate = WorkflowKey(rawValue: slots[slot])!
            let letters = UnsafeBufferPointer(candidate)
            if letters.count == bytes.count, memcmp(letters.baseAddress!, start, bytes.count) == 0 { return candidate }
            slot = (slot + 1) % slotCount
        }
        return nil
    }

    private static let slotCount = 128
    private static let free = UInt8.max

    /// Raw values by the hash of the spelling, or in the next slot that was free: a workflow has three keys per step,
    /// and a dictionary costs a small run more to build than all its look-ups.
    private static let slots: [UInt8] = {
        var slots = [UInt8](repeating: free, count: slotCount)
        for key in allCases {
            var slot = hash(UnsafeBufferPointer(key))
            while slots[slot] != free { slot = (slot + 1) % slotCount }
            slots[slot] = key.rawValue
        }
        return slots
    }()

    /// Of at least one byte. Chosen so that all but two of the keys of version 1 have a slot of their own.
    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        let (first, middle, last) = (bytes[0], bytes[bytes.count / 2], bytes[bytes.count - 1])
        return (Int(first) &+ 5 &* Int(middle) &+ 17 &* Int(last) &+ bytes.count) % slotCount
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The letters of a key, which are there for as long as the program.
    fileprivate init(_ key: WorkflowKey) {
        self.init(start: key.letters.utf8Start, count: key.letters.utf8CodeUnitCount)
    }
}

/// Which keys may stand where. The JSON schema is held against these sets by a test.
package enum WorkflowKeys {
    /// At the top of the file.
    package static let top: [WorkflowKey] = [
        .version, .name, .description, .default, .params, .vars, .secrets, .env, .envPolicy, .dotenv, .defaults, .pools,
        .require, .outputs, .outputLimit, .timeout, .maxParallel, .failFast, .order, .log, .templates, .steps,
        .onFailure, .finally,
    ]
    /// Under `defaults`.
    package static let defaults: [WorkflowKey] = [
        .shell, .workingDirectory, .envPolicy, .streams, .timeout, .grace, .killSignal, .retry,
    ]
    /// In a step: the keys that say how it runs, and those of a fan-out.
    package static let step: [WorkflowKey] = [
        .name, .description, .manual, .needs, .if, .require, .confirm, .run, .env, .envPolicy, .dotenv, .secrets,
        .shell,
        .workingDirectory, .stdin, .timeout, .grace, .killSignal, .retry, .continueOnError, .pool, .mutex, .outputs,
        .platforms, .log, .streams, .detach, .interactive, .matrix, .forEach, .as, .label, .maxItems, .maxParallel,
        .failFast, .undoes,
    ]
    /// In a group.
    package static let group: [WorkflowKey] = [
        .name, .description, .manual, .needs, .if, .require, .confirm, .vars, .env, .dotenv, .shell, .workingDirectory,
        .timeout, .grace,
        .killSignal, .retry, .continueOnError, .mutex, .outputs, .maxParallel, .failFast, .order, .matrix, .forEach,
        .as, .label, .maxItems, .undoes, .steps,
        .onFailure, .finally,
    ]
    /// In a group with `uses`.
    package static let use: [WorkflowKey] = [
        .name, .description, .manual, .needs, .if, .require, .confirm, .uses, .with, .env, .timeout, .grace,
        .killSignal, .retry,
        .continueOnError, .mutex, .maxParallel, .failFast, .matrix, .forEach, .as, .label, .maxItems, .undoes,
    ]
    /// In one of `templates`.
    package static let template: [WorkflowKey] = [
        .description, .params, .vars, .require, .env, .dotenv, .shell, .workingDirectory, .timeout, .outputs,
        .maxParallel, .failFast, .order, .steps, .onFailure, .finally,
    ]
    /// In a step without `run`.
    package static let milestone: [WorkflowKey] = [.name, .description, .manual, .needs, .if]
    /// Words of version 1 that are not built yet, wherever they stand.
    package static let notSupportedYet = WorkflowKey.allCases.filter { !$0.isSupported }
    /// Of a `dotenv` entry in its long form.
    package static let dotenvFile = ["path", "optional"]
    package static let retry = ["attempts", "delay", "backoff", "max-delay", "jitter", "when", "deadline"]
    /// Of one of `params`.
    package static let parameter = ["type", "default", "required", "env", "pattern", "values", "description"]
    /// What the `type` of a parameter may be.
    package static let parameterTypes = ["string", "int", "bool", "enum", "list", "path"]
    /// Of one of the top's `secrets`.
    package static let secret = ["env", "file"]
    /// Of one of `vars` in its long form.
    package static let sharedValue = ["run", "value", "type", "shell", "timeout", "secrets"]
    /// Of an entry of `require`.
    package static let requirement = ["if", "message"]
    /// Of one of a step's `outputs` in its long form.
    package static let output = ["type", "from"]
}

/// A place that has keys.
enum KeyPlace: String {
    case top = "the workflow"
    case defaults = "`defaults`"
    case step = "a step"
    case group = "a group"
    case use = "a group with `uses`"
    case template = "a template"

    var keys: [WorkflowKey] {
        switch self {
        case .top: WorkflowKeys.top
        case .defaults: WorkflowKeys.defaults
        case .step: WorkflowKeys.step
        case .group: WorkflowKeys.group
        case .use: WorkflowKeys.use
        case .template: WorkflowKeys.template
        }
    }

    var keySet: KeySet {
        switch self {
        case .top: Self.topSet
        case .defaults: Self.defaultsSet
        case .step: Self.stepSet
        case .group: Self.groupSet
        case .use: Self.useSet
        case .template: Self.templateSet
        }
    }

    private static let topSet = KeySet(WorkflowKeys.top)
    private static let defaultsSet = KeySet(WorkflowKeys.defaults)
    private static let stepSet = KeySet(WorkflowKeys.step)
    private static let groupSet = KeySet(WorkflowKeys.group)
    private static let useSet = KeySet(WorkflowKeys.use)
    private static let templateSet = KeySet(WorkflowKeys.template)
}

/// A set of keys in one word.
struct KeySet: Equatable {
    private var bits: UInt64 = 0

    init() {}

    init(_ keys: some Sequence<WorkflowKey>) {
        for key in keys { insert(key) }
    }

    var isEmpty: Bool { bits == 0 }

    /// In the order of the cases.
    var keys: [WorkflowKey] { WorkflowKey.allCases.filter(contains) }

    var count: Int { bits.nonzeroBitCount }

    /// How many keys of the set come before this one.
    func position(of key: WorkflowKey) -> Int { (bits & (1 << UInt64(key.rawValue) - 1)).nonzeroBitCount }

    func contains(_ key: WorkflowKey) -> Bool { bits & (1 << UInt64(key.rawValue)) != 0 }

    mutating func insert(_ key: WorkflowKey) { bits |= 1 << UInt64(key.rawValue) }

    func subtracting(_ other: KeySet) -> KeySet {
        var result = self
        result.bits &= ~other.bits
        return result
    }
}
