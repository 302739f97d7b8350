package import Basics
package import Syntax

/// The keys that most steps leave out. Only those that are present take space, so that a step without any costs one
/// word in its row of `Workflow.nodes`.
package final class Settings: Sendable {
    package let keys: KeySet
    /// In the order of the keys. The type of each is that of the property that reads it.
    private let values: [any Sendable]

    /// Entries without a value are left out. Each key occurs once.
    package init(_ entries: KeyValuePairs<WorkflowKey, (any Sendable)?>) {
        let entries = entries.compactMap { key, value in value.map { (key: key, value: $0) } }
            .sorted { $0.key.rawValue < $1.key.rawValue }
        keys = KeySet(entries.lazy.map(\.key))
        values = entries.map(\.value)
    }

    /// `values` are in the order of the keys.
    init(_ keys: KeySet, _ values: [any Sendable]) {
        self.keys = keys
        self.values = values
    }

    /// The value of a key, which has to be of the type that the decoder makes of it; nil if the key is not there, or if
    /// its value is still to be computed. O(1).
    package subscript<Value>(key: WorkflowKey) -> Value? {
        guard keys.contains(key) else { return nil }
        let value = values[keys.position(of: key)]
        if let value = value as? Value { return value }
        precondition(value is ComputedSetting, "another type than that of the decoder")
        return nil
    }

    /// The value of a key that is still to be computed; nil for any other.
    package func computed(_ key: WorkflowKey) -> ComputedSetting? {
        keys.contains(key) ? values[keys.position(of: key)] as? ComputedSetting : nil
    }

    /// The values that are still to be computed, in the order of their keys.
    package var computed: [ComputedSetting] { keys.intersection(WorkflowKey.computed).compactMap(computed) }

    /// Returns the settings with values in place of those that were to be computed; a key whose value is nil is left
    /// out. Nil if no key remains.
    package func computing(_ made: [(key: WorkflowKey, value: (any Sendable)?)]) -> Settings? {
        let lost = KeySet(made.lazy.filter { $0.value == nil }.map(\.key))
        let kept = made.compactMap { key, value in value.map { (key, $0) } }
        guard !kept.isEmpty else { return without(lost) }
        return Settings(KeySet(kept.lazy.map(\.0)), kept.map(\.1)).merged(with: without(lost))
    }

    /// Returns these keys, and those of others that are not among them.
    func merged(with others: Settings?) -> Settings {
        guard let others else { return self }
        let all = keys.union(others.keys)
        return Settings(all, all.map { keys.contains($0) ? value(of: $0) : others.value(of: $0) })
    }

    /// Returns only some of the keys; nil if none of them is present.
    func only(_ some: KeySet) -> Settings? {
        let kept = keys.intersection(some)
        return kept.isEmpty ? nil : Settings(kept, kept.map(value))
    }

    /// Returns all keys but these; nil if there are none.
    func without(_ some: KeySet) -> Settings? { only(keys.subtracting(some)) }

    /// Returns the same settings with another fan-out.
    package func with(_ fanOut: FanOut) -> Settings { Settings([.forEach: fanOut]).merged(with: self) }

    /// The default time between the first signal and KILL.
    package static let defaultGrace = Duration.seconds(10)
    /// The default time limit of a step of `finally` or `on-failure`.
    package static let hookTimeout = Duration.seconds(120)

    private func value(of key: WorkflowKey) -> any Sendable { values[keys.position(of: key)] }

    package var name: String? { self[.name] }
    package var description: String? { self[.description] }
    /// In file order; a later `dotenv` file or `env` entry wins.
    package var env: [EnvironmentEntry] { self[.env] ?? [] }
    package var dotenv: [DotenvFile] { self[.dotenv] ?? [] }
    package var workingDirectory: Template? { self[.workingDirectory] }
    /// Of a step: one attempt, from the start of its process. Of a group or the workflow: wall clock.
    package var timeout: TimeLimit? { self[.timeout] }
    /// True as well if only the parameters of a run decide.
    package var continueOnError: Bool { keys.contains(.continueOnError) }
    package var isSequence: Bool { keys.contains(.order) }
    /// The place of `order: sequence`; nil for a parallel group.
    package var orderRange: SourceRange? { self[.order] }
    /// The place of `isolate: copy`; nil for a group that runs in the tree itself.
    package var isolationRange: SourceRange? { self[.isolate] }
    /// nil for a step that takes no part in the jobs of the run.
    package var jobserver: JobserverForm? { self[.jobserver] }
    /// `matrix` or `for-each`.
    package var fanOut: FanOut? { self[.forEach] }
    /// `if`; nil to run whenever the needs allow it.
    package var condition: Expression? { self[.if] }
    /// The conditions that have to hold at the start, in file order.
    package var requirements: [Requirement] { self[.require] ?? [] }
    package var retry: Retry? { self[.retry] }
    /// In file order.
    package var outputs: [OutputDeclaration] { self[.outputs] ?? [] }
    package var pools: [PoolRequest] { self[.pool] ?? [] }
    /// The names in `mutex` and, for an interactive step, the terminal.
    package var mutexes: [MutexRequest] {
        let named: [MutexRequest] = self[.mutex] ?? []
        guard let place: SourceRange = self[.interactive] else { return named }
        let terminal = MutexRequest(name: MutexRequest.terminal, range: place)
        return named.contains { $0.name == terminal.name } ? named : named + [terminal]
    }
    /// The step's standard input; nil for none.
    package var standardInput: Template? { self[.stdin] }
    /// The workflow's secrets that the step sees, as environment variables.
    package var secrets: [SecretUse] { self[.secrets] ?? [] }
    /// nil if it is not set here.
    package var environmentPolicy: EnvironmentPolicy? { self[.envPolicy] }
    /// The platforms on which the step may run; empty for any.
    package var platforms: [Platform] { self[.platforms] ?? [] }
    /// Of a step or the workflow: the way in which its output is shown; nil if it is not set here. Does not affect
    /// the record of the run.
    package var log: LogView? { self[.log] }
    /// True if a step or group runs only when it is named, or when something that is chosen needs it.
    package var isManual: Bool { keys.contains(.manual) }
    /// True if neither this nor anything in it can be named on the command line.
    package var isInternal: Bool { keys.contains(.internal) }
    /// Other names for the id on the command line, in file order.
    package var aliases: [StepReference] { self[.aliases] ?? [] }
    /// The heading in the list of steps; nil for that of the enclosing group.
    package var section: String? { self[.section] }
    /// If they say that the step has the terminal for itself, `mutexes` has `MutexRequest.terminal`.
    package var attributes: ProcessAttributes {
        var attributes = ProcessAttributes()
        attributes.isDetached = keys.contains(.detach)
        attributes.isInteractive = keys.contains(.interactive)
        return attributes
    }
    /// For a step or group in a hook: the members of the hook's body that it undoes; nil if it is not set.
    package var undoes: [StepReference]? { self[.undoes] }
    /// `params` of a step, in file order.
    package var parameters: [Parameter] { self[.params] ?? [] }
    /// `vars`, in file order.
    package var sharedValues: [SharedValue] { self[.vars] ?? [] }
}

/// The value of a key that is written with expressions over parameters and `vars`, before these have values.
package struct ComputedSetting: Sendable {
    /// A part of the value.
    indirect enum Part: Sendable {
        /// The YAML text of a scalar without expressions.
        case literal(String)
        case template(Template)
        case list([Part])
        case fields([(word: String, part: Part)])
    }

    package let key: WorkflowKey
    /// The mapping that has the key.
    let place: KeyPlace
    let value: Part
    /// The place of the value.
    package let range: SourceRange
    /// Further lines that decide if the value is accepted.
    var rest = ""
    /// True if it belongs to the body that a group uses, and reads the names that are known there.
    package let isInside: Bool
    /// Evaluates an expression with the variables of a copy; nil until the parameters of the run are known.
    package var evaluate: (@Sendable (Expression, [Variable]) throws(EvaluationError) -> Value)?

    /// The expressions in the value, in order.
    package var expressions: [Expression] { Self.templates(in: value).flatMap(\.template.expressions) }

    /// The parts with expressions, each with the word below the key, and nil for the value itself; `isItem` for one of
    /// a list.
    package var templates: [(word: String?, template: Template, isItem: Bool)] { Self.templates(in: value) }

    private static func templates(
        in part: Part, _ word: String? = nil, isItem: Bool = false
    ) -> [(word: String?, template: Template, isItem: Bool)] {
        switch part {
        case .literal: []
        case .template(let template): [(word, template, isItem)]
        case .list(let parts): parts.flatMap { templates(in: $0, word, isItem: true) }
        case .fields(let fields): fields.flatMap { templates(in: $0.part, $0.word) }
        }
    }
}
