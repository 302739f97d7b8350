import FlowrunTestSupport
import Testing

/// The checker itself: a good log passes, and each way of breaking a rule is found.
struct LogInvariantsTests {
    /// A log from the fields of its records; `seq` and `t` are counted unless given.
    private func log(_ records: [[String: JSONValue]]) throws -> EventLog {
        EventLog(
            records: try records.enumerated().map { index, fields in
                let counted: [String: JSONValue] = ["seq": .number(Double(index)), "t": .number(Double(index))]
                return try EventLog.Record(fields: fields.merging(counted) { given, _ in given })
            })
    }

    private func started(_ step: String) -> [String: JSONValue] {
        ["event": .string("step.started"), "step": .string(step), "attempt": .number(1)]
    }

    private func attempt(_ step: String) -> [String: JSONValue] {
        ["event": .string("step.attempt"), "step": .string(step), "attempt": .number(1)]
    }

    private func finished(_ step: String, _ outcome: String = "success") -> [String: JSONValue] {
        var fields: [String: JSONValue] = [
            "event": .string("step.finished"), "step": .string(step), "outcome": .string(outcome),
        ]
        if outcome != "success" { fields["cause"] = .object(["kind": .string("exit")]) }
        return fields
    }

    private func group(_ event: String, _ group: String) -> [String: JSONValue] {
        ["event": .string("group.\(event)"), "group": .string(group), "outcome": .string("success")]
    }

    private func whole(
        _ steps: Int, _ middle: [[String: JSONValue]], errors: [String] = [], cancelled: [String] = [],
        notRun: [String] = [], tolerated: [String] = [], counts: [String: Double]
    ) -> [[String: JSONValue]] {
        let first: [String: JSONValue] = ["event": .string("run.started"), "steps": .number(Double(steps))]
        let last: [String: JSONValue] = [
            "event": .string("run.finished"),
            "errors": .array(errors.map { .object(["step": .string($0)]) }),
            "cancelled": .array(cancelled.map { .string($0) }),
            "not_run": .array(notRun.map { .string($0) }),
            "tolerated": .array(tolerated.map { .string($0) }),
            "counts": .object(counts.mapValues { .number($0) }),
        ]
        return [first] + middle + [last]
    }

    /// `a`, then `g.b`, then `c`, which fails.
    private var good: [[String: JSONValue]] {
        whole(
            3,
            [
                started("a"), attempt("a"), finished("a"), group("started", "g"), started("g.b"), attempt("g.b"),
                finished("g.b"), group("finished", "g"), started("c"), attempt("c"), finished("c", "failure"),
            ], errors: ["c"], counts: ["success": 2, "failure": 1])
    }

    private let needs = DependencyTable(["g": ["a"], "c": ["g"]])

    private func violations(_ records: [[String: JSONValue]]) throws -> [String] {
        LogInvariants.violations(try log(records), needs: needs)
    }

    @Test func `a log that keeps the rules passes`() throws {
        #expect(try violations(good) == [])
        #expect(LogInvariants.violations(try log(good), needs: needs, steps: ["a", "g.b", "c"]) == [])
    }

    @Test func `an empty log is a violation`() throws {
        #expect(try violations([]) == ["I1: the log is empty"])
    }

    @Test func `a gap in seq is found`() throws {
        var records = good
        records[4]["seq"] = .number(40)
        #expect(try violations(records) == ["I1: record 4 has seq 40"])
    }

    @Test func `a log cut short is found`() throws {
        #expect(try violations(Array(good.dropLast())).contains("I1: the last event is step.finished"))
    }

    @Test func `a second end and output after the end are found`() throws {
        var records = good
        records.insert(finished("a"), at: 4)
        records.insert(
            ["event": .string("step.output"), "step": .string("a"), "attempt": .number(1)], at: 5)
        let found = try violations(records)
        #expect(found.contains("I2: step.finished of step a at seq 4, after its end"))
        #expect(found.contains("I2: step.output of step a at seq 5, after its end"))
    }

    @Test func `a step without an end is found`() throws {
        let records = good.filter { $0["event"]?.string != "step.finished" || $0["step"]?.string != "g.b" }
        let found = try violations(records)
        #expect(found.contains("I2: step g.b started and has no end"))
        #expect(found.contains("I2: the run announced 3 steps, and 2 ended"))
    }

    @Test func `a start before the end of what is needed is found, also through the group around it`() throws {
        var records = good
        records.swapAt(3, 5)
        #expect(try violations(records).contains("I3: g.b started before the end of a, which g needs"))
    }

    @Test func `a start after the wrong kind of end is found`() throws {
        let records = whole(
            2,
            [
                started("a"), attempt("a"), finished("a", "failure"), started("b"), attempt("b"), finished("b"),
            ], errors: ["a"], counts: ["success": 1, "failure": 1])
        let log = try log(records)
        #expect(LogInvariants.violations(log, needs: ["b": ["a": .failure]]) == [])
        #expect(LogInvariants.violations(log, needs: ["b": ["a": .done]]) == [])
        #expect(
            LogInvariants.violations(log, needs: ["b": ["a": .ok]])
                == ["I3: b started though a ended as failure, not ok"])
    }

    @Test func `an end of a step before the end of its attempt is found`() throws {
        var records = good
        records.swapAt(2, 3)
        #expect(try violations(records).contains("I4: step.finished of a before its attempt ended"))
    }

    @Test func `a group that ends before a member is found`() throws {
        var records = good
        records.swapAt(7, 8)
        #expect(try violations(records).contains("I5: group g ended before its member g.b"))
    }

    @Test func `a start after a cancel is found`() throws {
        for cancel: [String: JSONValue] in [
            ["event": .string("run.cancel_requested")],
            ["event": .string("group.cancel_requested"), "group": .string("g")],
        ] {
            var records = good
            records.insert(cancel, at: 5)
            #expect(try violations(records).contains("I8: g.b started at seq 6, after a cancel"))
        }
    }

    @Test func `a start during a pause, and a pause twice, are found`() throws {
        var records = good
        let pause: [String: JSONValue] = ["event": .string("run.paused"), "source": .string("ctl")]
        records.insert(pause, at: 5)
        #expect(try violations(records).contains("I8: step.started at seq 6, while the run was paused"))
        records.insert(pause, at: 5)
        #expect(try violations(records).contains("I8: run.paused at seq 6 changes nothing"))
        records[6]["event"] = .string("run.resumed")
        #expect(!(try violations(records).contains { $0.contains("paused") || $0.contains("changes nothing") }))
    }

    @Test func `a summary that leaves out an error, or counts wrongly, is found`() throws {
        var records = good
        records[records.count - 1]["errors"] = .array([])
        records[records.count - 1]["counts"] = .object(["success": .number(3)])
        let found = try violations(records)
        #expect(found.contains(#"I9: errors are [], not ["c"]"#))
        #expect(found.contains { $0.hasPrefix("I9: counts are") })
    }
}
