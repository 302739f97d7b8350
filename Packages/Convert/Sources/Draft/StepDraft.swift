/// A step or group of a workflow file to be written.
package struct StepDraft: Equatable, Sendable {
    package enum Body: Equatable, Sendable {
        case script(String)
        /// A program and its arguments.
        case words([String])
        /// Only its needs.
        case milestone
        case group([StepDraft], finally: [StepDraft] = [])
        /// The reason why it could not be converted. The step fails until it is filled in.
        case unfinished(String)
    }

    package var id: String
    /// The name that is shown in place of the id, if it says more.
    package var name: String?
    package var description: String?
    package var comments: [String] = []
    /// The parts of its original lines that it leaves out.
    package var notes: [String] = []
    package var isManual = false
    package var needs: [String] = []
    package var condition: String?
    /// `matrix`, `for-each` and their further keys.
    package var fanOut: [YAMLEntry] = []
    package var env: [YAMLEntry] = []
    package var secrets: [String] = []
    /// The other keys.
    package var settings: [YAMLEntry] = []
    package var outputs: [YAMLEntry] = []
    package var body: Body
    /// The lines that it was made from, shown if it could not be converted.
    package var origin: Excerpt

    package init(_ id: String, _ body: Body, origin: Excerpt = .none) {
        self.id = id
        self.body = body
        self.origin = origin
    }

    /// Lets the makes in it take part in the jobs of the run.
    mutating func sharesJobs() { set("jobserver", .word("true")) }

    mutating func set(_ key: String, _ value: YAMLValue) { settings.append(YAMLEntry(key, value)) }

    /// Replaces the body by a step that has to be filled in. What is dropped remains in the comment above the step. A
    /// second call drops everything but the id.
    mutating func giveUp(_ reason: String) {
        if case .unfinished = body {
            (needs, outputs, name, description) = ([], [], nil, nil)
        } else {
            // Other steps may read them.
            if case .group = body { outputs = outputs.map { YAMLEntry($0.key, .word("string")) } }
            body = .unfinished(reason)
        }
        (notes, condition, fanOut, env, secrets, settings) = ([], nil, [], [], [], [])
    }

    /// The ids of the steps to be filled in: its own, or those inside of it as paths.
    package var unfinishedIDs: [String] {
        switch body {
        case .unfinished: [id]
        case .group(let steps, let finally): (steps + finally).flatMap(\.unfinishedIDs).map { "\(id).\($0)" }
        default: []
        }
    }

    /// True if it, or all that is in it, may be skipped by a condition or on this platform.
    var mayBeSkipped: Bool {
        if condition != nil || settings.contains(where: { $0.key == "platforms" }) { return true }
        guard case .group(let steps, _) = body else { return false }
        return steps.allSatisfy(\.mayBeSkipped)
    }

    /// The number of steps, groups not counted: 1, or those inside of it.
    package var stepCount: Int {
        if case .group(let steps, let finally) = body { (steps + finally).reduce(0) { $0 + $1.stepCount } } else { 1 }
    }

    /// The entry in the file.
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
            // A step with more than its needs is no milestone, and has to run something.
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
