import Foundation
import Glibc

/// The program while it runs. Every wait ends with what was waited for, or throws with all that was written so far: at
/// the test's deadline, or when the program ends first.
package final class RunningFlowrun: Sendable {
    private let child: ChildProcess
    private let test: FlowrunTest

    init(_ child: ChildProcess, test: FlowrunTest) {
        self.child = child
        self.test = test
    }

    deinit { child.abandon() }

    package var pid: Int32 { child.pid }

    /// The child of the process that was started, which does the work; nil where /proc does not tell.
    package var runner: Int32? { children.first }

    /// The child that ends what the other two leave when they are killed together; nil if there is none.
    package var sentinel: Int32? {
        children.first { (try? String(contentsOfFile: "/proc/\($0)/comm", encoding: .utf8)) == "sentinel\n" }
    }

    private var children: [Int32] {
        let list = try? String(contentsOfFile: "/proc/\(pid)/task/\(pid)/children", encoding: .utf8)
        return (list ?? "").split(separator: " ").compactMap { Int32($0) }
    }

    /// Kills the processes of flowrun itself, so that none of them can end the others. `sparingSentinel` leaves the
    /// sentinel, and returns a descriptor that tells of its end.
    @discardableResult
    package func killAll(sparingSentinel: Bool = false) throws -> Descriptor? {
        // A stopped guard reaps no process, so the numbers stay valid.
        signal(SIGSTOP)
        let (runner, sentinel) = (runner, sentinel)
        let end = try sentinel.map { try Descriptor.ofProcess($0) }
        if let runner { kill(runner, SIGSTOP) }
        if let sentinel, !sparingSentinel { kill(sentinel, SIGKILL) }
        if let runner { kill(runner, SIGKILL) }
        signal(SIGKILL)
        return end
    }

    /// Sends a signal to the program, not to its steps.
    package func signal(_ number: Int32) { child.signal(number) }

    /// Sends a signal to the process group that the program leads.
    package func signalGroup(_ number: Int32) { child.signal(number, toGroup: true) }

    /// Waits until a file stands in the test's folder.
    package func waitForFile(_ name: String) async throws {
        let path = test.path(name)
        try await child.wait(for: "the file `\(name)`") { _ in access(path, F_OK) == 0 ? () : nil }
    }

    /// Waits until a run has written to its journal, which it does when its first steps already run.
    package func waitForJournal() async throws {
        let runs = test.path(".flowrun/runs")
        try await child.wait(for: "a journal") { _ in
            let found = (try? FileManager.default.contentsOfDirectory(atPath: runs)) ?? []
            return found.contains {
                FileManager.default.contents(atPath: "\(runs)/\($0)/journal.jsonl")?.isEmpty == false
            } ? () : nil
        }
    }

    /// Waits until a file in the test's folder has `count` whole lines, and returns them.
    @discardableResult
    package func waitForLines(in name: String, _ count: Int = 1) async throws -> [String] {
        let path = test.path(name)
        return try await child.wait(for: "\(count) lines in `\(name)`") { _ in
            let bytes = FileManager.default.contents(atPath: path) ?? Data()
            guard bytes.count(where: { $0 == 10 }) >= count else { return nil }
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    /// Waits for an event of the JSON log on standard output and returns the first one that fits.
    @discardableResult
    package func waitForEvent(_ event: String, step: String? = nil, group: String? = nil) async throws
        -> EventLog.Record
    {
        try await child.wait(for: "\(event) of \(step ?? group ?? "the run")") { progress in
            progress.records.first { record in
                record.event == event && (step == nil || record.step == step) && (group == nil || record.group == group)
            }
        }
    }

    /// Waits until the JSON log on standard output has `count` records, or the program has ended with fewer.
    package func waitForRecords(_ count: Int) async throws {
        try await child.wait(for: "\(count) records") { progress in
            progress.records.count >= count || progress.end != nil ? () : nil
        }
    }

    /// Waits until standard output, or standard error, holds a text.
    package func waitForText(_ text: String, onStandardError: Bool = false) async throws {
        let wanted = Array(text.utf8)
        try await child.wait(for: "the text `\(text)`") { progress in
            (onStandardError ? progress.stderr : progress.stdout).contains(wanted) ? () : nil
        }
    }

    /// Waits until the program is stopped, as by SIGSTOP.
    package func waitUntilStopped() async throws {
        let pid = pid
        let error: Int32 = await withCheckedContinuation { continuation in
            // A thread of its own, because the call blocks.
            Thread.detachNewThread {
                var info = siginfo_t()
                var result: Int32
                repeat {
                    result = waitid(P_PID, id_t(pid), &info, WSTOPPED | WNOWAIT)
                } while result != 0 && errno == EINTR
                continuation.resume(returning: result == 0 ? 0 : errno)
            }
        }
        guard error == 0 else { throw SystemError(operation: "waitid", subject: "a stopped flowrun", code: error) }
    }

    /// Waits for the end.
    package func finish() async throws -> FlowrunResult {
        let progress = try await child.wait(for: "the end") { progress in progress.end == nil ? nil : progress }
        return FlowrunResult(progress, folder: test.folder)
    }
}
