internal import Basics
internal import Glibc
internal import Planning
internal import RunLog
internal import Running
internal import Syntax
internal import Workflow

/// The commands that show a workflow file and run nothing.
enum WorkflowCommands {
    static func check(_ arguments: Arguments) throws(CommandError) -> ExitStatus {
        let named = arguments.values(.file) + arguments.operands
        let files = named.isEmpty ? [try WorkflowChoice(arguments).file] : named
        let deadline = try arguments.duration(.deadline)
        let jobs = try arguments.jobs()
        let checked = files.map { (file: $0, result: result(of: $0, arguments, deadline: deadline, jobs: jobs)) }
        let findings = checked.flatMap(\.result.findings)
        switch arguments.value(.format) {
        case "json": try StandardStream.output.deliver(.json(JSONPrinter.text(findings)))
        case "sarif": try StandardStream.output.deliver(.json(SARIFPrinter.text(findings, version: flowrunVersion)))
        case "github": try StandardStream.output.deliver(.asIs(GitHubAnnotations.text(findings)))
        default:
            let sound = checked.filter { Self.areNotes($0.result.findings) }.map { file, _ in
                "\(file == "-" ? "<stdin>" : file.visible): ok\n".harmlessLines
            }
            let drawn = StandardStream.output.drawn(findings, color: arguments.choice(.color) ?? .auto)
            try StandardStream.output.deliver(.asIs(drawn + sound.joined()))
        }
        let isValid = !findings.containErrors && (areNotes(findings) || !arguments.has(.strict))
        // Exits here, because freeing a large workflow takes a while.
        withExtendedLifetime(checked) { exit((isValid ? ExitStatus.success : .invalid).rawValue) }
    }

    private static func areNotes(_ findings: [Diagnostic]) -> Bool { findings.allSatisfy { $0.severity == .note } }

    /// Returns the findings of a file, and the loaded file, which the caller keeps because freeing it takes a while.
    private static func result(
        of file: String, _ arguments: Arguments, deadline: Duration?, jobs: Int?
    ) -> (loaded: WorkflowLoader, findings: [Diagnostic]) {
        let allowsOutside = arguments.has(.allowOutside)
        let showsEdits = ["json", "sarif"].contains(arguments.value(.format))
        guard let deadline else {
            let loaded = WorkflowLoader.check(file, allowsOutside: allowsOutside, showsEdits: showsEdits)
            return (loaded, loaded.diagnostics)
        }
        var known: KnownValues?
        var loaded = WorkflowLoader(file, allowsOutside: allowsOutside) { workflow in
            let values = RunValues(StepWords([], given: [], in: workflow), for: workflow, readsSecrets: false).known
            if workflow.hasComputedSettings { known = values }
            return values
        }
        if showsEdits { loaded = loaded.checkingEdits(of: UsedFiles.of(file, allowsOutside: allowsOutside)) }
        // The nodes that run if no step is named.
        let plan = try? loaded.plan?.restricted(to: [])
        let late = plan?.finding(deadline: deadline, jobs: jobs ?? RunRequest.usualJobs, known: known)
        return (loaded, loaded.diagnostics + (late.map { [$0] } ?? []))
    }

    static func plan(_ arguments: Arguments) throws(CommandError) {
        let jobs = try arguments.jobs()
        let (plan, known) = try chosenPlan(arguments)
        var printer = PlanPrinter(plan, jobs: jobs ?? RunRequest.usualJobs, known: known)
        if !arguments.has(.noHistory) {
            printer.estimate(
                from: PastDurations(
                    ofFile: try WorkflowChoice(arguments).file, stateDirectory: arguments.value(.stateDirectory)))
        }
        if let file = arguments.value(.durations) {
            let durations = try StepDurations(file: file)
            printer.simulate(durations)
            let unknown = durations.unknown(in: plan.outline)
            if let first = unknown.first {
                let count = unknown.count.counted("id")
                StandardStream.error.say("--durations: the plan does not have \(count) of the file, such as `\(first)`")
            }
        } else if arguments.has(.simulate) {
            printer.simulateFromPast()
        }
        try StandardStream.output.deliver(
            arguments.value(.format) == "json" ? .json(printer.json()) : .lines(printer.text()))
    }

    static func graph(_ arguments: Arguments) throws(CommandError) {
        let printer = GraphPrinter(try chosenPlan(arguments).plan)
        let answer: StandardStream.Answer =
            switch arguments.value(.format) {
            case "json": .json(printer.json())
            case "mermaid": .lines(printer.mermaid())
            default: .lines(printer.dot())
            }
        try StandardStream.output.deliver(answer)
    }

    static func list(_ arguments: Arguments) throws(CommandError) {
        let choice = try WorkflowChoice(arguments)
        if let word = choice.steps.first {
            throw choice.isNamed
                ? .syntax("unexpected `\(word)`: `list` takes one FILE", .list) : WorkflowChoice.missing(word)
        }
        let printer = ListPrinter(try choice.wholePlan(), isFileNamed: choice.isNamed)
        // As `flowrun -l` it has the options of `run`.
        let format = arguments.value(.format) ?? arguments.value(.log)
        try StandardStream.output.deliver(
            format == "json" ? .json(printer.json()) : .lines(printer.text()))
    }

    static func show(_ arguments: Arguments) throws(CommandError) {
        let choice = try WorkflowChoice(arguments)
        guard let id = choice.steps.first else { throw .syntax("`show` needs a STEP", .show) }
        guard choice.steps.count == 1 else {
            throw .syntax("unexpected `\(choice.steps[1])`: `show` takes one STEP", .show)
        }
        var request = RunRequest(choice, jobs: 1)
        request.parameters = try arguments.parameters()
        let printer = try Run(request).printer(of: id)
        try StandardStream.output.deliver(
            arguments.value(.format) == "json" ? .json(printer.json()) : .lines(printer.yaml()))
    }

    static func schema(_ arguments: Arguments) throws(CommandError) {
        let word = arguments.operands.first ?? SchemaKind.workflow.rawValue
        guard let kind = SchemaKind(rawValue: word) else {
            throw .usage("schema \(word): expected \(Phrase.alternatives(SchemaKind.allCases.map(\.rawValue)))")
        }
        try StandardStream.output.deliver(.asIs(kind.text))
    }

    static func explain(_ arguments: Arguments) throws(CommandError) {
        let isJSON = arguments.value(.format) == "json"
        guard let code = arguments.operands.first else {
            guard !isJSON else {
                return try StandardStream.output.deliver(
                    .json(
                        JSONWriter.line { json in
                            json.array { json in for code in DiagnosticCode.allCases { write(code, to: &json) } }
                        }))
            }
            let lines = DiagnosticCode.allCases.map { "\($0.rawValue)  \($0.title)\n" }
            return try StandardStream.output.deliver(.lines(lines.joined()))
        }
        guard let known = DiagnosticCode(rawValue: code.uppercased()) else {
            throw .usage("there is no finding `\(code)`; `flowrun explain` lists them all")
        }
        try StandardStream.output.deliver(
            isJSON ? .json(JSONWriter.line { write(known, to: &$0) }) : .lines(known.explanation))
    }

    private static func write(_ code: DiagnosticCode, to json: inout JSONWriter) {
        let details = code.details
        json.object { json in
            json.field("code", code.rawValue)
            json.field("title", details.title)
            json.field("meaning", details.meaning)
            json.field("example", details.example.isEmpty ? nil : details.example)
            json.field("fix", details.remedy)
        }
    }

    /// Returns the plan of a run with these arguments, and the values of parameters known so far; none is required.
    private static func chosenPlan(_ arguments: Arguments) throws(CommandError) -> (plan: Plan, known: KnownValues) {
        let given = try arguments.parameters()
        let (plan, values, _) = try WorkflowChoice(arguments).plan(given: given) {
            RunValues($1, for: $0, readsSecrets: false)
        }
        try values.check()
        return (plan, values.known)
    }
}
