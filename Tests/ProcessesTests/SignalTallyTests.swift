import Glibc
import Testing

@testable import Processes

struct SignalTallyTests {
    /// How many of these arrivals are new; `d` by itself, `f` through the guard.
    private func count(_ arrivals: String, from senders: [Int32] = [7]) -> Int {
        var tally = SignalTally()
        return arrivals.enumerated().count { index, way in
            tally.isNew(SIGTERM, from: senders[index % senders.count], isForwarded: way == "f")
        }
    }

    @Test(arguments: [("d", 1), ("f", 1), ("df", 1), ("fd", 1), ("ffff", 4), ("dddd", 4)])
    func `a signal counts once, whichever way it comes`(arrivals: String, expected: Int) {
        #expect(count(arrivals) == expected)
    }

    @Test(arguments: ["dfdf", "ddff", "fddf", "dff", "ddf"])
    func `two signals to the group are two, also where one of the ways has lost one`(arrivals: String) {
        #expect(count(arrivals) == 2)
    }

    @Test func `a signal of another sender is another signal`() {
        #expect(count("df", from: [7, 8]) == 2)
    }
}
