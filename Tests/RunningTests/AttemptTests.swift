import Testing

@testable import Running

/// Everything that can happen to an attempt, in every order: all its reachable states are visited.
struct AttemptTests {
    /// An attempt and what it has asked for on the way.
    private struct Life: Hashable {
        var attempt = Attempt()
        var asked: Set<UInt8> = []
    }

    private static let actions: [Attempt.Actions] = [
        .reportDelay, .reportStart, .ask, .leave, .terminate, .kill, .finish,
    ]

    /// Calls `check` for each input in each reachable life: with the life before it, and the life and actions after it.
    private func explore(_ check: (Life, Attempt.Input, Life, Attempt.Actions) -> Void) -> Int {
        var known: Set<Life> = [Life()]
        var open = [Life()]
        while let life = open.popLast() {
            for input in Attempt.Input.allCases {
                var next = life
                let actions = next.attempt.handle(input)
                next.asked.formUnion(Self.actions.filter(actions.contains).map(\.rawValue))
                check(life, input, next, actions)
                if known.insert(next).inserted { open.append(next) }
            }
        }
        return known.count
    }

    @Test func `every state is reached, and over is the only one without a way out`() {
        var reached: Set<Attempt.State> = []
        var left: Set<Attempt.State> = []
        let count = explore { before, _, after, _ in
            reached.insert(after.attempt.state)
            if after.attempt.state != before.attempt.state { left.insert(before.attempt.state) }
        }
        #expect(count > 20)
        #expect(reached == Set(Attempt.State.allCases))
        #expect(left == Set(Attempt.State.allCases).subtracting([.over]))
    }

    @Test func `the end is reported once, and nothing is asked for afterwards`() {
        _ = explore { before, input, after, actions in
            if before.attempt.state == .over { #expect(actions == [], "\(input)") }
            #expect(actions.contains(.finish) == (before.attempt.state != .over && after.attempt.state == .over))
        }
    }

    @Test func `a delay is reported once, and a start only after a delay`() {
        _ = explore { before, input, _, actions in
            let wasReported = before.asked.contains(Attempt.Actions.reportDelay.rawValue)
            if wasReported { #expect(!actions.contains(.reportDelay), "\(input)") }
            if actions.contains(.reportStart) { #expect(input == .started && wasReported) }
            if input == .started, before.attempt.state == .starting {
                #expect(actions.contains(.reportStart) == wasReported)
            }
        }
    }

    @Test func `one that asks for a process does not ask again before it has its answer`() {
        _ = explore { before, input, after, actions in
            guard actions.contains(.ask) else { return }
            #expect(after.attempt.state == .starting)
            #expect([.idle, .lacking, .held, .postponed].contains(before.attempt.state), "\(input)")
        }
    }

    @Test func `only one with a process signals, and only one without leaves`() {
        _ = explore { before, input, after, actions in
            if actions.contains(.terminate) || actions.contains(.kill) {
                #expect(before.attempt.hasProcess, "\(input)")
            }
            if actions.contains(.leave) { #expect(!before.attempt.hasProcess && !after.attempt.hasProcess, "\(input)") }
        }
    }

    @Test func `once it was stopped it starts no more, whatever arrives`() {
        _ = explore { before, input, after, actions in
            guard [.stopping, .leaving, .over].contains(before.attempt.state) else { return }
            #expect([.stopping, .leaving, .over].contains(after.attempt.state), "\(input)")
            #expect(!actions.contains(.ask) && !actions.contains(.reportDelay), "\(input)")
        }
    }

    @Test(arguments: [Attempt.Input.stop, .kill])
    func `a stop ends every attempt once what it asks for is answered`(_ stop: Attempt.Input) {
        _ = explore { before, _, _, _ in
            var attempt = before.attempt
            guard attempt.state != .over else { return }
            _ = attempt.handle(stop)
            let end = attempt.handle(attempt.hasProcess ? .ended : .left)
            #expect(end == .finish && attempt.state == .over, "\(before.attempt.state)")
        }
    }

    @Test func `a kill reaches a process that is already stopping, a second stop does not`() {
        var attempt = Attempt()
        #expect(attempt.handle(.start) == .ask)
        #expect(attempt.handle(.started) == [])
        #expect(attempt.handle(.stop) == .terminate)
        #expect(attempt.handle(.stop) == [])
        #expect(attempt.handle(.kill) == .kill)
        #expect(attempt.handle(.ended) == .finish)
        #expect(attempt.hadProcess)
    }

    @Test func `the end of a pause starts what the pause has held, and nothing else`() {
        _ = explore { before, input, _, actions in
            if input == .resumed { #expect(actions == (before.attempt.state == .held ? .ask : [])) }
        }
    }
}
