internal import RunEvents
internal import WorkflowModel

extension [Retry.Reason] {
    /// Whether one of them is the way a process has ended; nil, where there was none, is no reason.
    func include(_ status: ExitStatus?) -> Bool {
        switch status {
        case .exited(let code): contains(.exitCode(code))
        case .signalled: contains(.signal)
        case nil: false
        }
    }
}
