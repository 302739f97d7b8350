internal import Basics
internal import Planning
internal import Processes
internal import RunLog
internal import Running
internal import Workflow

extension Run {
    /// Prints the commands that the run would start and, if it would resume another one, what it would take over.
    /// Starts and changes nothing: takes no lock, does not count the run, and does not end leftovers of a dead run.
    func printDryRun(of plan: Plan, with values: RunValues) throws(CommandError) {
        var options = previewOptions(with: values)
        var notes: [String] = []
        if request.isResumed {
            let (resumed, key, copies) = try resumedRun(of: plan)
            if let past = resumed?.results { try demandInstances(of: plan, in: past) }
            options.past = resumed?.results
            options.definitionKey = key
            options.treeCopies = copies
            notes = resumed == nil ? [ResumedRun.nothing] : [resumed?.note].compactMap(\.self)
        }
        guard let (preview, hooks) = preview(of: plan, options, values.known) else { return }
        notes += hooks
        let printer = DryRunPrinter(
            preview, resumes: request.isResumed ? .some(options.past?.run) : nil, notes: notes,
            asks: !options.isConfirmed)
        try StandardStream.output.deliver(
            request.log == .json ? .json(printer.json()) : .lines(printer.text()))
    }

    /// Returns the options of a run that is only shown: it has no id yet, and makes no file.
    private func previewOptions(with values: RunValues) -> RunOptions {
        var options = options(with: values)
        options.run = "<run.id>"
        options.temporaryFolder = nil
        return options
    }

    /// Returns the commands, and warnings about hooks. With `showsAll`, what a condition switches off is shown, too.
    private func preview(
        of plan: Plan, _ options: RunOptions, _ known: KnownValues, showsAll: Bool = false
    ) -> (RunPreview, hooks: [String])? {
        EventLoop.shared.result(before: nil) {
            var options = options
            options.treeCopies = options.treeCopies?.judged(for: plan, options: options)
            let runner = WorkflowRunner(plan, options: options, reporters: [])
            return (runner.preview(known: known, showsAll: showsAll), runner.undoingHooks)
        }
    }

    /// Returns the printer of a step or group with all that it inherits.
    func printer(of id: String) throws(CommandError) -> StepPrinter {
        let (plan, values, choice) = try request.choice.plan(given: request.parameters) { workflow, words in
            RunValues(words, for: workflow, folder: folder(of: request.file), areOnlyShown: true)
        }
        try values.check()
        let options = previewOptions(with: values)
        guard let (preview, _) = preview(of: plan, options, values.known, showsAll: true),
            let row = preview.plan.row(ofID: choice.steps.first ?? id)
        else { throw .usage("show \(id): the copies of a fan-out over values of the run are shown as `[*]`") }
        let printer = StepPrinter(preview, of: row)
        if let failure = printer.failure { throw .failed("cannot show \(failure)") }
        return printer
    }

    /// Returns the run that would be resumed, the key of the state directory, and the place of the copies of the tree
    /// that the run has kept; nil if there is no such folder.
    private func resumedRun(
        of plan: Plan
    ) throws(CommandError) -> (ResumedRun?, key: KeyedHash.Key?, copies: TreeCopies?) {
        let place = StatePlace(file: request.file, explicit: request.stateDirectory)
        let found: (directory: StateDirectory, workflow: String?)?
        do throws(StateError) { found = try place.existing() } catch { throw .unable(error.message) }
        guard let (directory, name) = found else {
            if let run = request.resumedRun {
                throw .failed("`\(place.preferred.path)` has no journal of a run `\(run)` of this file")
            }
            return (nil, nil, nil)
        }
        let key = StateRegister(in: directory).existingKey()
        let history = RunHistory(in: directory)
        let resume = ResumeRequest(
            run: request.resumedRun, targets: request.choice.steps, workflow: name,
            lastHolder: name.flatMap { RunLock.newest(of: $0, in: directory) }, key: key, outputReads: plan.outputReads)
        let resumed = try ResumedRun(ResumedRun.find(resume, in: history), resume, in: history)
        let copies = resumed.results.flatMap { past -> TreeCopies? in
            guard plan.workflow.has(.isolate) else { return nil }
            return TreeCopyFolders.place(of: past.origin, in: directory, outlivingRun: request.keepsJournal)
        }
        return (resumed, key.flatMap { KeyedHash.Key($0) }, copies)
    }
}
