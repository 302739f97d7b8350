import AsyncOperations
import FlowrunTestSupport
import Glibc

/// A run of a program on the threads that all tasks share.
struct StressRound {
    let program: Program
    let crew: StressCrew
    /// For so many milliseconds nothing at all may happen before a round counts as hung. It is no judgement of speed:
    /// what hangs, hangs forever.
    var patience = 60_000

    /// The first rule that does not hold; nil where all do.
    func run() async -> String? {
        let clock = ManualClock()
        let world = ProgramRun.World(
            clock: clock, spawn: { work in Task.detached { await work() } }, cancel: { $0.cancel() },
            point: { StressNoise.shake() }, note: { _ in })
        let run = ProgramRun(program, in: world)
        await crew.run(
            program.clients.map { client in
                { for action in client { run.perform(action) } }
            })
        guard await finish(run, clock) else {
            // What hangs still refers to the run.
            _ = Unmanaged.passRetained(run)
            let problem = ProgramRules(program, run.record.events).violation ?? "nobody knows why"
            return "it hangs: \(problem)\n\(run.standing)"
        }
        for index in program.queues.indices { run.dropQueue(index) }
        for index in program.operations.indices { run.drop(index) }
        return ProgramRules(program, run.record.events).violation
    }

    /// Ends what the program left waiting, until everything has ended; false where nothing happens any more.
    private func finish(_ run: ProgramRun, _ clock: ManualClock) async -> Bool {
        var tried: [ProgramRun.Remedy: Int] = [:]
        var seen = 0
        var quietPolls = 0
        while !run.record.isComplete(operations: program.operations.count) {
            let count = run.record.count
            quietPolls = count == seen ? quietPolls + 1 : 0
            seen = count
            if quietPolls % 16 == 8 {
                if let remedy = run.remedy(besides: tried) {
                    tried[remedy, default: 0] += 1
                    run.apply(remedy)
                } else {
                    tried = [:]
                }
            }
            _ = clock.moveToNextDeadline()
            await Task.yield()
            // Every task that was ready has had its turn many times over; from here on it is a thread that is late.
            if quietPolls > 1_000 {
                usleep(1_000)
                if quietPolls > 1_000 + patience { return false }
            }
        }
        return true
    }
}
