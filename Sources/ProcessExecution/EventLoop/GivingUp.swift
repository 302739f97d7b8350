internal import Basics
internal import Glibc

/// Ends flowrun where the machine refuses what it cannot do without. 125, as for everything that is neither a step's
/// nor the workflow's fault. `operation` is a verb and its object.
func giveUp(_ operation: String, _ error: Int32) -> Never {
    let reason = SystemError(error).words
    let hint =
        switch error {
        case EMFILE, ENFILE: "; allow it more descriptors (ulimit -n)"
        case ENOSPC: "; allow it more watches (/proc/sys/fs/epoll/max_user_watches)"
        default: ""
        }
    let message = "flowrun: cannot \(operation): \(reason)\(hint)\n"
    _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(125)
}
