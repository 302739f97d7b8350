import Glibc

/// Holds steps until the test lets them go: a FIFO in the test's folder from which each held step reads one line
/// (`read _ < NAME`).
package final class Gate: Sendable {
    private let fifo: Descriptor

    init(path: String) throws {
        guard mkfifo(path, 0o600) == 0 else { throw SystemError(operation: "mkfifo", subject: path, code: errno) }
        // Open for both, so that neither side waits for the other to open it.
        fifo = try Descriptor("open", path, Glibc.open(path, O_RDWR | O_CLOEXEC))
    }

    /// Lets `count` steps through, now or when they come.
    package func open(_ count: Int = 1) {
        let lines = [UInt8](repeating: 10, count: count)
        _ = write(fifo.number, lines, lines.count)
    }
}
