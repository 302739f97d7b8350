internal import Basics
internal import Glibc
internal import RunLog

/// Selects the run that a command is about: its state directory, and which of several runs.
struct RunSelector {
    /// The named workflow file, or else that of the current folder, if it has one.
    let file: String?
    /// True if the command is only about runs of this file.
    let isFileNamed: Bool
    private let stateDirectory: String?

    /// `operand` is the word that may name the file; nil if there is none.
    init(_ arguments: Arguments, operand: String?) {
        let choice = WorkflowChoice.known(arguments, operand.map { [$0] } ?? [])
        file = choice?.file
        isFileNamed = choice?.isNamed ?? false
        stateDirectory = arguments.value(.stateDirectory)
    }

    /// Returns the state directory, and the workflow's name in it; nil if there is no workflow file.
    func place() throws(CommandError) -> (directory: StateDirectory, workflow: String?) {
        let place = StatePlace(file: file, explicit: stateDirectory)
        do throws(StateError) {
            if let found = try place.existing() { return found }
        } catch {
            throw .failed(error.message)
        }
        throw .failed("no run has left a record here: there is no `\(place.preferred.path)`")
    }

    /// Returns the selected run, the first that exists of: the named one; the only one of the named workflow file; the
    /// run whose step has called this command; the only one of the current folder's workflow file; the only live one.
    func liveRun(
        _ named: String?, in directory: StateDirectory, of workflow: String?
    ) throws(CommandError) -> String {
        let live = ControlClient.liveRuns(in: directory)
        if let named {
            guard live.contains(named) else {
                throw .failed("no live run `\(named)` in `\(directory.path)`" + list(live))
            }
            return named
        }
        // A run inside of a live one belongs to that.
        let inside = Set(
            RunLock.entries(in: directory).map(\.holder)
                .filter { $0.parent.map(live.contains) ?? false }.map(\.run))
        var ofFile = workflow.map { workflow -> [String] in
            let all = RunLock.entries(of: workflow, in: directory).map(\.holder.run).filter(live.contains)
            let outer = all.filter { !inside.contains($0) }
            return outer.isEmpty ? all : outer
        }
        if ofFile == nil, isFileNamed { ofFile = try ofStandardInput(live, in: directory) }
        if let ofFile, isFileNamed {
            guard !ofFile.isEmpty else {
                throw .failed("no live run of `\(file ?? "")` in `\(directory.path)`" + list(live))
            }
            return try single(ofFile, "several runs of `\(file ?? "")` are live")
        }
        if let own = environmentVariable("FLOWRUN_RUN"), live.contains(own) { return own }
        if let ofFile, !ofFile.isEmpty { return try single(ofFile, "several runs of `\(file ?? "")` are live") }
        guard !live.isEmpty else { throw .failed("no live run in `\(directory.path)`") }
        return try single(live.filter { !inside.contains($0) }, "several runs are live in `\(directory.path)`")
    }

    /// Returns those of the live runs whose workflow came from standard input: they have no lock.
    func ofStandardInput(_ live: [String], in directory: StateDirectory) throws(CommandError) -> [String] {
        try RunHistory(in: directory).runs(of: nil).map(\.run).filter(live.contains)
    }

    private func single(_ runs: [String], _ words: String) throws(CommandError) -> String {
        guard runs.count == 1 else { throw .usage("\(words): name one" + list(runs.sorted())) }
        return runs[0]
    }

    private func list(_ runs: [String]) -> String { runs.isEmpty ? "" : "; live: " + runs.joined(separator: ", ") }

    /// Returns the run to read, which has a journal: the named one, or the first of `pastRuns`.
    func pastRun(_ named: String?, option: String) throws(CommandError) -> PastRun {
        guard let named else { return try pastRuns(option: option)[0] }
        let (directory, _) = try place()
        let history = RunHistory(in: directory)
        guard let run = try history.run(named) else {
            if let absence = try history.absence(of: named) {
                throw .failed("the run `\(named)` \(absence.words); `flowrun runs` lists what is kept")
            }
            throw .failed(
                RunID.isValid(named)
                    ? "`\(directory.path)` has no journal of the run `\(named)`; `flowrun runs` lists what is kept"
                    : "`\(named)` is not the id of a run; `flowrun runs` lists them")
        }
        return run
    }

    /// Returns the runs of the workflow file that have journals, or else those of all files, at least one, the last
    /// one first. Leaves out runs that were started by a step of another run. `option` is the option that names a
    /// run, for messages.
    func pastRuns(option: String) throws(CommandError) -> [PastRun] {
        let (directory, workflow) = try place()
        let history = RunHistory(in: directory)
        // That of standard input has no name.
        var runs = workflow != nil || isFileNamed ? try history.runs(of: workflow) : []
        if runs.isEmpty, !isFileNamed { runs = try history.runs() }
        guard let newest = runs.first else {
            throw .failed(
                "`\(directory.path)` has no journal of a run" + (isFileNamed ? " of `\(file ?? "")`" : ""))
        }
        runs.removeAll { $0.header.parent != nil }
        guard let last = runs.first else {
            throw .failed(
                "all runs of `\(newest.header.file)` were started by steps of other runs; "
                    + "for the last of them, write `\(option) \(newest.run)`")
        }
        let holder = last.header.workflow.flatMap { RunLock.newest(of: $0, in: directory) }
        if let holder, let absence = try history.absence(of: holder) {
            throw .failed(
                "the last run `\(holder.run)` \(absence.words); for the one before, write `\(option) \(last.run)`")
        }
        return runs
    }

    /// Returns the reply of a live run; throws if the reply is an error.
    func ask(
        _ request: ControlRequest, of run: String, in directory: StateDirectory
    ) throws(CommandError) -> (JSONObject, [UInt8]) {
        let reply: [UInt8]
        do throws(ControlClient.Failure) {
            reply = try ControlClient.ask(request.line, of: run, in: directory)
        } catch {
            switch error {
            case .notRunning: throw .failed("the run `\(run)` is over")
            case .silent: throw .failed("the run `\(run)` does not answer; it may be stopped, as by Ctrl-Z")
            case .refused(let error): throw .failed("cannot ask the run `\(run)`: \(SystemError(error).words)")
            }
        }
        guard let fields = reply.withUnsafeBytes({ JSONObject($0) }) else { throw unintelligible(run) }
        if let error = fields.string("error") { throw .failed(error) }
        guard fields.int("v") == ControlRequest.version else {
            throw .failed("the run `\(run)` answers in a version that this flowrun does not know")
        }
        return (fields, reply)
    }

    func unintelligible(_ run: String) -> CommandError {
        .failed("the run `\(run)` gave an answer that this flowrun does not understand")
    }
}
