internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Workflow

/// The parts of a run that the attempts of its steps and the commands of its `vars` work with.
@EventLoopActor
final class RunParts {
    let context: RunContext
    let loop: RunLoop
    let recorder: EventRecorder
    let builder: CommandBuilder
    let starts: StartQueue
    let terminal: TerminalTurns
    /// nil for a run that has all its slots from the beginning.
    var slots: TokenSlots?
    /// nil for a run that begins afresh.
    var resumption: Resumption?

    init(
        _ context: RunContext, loop: RunLoop, recorder: EventRecorder, spawner: any Spawner, terminal: TerminalTurns
    ) {
        self.context = context
        self.loop = loop
        self.recorder = recorder
        self.terminal = terminal
        builder = CommandBuilder(context)
        starts = StartQueue(spawner, of: context, loop: loop, recorder: recorder)
        let options = context.options
        resumption = options.past.map {
            Resumption($0, again: options.again, copies: options.treeCopies?.starts ?? [:], in: context.plan)
        }
    }

    // Yielded, because a copy costs more than the row that is asked for.
    var plan: Plan { _read { yield context.state.plan } }

    /// Rules out retries of a row and of the enclosing groups, while processes in it are still alive.
    func ruleOutRetries(of row: PlanIndex) {
        loop.send(.lastAttempt(OperationID(row)))
        var next = row
        while next != .root {
            next = plan.parent(of: next)
            loop.send(.lastAttempt(OperationID(next)))
        }
    }
}
