internal import Basics
internal import Glibc
internal import Processes
internal import RunLog
internal import WorkflowConversion

/// The tool of a file that is converted: make, just or task. What its file says runs in a copy of the folder, with a
/// limit for time and output; nothing of it is left afterwards, however flowrun ends.
@EventLoopActor
final class AskedTool {
    private let folder: String
    private let patience: Duration
    private let copy: FolderCopy
    private var process: (any RunningProcess)?
    private var signal: Int32?

    private init(folder: String, patience: Duration, copy: FolderCopy) {
        self.folder = folder
        self.patience = patience
        self.copy = copy
    }

    /// Runs a conversion that asks the tool of a file in `folder`, which is absolute. `convert` gets the path of the
    /// copy. The calling process goes on in a new one, so that it has a guard.
    nonisolated static func answers(
        in folder: String, patience: Duration,
        to convert: @escaping @EventLoopActor (String, @escaping ToolQuestion.Asking) async -> Conversion
    ) -> Conversion {
        Guard.enter()
        let unknown: (Conversion, Int32?) = (.failure(ForeignFileError("the event loop has ended")), nil)
        let (conversion, signal) = EventLoop.shared.result(before: unknown) { () -> (Conversion, Int32?) in
            let copy = FolderCopy(of: folder)
            Guard.note(temporaryFolder: copy.path)
            let tool = AskedTool(folder: folder, patience: patience, copy: copy)
            tool.listen()
            let conversion = await convert(copy.content) { question async throws(ForeignFileError) in
                try await tool.answer(question)
            }
            copy.remove()
            Guard.note(temporaryFolder: nil)
            return (conversion, tool.signal)
        }
        Guard.announceEnd()
        if let signal {
            Signals.die(by: signal)
            exit(128 + signal)  // Only PID 1 survives the signal.
        }
        return conversion
    }

    typealias Conversion = Result<WorkflowDraft, ForeignFileError>

    private func listen() {
        _ = DescriptorLimit.raise()
        ProcessSpawner.shared.closeAllOnExec()
        Signals.take { number in
            switch number {
            case SIGWINCH: break
            case SIGTSTP: Signals.stop()
            default: self.end(by: number)
            }
        }
        Guard.whenGone { self.end(by: SIGKILL) }
    }

    private func end(by number: Int32) {
        signal = signal ?? number
        process?.killAll()
    }

    private func answer(_ question: ToolQuestion) async throws(ForeignFileError) -> String {
        let file = question.file
        func failure(_ reason: String, _ fix: String) -> ForeignFileError {
            ForeignFileError(
                "`\(question.spelling)` about `\(file)`: \(reason); \(fix), or convert it without `--ask-tool`")
        }
        let program: String
        do throws(SpawnError) {
            program = try findProgram(question.program, along: environmentVariable("PATH"), from: folder)
        } catch {
            throw failure("there is no program `\(question.program)` on PATH", "install it")
        }
        if question.runsFile {
            do throws(FolderCopy.Problem) {
                try copy.make { self.signal != nil }
                for (name, text) in question.files { try copy.replace(name, by: text) }
            } catch {
                throw failure(error.reason, error.fix)
            }
        }
        let command = ProcessCommand(
            path: program, arguments: [question.program] + question.arguments, environment: Self.environment,
            workingDirectory: question.runsFile ? copy.content : folder, separatesStreams: true)
        let output = ToolOutput()
        guard signal == nil, let process = try? ProcessSpawner.shared.start(command, for: output) else {
            throw failure("the machine gives no process for it", "try again")
        }
        self.process = process
        var isLate = false
        let timer = Poller.shared.timers.schedule(at: EventLoopClock().now.advanced(by: patience)) {
            isLate = true
            process.killAll()
        }
        output.whenTooLong = { process.killAll() }
        let status = await output.end()
        Poller.shared.timers.cancel(timer)
        self.process = nil
        if isLate {
            throw failure("no answer within \(TimeText.duration(patience))", "give it more time with `--timeout`")
        }
        if output.isTooLong {
            throw failure("more than \(ToolOutput.limit >> 20) MiB of output", "ask about a smaller file")
        }
        guard status == .exited(0) else {
            let words = output.lastError.map { "it says `\($0)`" } ?? "it ends with \(Self.words(status))"
            throw failure(words, "mend the file")
        }
        return output.text.replacing(copy.content, with: question.folder ?? folder)
    }

    private static func words(_ status: ProcessEnding.Status) -> String {
        switch status {
        case .exited(let code): "status \(code)"
        case .signalled(let number): SignalName.of(number)
        case .notStarted(let error): SystemError(error.errno).words
        }
    }

    /// Little of flowrun's own, so that the answer depends on the file, and no secret gets into a workflow.
    private static var environment: EnvironmentBlock {
        let names = ["PATH", "HOME", "USER", "LOGNAME", "TMPDIR"]
        let kept = EnvironmentBlock(EnvironmentBlock(inheriting: environ), keeping: names)
        return EnvironmentBlock(kept) { $0.set("LC_ALL", "C") }
    }
}

/// Takes the output of a tool.
@EventLoopActor
private final class ToolOutput: ProcessObserver {
    static let limit = 64 << 20

    private var output: [UInt8] = []
    private var errors: [UInt8] = []
    private(set) var isTooLong = false
    var whenTooLong: () -> Void = {}
    private var ending: ProcessEnding.Status?
    private var waiter: CheckedContinuation<ProcessEnding.Status, Never>?

    var mayTakeOutput: Bool { true }
    var text: String { String(decoding: output, as: UTF8.self) }

    /// The last line of its errors; nil if there is none.
    var lastError: String? {
        let lines = String(decoding: errors.suffix(64 << 10), as: UTF8.self).split(separator: "\n")
        let line = lines.first { $0.contains("*** ") || $0.hasPrefix("error: ") } ?? lines.last
        return line.map { String($0.prefix(300)).visible }
    }

    func end() async -> ProcessEnding.Status {
        if let ending { return ending }
        return await withCheckedContinuation { waiter = $0 }
    }

    func process(wrote bytes: UnsafeRawBufferPointer, to stream: OutputStream) {
        guard !isTooLong else { return }
        if stream == .standardError { errors += bytes } else { output += bytes }
        guard output.count + errors.count > Self.limit else { return }
        isTooLong = true
        whenTooLong()
    }

    func process(exited status: ProcessEnding.Status) {}
    func processLingers() {}
    func process(sent signal: Int32) {}

    func process(ended ending: ProcessEnding) {
        self.ending = ending.status
        waiter.take()?.resume(returning: ending.status)
    }
}

/// A copy of a folder with all that is in it, in a temporary folder of its own.
@EventLoopActor
private final class FolderCopy {
    struct Problem: Error {
        let reason: String
        let fix: String
    }

    /// The temporary folder, and the copy in it.
    let path: String
    let content: String
    private let original: String
    private var isMade = false
    private var entries = 0
    private var bytes = 0
    private static let entryLimit = 200_000
    private static let byteLimit = 4 << 30

    init(of original: String) {
        self.original = original
        let parent = environmentVariable("TMPDIR").flatMap(resolvedPath) ?? "/tmp"
        path = "\(parent)/flowrun-\(UInt64.random(in: 0...UInt64.max).hexadecimal(digits: 12))"
        content = path + "/copy"
    }

    /// Makes the copy, at the first call only; stops early if `isUnwanted`.
    func make(isUnwanted: () -> Bool) throws(Problem) {
        guard !isMade else { return }
        isMade = true
        guard mkdir(path, 0o700) == 0 else { throw failure("make", path) }
        try copyFolder(original, to: content, isUnwanted)
    }

    /// Replaces the content of a file of the copy; does nothing to one behind a link out of it. Its time stays, because
    /// make compares those of makefiles too.
    func replace(_ name: String, by text: String) throws(Problem) {
        var status = stat()
        guard stat("\(content)/\(name)", &status) == 0, let place = resolvedPath("\(content)/\(name)"),
            let root = resolvedPath(content), place.hasPrefix("\(root)/")
        else { return }
        let descriptor = open("\(content)/\(name)", O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw failure("write", "\(content)/\(name)") }
        defer { close(descriptor) }
        do throws(SystemError) {
            try WholeFile.write(Array(text.utf8), to: descriptor)
        } catch {
            throw Problem(reason: "cannot write `\(content)/\(name)`: \(error.words)", fix: "make room for a copy")
        }
        let times = [status.st_atim, status.st_mtim]
        futimens(descriptor, times)
    }

    func remove() { FolderRemoval.removeOwn(path) }

    private func failure(_ verb: String, _ path: String) -> Problem {
        let words = SystemError(errno).words
        return Problem(reason: "cannot \(verb) `\(path)`: \(words)", fix: "make a copy of the folder possible")
    }

    private func copyFolder(_ source: String, to target: String, _ isUnwanted: () -> Bool) throws(Problem) {
        Signals.hear()
        if isUnwanted() { return }
        guard let stream = opendir(source) else { throw failure("read", source) }
        defer { closedir(stream) }
        guard mkdir(target, 0o700) == 0 else { throw failure("make", target) }
        while let entry = try? FolderEntry.next(in: stream) {
            let name = String(cString: entry.name)
            let place = "\(source)/\(name)"
            // The temporary folder may be in the folder.
            if name == "." || name == ".." || place == path { continue }
            var status = stat()
            guard lstat(place, &status) == 0 else { continue }
            entries += 1
            bytes += Int(status.st_size)
            guard entries <= Self.entryLimit, bytes <= Self.byteLimit else {
                throw Problem(
                    reason: "the folder holds more than \(Self.entryLimit) files or \(Self.byteLimit >> 30) GiB",
                    fix: "ask about a smaller folder")
            }
            let copy = "\(target)/\(name)"
            switch status.st_mode & S_IFMT {
            case S_IFDIR: try copyFolder(place, to: copy, isUnwanted)
            case S_IFREG: try copyFile(place, to: copy, status)
            case S_IFLNK: try copyLink(place, to: copy)
            // A pipe or a socket has no content.
            default: continue
            }
            utimensat(AT_FDCWD, copy, [status.st_atim, status.st_mtim], AT_SYMLINK_NOFOLLOW)
        }
    }

    private func copyFile(_ source: String, to target: String, _ status: stat) throws(Problem) {
        let from = open(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        // What this user cannot read, the tool cannot read either.
        guard from >= 0 else { return }
        defer { close(from) }
        let to = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, status.st_mode & 0o700 | 0o600)
        guard to >= 0 else { throw failure("write", target) }
        defer { close(to) }
        // FICLONE: no bytes are copied where the file system can share them.
        if ioctl(to, 0x4004_9409, from) == 0 { return }
        do throws(SystemError) {
            // A part at a time: the file may be larger than the memory.
            let limit = 1 << 20
            var part: [UInt8] = []
            repeat {
                part = try WholeFile.read(from, limit: limit, expecting: Int(status.st_size))
                try WholeFile.write(part, to: to)
            } while part.count > limit
        } catch {
            throw Problem(reason: "cannot copy `\(source)`: \(error.words)", fix: "make room for a copy")
        }
    }

    private func copyLink(_ source: String, to target: String) throws(Problem) {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard readlink(source, &text, text.count - 1) > 0 else { return }
        guard symlink(text, target) == 0 else { throw failure("make", target) }
    }
}
