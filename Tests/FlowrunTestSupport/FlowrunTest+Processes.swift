import CLinux
import Foundation
import Glibc

/// The processes of a test: those with its mark in their environment, those whose program is in its folder, and
/// flowrun's own that work there, which hide their environment.
extension FlowrunTest {
    /// The command lines of processes that the program's steps left behind: all alive that carry the test's mark.
    package func survivors() -> [String] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { Int32($0) }.filter { hasMark($0) || isFlowrun($0) == true }.compactMap { pid in
            guard let line = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") else { return nil }
            return "\(pid) " + String(decoding: line.map { $0 == 0 ? 32 : $0 }, as: UTF8.self)
        }
    }

    /// Kills all `survivors`.
    package func killSurvivors() throws {
        for line in survivors() { try signal(Int32(line.prefix { $0 != " " }), SIGKILL) }
    }

    /// Sends a signal to a process of this test. Throws where it is no longer there: its number may be that of another
    /// process by now, or of a thread of this one, and that must not get the signal.
    package func signal(_ pid: Int32?, _ number: Int32) throws {
        guard let pid else { throw NotOfThisTest(pid: nil) }
        // Opened before the look: what is found to be the test's is what the descriptor names, or that has ended.
        let process = try Descriptor("pidfd_open", "\(pid)", clinux_pidfd_open(pid))
        guard hasMark(pid) || hasProgramOfTest(pid) || isFlowrun(pid) != false else { throw NotOfThisTest(pid: pid) }
        guard clinux_pidfd_send_signal(process.number, number) == 0 else {
            throw SystemError(operation: "pidfd_send_signal", subject: "\(pid)", code: errno)
        }
    }

    private func hasMark(_ pid: Int32) -> Bool {
        let environment = FileManager.default.contents(atPath: "/proc/\(pid)/environ") ?? Data()
        return environment.split(separator: 0).contains { $0.elementsEqual(cookie.utf8) }
    }

    /// True if a process is flowrun, working in the test's folder; nil if it hides that from this user.
    private func isFlowrun(_ pid: Int32) -> Bool? {
        guard FileManager.default.contents(atPath: "/proc/\(pid)/comm")?.elementsEqual("flowrun\n".utf8) == true else {
            return false
        }
        guard let place = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/cwd") else {
            return nil
        }
        return place == folder || place.hasPrefix(folder + "/")
    }

    private func hasProgramOfTest(_ pid: Int32) -> Bool {
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe")
        return program?.hasPrefix(folder + "/") ?? false
    }
}

/// A signal was meant for a process that is not, or no longer, one of the test.
struct NotOfThisTest: Error, CustomStringConvertible {
    let pid: Int32?

    var description: String {
        pid.map { "process \($0) is not one of this test" } ?? "there is no such process in this test"
    }
}
