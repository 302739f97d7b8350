internal import RunLog
internal import Workflow

/// What a step or group hands on beside its outcome, as expressions read it.
struct RowResult {
    /// Of a step's last attempt; nil if no process ended.
    var status: ExitStatus?
    /// What a shell would show of it, which knows a program that could not be started, too.
    var shellStatus: ExitStatus?
    var outputs: [Value.Field] = []
    /// Kept only where an expression names it; nil elsewhere.
    var standardOutput: [UInt8]?

    /// Whether it is what every plain success has, so that it need not be kept.
    var isPlain: Bool { status == .exited(0) && outputs.isEmpty && standardOutput == nil }
}
