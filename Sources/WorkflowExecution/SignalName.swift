internal import Glibc
internal import WorkflowModel

/// The name of a signal, such as `SIGTERM`; its number where it has no common name.
func signalName(_ number: Int32) -> String {
    names[number] ?? "signal \(number)"
}

private let names: [Int32: String] = [
    SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT",
    SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGUSR1: "SIGUSR1", SIGSEGV: "SIGSEGV",
    SIGUSR2: "SIGUSR2", SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM", SIGCHLD: "SIGCHLD",
    SIGCONT: "SIGCONT", SIGSTOP: "SIGSTOP", SIGTSTP: "SIGTSTP", SIGTTIN: "SIGTTIN", SIGTTOU: "SIGTTOU",
    SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS",
]

extension KillSignal {
    var number: Int32 {
        switch self {
        case .term: SIGTERM
        case .int: SIGINT
        case .hup: SIGHUP
        case .quit: SIGQUIT
        case .usr1: SIGUSR1
        case .usr2: SIGUSR2
        case .kill: SIGKILL
        }
    }
}
