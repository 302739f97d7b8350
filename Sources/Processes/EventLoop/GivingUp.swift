internal import Basics
internal import Glibc

/// Ends flowrun when the machine refuses something it cannot do without. Exits with 125, as for everything that is
/// neither a step's nor the workflow's fault. `operation` is a verb and its object.
func giveUp(_ operation: String, _ error: Int32) -> Never {
    let reason = SystemError(error).words
    let hint =
        switch error {
        case EMFILE, ENFILE: "; allow it more descriptors (ulimit -n)"
        default: ""
        }
    sayLast("flowrun: cannot \(operation): \(reason)\(hint)\n")
    exit(125)
}

/// Writes to standard error when no loop runs any more. Drops what is not taken within two seconds.
private func sayLast(_ message: String) {
    guard let errors = OutputDescriptor(sharing: STDERR_FILENO) else { return }
    let deadline = EventLoopClock().now.advanced(by: .seconds(2))
    var rest = Array(message.utf8)[...]
    while !rest.isEmpty {
        let left = EventLoopClock().now.duration(to: deadline)
        guard left > .zero, errors.waitUntilReady(milliseconds: Int32(left / .milliseconds(1))) else { return }
        let count = rest.withUnsafeBytes(errors.write)
        guard count > 0 || errno == EAGAIN || errno == EINTR else { return }
        rest = rest.dropFirst(max(count, 0))
    }
}
