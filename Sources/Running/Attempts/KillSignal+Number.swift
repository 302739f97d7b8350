internal import Glibc
internal import Workflow

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
