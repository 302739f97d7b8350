internal import Glibc
internal import ProcessExecution
internal import Reporting
internal import RunControl

/// What a run keeps on disk while it lives and when it has ended: its lock, its control socket, the record of how it
/// went.
@EventLoopActor
final class RunState {
    /// The run cannot begin.
    struct Refusal: Error {
        let status: ExitStatus
        let message: String
    }

    private let directory: StateDirectory
    private let name: String?
    private let run: String
    private let lock: RunLock?
    private var server: ControlServer?

    /// Enters the state directory of a workflow and takes its lock. Nil, with a word on standard error, where no folder
    /// can be had: the run goes on without being steered or kept apart from others.
    static func enter(_ request: RunRequest, run: String, tell: (String) -> Void) throws(Refusal) -> RunState? {
        let place = StatePlace(file: request.file, explicit: request.stateDirectory)
        var failure: StateError?
        for candidate in place.candidates {
            do {
                let directory = try StateDirectory.made(candidate.path, isInProject: candidate.isInProject)
                return try RunState(directory, name: place.name, run: run, file: request.file)
            } catch let error as StateError {
                guard !error.isUnsafe, request.stateDirectory == nil else {
                    throw Refusal(status: .unable, message: error.message)
                }
                failure = failure ?? error
            } catch let refusal as Refusal {
                throw refusal
            } catch {
                throw Refusal(status: .unable, message: "\(error)")
            }
        }
        if let failure { tell("\(failure.message); going on, but `ctl` and `why` will not find the run") }
        return nil
    }

    private init(_ directory: StateDirectory, name: String?, run: String, file: String) throws(Refusal) {
        self.directory = directory
        self.name = name
        self.run = run
        guard let name else {
            // Nobody keeps a list of the runs of standard input.
            lock = nil
            directory.removeStaleSockets()
            return
        }
        do {
            let lock = try RunLock(of: name, in: directory, run: run)
            // Whoever had the lock is over, however that came.
            if let dead = lock.previous { directory.removeSocket(of: dead.run) }
            self.lock = lock
        } catch {
            throw Self.refusal(error, file: file, directory: directory)
        }
    }

    private static func refusal(_ error: RunLock.Refusal, file: String, directory: StateDirectory) -> Refusal {
        switch error {
        case .held(let holder):
            let by = holder.map { " by process \($0.pid), run \($0.run)" } ?? ""
            let help = holder.map { "; `flowrun ctl \($0.run) status` tells how far it is" } ?? ""
            return Refusal(status: .inUse, message: "`\(file)` is being run already\(by)\(help)")
        case .unusable(let error):
            let words = String(cString: strerror(error)).lowercased()
            return Refusal(
                status: .unable,
                message: "cannot lock `\(file)` in `\(directory.path)`: \(words); "
                    + "name a folder on another file system with --state-dir")
        }
    }

    /// Listens for requests until `close`. Returns what is wrong where that is not possible.
    func serve(_ answer: @escaping ControlServer.Answer) -> String? {
        do {
            server = try ControlServer(of: run, in: directory, answer: answer)
            return nil
        } catch {
            let words = String(cString: strerror(error.errno)).lowercased()
            return "cannot make a socket in `\(directory.path)`: \(words)"
        }
    }

    /// Keeps the record of the workflow's last run in the place of earlier ones. Returns what is wrong where that is not
    /// possible.
    func save(_ record: RunRecord, path: String?, targets: [String]) -> String? {
        let line = record.json(path: path, targets: targets)
        let error =
            if record.isEmpty, let lock { lock.keep(line) } else {
                directory.replace(RecordFile.name(name), with: line + [UInt8(ascii: "\n")])
            }
        return error.map { error in
            "cannot keep a record of the run in `\(directory.path)`: \(String(cString: strerror(error)).lowercased())"
        }
    }

    /// Ends the service. The lock goes with the process.
    func close() {
        server?.close()
        server = nil
    }
}
