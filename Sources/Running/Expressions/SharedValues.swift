internal import Basics
internal import Planning
internal import Processes
internal import RunLog
internal import Syntax
internal import Workflow

/// The values of `vars` that commands make, each once in a run, when it is first read.
///
/// A command may take long, so an evaluation that reads the value of one that has not run ends without a value, and
/// begins once more when the value is there.
@EventLoopActor
final class SharedValues {
    private enum State {
        case ready(SharedLaunch)
        case running(SharedLaunch)
        case ended(Result<Value, SharedFailure>)
    }

    private var states: [SharedKey: State] = [:]
    /// The first value that the current evaluation lacks.
    private(set) var missing: SharedKey?

    /// Forgets what an evaluation lacked.
    func beginEvaluation() { missing = nil }

    /// Returns the result of the command; nil if it is not known yet. `make` makes the command the first time, and
    /// returns nil if it lacks something itself.
    func value(
        of key: SharedKey, making make: () throws(SharedFailure) -> SharedLaunch?
    ) -> Result<Value, SharedFailure>? {
        switch states[key] {
        case .ended(let result): return result
        case .ready, .running: break
        case nil:
            do {
                guard let launch = try make() else { return nil }
                states[key] = .ready(launch)
            } catch {
                states[key] = .ended(.failure(error))
                return .failure(error)
            }
        }
        missing = missing ?? key
        return nil
    }

    /// True if the command of a value has succeeded.
    func isMade(_ key: SharedKey) -> Bool { if case .ended(.success)? = states[key] { true } else { false } }

    /// Returns the command that makes a value, to be started now; nil if it runs already.
    func begin(_ key: SharedKey) -> SharedLaunch? {
        guard case .ready(let launch)? = states[key] else { return nil }
        states[key] = .running(launch)
        return launch
    }

    /// Records the result of a command; nil if it was stopped, so that a later reader starts it again.
    func end(_ key: SharedKey, _ result: Result<Value, SharedFailure>?) {
        if let result {
            states[key] = .ended(result)
        } else if case .running(let launch)? = states[key] {
            states[key] = .ready(launch)
        }
    }

    /// Forgets values, so that the next reader has them made once more. Running commands go on.
    func forget(where isStale: (SharedKey) -> Bool) {
        states = states.filter { key, state in
            if case .running = state { true } else { !isStale(key) }
        }
    }
}

/// The values that evaluations may have to wait for: answers about files, and `vars` that commands make.
///
/// An evaluation that lacks a value ends without a result and begins once more when the value is there.
@EventLoopActor
final class PendingValues {
    let files: FileQuestions
    let shared = SharedValues()
    /// The reason why one of `vars` had no value in the last evaluation; nil if none that has failed was read.
    var failure: SharedFailure?

    init(_ files: FileQuestions) { self.files = files }

    /// True if the current evaluation lacks a value.
    var isMissing: Bool { files.isMissing || shared.missing != nil }

    /// Returns the value of `body` for a row; nil if it has to be evaluated once more. Then the caller takes what is
    /// missing at once, and waits for it; what `body` did does not count.
    func evaluate<Value>(for row: PlanIndex, _ body: @EventLoopActor () -> Value) -> Value? {
        failure = nil
        shared.beginEvaluation()
        let value = files.evaluate(for: row, body)
        return shared.missing == nil ? value : nil
    }

    /// Takes what the last evaluation lacked. Other rows may be evaluated before the wait begins.
    func takeMissing() -> MissingValue {
        if let question = files.takeMissing() { return .answer(question) }
        guard let key = shared.missing else { preconditionFailure("the last evaluation lacked no value") }
        return .shared(key)
    }
}

/// A value that an evaluation lacked.
enum MissingValue {
    case answer(PlacedQuestion)
    case shared(SharedKey)
}

// The commands that make `vars`.
extension RunContext {
    /// Returns the command that makes one of `vars`; nil if it lacks a value itself.
    func launch(for key: SharedKey) throws(SharedFailure) -> SharedLaunch? {
        let made: Result<SharedLaunch, StepError> = Result { () throws(StepError) in try makeLaunch(for: key) }
        guard !pending.isMissing else { return nil }
        switch made {
        case .success(let launch): return launch
        case .failure(let error):
            throw SharedFailure(
                cause: state.cause(error.kind, error.message, of: key, error.failure?.cause),
                tail: error.failure?.tail ?? OutputTail())
        }
    }

    private func makeLaunch(for key: SharedKey) throws(StepError) -> SharedLaunch {
        guard let definition = plan.workflow[key.id].command else { preconditionFailure("`vars` without a command") }
        guard definition.purpose != .tree else { return try copyLaunch(for: key) }
        try makeScratchFolder()
        let surroundings = try surroundings(of: definition, key)
        let (words, script, scriptFile) = try words(of: definition, key)
        do throws(StepError) {
            return SharedLaunch(
                command: try command(words, in: surroundings, from: try folderOfMembers(key.group)),
                words: options.secrets.masked(script.map(StepStarted.Command.script) ?? .arguments(words)),
                scriptFile: scriptFile)
        } catch {
            if let scriptFile { files.drop(scriptFile) }
            throw error
        }
    }

    /// Returns the surroundings of the command of one of `vars`.
    func surroundings(of definition: SharedValue.Command, _ key: SharedKey) throws(StepError) -> Surroundings {
        let user = plan.fileUser(around: key.group, isInside: true)
        let policy = plan.environmentPolicy(inside: user.flatMap(plan.use))
        var surroundings = try sharedSurroundings(of: key.group, policy)
        var changes: [(name: String, value: String?)] = []
        for id in plan.workflow.sharedValuesRead(by: key.id) where !id.isTree {
            let read = sharedKey(of: id, around: key.group)
            changes.append((plan.workflow[id].name, try text(of: read)))
        }
        changes += options.environment.map { ($0.name, $0.value) }
        changes += options.secrets.environment(for: definition.secrets).map { ($0.name, $0.value) }
        surroundings.environment = EnvironmentBlock(surroundings.environment, changes: changes)
        setCeiling(of: key.group, isInside: true, in: &surroundings.environment)
        return surroundings
    }

    func words(
        of definition: SharedValue.Command, _ key: SharedKey
    ) throws(StepError) -> (words: [String], script: String?, scriptFile: String?) {
        switch definition.body {
        case .group, .milestone: preconditionFailure("`vars` without a command")
        case .arguments(let templates):
            return (try words(of: templates, in: RowScope(context: self, row: key.group, isShared: true)), nil, nil)
        case .script(let script):
            let text = script.text(in: plan.workflow.file)
            guard let shebang = Shebang(text) else {
                return ((definition.shell ?? plan.shell(of: key.group, isInside: true)).command(for: text), text, nil)
            }
            let file = try files.make(holding: text, of: "vars")
            return (shebang.command(for: file, isTraced: false), text, file)
        }
    }
}

/// The values that only a run makes, while its commands are only shown. `<NAME>` stands for each.
@EventLoopActor
final class UnknownValues {
    /// Returns true if the result of a row is known before the run, because it would be taken over.
    let knowsResult: (PlanIndex) -> Bool
    /// True once the current evaluation has read such a value.
    fileprivate var isRead = false
    /// Everything that stands for one, as a part of other texts.
    private var standIns: Set<String> = []

    init(knowsResult: @escaping (PlanIndex) -> Bool) { self.knowsResult = knowsResult }

    /// Notes that the current evaluation has read one, which has no value.
    @discardableResult
    func read() -> Value? {
        isRead = true
        return nil
    }

    func standIn(for expression: Expression) -> String { standIn(named: expression.text) }

    func standIn(named name: String) -> String {
        let text = "<\(name.visible)>"
        standIns.insert(text)
        return text
    }

    /// Returns true if an expression reads a text in which something stands for an unknown value.
    func isStandIn(in expression: Expression, _ scope: RowScope) -> Bool {
        guard !standIns.isEmpty else { return false }
        return expression.references.contains { root, field in
            guard !["steps", "previous", "run", "vars"].contains(root), let value = scope.value(of: root) else {
                return false
            }
            var texts = [value.text]
            if case .object(let fields) = value, let field {
                texts = fields.filter { $0.name == field }.map(\.value.text)
            }
            return texts.contains { text in standIns.contains { text.contains($0) } }
        }
    }

    /// Never shown: something stands for a value without which an evaluation ends.
    static func error(at range: SourceRange) -> EvaluationError { EvaluationError("only the run knows it", at: range) }
}

// Evaluation before the run.
extension RunContext {
    /// Returns the value of an expression; nil if only the run knows it.
    func foreseen(
        _ expression: Expression, in scope: RowScope, _ unknown: UnknownValues
    ) throws(EvaluationError) -> Value? {
        if unknown.isStandIn(in: expression, scope) {
            guard case .reference = expression.root.kind else { return nil }
            return try expression.evaluate(in: scope)
        }
        let isRead = unknown.isRead
        defer { unknown.isRead = isRead }
        while true {
            unknown.isRead = false
            let result = pending.evaluate(for: scope.row) {
                Result { () throws(EvaluationError) in try expression.evaluate(in: scope) }
            }
            guard !unknown.isRead else { return nil }
            switch result {
            case .success(let value)?: return value
            case .failure where lacksParameter(expression): return nil
            case .failure(let error)?: throw error
            case nil: break
            }
            // Others may change the files before it starts.
            guard !plan.followsOthers(scope.row), case .answer(let question) = pending.takeMissing() else { return nil }
            pending.files.foresee(question)
        }
    }

    /// True if an expression reads a required parameter that nothing has given a value.
    private func lacksParameter(_ expression: Expression) -> Bool {
        let missing = options.parameters.missing
        return !missing.isEmpty
            && expression.references.contains { root, field in
                root == "params" && missing.contains { $0.name == field }
            }
    }

    func foreseen(
        _ template: Template, in scope: RowScope, _ unknown: UnknownValues
    ) throws(EvaluationError) -> String {
        guard case .parsed(let parsed) = template else { return template.literal ?? "" }
        var text = ""
        for part in parsed.parts {
            switch part {
            case .text(let literal): text += literal
            case .expression(let expression):
                text += try foreseen(expression, in: scope, unknown)?.text ?? unknown.standIn(for: expression)
            }
        }
        return text
    }

    func foreseen(_ key: SharedKey, _ unknown: UnknownValues) throws(EvaluationError) -> Value {
        let isRead = unknown.isRead
        defer { unknown.isRead = isRead }
        unknown.isRead = false
        do {
            let value = try value(of: key)
            if !unknown.isRead, !pending.isMissing { return value }
        } catch {
            if !unknown.isRead, !pending.isMissing { throw error }
        }
        return .string(unknown.standIn(named: "vars.\(plan.workflow[key.id].name)"))
    }

    /// Returns the text that stands for the value of a parameter which `with` takes from something unknown; nil if it
    /// is known.
    func standIn(for argument: Use.Argument, at user: PlanIndex, _ unknown: UnknownValues) -> String? {
        let scope = RowScope(context: self, row: user)
        let isKnown = argument.templates.flatMap(\.expressions).allSatisfy { expression in
            do throws(EvaluationError) {
                return try foreseen(expression, in: scope, unknown) != nil && !unknown.isStandIn(in: expression, scope)
            } catch {
                return true
            }
        }
        guard !isKnown else { return nil }
        if case .text(let template) = argument.value, let text = try? foreseen(template, in: scope, unknown) {
            return text
        }
        return unknown.standIn(named: "params.\(argument.name)")
    }
}
