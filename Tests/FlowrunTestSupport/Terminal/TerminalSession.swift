import Foundation
import Glibc
import Synchronization

/// A program on a terminal of its own, which leads a session as a login shell does.
///
/// A thread reads what the program writes, keeps the screen, and looks at every waiter's condition whenever something
/// has come.
package final class TerminalSession: Sendable {
    private struct State {
        var screen: TerminalScreen
        var bytes: [UInt8] = []
        var status: ProcessStatus?
        /// Answers whether it is done with, given whether nothing can come any more.
        var waiters: [(TerminalScreen, ProcessStatus?) -> Bool] = []
    }

    /// TIOCSPTLCK and TIOCGPTN, which Swift does not see.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    package let pid: Int32
    private let main: Descriptor
    private let state: Mutex<State>
    private let whenEnded: @Sendable () -> Void

    init(
        _ spawn: Spawn, columns: Int, rows: Int, deadline: Duration, whenEnded: @escaping @Sendable () -> Void
    ) throws {
        self.whenEnded = whenEnded
        state = Mutex(State(screen: TerminalScreen(columns: columns, rows: rows)))
        main = try Descriptor.inheritance.withLock { _ in
            try Descriptor("open", "/dev/ptmx", open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC))
        }
        var (lock, number): (Int32, Int32) = (0, 0)
        guard ioctl(main.number, Self.setLock, &lock) == 0, ioctl(main.number, Self.getNumber, &number) == 0 else {
            throw SystemError(operation: "ioctl", subject: "a terminal", code: errno)
        }
        let path = "/dev/pts/\(number)"
        Self.setSize(of: main, columns, rows)
        pid = try spawn.start(onTerminal: path)
        let limit = ContinuousClock.now + deadline
        Thread.detachNewThread { self.read(until: limit) }
    }

    deinit { close() }

    /// Ends what still runs, as the end of a terminal does.
    package func close() {
        state.withLock { state in if state.status == nil { _ = kill(-pid, SIGKILL) } }
    }

    /// The screen as it is.
    package var screen: TerminalScreen { state.withLock { $0.screen } }

    /// Everything that was written, as it came.
    package var written: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

    /// Whether the terminal shows what is typed.
    package var isEchoing: Bool {
        var modes = termios()
        return tcgetattr(main.number, &modes) == 0 && modes.c_lflag & tcflag_t(ECHO) != 0
    }

    /// As if typed.
    package func type(_ keys: String) { write(Array(keys.utf8)) }

    private func write(_ bytes: [UInt8]) {
        if !bytes.isEmpty { _ = Glibc.write(main.number, bytes, bytes.count) }
    }

    /// Gives the terminal another size, as dragging its window does; its foreground job gets SIGWINCH.
    package func resize(columns: Int, rows: Int) {
        state.withLock { $0.screen.resize(columns: columns, rows: rows) }
        Self.setSize(of: main, columns, rows)
    }

    private static func setSize(of main: Descriptor, _ columns: Int, _ rows: Int) {
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(main.number, UInt(TIOCSWINSZ), &size)
    }

    /// Waits until the screen satisfies a condition; throws, with the screen, if the program ends before.
    @discardableResult
    package func wait(
        for what: String, _ isThere: @escaping @Sendable (TerminalScreen) -> Bool
    ) async throws -> TerminalScreen {
        try await withCheckedThrowingContinuation { continuation in
            state.withLock { state in
                let waiter: (TerminalScreen, ProcessStatus?) -> Bool = { screen, status in
                    if isThere(screen) {
                        continuation.resume(returning: screen)
                    } else if let status {
                        continuation.resume(throwing: TerminalError(what: what, status: status, screen: screen))
                    } else {
                        return false
                    }
                    return true
                }
                if !waiter(state.screen, state.status) { state.waiters.append(waiter) }
            }
        }
    }

    /// Waits until a row, on the screen or scrolled out of it, contains a text.
    @discardableResult
    package func wait(forText text: String) async throws -> TerminalScreen {
        try await wait(for: "the text `\(text)`") { $0.text.contains { $0.contains(text) } }
    }

    /// Waits for the program's end.
    package func finish() async throws -> (status: ProcessStatus, screen: TerminalScreen) {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                let waiter: (TerminalScreen, ProcessStatus?) -> Bool = { screen, status in
                    guard let status else { return false }
                    continuation.resume(returning: (status, screen))
                    return true
                }
                if !waiter(state.screen, state.status) { state.waiters.append(waiter) }
            }
        }
    }

    private func read(until limit: ContinuousClock.Instant) {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            var request = pollfd(fd: main.number, events: Int16(POLLIN), revents: 0)
            let rest = max(.zero, limit - .now).components.seconds
            if poll(&request, 1, Int32(clamping: rest * 1000 + 1)) == 0 { close() }
            let count = Glibc.read(main.number, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            // EIO: nobody has the terminal any more.
            guard count > 0 else { break }
            let answers = state.withLock { state in
                state.bytes += buffer[..<count]
                state.screen.feed(buffer[..<count])
                Self.askWaiters(&state)
                return state.screen.takeAnswers()
            }
            write(answers)
        }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        state.withLock { state in
            state.status = ProcessStatus(waitStatus: status)
            Self.askWaiters(&state)
        }
        whenEnded()
    }

    private static func askWaiters(_ state: inout State) {
        let (screen, status) = (state.screen, state.status)
        state.waiters.removeAll { $0(screen, status) }
    }
}

/// What a test waited for did not come to the screen.
struct TerminalError: Error, CustomStringConvertible {
    let what: String
    let status: ProcessStatus
    let screen: TerminalScreen

    var description: String {
        "waited for \(what), but the program ended (\(status))\n--- screen\n\(screen.text.joined(separator: "\n"))"
    }
}
