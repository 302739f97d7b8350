internal import Basics
internal import Planning
internal import Processes
internal import RunLog
internal import Workflow

extension CommandBuilder {
    /// A digest of all that decides what a step does, expressions evaluated: its command, shell and arguments, where it
    /// runs, what it reads, the variables that the file and the command line give it, what becomes of its processes
    /// and its output, what it is to hand on, and what it needs. Not what it inherits from flowrun's surroundings, nor
    /// the values of its secrets, nor how long it may take and how often it is tried. Of the parameters only those count
    /// that its script or a word of its command names, and what follows `--` only if it takes that. Nil where nobody asks, in hooks, and for a
    /// step that leaves something in `$FLOWRUN_TEMP`.
    func definition(
        of row: PlanIndex, _ words: StepStarted.Command, in surroundings: Surroundings, input: [UInt8]?
    ) -> String? {
        guard let key = options.definitionKey, !plan.isInHook(row) else { return nil }
        var hash = needsHash(inside: plan.parent(of: row), key)
        appendNeeds(of: row, to: &hash)
        let settings = plan.settings(of: row)
        if namesScratchFolder, Self.has("FLOWRUN_TEMP", in: words) { return nil }
        switch words {
        case .script(let script):
            hash.append("script")
            hash.append(script)
            append(plan.shell(of: row).arguments, to: &hash)
        case .arguments(let arguments):
            hash.append("argv")
            append(arguments, to: &hash)
        }
        append(takenArguments(of: row), to: &hash)
        hash.append(surroundings.workingDirectory ?? "")
        hash.append(plan.environmentPolicy(of: row) == .clean ? 1 : 0)
        hash.append(settings?.isInteractive == true ? 1 : 0)
        hash.append(settings?.isDetached == true ? 1 : 0)
        hash.append(plan.streams(of: row) == .separate ? 1 : 0)
        appendVariables(of: row, words, in: surroundings, settings?.secrets.map(\.name) ?? [], to: &hash)
        hash.append(input?.count ?? -1)
        input?.withUnsafeBytes { hash.append($0) }
        for output in settings?.outputs ?? [] {
            hash.append(output.name)
            switch output.source {
            case .file(let kind): hash.append("file \(kind.rawValue)")
            case .standardOutput(let kind): hash.append("stdout \(kind.rawValue)")
            case .expression: hash.append("expression")
            }
        }
        return hash.finish()
    }

    private func takenArguments(of row: PlanIndex) -> [String] {
        guard !options.arguments.isEmpty, plan.isNamed(row), plan.workflow.takesArguments(plan.nodes[row].definition)
        else { return [] }
        return options.arguments
    }

    private func append(_ words: [String], to hash: inout KeyedHash) {
        hash.append(words.count)
        for word in words { hash.append(word) }
    }

    private func appendVariables(
        of row: PlanIndex, _ words: StepStarted.Command, in surroundings: Surroundings, _ secrets: [String],
        to hash: inout KeyedHash
    ) {
        let own = surroundings.environment.ownVariables
        guard !own.isEmpty else { return }
        let parameters = Dictionary(
            options.parameters.environment.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        for (name, value) in own.sorted(by: { $0.name < $1.name }) {
            // What the file sets nearer to the step, under a parameter's name, is not the parameter.
            let isParameter = parameters[name] == value && !isSet(name, around: row)
            if isParameter, !Self.has(name, in: words) { continue }
            hash.append(name)
            hash.append(secrets.contains(name) ? "" : value)
        }
    }

    /// True if an `env` of the row, or of what is around it, has a variable.
    private func isSet(_ name: String, around row: PlanIndex) -> Bool {
        var next = row
        while plan.settings(of: next)?.env.contains(where: { $0.name == name }) != true {
            if next == .root { return false }
            next = plan.parent(of: next)
        }
        return true
    }

    private static func has(_ name: String, in command: StepStarted.Command) -> Bool {
        switch command {
        case .script(let script): script.hasWord(name)
        case .arguments(let words): words.contains { $0.hasWord(name) }
        }
    }
}
