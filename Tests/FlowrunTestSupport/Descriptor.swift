import CLinux
import Foundation
import Glibc
import Synchronization

/// A file descriptor that is closed with its last owner. Never inherited by a child.
package final class Descriptor: Sendable {
    package let number: Int32

    init(owning number: Int32) { self.number = number }

    deinit { close(number) }

    /// Takes the result of a system call; throws what `errno` says where it is negative.
    convenience init(_ operation: String, _ subject: String, _ result: Int32) throws {
        guard result >= 0 else { throw SystemError(operation: operation, subject: subject, code: errno) }
        self.init(owning: result)
    }

    /// Held while a pipe is made and while a process is started: Swift does not see `pipe2`, so that for a moment a
    /// new pipe could be inherited.
    static let inheritance = Mutex(())

    /// Readable once the process has ended.
    package static func ofProcess(_ pid: Int32) throws -> Descriptor {
        try Descriptor("pidfd_open", "\(pid)", clinux_pidfd_open(pid))
    }

    /// Both ends block.
    package static func pipe() throws -> (reading: Descriptor, writing: Descriptor) {
        try inheritance.withLock { _ in
            var ends: [Int32] = [-1, -1]
            guard Glibc.pipe(&ends) == 0 else {
                throw SystemError(operation: "pipe", subject: "a test's process", code: errno)
            }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
        }
    }

    /// An empty file without a name.
    package static func temporaryFile() throws -> Descriptor {
        var path = Array("/tmp/flowrun-test-XXXXXX".utf8CString)
        let file = try inheritance.withLock { _ in
            let file = try Descriptor("mkstemp", "a temporary file", mkstemp(&path))
            _ = fcntl(file.number, F_SETFD, FD_CLOEXEC)
            return file
        }
        unlink(path)
        return file
    }

    /// Waits until it can be read, as a process' descriptor can once the process has ended.
    package func waitUntilReadable() async {
        await withCheckedContinuation { continuation in
            // On a thread of its own, because the call blocks.
            Thread.detachNewThread {
                var request = pollfd(fd: self.number, events: Int16(POLLIN), revents: 0)
                while poll(&request, 1, -1) < 0 {}
                continuation.resume()
            }
        }
    }

    /// All that can be read now. `isAtEnd`: nobody can write any more.
    func readAvailable() -> (bytes: [UInt8], isAtEnd: Bool) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(number, &buffer, buffer.count)
            if count > 0 {
                bytes += buffer[..<count]
            } else if count == 0 {
                return (bytes, true)
            } else if errno != EINTR {
                return (bytes, errno != EAGAIN)
            }
        }
    }
}

/// A system call of a test failed: the machine's fault or the test's, not the program's.
struct SystemError: Error, CustomStringConvertible {
    let operation: String
    let subject: String
    let code: Int32

    var description: String { "\(operation) of \(subject): \(String(cString: strerror(code)))" }
}
