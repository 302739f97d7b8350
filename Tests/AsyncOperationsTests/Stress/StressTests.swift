import Synchronization
import Testing

/// The programs of the explorer on real threads, as many rounds as FLOWRUN_PROOF_ROUNDS asks for.
///
/// A round that hangs or breaks a rule prints its program, which is made anew from its seed.
@Suite(.serialized) struct StressTests {
    private static let effort = Effort("FLOWRUN_PROOF_ROUNDS", otherwise: 1_000)
    /// So many rounds go on beside each other, so that threads get in each other's way.
    private static let lanes = 2

    @Test(arguments: Program.known)
    func `what went wrong once goes right on real threads`(known: KnownProgram) async {
        await Self.repeatRounds(Self.effort.count / 4 / Program.known.count) { _ in known.program }
    }

    @Test func `random programs keep every rule on real threads`() async {
        await Self.repeatRounds(Self.effort.count * 3 / 4) { number in
            let seed = Self.effort.seed + UInt64(number)
            return ProgramGenerator.program(seed: seed, size: ProgramGenerator.size(for: seed))
        }
    }

    @Test func `programs with needs in all directions keep every rule on real threads`() async {
        await Self.repeatRounds(Self.effort.count / 4) { number in
            let seed = Self.effort.seed + UInt64(number)
            return EntangledProgram.unsettled(seed: seed).split(seed: seed, .hasty)
        }
    }

    /// Ends with the first finding. Where the rounds were asked for, every other one is shaken: that makes every thread
    /// late that takes a lock of the library, those of other tests too.
    private static func repeatRounds(
        _ count: Int, _ program: @escaping @Sendable (Int) -> Program
    ) async {
        #if DEBUG || FLOWRUN_EXPLORE
            LockProbe.install()
        #endif
        let rounds = RoundNumbers(count)
        await withTaskGroup { group in
            for lane in 0..<lanes {
                group.addTask {
                    let isShaken = effort.isAsked && lane % 2 == 0
                    if isShaken { StressNoise.begin() }
                    defer { if isShaken { StressNoise.end() } }
                    let crew = StressCrew(3)
                    let lastWords = LastWords()
                    defer { lastWords.set(nil) }
                    while let number = rounds.next() {
                        let program = program(number)
                        lastWords.set(program)
                        guard let problem = await StressRound(program: program, crew: crew).run() else { continue }
                        rounds.stop()
                        Issue.record("round \(number): \(problem)\n\(program)")
                    }
                }
            }
        }
    }
}

/// Hands out numbers to those who share the work.
final class RoundNumbers: Sendable {
    private let count: Int
    private let taken = Atomic(0)

    /// How many have begun.
    var begun: Int { min(count, taken.load(ordering: .relaxed)) }

    init(_ count: Int) { self.count = count }

    func next() -> Int? {
        let number = taken.add(1, ordering: .relaxed).oldValue
        return number < count ? number : nil
    }

    func stop() { taken.store(count, ordering: .relaxed) }
}
