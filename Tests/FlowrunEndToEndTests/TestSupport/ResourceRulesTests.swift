import FlowrunTestSupport
import Testing

/// The checker itself: a good log passes, and each way of breaking a rule is found.
struct ResourceRulesTests {
    private func violations(
        _ records: [(event: String, id: String, lock: String?)], _ change: (inout ResourceRules) -> Void = { _ in }
    ) throws -> [String] {
        var rules = ResourceRules(jobs: 2)
        rules.pools = ["p": 3]
        rules.requests = ["a": ["m": 1], "b": ["m": 1], "c": ["p": 2], "d": ["p": 2], "g": ["m": 1]]
        change(&rules)
        let log = EventLog(
            records: try records.enumerated().map { index, record in
                let subject = record.id.hasPrefix("g") && !record.id.contains(".") ? "group" : "step"
                var fields: [String: JSONValue] = [
                    "event": .string(record.event), "seq": .number(Double(index)), subject: .string(record.id),
                ]
                fields["name"] = record.lock.map { .string($0) }
                return try EventLog.Record(fields: fields)
            })
        return rules.violations(log)
    }

    private func run(_ step: String, _ lock: String? = nil) -> [(event: String, id: String, lock: String?)] {
        [
            ("step.ready", step, nil), lock.map { ("lock.acquired", step, $0) }, ("step.started", step, nil),
            ("step.attempt", step, nil), lock.map { ("lock.released", step, $0) }, ("step.finished", step, nil),
        ].compactMap(\.self)
    }

    @Test func `a log in which one comes after the other breaks nothing`() throws {
        #expect(try violations(run("a", "m") + run("b", "m") + run("c", "p") + run("d", "p") + run("e")) == [])
    }

    @Test func `more steps than may run are found, and more instances`() throws {
        let starts = ["x", "f[1]", "f[2]"].map { (event: "step.started", id: $0, lock: String?.none) }
        #expect(try violations(starts).map { String($0.prefix(16)) } == ["I6: 3 steps run "])
        let limited = try violations(starts) { rules in
            rules.jobs = 3
            rules.instanceLimits = ["f": 1]
            rules.stepLimits = ["": 3, "f": 2]
        }
        #expect(limited == ["I6: 2 instances of f are in progress at seq 2, and 1 may"])
        let inside = try violations(starts) { rules in
            rules.jobs = 3
            rules.stepLimits = ["": 2, "f": 1]
        }
        #expect(inside.count == 2)
    }

    @Test func `a lock with two holders, or one that nobody asked for, is found`() throws {
        let two =
            Array(run("a", "m").prefix(3) + run("b", "m").prefix(3) + run("a", "m").dropFirst(3))
            + run("b", "m").dropFirst(3)
        #expect(try violations(two).map { String($0.prefix(3)) } == ["I7:"])
        let units =
            Array(run("c", "p").prefix(3) + run("d", "p").prefix(3) + run("c", "p").dropFirst(3))
            + run("d", "p").dropFirst(3)
        #expect(try violations(units) == ["I7: [\"c\", \"d\"] hold 4 units of `p` at seq 4"])
        #expect(try violations(units) { $0.pools["p"] = 4 } == [])
        #expect(try violations(run("e", "m")).count == 2)
    }

    @Test func `a lock that is taken too early, let go too early, or kept, is found`() throws {
        let good = run("a", "m")
        #expect(try violations(Array(good.dropFirst())).count == 1)
        #expect(try violations([good[0], good[2], good[3], good[5]]).count == 1)
        #expect(try violations([good[0], good[1], good[2], good[4], good[3], good[5]]).count == 1)
        #expect(try violations([good[0], good[1], good[2], good[3], good[5]]).count == 1)
        #expect(try violations(Array(good.prefix(4)) + [("run.finished", "g", nil)]).count == 1)
    }

    @Test func `a group that lets its lock go while a member runs is found`() throws {
        let records: [(event: String, id: String, lock: String?)] = [
            ("group.ready", "g", nil), ("lock.acquired", "g", "m"), ("group.started", "g", nil),
            ("step.started", "g.x", nil), ("lock.released", "g", "m"), ("step.attempt", "g.x", nil),
            ("step.finished", "g.x", nil), ("group.finished", "g", nil),
        ]
        #expect(try violations(records) == ["I7: g lets `m` go at seq 4, while [\"g.x\"] run"])
    }
}
