internal import Basics
internal import Glibc
internal import Processes
internal import RunLog
internal import Running

extension DescriptorSink: RecordSink {}

/// The reporters of one run, and the descriptors to which they write.
@EventLoopActor
struct RunLogs {
    let reporters: [any Reporter]
    private let output: DescriptorSink
    /// Standard error, as a descriptor and as the sink for its writers.
    private let errors: (descriptor: DescriptorSink, sink: any RecordSink)
    /// The file of `--log-file`.
    private let file: DescriptorSink?
    private let filePath: String
    private let log: any Reporter
    /// Of standard output, unless that is a terminal, and of the file.
    private var turns: [TurnSink] = []
    private var region: LiveRegion?

    /// Holds what is made after the closures that use it.
    private final class LaterParts {
        var prompt: TerminalPrompt?
        weak var runner: WorkflowRunner?
    }

    private let later = LaterParts()
    private let lastWait = LastWait()
    private let waitOfHooks = LastWait()

    /// `journal`, nil if none is kept, and `view` receive each event first. `estimate` is called if the terminal
    /// shows the remaining time.
    init(
        _ request: RunRequest, hiding secrets: RunSecrets, journal: JournalWriter?, view: RunView,
        estimate: @escaping () -> RunEstimate?
    ) throws(CommandError) {
        let output = DescriptorSink(STDOUT_FILENO)
        var reporters: [any Reporter] = []
        var logSink: any RecordSink = output

        let isOnTerminal = TerminalDevice.isTerminal(STDERR_FILENO)
        let isOneTerminal = TerminalDevice.isSame(STDOUT_FILENO, STDERR_FILENO)
        // One sink for one terminal keeps the order of its output.
        let errors = isOneTerminal ? output : DescriptorSink(STDERR_FILENO)
        var errorSink: any RecordSink = errors
        // Standard output may be a pipe to the same terminal, as with `| tee`, which then has another writer.
        let mayDraw = isOnTerminal && (!TerminalDevice.isPipe(STDOUT_FILENO) || request.progress == .live)
        let later = later
        var turns: [TurnSink] = []
        switch request.progress.display(onTerminal: mayDraw, environment: environmentVariable) {
        case .live:
            let region = LiveRegion(
                terminal: errors, view: view,
                echo: isOneTerminal && request.log == .text ? .log(request.output) : .nowhere,
                estimate: estimate
            ) {
                // The line below a question is for its answer; and the region must not clear what another job shows
                // below its cursor.
                later.prompt?.isAsking ?? false || TerminalDevice.isInBackground(of: STDERR_FILENO)
                    ? nil : TerminalDevice.size(of: STDERR_FILENO)
            }
            reporters.append(region)
            self.region = region
            errorSink = region.sink(over: errors)
            if isOneTerminal { logSink = errorSink }
        case .heartbeat:
            // What it tells of comes before it.
            let sink = ListeningSink(over: errors) { for turn in turns { turn.flush() } }
            let heartbeat = Heartbeat(sink: sink, view: view)
            reporters.append(heartbeat)
            logSink = heartbeat.sink(over: output)
        case .nothing:
            break
        }
        if TerminalDevice.isTerminal(STDOUT_FILENO) {
            logSink = ListeningSink(over: logSink) { later.prompt?.noteOthers() }
        }
        if isOnTerminal, !isOneTerminal || request.log != .text { reporters.append(StoppingNotice(sink: errorSink)) }

        // Journal first, so that a replay has everything that a log has, even if the run is killed right now.
        func behindJournal(_ sink: any RecordSink) -> any RecordSink {
            guard let journal else { return sink }
            return ListeningSink(over: sink) { journal.flush(isGoingOn: true) }
        }
        func inTurns(_ sink: any RecordSink) -> any RecordSink {
            let turn = TurnSink(over: sink)
            turns.append(turn)
            return turn
        }
        logSink = behindJournal(logSink)
        if !TerminalDevice.isTerminal(STDOUT_FILENO) { logSink = inTurns(logSink) }

        var options = TextReporter.Options()
        options.output = request.output
        options.isColored = request.colorsOutput
        options.isVerbose = request.isVerbose
        options.spoolDirectory = environmentVariable("TMPDIR") ?? options.spoolDirectory
        options.logFile = request.logFile
        options.why = request.why
        // For people: a log that is kept is read where the run can no longer go on.
        if journal != nil, TerminalDevice.isTerminal(STDOUT_FILENO) {
            options.resume = request.resume(hiding: secrets)
        }
        log = request.log.reporter(to: logSink, view: view, options, outputs: journal, journal: journal)
        reporters.append(log)
        filePath = request.logFile ?? ""
        if let path = request.logFile {
            do {
                let file = try DescriptorSink(creating: path)
                reporters.append(JSONLinesReporter(sink: inTurns(behindJournal(file)), journal: journal))
                self.file = file
            } catch {
                throw .unable("cannot write the log to `\(path)`: \(error.words)")
            }
        } else {
            file = nil
        }
        self.turns = turns
        self.output = output
        self.errors = (errors, errorSink)
        self.reporters = reporters
    }

    /// Keeps a question on the terminal visible, with nothing drawn below it.
    func show(_ prompt: TerminalPrompt?) { later.prompt = prompt }

    /// Writes a line to standard error, in order with all other records; the line begins with the program's name.
    func say(_ message: String) {
        endTurn()
        var line = StandardStream.line(message)
        line.withUTF8 { errors.sink.write(UnsafeRawBufferPointer($0)) }
    }

    /// Writes what the reporters have reported in this turn of the event loop.
    func endTurn() { for sink in turns { sink.flush() } }

    /// False while a reader is so far behind that steps should wait. Of a run that is ending, readers delay the hooks
    /// for two seconds altogether; then those that are behind are given up.
    var mayTakeOutput: Bool {
        let isCongested = output.isCongested || file?.isCongested == true
        return !isCongested || later.runner?.isStopping == true && giveUpReaders()
    }

    /// Lets the end of a run count for `mayTakeOutput`.
    func follow(_ runner: WorkflowRunner) { later.runner = runner }

    /// Returns false before the time is over.
    private func giveUpReaders() -> Bool {
        let late = [output, file].compactMap { sink in sink.flatMap { $0.isCongested ? $0 : nil } }
        guard !late.contains(where: \.isHeld) else { return false }
        waitOfHooks.begin()
        guard waitOfHooks.isOver else { return false }
        for sink in late { sink.giveUp() }
        return true
    }

    /// Leaves the terminal to a step: clears the live region, and holds back output until `returnToTerminal`.
    func leaveTerminal() {
        endTurn()
        region?.clear()
        setTerminal(isHeld: true)
    }

    func returnToTerminal() { setTerminal(isHeld: false) }

    private func setTerminal(isHeld: Bool) {
        if TerminalDevice.isTerminal(STDERR_FILENO) { errors.descriptor.isHeld = isHeld }
        if TerminalDevice.isTerminal(STDOUT_FILENO) { output.isHeld = isHeld }
    }

    /// Clears the live region, which returns with the next event.
    func clearDisplay() { region?.clear() }

    /// Redraws the live region after a change of the terminal's size.
    func redrawDisplay() { region?.sizeHasChanged() }

    /// Waits until readers have accepted all records: without a limit, or for two seconds once `isInterrupted`
    /// returns true. Returns a description of the failures; nil if every record was delivered.
    func deliver(isInterrupted: () -> Bool) async -> String? {
        endTurn()
        while output.hasPending || file?.hasPending == true {
            if isInterrupted() { lastWait.begin() }
            guard await lastWait.mayGoOn() else { break }
        }
        var failures: [String] = []
        if let reason = failure(of: output) { failures.append("standard output: \(reason)") }
        if let file, let reason = failure(of: file) { failures.append("`\(filePath)`: \(reason)") }
        if log.lostOutput { failures.append("output of steps could not be kept in TMPDIR") }
        return failures.isEmpty ? nil : failures.joined(separator: "; ")
    }

    /// Waits for the reader of standard error, but only for the rest of the two seconds: the log has all that
    /// matters.
    func close() async {
        endTurn()
        lastWait.begin()
        while errors.descriptor.hasPending, await lastWait.mayGoOn() {}
    }

    private func failure(of sink: DescriptorSink) -> String? {
        let isLate = sink.hasPending || sink.isGivenUp
        return isLate ? "nothing reads it" : sink.failure.map { SystemError($0).words }
    }
}

/// The time for which slow readers may delay a requested end, shared by all of them.
@EventLoopActor
private final class LastWait {
    private static let limit = Duration.seconds(2)
    private var deadline: EventLoopClock.Instant?

    nonisolated init() {}

    /// Starts the clock, once.
    func begin() { deadline = deadline ?? EventLoopClock().now.advanced(by: Self.limit) }

    var isOver: Bool { deadline.map { EventLoopClock().now >= $0 } ?? false }

    /// Waits a moment for readers. Returns false without waiting once the time is over.
    func mayGoOn() async -> Bool {
        guard !isOver else { return false }
        let clock = EventLoopClock()
        try? await clock.sleep(until: clock.now.advanced(by: .milliseconds(5)))
        return true
    }
}
