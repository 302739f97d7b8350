import FlowrunTestSupport
import Foundation
import Testing

@testable import FlowrunCommands

/// Rings of runs that wait for each other.
@Suite struct RunWaitsTests {
    private func wait(_ run: String, in above: [String], for targets: [String]) -> RunWaits.Wait {
        RunWaits.Wait(run: run, above: above, targets: targets)
    }

    @Test func `a wait for a run that waits inside of its own steps for a run above closes a ring`() {
        let other = wait("m", in: ["x"], for: ["a"])
        #expect(RunWaits.ring(closedBy: wait("n", in: ["a"], for: ["x"]), among: [other]) == ["x", "a"])
        #expect(RunWaits.ring(closedBy: wait("n", in: ["b"], for: ["x"]), among: [other]) == nil)
        #expect(RunWaits.ring(closedBy: wait("n", in: ["a"], for: ["y"]), among: [other]) == nil)
    }

    @Test func `a ring may go over any number of runs and levels`() {
        let others = (1..<20).map { wait("n\($0)", in: ["m\($0)", "a\($0)"], for: ["a\(($0 + 1) % 20)"]) }
        let first = wait("n0", in: ["m0", "a0"], for: ["a1"])
        #expect(RunWaits.ring(closedBy: first, among: others) == (1..<20).map { "a\($0)" } + ["a0"])
        #expect(RunWaits.ring(closedBy: first, among: Array(others.dropLast())) == nil)
    }

    @Test func `waits without a ring all may be entered, and one that is over counts no more`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        var first = RunWaits(in: directory)
        let second = try #require(RunWaits(in: directory))
        #expect(try first?.enter(wait("n", in: ["a"], for: ["x"])) == nil)
        #expect(try second.enter(wait("m", in: ["x"], for: ["a"])) == ["a", "x"])
        #expect(try second.enter(wait("m", in: ["x"], for: ["b"])) == nil)
        #expect(try first?.enter(wait("n", in: ["a"], for: ["y"])) == nil)
        #expect(try second.enter(wait("m", in: ["x"], for: ["a", "b"])) == nil)
        first = nil
        #expect(try second.enter(wait("m", in: ["y"], for: ["a"])) == nil)
    }

    /// Runs wait as `RunQueue` decides, in every order that chance makes of their starts, waits and ends: at the end of
    /// each there is none left that waits.
    @Test func `runs that start, wait and nest in any order all end`() {
        for seed in 0..<3_000 as Range<UInt64> {
            var model = RunsModel(seed: seed)
            let haveEnded = model.play()
            #expect(haveEnded, "seed \(seed)")
            #expect(model.clashes == 0, "seed \(seed)")
        }
    }
}

/// Two to four runs with steps that may call a run themselves, moved by chance from one decision to the next. Which run
/// waits for which, and which wait is refused, is decided by the production code.
private struct RunsModel {
    private struct Run {
        let above: [String]
        let claims: Set<Int>
        var steps: [Step]
        var holder: RunLock.Holder
        /// By run above, what it has lent; nil before it was asked.
        var borrowed: [String: Set<Int>]?
        /// The wait that was judged last.
        var wait: RunWaits.Wait?
        var isOver = false

        var id: String { holder.run }
        var running: Step? { steps.first(where: \.isRunning) }
        /// What it keeps from others.
        var held: Set<Int> { holder.isWaiting ? claims : Set(steps.filter { !$0.hasEnded }.map(\.claim)) }
    }

    private struct Step {
        let claim: Int
        /// The claims of the run that it calls; nil if it calls none.
        let call: [Int]?
        var child: String?
        var isRunning = false
        var hasEnded = false
    }

    private static let deepest = 2

    private var random: SeededGenerator
    private var runs: [Run] = []
    /// The number of steps that began while another run was at the same step.
    private(set) var clashes = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        for _ in 0..<Int.random(in: 2...4, using: &random) { add(above: [], picked(1...4)) }
    }

    private mutating func picked(_ count: ClosedRange<Int>) -> [Int] {
        Array((0..<6).shuffled(using: &random).prefix(Int.random(in: count, using: &random)))
    }

    private mutating func add(above: [String], _ claims: [Int]) {
        let mayCall = above.count < Self.deepest
        let steps = claims.map { Step(claim: $0, call: mayCall && Bool.random(using: &random) ? picked(1...2) : nil) }
        var holder = RunLock.Holder(pid: 1, run: "r\(runs.count)", parent: above.first)
        (holder.number, holder.isWaiting) = (runs.count, true)
        runs.append(Run(above: above, claims: Set(claims), steps: steps, holder: holder))
    }

    /// Plays until nothing can move; returns true if every run has ended then.
    mutating func play() -> Bool {
        while let index = runs.indices.filter({ canMove($0) }).randomElement(using: &random) { move(index) }
        return runs.allSatisfy(\.isOver)
    }

    private func targets(of own: Run) -> [String] {
        runs.filter { other in
            other.id != own.id
                && RunQueue.comesFirst(other.holder, isLive: !other.isOver, before: own.holder, above: own.above)
                && !other.held.isDisjoint(with: own.claims)
        }.map(\.id)
    }

    private func wait(of run: Run) -> RunWaits.Wait {
        RunWaits.Wait(run: run.id, above: run.above, targets: targets(of: run))
    }

    private func isLent(_ claim: Int, by run: Run) -> Bool {
        runs.contains { !$0.isOver && $0.borrowed?[run.id]?.contains(claim) == true }
    }

    private func canMove(_ index: Int) -> Bool {
        let run = runs[index]
        if run.isOver { return false }
        guard run.borrowed != nil else { return true }
        if run.holder.isWaiting {
            let next = wait(of: run)
            return next.targets.isEmpty || !run.above.isEmpty && next != run.wait
        }
        if let step = run.running {
            guard let child = step.child else { return true }
            return runs.first { $0.id == child }!.isOver
        }
        return run.steps.first { !$0.hasEnded }.map { !isLent($0.claim, by: run) } ?? true
    }

    private mutating func move(_ index: Int) {
        let run = runs[index]
        guard run.borrowed != nil else { return borrow(index) }
        guard !run.holder.isWaiting else { return judge(index) }
        guard let step = run.steps.firstIndex(where: { !$0.hasEnded }) else {
            runs[index].isOver = true
            return
        }
        if !run.steps[step].isRunning {
            let isClash = runs.contains { $0.id != run.id && $0.running?.claim == run.steps[step].claim }
            if isClash { clashes += 1 }
            runs[index].steps[step].isRunning = true
        } else if let call = run.steps[step].call, run.steps[step].child == nil {
            runs[index].steps[step].child = "r\(runs.count)"
            add(above: [run.id] + run.above, call)
        } else {
            (runs[index].steps[step].isRunning, runs[index].steps[step].hasEnded) = (false, true)
        }
    }

    private mutating func borrow(_ index: Int) {
        var borrowed: [String: Set<Int>] = [:]
        for run in runs where runs[index].above.contains(run.id) {
            let common = run.held.intersection(runs[index].claims)
            if let used = run.running?.claim, common.contains(used) {
                runs[index].isOver = true
                return
            }
            borrowed[run.id] = common
        }
        runs[index].borrowed = borrowed
    }

    private mutating func judge(_ index: Int) {
        let next = wait(of: runs[index])
        guard !next.targets.isEmpty else {
            runs[index].holder.isWaiting = false
            runs[index].wait = nil
            return
        }
        let others = runs.filter { $0.id != next.run && !$0.isOver }.compactMap(\.wait)
        if RunWaits.ring(closedBy: next, among: others) != nil {
            runs[index].isOver = true
        } else {
            runs[index].wait = next
        }
    }
}
