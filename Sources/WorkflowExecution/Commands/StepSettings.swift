internal import Glibc
internal import ProcessExecution
internal import WorkflowModel

/// What holds for the steps inside a group, or for one step: its own words over those of the groups around it over
/// `defaults`.
struct StepSettings {
    var environment: EnvironmentBlock
    /// Variables that only this attempt of the step has.
    var additions: [(name: String, value: String)] = []
    var shell: Shell
    /// As the file says it, expressions evaluated; nil means the run's folder.
    var workingDirectory: String?
    var grace: Duration
    var killSignal: KillSignal

    init(environment: EnvironmentBlock, defaults: Defaults) {
        self.environment = environment
        shell = defaults.shell ?? .bash
        grace = defaults.grace ?? Defaults.grace
        killSignal = defaults.killSignal ?? .term
    }

    /// The same with what `settings` says on top, but for what may hold expressions.
    func overridden(by settings: Settings) -> StepSettings {
        var result = self
        result.shell = settings.shell ?? shell
        result.grace = settings.grace ?? grace
        result.killSignal = settings.killSignal ?? killSignal
        return result
    }
}

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
