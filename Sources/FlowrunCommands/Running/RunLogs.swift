internal import Basics
internal import Glibc
internal import Processes
internal import RunLog

extension DescriptorSink: RecordSink {}

/// The reporters of one run and the descriptors behind them.
@EventLoopActor
struct RunLogs {
    let reporters: [any Reporter]
    private let output: DescriptorSink
    /// Standard error, and what stands between it and its writers.
    private let errors: (descriptor: DescriptorSink, sink: any RecordSink)
    /// That of `--log-file`.
    private let file: DescriptorSink?
    private let filePath: String
    private let text: TextReporter?
    private var region: LiveRegion?

    /// Who asks on the terminal.
    private final class Questions {
        var prompt: TerminalPrompt?
    }

    private let questions = Questions()
    private let lastWait = LastWait()

    /// `journal`, nil where none is kept, and `view` are told of each event first. `estimate` is asked if the terminal
    /// shows what is left.
    init(
        _ request: RunRequest, journal: JournalWriter?, view: RunView, estimate: @escaping () -> RunEstimate?
    ) throws(CommandError) {
        let output = DescriptorSink(STDOUT_FILENO)
        var reporters: [any Reporter] = []
        var logSink: any RecordSink = output

        let isOnTerminal = TerminalDevice.isTerminal(STDERR_FILENO)
        let isOneTerminal = TerminalDevice.isSame(STDOUT_FILENO, STDERR_FILENO)
        // One sink for a terminal, so that what is written first is there first.
        let errors = isOneTerminal ? output : DescriptorSink(STDERR_FILENO)
        var errorSink: any RecordSink = errors
        // Behind a pipe there may be the same terminal, as with `| tee`, and another writer.
        let mayDraw = isOnTerminal && (!TerminalDevice.isPipe(STDOUT_FILENO) || request.progress == .live)
        let questions = questions
        switch request.progress.display(onTerminal: mayDraw, environment: environmentVariable) {
        case .live:
            let region = LiveRegion(
                terminal: errors, view: view,
                echo: isOneTerminal && request.log == .text ? .log(request.output) : .nowhere,
                estimate: estimate
            ) {
                // Below a question there is its answer; what another job's program shows below its cursor is not ours to
                // take away.
                questions.prompt?.isAsking ?? false || TerminalDevice.isInBackground(of: STDERR_FILENO)
                    ? nil : TerminalDevice.size(of: STDERR_FILENO)
            }
            reporters.append(region)
            self.region = region
            errorSink = region.sink(over: errors)
            if isOneTerminal { logSink = errorSink }
        case .heartbeat:
            let heartbeat = Heartbeat(sink: errors, view: view)
            reporters.append(heartbeat)
            logSink = heartbeat.sink(over: output)
        case .nothing:
            break
        }
        if TerminalDevice.isTerminal(STDOUT_FILENO) {
            logSink = ListeningSink(over: logSink) { questions.prompt?.noteOthers() }
        }
        if isOnTerminal, !isOneTerminal || request.log != .text { reporters.append(StoppingNotice(sink: errorSink)) }

        // A replay has all that a log has, also of a run that is killed right now.
        func behindJournal(_ sink: any RecordSink) -> any RecordSink {
            guard let journal else { return sink }
            return ListeningSink(over: sink) { journal.flush(isGoingOn: true) }
        }
        logSink = behindJournal(logSink)

        let isColored = request.colorsOutput
        switch request.log {
        case .text:
            let options = TextReporter.Options(
                output: request.output, isColored: isColored, isVerbose: request.isVerbose,
                spoolDirectory: environmentVariable("TMPDIR") ?? "/tmp", logFile: request.logFile, why: request.why)
            let text = TextReporter(sink: logSink, view: view, options: options, outputs: journal)
            reporters.append(text)
            self.text = text
        case .json:
            reporters.append(JSONLinesReporter(sink: logSink))
            text = nil
        case .quiet:
            reporters.append(
                QuietReporter(
                    sink: logSink, view: view, isColored: isColored, logFile: request.logFile, outputs: journal))
            text = nil
        }
        filePath = request.logFile ?? ""
        if let path = request.logFile {
            do {
                let file = try DescriptorSink(creating: path)
                reporters.append(JSONLinesReporter(sink: behindJournal(file)))
                self.file = file
            } catch {
                throw .unable("cannot write the log to `\(path)`: \(error.words)")
            }
        } else {
            file = nil
        }
        self.output = output
        self.errors = (errors, errorSink)
        self.reporters = reporters
    }

    /// Keeps a question that is asked on the terminal in sight, and nothing below it.
    func show(_ prompt: TerminalPrompt?) { questions.prompt = prompt }

    /// Writes a line after the program's name to standard error, in its turn.
    func say(_ message: String) {
        var line = StandardStream.line(message)
        line.withUTF8 { errors.sink.write(UnsafeRawBufferPointer($0)) }
    }

    /// Whether a reader is so far behind that steps should wait.
    var areCongested: Bool { output.isCongested || file?.isCongested == true }

    /// Leaves the terminal to a step: what is shown only for a while goes, and what would be written there waits.
    func leaveTerminal() {
        region?.clear()
        setTerminal(isHeld: true)
    }

    func returnToTerminal() { setTerminal(isHeld: false) }

    private func setTerminal(isHeld: Bool) {
        if TerminalDevice.isTerminal(STDERR_FILENO) { errors.descriptor.isHeld = isHeld }
        if TerminalDevice.isTerminal(STDOUT_FILENO) { output.isHeld = isHeld }
    }

    /// Takes away what the terminal shows only for a while; it comes back with the next event.
    func clearDisplay() { region?.clear() }

    /// The terminal has another size.
    func redrawDisplay() { region?.sizeHasChanged() }

    /// Delivers what readers have not taken yet. Where somebody wants the end (`isInterrupted`) they have two more
    /// seconds, otherwise as long as they take. Returns what went wrong; nil when every record arrived.
    func deliver(isInterrupted: () -> Bool) async -> String? {
        while output.hasPending || file?.hasPending == true {
            if isInterrupted() { lastWait.begin() }
            guard await lastWait.mayGoOn() else { break }
        }
        var failures: [String] = []
        if let reason = failure(of: output) { failures.append("standard output: \(reason)") }
        if let file, let reason = failure(of: file) { failures.append("`\(filePath)`: \(reason)") }
        if text?.lostOutput == true { failures.append("output of steps could not be kept in TMPDIR") }
        return failures.isEmpty ? nil : failures.joined(separator: "; ")
    }

    /// Waits for whoever reads standard error, but no longer than what is left of two seconds: what was to be said has
    /// been said to the log.
    func close() async {
        lastWait.begin()
        while errors.descriptor.hasPending, await lastWait.mayGoOn() {}
    }

    private func failure(of sink: DescriptorSink) -> String? {
        sink.failure.map { SystemError($0).words } ?? (sink.hasPending ? "nobody reads it" : nil)
    }
}

/// How long an end that is wanted is held up by readers, all of them together.
@EventLoopActor
private final class LastWait {
    private static let limit = Duration.seconds(2)
    private var deadline: EventLoopClock.Instant?

    nonisolated init() {}

    /// Starts the clock, once.
    func begin() { deadline = deadline ?? EventLoopClock().now.advanced(by: Self.limit) }

    /// Gives readers a moment. Returns false, and waits no more, once the time is over.
    func mayGoOn() async -> Bool {
        let clock = EventLoopClock()
        if let deadline, clock.now >= deadline { return false }
        try? await clock.sleep(until: clock.now.advanced(by: .milliseconds(5)))
        return true
    }
}
