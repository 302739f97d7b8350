import FlowrunTestSupport

/// Decides who goes on, wherever several could.
protocol Chooser: AnyObject {
    /// The index of one of `jobs`, which are in the order in which a plain scheduler would take them, the one that is
    /// at work first where it can go on; or their count where time is to pass, if it may.
    func choose(from jobs: [Int], currentGoesOn: Bool, timeMayPass: Bool) -> Int
}

/// Goes on with what is at work, else takes what was ready first.
final class FirstChooser: Chooser {
    func choose(from jobs: [Int], currentGoesOn: Bool, timeMayPass: Bool) -> Int { 0 }
}

/// Chooses by chance, in one of several temperaments: some faults show where everything changes all the time, others
/// where one thread stands still for long.
final class RandomChooser: Chooser {
    private var random: SeededGenerator
    private let temperament: UInt64
    private let seed: UInt64
    /// For the temperament that lets jobs of low rank wait as long as there are others.
    private var demoted: [Int: Int] = [:]

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed ^ 0x5EED)
        temperament = random.next() % 5
    }

    func choose(from jobs: [Int], currentGoesOn: Bool, timeMayPass: Bool) -> Int {
        if jobs.count == 1, !timeMayPass { return 0 }
        if timeMayPass, isOne(in: 64) { return jobs.count }
        switch temperament {
        case 0: break
        case 1: if currentGoesOn, !isOne(in: 3) { return 0 }
        case 2: if currentGoesOn, !isOne(in: 8) { return 0 }
        case 3: if currentGoesOn, !isOne(in: 24) { return 0 }
        default: return highestRank(of: jobs, currentGoesOn)
        }
        return Int(random.next() % UInt64(jobs.count))
    }

    /// Ranks are random, and now and then the one that is at work loses its own.
    private func highestRank(of jobs: [Int], _ currentGoesOn: Bool) -> Int {
        if currentGoesOn, isOne(in: 20) { demoted[jobs[0]] = -demoted.count - 1 }
        return jobs.indices.max { rank(of: jobs[$0]) < rank(of: jobs[$1]) } ?? 0
    }

    private func rank(of job: Int) -> Int {
        if let rank = demoted[job] { return rank }
        var generator = SeededGenerator(seed: seed &+ UInt64(job) &* 0x9E37)
        return Int(generator.next() >> 2)
    }

    private func isOne(in count: UInt64) -> Bool { random.next() % count == 0 }
}

/// Goes through all runs that depart from the plain order at most so many times, one after the other.
final class SystematicChooser: Chooser {
    private let departures: Int
    private var choices: [(index: Int, count: Int)] = []
    private var position = 0

    init(departures: Int) { self.departures = departures }

    func choose(from jobs: [Int], currentGoesOn: Bool, timeMayPass: Bool) -> Int {
        let count = jobs.count + (timeMayPass ? 1 : 0)
        defer { position += 1 }
        guard position < choices.count else {
            choices.append((0, count))
            return 0
        }
        if choices[position].count != count {
            // What depends on addresses, such as the order of a set, may make a run differ from the one before.
            choices[position].count = count
            choices[position].index = min(choices[position].index, count - 1)
        }
        return choices[position].index
    }

    /// Prepares the next run; false where all have been.
    func next() -> Bool {
        choices.removeLast(max(0, choices.count - position))
        position = 0
        var left = departures - choices.count { $0.index > 0 }
        while let last = choices.popLast() {
            if last.index > 0 { left += 1 }
            guard left > 0, last.index + 1 < last.count else { continue }
            choices.append((last.index + 1, last.count))
            return true
        }
        return false
    }
}

/// Makes the choices of another chooser's run again.
final class ScriptedChooser: Chooser {
    private var script: ArraySlice<Int>

    init(_ script: [Int]) { self.script = script[...] }

    func choose(from jobs: [Int], currentGoesOn: Bool, timeMayPass: Bool) -> Int {
        min(script.popFirst() ?? 0, jobs.count - (timeMayPass ? 0 : 1))
    }
}

/// Keeps what another chooser chose.
final class RecordingChooser: Chooser {
    private let chooser: any Chooser
    private(set) var script: [Int] = []

    init(_ chooser: any Chooser) { self.chooser = chooser }

    func choose(from jobs: [Int], currentGoesOn: Bool, timeMayPass: Bool) -> Int {
        let choice = chooser.choose(from: jobs, currentGoesOn: currentGoesOn, timeMayPass: timeMayPass)
        script.append(choice)
        return choice
    }
}
