package import Syntax

/// The keys that most steps leave out. Holds only those that are there: one word in a row of `Workflow.nodes`, and some
/// sixty bytes beside it for a step that sets one key.
package struct Settings: @unchecked Sendable {  // The storage never changes once it is made.
    /// What a key says. At most three words, so that a list of them stays small.
    private enum Value {
        case text(String)
        case env([EnvironmentEntry])
        case dotenv([DotenvFile])
        case shell(Shell)
        case template(Template)
        case limit(TimeLimit)
        case duration(Duration)
        case signal(KillSignal)
        case isSet
        case count(Int)
        case failFast(FailFastWord)
        case range(SourceRange)
        indirect case fanOut(FanOut)
        indirect case expression(Expression)
        indirect case retry(Retry)
        case outputs([OutputDeclaration])
        case pools([PoolRequest])
        case mutexes([MutexRequest])
        case secrets([SecretUse])
        case policy(EnvironmentPolicy)
        case platforms([Platform])
        case log(LogView)
        case streams(OutputStreams)
        case sharedValues([SharedValue])
        case requirements([Requirement])
        case steps([StepReference])
    }

    /// The values of the keys in the header, in the order of the keys.
    private final class Storage: ManagedBuffer<KeySet, Value> {
        deinit {
            let count = header.count
            _ = withUnsafeMutablePointerToElements { $0.deinitialize(count: count) }
        }
    }

    private let storage: ManagedBuffer<KeySet, Value>

    package init(
        name: String? = nil, description: String? = nil, env: [EnvironmentEntry] = [], dotenv: [DotenvFile] = [],
        shell: Shell? = nil, workingDirectory: Template? = nil, timeout: TimeLimit? = nil, grace: Duration? = nil,
        killSignal: KillSignal? = nil, continueOnError: Bool = false, maxParallel: Int? = nil,
        failFast: FailFastWord? = nil, orderRange: SourceRange? = nil, fanOut: FanOut? = nil,
        condition: Expression? = nil, retry: Retry? = nil, outputs: [OutputDeclaration] = [],
        pools: [PoolRequest] = [], mutexes: [MutexRequest] = [], standardInput: Template? = nil,
        secrets: [SecretUse] = [], environmentPolicy: EnvironmentPolicy? = nil,
        platforms: [Platform] = [], log: LogView? = nil, isManual: Bool = false, streams: OutputStreams? = nil,
        sharedValues: [SharedValue] = [], requirements: [Requirement] = [], confirmation: String? = nil,
        isDetached: Bool = false, isInteractive: Bool = false, undoes: [StepReference]? = nil
    ) {
        var keys = KeySet()
        var values: [Value] = []
        func add(_ key: WorkflowKey, _ value: Value?) {
            guard let value else { return }
            values.insert(value, at: keys.position(of: key))
            keys.insert(key)
        }
        add(.name, name.map(Value.text))
        add(.description, description.map(Value.text))
        add(.env, env.isEmpty ? nil : .env(env))
        add(.dotenv, dotenv.isEmpty ? nil : .dotenv(dotenv))
        add(.shell, shell.map(Value.shell))
        add(.workingDirectory, workingDirectory.map(Value.template))
        add(.timeout, timeout.map(Value.limit))
        add(.grace, grace.map(Value.duration))
        add(.killSignal, killSignal.map(Value.signal))
        add(.continueOnError, continueOnError ? .isSet : nil)
        add(.maxParallel, maxParallel.map(Value.count))
        add(.failFast, failFast.map(Value.failFast))
        add(.order, orderRange.map(Value.range))
        add(.forEach, fanOut.map(Value.fanOut))
        add(.if, condition.map(Value.expression))
        add(.retry, retry.map(Value.retry))
        add(.outputs, outputs.isEmpty ? nil : .outputs(outputs))
        add(.pool, pools.isEmpty ? nil : .pools(pools))
        add(.mutex, mutexes.isEmpty ? nil : .mutexes(mutexes))
        add(.stdin, standardInput.map(Value.template))
        add(.secrets, secrets.isEmpty ? nil : .secrets(secrets))
        add(.envPolicy, environmentPolicy.map(Value.policy))
        add(.platforms, platforms.isEmpty ? nil : .platforms(platforms))
        add(.log, log.map(Value.log))
        add(.manual, isManual ? .isSet : nil)
        add(.streams, streams.map(Value.streams))
        add(.vars, sharedValues.isEmpty ? nil : .sharedValues(sharedValues))
        add(.require, requirements.isEmpty ? nil : .requirements(requirements))
        add(.confirm, confirmation.map(Value.text))
        add(.detach, isDetached ? .isSet : nil)
        add(.interactive, isInteractive ? .isSet : nil)
        add(.undoes, undoes.map(Value.steps))
        storage = Storage.create(minimumCapacity: values.count) { _ in keys }
        storage.withUnsafeMutablePointerToElements { elements in
            for (index, value) in values.enumerated() { (elements + index).initialize(to: value) }
        }
    }

    /// These keys and those of others that are not among them.
    func merged(with others: Settings?) -> Settings {
        guard let others else { return self }
        var values = storage.header.keys.map { ($0, self.value($0)) }
        values += others.storage.header.subtracting(storage.header).keys.map { ($0, others.value($0)) }
        return Settings(values)
    }

    /// Only some of the keys; nil where none of them is there.
    func only(_ keys: KeySet) -> Settings? {
        let kept = storage.header.keys.filter(keys.contains)
        return kept.isEmpty ? nil : Settings(kept.map { ($0, value($0)) })
    }

    /// All keys but these; nil where there is none.
    func without(_ keys: KeySet) -> Settings? { only(storage.header.subtracting(keys)) }

    private init(_ values: [(key: WorkflowKey, value: Value?)]) {
        let values = values.sorted { $0.key.rawValue < $1.key.rawValue }
        storage = Storage.create(minimumCapacity: values.count) { _ in KeySet(values.map(\.key)) }
        storage.withUnsafeMutablePointerToElements { elements in
            for (index, (_, value)) in values.enumerated() {
                if let value { (elements + index).initialize(to: value) }
            }
        }
    }

    /// The same for a step or group that runs only when it is named.
    func asManual() -> Settings { Settings(isManual: true).merged(with: self) }

    /// The same with another fan-out in the place of the one that is there.
    package func with(_ fanOut: FanOut) -> Settings {
        let keys = storage.header
        let copy = Storage.create(minimumCapacity: keys.count) { _ in keys }
        storage.withUnsafeMutablePointerToElements { old in
            copy.withUnsafeMutablePointerToElements { new in
                new.initialize(from: old, count: keys.count)
                if keys.contains(.forEach) { new[keys.position(of: .forEach)] = .fanOut(fanOut) }
            }
        }
        return Settings(storage: copy)
    }

    private init(storage: ManagedBuffer<KeySet, Value>) { self.storage = storage }

    private func value(_ key: WorkflowKey) -> Value? {
        let keys = storage.header
        guard keys.contains(key) else { return nil }
        return storage.withUnsafeMutablePointerToElements { $0[keys.position(of: key)] }
    }

    package var name: String? { if case .text(let name) = value(.name) { name } else { nil } }
    package var description: String? { if case .text(let text) = value(.description) { text } else { nil } }
    /// In file order; a later `dotenv` file or `env` entry wins.
    package var env: [EnvironmentEntry] { if case .env(let entries) = value(.env) { entries } else { [] } }
    package var dotenv: [DotenvFile] { if case .dotenv(let files) = value(.dotenv) { files } else { [] } }
    package var shell: Shell? { if case .shell(let shell) = value(.shell) { shell } else { nil } }
    package var workingDirectory: Template? {
        if case .template(let folder) = value(.workingDirectory) { folder } else { nil }
    }
    /// Of a step: one attempt, from the start of its process. Of a group or the workflow: wall clock.
    package var timeout: TimeLimit? { if case .limit(let limit) = value(.timeout) { limit } else { nil } }
    package var grace: Duration? { if case .duration(let grace) = value(.grace) { grace } else { nil } }
    package var killSignal: KillSignal? { if case .signal(let signal) = value(.killSignal) { signal } else { nil } }
    package var continueOnError: Bool { storage.header.contains(.continueOnError) }
    package var maxParallel: Int? { if case .count(let count) = value(.maxParallel) { count } else { nil } }
    /// nil: not said here, the nearest group around that says it decides.
    package var failFast: FailFastWord? { if case .failFast(let policy) = value(.failFast) { policy } else { nil } }
    package var isSequence: Bool { storage.header.contains(.order) }
    /// Where `order: sequence` stands; nil for a parallel group.
    package var orderRange: SourceRange? { if case .range(let range) = value(.order) { range } else { nil } }
    /// `matrix` or `for-each`.
    package var fanOut: FanOut? { if case .fanOut(let fanOut) = value(.forEach) { fanOut } else { nil } }
    /// `if`; nil runs whenever the needs allow it.
    package var condition: Expression? { if case .expression(let condition) = value(.if) { condition } else { nil } }
    /// What has to hold at the start, in file order.
    package var requirements: [Requirement] {
        if case .requirements(let requirements) = value(.require) { requirements } else { [] }
    }
    /// What people are asked before the start; nil: nothing.
    package var confirmation: String? { if case .text(let text) = value(.confirm) { text } else { nil } }
    package var retry: Retry? { if case .retry(let retry) = value(.retry) { retry } else { nil } }
    /// In file order.
    package var outputs: [OutputDeclaration] { if case .outputs(let outputs) = value(.outputs) { outputs } else { [] } }
    package var pools: [PoolRequest] { if case .pools(let pools) = value(.pool) { pools } else { [] } }
    package var mutexes: [MutexRequest] { if case .mutexes(let mutexes) = value(.mutex) { mutexes } else { [] } }
    /// What the step reads as standard input; nil for nothing.
    package var standardInput: Template? { if case .template(let input) = value(.stdin) { input } else { nil } }
    /// Which of the workflow's secrets the step sees, as environment variables.
    package var secrets: [SecretUse] { if case .secrets(let secrets) = value(.secrets) { secrets } else { [] } }
    /// nil: not said here.
    package var environmentPolicy: EnvironmentPolicy? {
        if case .policy(let policy) = value(.envPolicy) { policy } else { nil }
    }
    /// Where the step may run; empty: anywhere.
    package var platforms: [Platform] { if case .platforms(let list) = value(.platforms) { list } else { [] } }
    /// Of a step or the workflow: how its output is shown; nil: not said here. Touches no record of the run.
    package var log: LogView? { if case .log(let view) = value(.log) { view } else { nil } }
    /// Whether a step or group runs only when it is named, or something that is chosen needs it.
    package var isManual: Bool { storage.header.contains(.manual) }
    /// Whether what the step's first process leaves behind may outlive it, and the run.
    package var isDetached: Bool { storage.header.contains(.detach) }
    /// Whether the step has the terminal for itself while it runs; it names `MutexRequest.terminal` then.
    package var isInteractive: Bool { storage.header.contains(.interactive) }
    /// For what is in a hook: the members of the hook's body that it undoes; nil if it does not say.
    package var undoes: [StepReference]? { if case .steps(let steps) = value(.undoes) { steps } else { nil } }
    /// nil: not said here.
    package var streams: OutputStreams? { if case .streams(let streams) = value(.streams) { streams } else { nil } }
    /// `vars`, in file order.
    package var sharedValues: [SharedValue] {
        if case .sharedValues(let values) = value(.vars) { values } else { [] }
    }
}
