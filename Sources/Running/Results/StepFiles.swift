internal import Basics
internal import Glibc
internal import Processes
internal import RunLog

/// The files of one run, in a folder of its own that is removed with it: those that `$FLOWRUN_OUTPUT` names, scripts
/// that an interpreter reads from a file, and the folder `$FLOWRUN_TEMP` that all steps share.
@EventLoopActor
final class StepFiles {
    private let parent: String?
    /// Called with the folder's path before it is made, and with nil once it is gone.
    var tell: (String?) -> Void = { _ in } {
        didSet { if let folder { tell(folder) } }
    }
    private var folder: String?
    private var scratch: Result<String, StepError>?
    private var next = 0

    /// `parent` is where the folder is made when the first file is asked for; nil if no file is made, and a name stands
    /// for the path of each.
    init(in parent: String?) { self.parent = parent }

    /// Makes a new, empty file that only this user can read; returns its path.
    func make() throws(StepError) -> String {
        let path = try newPath()
        close(try create(path))
        return path
    }

    /// Makes a new file that holds a script; returns its path. Its name ends in the step's, which interpreters show
    /// in their errors.
    func make(holding script: String, of step: String) throws(StepError) -> String {
        guard parent != nil else { return "<script>" }
        let path = try newPath() + "-" + String(step.map { $0 == "/" ? "_" : $0 }.suffix(100))
        let descriptor = try create(path)
        defer { close(descriptor) }
        var rest = Array(script.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("file", path) }
            rest = rest.dropFirst(count)
        }
        return path
    }

    private func newPath() throws(StepError) -> String {
        let folder = try runFolder()
        next += 1
        return "\(folder)/\(next)"
    }

    /// Returns the folder of the run's files; made at the first call.
    func runFolder() throws(StepError) -> String {
        if let folder { return folder }
        let made = try makeFolder()
        folder = made
        return made
    }

    private func create(_ path: String) throws(StepError) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("file", path) }
        return descriptor
    }

    /// Returns the folder for `$FLOWRUN_TEMP`, empty and only for this user; made at the first call.
    func scratchFolder() throws(StepError) -> String {
        let made = scratch ?? Result { () throws(StepError) in try makeScratch() }
        scratch = made
        return try made.get()
    }

    private func makeScratch() throws(StepError) -> String {
        guard parent != nil else { return "<FLOWRUN_TEMP>" }
        let path = try runFolder() + "/temp"
        guard mkdir(path, 0o700) == 0 else { throw failure("folder", path, kind: .spawn) }
        return path
    }

    /// Returns what a step has written, at most `limit` bytes and one more, and removes the file.
    func take(_ path: String, limit: Int) throws(StepError) -> [UInt8] {
        defer { unlink(path) }
        // Never through a link or from a device that the step may have put in its place.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure("file", path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StepError("`$FLOWRUN_OUTPUT` is no longer a file", kind: .output)
        }
        while bytes.count <= limit {
            let wanted = min(limit + 1 - bytes.count, 1 << 16)
            var got = 0
            bytes.append(
                contentsOf: [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
                    repeat { got = read(descriptor, buffer.baseAddress, wanted) } while got < 0 && errno == EINTR
                    filled = max(got, 0)
                })
            if got < 0 { throw failure("file", path) }
            if got == 0 { break }
        }
        return bytes
    }

    /// Removes a file that is no longer needed.
    func drop(_ path: String) { unlink(path) }

    /// Removes the folder; all steps have ended. Returns the reason why something left in `$FLOWRUN_TEMP` could not
    /// be removed; nil if nothing is left.
    func removeFolder() -> String? {
        guard let folder = folder.take() else { return nil }
        do throws(SystemError) {
            try FolderRemoval.remove(folder)
            tell(nil)
        } catch {
            return "cannot remove the folder `\(folder)`: \(error.words)"
        }
        return nil
    }

    private func makeFolder() throws(StepError) -> String {
        guard let parent else { preconditionFailure("a run that is only shown makes no file") }
        while true {
            let path = "\(parent)/flowrun-\(UInt64.random(in: 0...UInt64.max).hexadecimal(digits: 12))"
            tell(path)
            if mkdir(path, 0o700) == 0 { return path }
            guard errno == EEXIST else { throw failure("folder", parent, kind: .spawn) }
        }
    }

    private func failure(_ what: String, _ path: String, kind: Cause.Kind = .output) -> StepError {
        let number = errno
        return StepError("cannot use the \(what) `\(path)`: \(SystemError(number).words)", errno: number, kind: kind)
    }
}
