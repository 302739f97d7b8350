import AsyncOperations
import Glibc
import Synchronization

/// Says which programs were running when the process traps, because a trap is a finding too.
final class LastWords: Sendable {
    private static let all = Mutex<[LastWords]>([])
    private nonisolated(unsafe) static var handlers: [Int32: sigaction] = [:]

    private let program = Mutex<Program?>(nil)

    init() {
        _ = Self.installation
        Self.all.withLock { $0.append(self) }
    }

    func set(_ program: Program?) { self.program.withLock { $0 = program } }

    /// Once for the process; earlier handlers of traps run afterwards.
    private static let installation: Void = {
        for number in [SIGILL, SIGTRAP] {
            var old = sigaction()
            sigaction(number, nil, &old)
            handlers[number] = old
            var new = sigaction()
            new.__sigaction_handler.sa_handler = { LastWords.speak($0) }
            sigaction(number, &new, nil)
        }
    }()

    private static func speak(_ number: Int32) {
        if var old = handlers[number] { sigaction(number, &old, nil) }
        // A holder of a lock may hold it forever now.
        _ = all.withLockIfAvailable { all in
            for words in all {
                guard let program = words.program.withLockIfAvailable({ $0 }) ?? nil else { continue }
                let text = Array("Trapped while this ran:\n\(program)\n".utf8)
                write(STDERR_FILENO, text, text.count)
            }
        }
    }
}
