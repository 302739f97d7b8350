import Foundation
import Glibc
import Synchronization

/// What to run, where, and with what.
struct Spawn: Sendable {
    var arguments: [String]
    var environment: [String: String]
    var folder: String

    /// What this process was itself given beyond its three descriptors must not reach the children, nor what Foundation
    /// opens in another test.
    private static func keepDescriptorsFromChildren() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
            if let number = Int32(name), number > 2 { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        }
    }

    /// Starts the process: no signal blocked or ignored, no descriptor but the three given ones.
    func start(stdin: Descriptor, stdout: Descriptor, stderr: Descriptor) throws -> pid_t {
        try start { actions in
            for (number, descriptor) in [stdin, stdout, stderr].enumerated() {
                posix_spawn_file_actions_adddup2(&actions, descriptor.number, Int32(number))
            }
        }
    }

    /// POSIX_SPAWN_SETSID, which Swift does not see.
    private static let leadsSession: Int16 = 0x80

    /// The same with a terminal, by its path, in place of the three; the process leads a session and the terminal's
    /// foreground job.
    func start(onTerminal path: String) throws -> pid_t {
        try start(flags: Self.leadsSession) { actions in
            // The first terminal that the leader of a session opens becomes the session's.
            posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
            for number: Int32 in [1, 2] { posix_spawn_file_actions_adddup2(&actions, 0, number) }
        }
    }

    private func start(
        flags: Int16 = 0, _ setDescriptors: (inout posix_spawn_file_actions_t) -> Void
    ) throws -> pid_t {
        Self.keepDescriptorsFromChildren()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        setDescriptors(&actions)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK) | flags)

        // `env` becomes the program; Swift does not see the file action that changes the folder.
        let words = (["env", "-C", folder] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (words + variables).forEach { free($0) } }
        var pid: pid_t = 0
        let code = Descriptor.inheritance.withLock { _ in
            posix_spawnp(&pid, "env", &actions, &attributes, words, variables)
        }
        guard code == 0 else { throw SystemError(operation: "posix_spawn", subject: arguments[0], code: code) }
        return pid
    }
}
