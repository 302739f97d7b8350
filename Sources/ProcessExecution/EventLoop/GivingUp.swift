internal import Glibc

/// Ends flowrun where the machine does not even give it the few descriptors that it cannot do without, before any step
/// has started. 125, as for everything that is neither a step's nor the workflow's fault.
func giveUp(_ part: String) -> Never {
    let reason = String(cString: strerror(errno)).lowercased()
    let message = "flowrun: cannot set up its \(part): \(reason); allow it more descriptors (ulimit -n)\n"
    _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(125)
}
