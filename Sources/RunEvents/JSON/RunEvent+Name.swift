extension RunEvent.Kind {
    /// The word in the record's field `event`.
    package var name: String {
        switch self {
        case .runStarted: "run.started"
        case .runPaused: "run.paused"
        case .runResumed: "run.resumed"
        case .runJobs: "run.jobs"
        case .runCancelRequested: "run.cancel_requested"
        case .groupStarted: "group.started"
        case .groupCancelRequested: "group.cancel_requested"
        case .groupRetry: "group.retry"
        case .groupFinished: "group.finished"
        case .stepAdded: "step.added"
        case .ready(.step): "step.ready"
        case .ready(.group): "group.ready"
        case .waiting(.step, _): "step.waiting"
        case .waiting(.group, _): "group.waiting"
        case .lockAcquired: "lock.acquired"
        case .lockReleased: "lock.released"
        case .stepStarted: "step.started"
        case .stepOutput(let output): output.step == nil ? "value.output" : "step.output"
        case .stepCancelRequested: "step.cancel_requested"
        case .stepSignal: "step.signal"
        case .stepAttempt: "step.attempt"
        case .stepRetry: "step.retry"
        case .stepFinished: "step.finished"
        case .stepRestored: "step.restored"
        case .stepRerun: "step.rerun"
        case .stepUndoes: "step.undoes"
        case .valueStarted: "value.started"
        case .valueFinished: "value.finished"
        case .warning: "warning"
        case .runFinished: "run.finished"
        }
    }
}
