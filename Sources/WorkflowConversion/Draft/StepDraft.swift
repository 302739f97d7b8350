/// A step or group of a workflow file that is about to be written.
package struct StepDraft: Equatable, Sendable {
    package enum Body: Equatable, Sendable {
        case script(String)
        /// A program and its arguments.
        case words([String])
        /// Only what it needs.
        case milestone
        case group([StepDraft], finally: [StepDraft] = [])
        /// What could not be said, and why. The step fails until somebody writes it.
        case unfinished(String)
    }

    package var id: String
    /// What is shown in place of the id, where it says more.
    package var name: String?
    package var description: String?
    package var comments: [String] = []
    /// What of the lines it was made from it does not say.
    package var notes: [String] = []
    package var isManual = false
    package var needs: [String] = []
    package var condition: String?
    /// `matrix`, `for-each` and what belongs to them.
    package var fanOut: [YAMLEntry] = []
    package var env: [YAMLEntry] = []
    package var secrets: [String] = []
    /// The other keys.
    package var settings: [YAMLEntry] = []
    package var outputs: [YAMLEntry] = []
    package var body: Body
    /// The lines that it was made from, shown where it could not be converted.
    package var origin: Excerpt

    package init(_ id: String, _ body: Body, origin: Excerpt = .none) {
        self.id = id
        self.body = body
        self.origin = origin
    }

    mutating func set(_ key: String, _ value: YAMLValue) { settings.append(YAMLEntry(key, value)) }

    /// Replaces the body by a step that has to be filled in. What it does not say any more stands above it; a second
    /// time everything goes but the id.
    mutating func giveUp(_ reason: String) {
        if case .unfinished = body {
            (needs, outputs, name, description) = ([], [], nil, nil)
        } else {
            // Others may read them.
            if case .group = body { outputs = outputs.map { YAMLEntry($0.key, .word("string")) } }
            body = .unfinished(reason)
        }
        (notes, condition, fanOut, env, secrets, settings) = ([], nil, [], [], [], [])
    }

    /// How many steps are to be filled in, itself and in it.
    package var unfinishedIDs: [String] {
        switch body {
        case .unfinished: [id]
        case .group(let steps, let finally): (steps + finally).flatMap(\.unfinishedIDs).map { "\(id).\($0)" }
        default: []
        }
    }

    /// How many steps it stands for, groups not counted.
    package var stepCount: Int {
        if case .group(let steps, let finally) = body { (steps + finally).reduce(0) { $0 + $1.stepCount } } else { 1 }
    }

    /// The entry of the file.
    var entry: YAMLEntry {
        var entries: [YAMLEntry] = []
        func add(_ key: String, _ value: YAMLValue?) {
            if let value { entries.append(YAMLEntry(key, value)) }
        }
        add("name", name.map(YAMLValue.text))
        add("description", description.map(YAMLValue.text))
        add("manual", isManual ? .word("true") : nil)
        add("needs", needs.isEmpty ? nil : .texts(needs))
        add("if", condition.map(YAMLValue.text))
        entries += fanOut
        add("env", env.isEmpty ? nil : .mapping(env))
        add("secrets", secrets.isEmpty ? nil : .texts(secrets))
        entries += settings
        add("outputs", outputs.isEmpty ? nil : .mapping(outputs))
        var comments = comments + notes
        switch body {
        case .script(let script): add("run", .script(script))
        case .words(let words): add("run", .texts(words))
        case .milestone:
            // One that has more than its needs is a step, and a step runs something.
            let isMilestone = !needs.isEmpty && (fanOut + env + settings + outputs).isEmpty && secrets.isEmpty
            if !isMilestone { add("run", .script(":")) }
        case .group(let steps, let finally):
            add("steps", .mapping(steps.map(\.entry)))
            add("finally", finally.isEmpty ? nil : .mapping(finally.map(\.entry)))
        case .unfinished(let reason):
            comments += origin.comments("not converted, fill in the step: \(reason)")
            add("run", .script("echo '\(id): to be filled in, see the workflow file' >&2\nexit 1"))
        }
        return YAMLEntry(id, .mapping(entries), comments: comments, isSpaced: true)
    }
}
