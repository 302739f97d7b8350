import FlowrunTestSupport
import Foundation
import Glibc
import Processes
import RunLog
import Running
import Testing

/// The tables of the article `Conditions`, cell by cell, as workflows that are planned and run without a process.
@Suite(.timeLimit(.minutes(20))) struct DecisionTableTests {
    typealias Behaviour = FakeSpawner.Behaviour

    init() { EventLoopThread.ensureRunning() }

    /// The dependent of a need: `x`, with the condition its own or that of each of its copies.
    enum Form: CaseIterable, Sendable {
        case step, milestone, group, fanOut, copies, copiesOfTheRun, groupsAsCopies

        var isOfCopies: Bool { [.copies, .copiesOfTheRun, .groupsAsCopies].contains(self) }

        var isFanOut: Bool { self == .fanOut || isOfCopies }

        /// The lines of `x` and of all that it takes.
        func lines(needing kind: String, _ condition: String?) -> [String] {
            let needs = [("n", kind)] + (self == .copiesOfTheRun ? [("list", "plain")] : [])
            let list = "[\(needs.map(\.0).joined(separator: ", "))]"
            // A map has no plain kind.
            let map = "{ \(needs.map { "\($0): \($1 == "plain" ? "success" : $1)" }.joined(separator: ", ")) }"
            let own = condition.map { isOfCopies ? "item != 'z' && (\($0))" : $0 }
            let keys = "needs: \(kind == "plain" ? list : map)" + (own.map { ", if: \"\($0)\"" } ?? "")
            switch self {
            case .step: return ["x: { \(keys), run: x }"]
            case .milestone: return ["x: { \(keys) }"]
            case .group: return ["x: { \(keys), steps: { in: { run: x } } }"]
            case .fanOut, .copies: return ["x: { \(keys), for-each: [a, b], run: x }"]
            case .copiesOfTheRun:
                return [
                    "list: { run: lists, outputs: { l: list } }",
                    "x: { \(keys), for-each: \"${{ steps.list.outputs.l ?? ['c'] }}\", run: x }",
                ]
            case .groupsAsCopies: return ["x: { \(keys), for-each: [a, b], steps: { in: { run: x } } }"]
            }
        }

        /// The steps that run in it.
        var steps: [String] {
            switch self {
            case .step, .milestone: ["x"]
            case .group: ["x.in"]
            case .fanOut, .copies, .copiesOfTheRun: ["x[a]", "x[b]"]
            case .groupsAsCopies: ["x[a].in", "x[b].in"]
            }
        }
    }

    /// The lines that make `n` end as a row of the tables says.
    private static func producer(of end: String) -> [String] {
        switch end {
        case "success": ["n: { run: x }"]
        case "skipped": ["n: { if: \"1 > 2\", run: x }"]
        case "failure": ["n: { run: fails }"]
        case "timeout": ["n: { run: hangs, timeout: 2s }"]
        case "tolerated failure": ["n: { run: fails, continue-on-error: true }"]
        case "tolerated timeout": ["n: { run: hangs, timeout: 2s, continue-on-error: true }"]
        case "cancelled": ["n: { run: is-cancelled }"]
        case "not-run after a failure": ["r: { run: fails }", "n: { needs: [r], run: x }"]
        case "not-run after a cancel": ["r: { run: is-cancelled }", "n: { needs: [r], run: x }"]
        case "not-run after both":
            [
                "r: { run: is-cancelled }", "q: { run: fails }", "p: { needs: [q], run: x }",
                "n: { needs: [r, p], run: x }",
            ]
        default: preconditionFailure("nothing ends as \(end)")
        }
    }

    /// Runs steps under `steps`, each of which does what its `run` is called.
    @EventLoopActor
    private func run(_ lines: [String], top: String = "", _ steer: (VirtualRun) -> Void = { _ in }) throws -> VirtualRun
    {
        let text = top + "steps:\n" + lines.map { "  \($0)\n" }.joined()
        var works: [String: String] = [:]
        for line in lines {
            for part in line.components(separatedBy: ": {").indices.dropLast() {
                let parts = line.components(separatedBy: ": {")
                guard let name = parts[part].split(whereSeparator: { "{ ".contains($0) }).last,
                    let run = parts[part + 1].range(of: "run: ")
                else { continue }
                works[String(name)] = String(parts[part + 1][run.upperBound...].prefix { !", }".contains($0) })
            }
        }
        let run = try VirtualRun(text) { step, attempt in
            let name = step.split(separator: ".").last?.split(separator: "[").first.map(String.init) ?? step
            return switch works[name] ?? "x" {
            case "fails": Behaviour(status: .exited(1))
            case "fails-once": Behaviour(status: .exited(attempt == 1 ? 1 : 0))
            case "fails-late": Behaviour(duration: .seconds(10), status: .exited(1))
            case "hangs", "is-cancelled": Behaviour(duration: .seconds(1000))
            case "lasts": Behaviour(duration: .seconds(100))
            case "fails-at-200": Behaviour(duration: .seconds(200), status: .exited(1))
            case "lists": Behaviour(file: "l=[\"a\",\"b\"]\n")
            case "lists-none": Behaviour(file: "l=[]\n")
            case "lists-two": Behaviour(file: "l=[\"a\",\"c\"]\n")
            case "lists-three": Behaviour(file: "l=[\"a\",\"b\",\"c\"]\n")
            default: Behaviour()
            }
        }
        run.fileReader.duration = .seconds(1000)
        for (step, work) in works where work == "is-cancelled" {
            run.at(.seconds(2)) {
                for id in [step, "s.\(step)"] { _ = run.runner.cancel(id) }
            }
        }
        steer(run)
        try run.run()
        return run
    }

    private static let conditions = [
        nil, "1 < 2", "1 > 2", "success()", "failure()", "cancelled()", "always()", "!success()", "!failure()",
        "!cancelled()", "!always()", "1 < 2 && !failure()", "failure() || cancelled()",
    ]

    /// The truth of one of them, by the tables.
    private static func truth(of condition: String, after end: String) -> Bool {
        condition.components(separatedBy: " || ").contains { part in
            part.components(separatedBy: " && ").allSatisfy { term in
                if term == "1 < 2" || term == "1 > 2" { return term == "1 < 2" }
                let isNegated = term.hasPrefix("!")
                return (DecisionTable.functions[end, isNegated ? String(term.dropFirst()) : term] == "true")
                    != isNegated
            }
        }
    }

    private static func column(_ condition: String?, after end: String) -> String {
        guard let condition else { return "no if" }
        let truth = truth(of: condition, after: end)
        return condition.contains("(") ? "with a status function, \(truth)" : "if \(truth)"
    }

    @Test(arguments: DecisionTable.needs.rows, DecisionTable.needs.columns)
    @EventLoopActor
    func `an end, an edge and a condition make of whatever stands behind them what the tables say`(
        end: String, kind: String
    ) throws {
        let byNeeds = DecisionTable.strictest([(kind, DecisionTable.needs[end, kind])])
        for form in Form.allCases {
            for condition in Self.conditions where condition != nil || !form.isOfCopies {
                let lines = Self.producer(of: end) + form.lines(needing: kind, condition)
                let run = try run(lines + ["after: { needs: [x], run: x }"])
                let says = DecisionTable.conditions[byNeeds, Self.column(condition, after: end)]
                let expected = says == "runs" ? "success" : says
                for step in form.steps {
                    // A fan-out whose list was never evaluated has no copies.
                    let isUnborn = form == .copiesOfTheRun && says != "runs" && run.outcome(of: step) == nil
                    #expect(isUnborn || run.outcome(of: step)?.rawValue == expected, "\(step) of \(lines)")
                }
                if form.isFanOut {
                    #expect(run.lines(of: "x").last?.hasSuffix("finished x \(expected)") == true, "x of \(lines)")
                }
                let after = DecisionTable.needs[expected == "not-run" ? "not-run after a failure" : expected, "plain"]
                #expect(
                    run.outcome(of: "after")?.rawValue == (after == "met" ? "success" : after), "after of \(lines)")
            }
        }
    }

    @Test(arguments: DecisionTable.functions.rows)
    @EventLoopActor
    func `a status function sees direct needs, those before in a sequence, the body in a hook, and no group's needs`(
        end: String
    ) throws {
        for function in DecisionTable.functions.columns {
            let says = DecisionTable.functions[end, function] == "true"
            // The result of a false one depends on the edge, and is in the other table.
            let sequence = try run(
                ["s:", "  order: sequence", "  steps:"]
                    + (Self.producer(of: end) + ["b: { if: always(), run: x }", "x: { if: \"\(function)\", run: x }"])
                    .map { "    \($0)" })
            // There, a cancelled step rules out the one that would fail after it.
            let isPossible = end != "not-run after both"
            #expect(
                !isPossible || (sequence.outcome(of: "s.x") == .success) == says,
                "\(function) in a sequence after \(end)")
            let outer = try run(
                Self.producer(of: end) + ["g: { needs: { n: done }, steps: { x: { if: \"\(function)\", run: x } } }"])
            let alone = DecisionTable.functions["success", function] == "true"
            #expect((outer.outcome(of: "g.x") == .success) == alone, "\(function) in a group that needs \(end)")
            // If it was not run, the root is part of the body as well, and the worst end counts.
            guard !end.hasPrefix("not-run") else { continue }
            let hook = try run(
                Self.producer(of: end), top: "finally: { x: { if: \"\(function)\", run: x } }\n")
            #expect((hook.outcome(of: "finally.x") == .success) == says, "\(function) in a hook after \(end)")
        }
    }

    @Test(arguments: DecisionTable.copies.rows, ["success", "failure"])
    @EventLoopActor
    func `copies with a condition each are judged together`(row: String, need: String) throws {
        let items = ["cannot be told for one": "lists-three", "there are no copies": "lists-none"][row] ?? "lists-two"
        let condition = row == "false for all" ? "item == 'z'" : "(item == 'a' || item == 'b' && fromJSON(item) == 1)"
        let (table, conditions) = (DecisionTable.copies, DecisionTable.conditions)
        let above = conditions[
            need == "failure" ? "not-run by a plain edge" : "met", "with a status function, false"]
        for list in ["\"${{ steps.list.outputs.l ?? ['q'] }}\"", ["lists-three": "[a, b, c]"][items] ?? "[a, c]"] {
            if items == "lists-none", list.hasPrefix("[") { continue }
            let run = try run([
                need == "failure" ? "n: { run: fails }" : "n: { run: x }",
                "list: { run: \(items), outputs: { l: list } }",
                "x: { needs: [n, list], for-each: \(list), if: \"always() && \(condition)\", run: x }",
                "after: { needs: [x], run: x }",
            ])
            func expect(_ step: String, _ cell: String) {
                let says = cell == "as above" ? above : cell == "runs" ? "success" : cell
                #expect(run.outcome(of: step)?.rawValue == says, "\(step), \(row), \(list)")
            }
            if items != "lists-none" {
                expect("x[a]", table[row, row == "false for all" ? Self.falseCopy : Self.trueCopy])
                expect("x[c]", table[row, Self.falseCopy])
            }
            let whole: String
            switch table[row, "the fan-out"] {
            case "as its copies end": whole = "success"
            case "as above": whole = above
            case "failure": whole = "failure"
            case "success, or not-run as above": whole = above == "not-run" ? above : "success"
            case let other: preconditionFailure("no fan-out ends as \(other)")
            }
            #expect(run.lines(of: "x").last?.hasSuffix("finished x \(whole)") == true, "\(row), \(list)")
            expect("after", ["success", "skipped"].contains(whole) ? "runs" : "not-run")
        }
    }

    private static let trueCopy = "a copy where it is true"
    private static let falseCopy = "a copy where it is false"

    /// Ways to stop or drain a group after ten seconds: lines for the top, for the group, and beside its members.
    private static let stops: [(name: String, column: String, top: String, key: String, beside: [String])] = [
        ("Ctrl-C", "stopped", "", "", []), ("ctl cancel of the run", "stopped", "", "", []),
        ("ctl cancel of the group", "stopped", "", "", []), ("limit of the run", "stopped", "timeout: 10s\n", "", []),
        ("limit of the group", "stopped", "", "timeout: 10s", []),
        ("fail-fast of the run", "stopped", "fail-fast: true\n", "", ["bad: { run: fails-late }"]),
        ("fail-fast of the group", "stopped", "", "fail-fast: true", ["bad: { run: fails-late }"]),
        ("drain of the run", "drained", "fail-fast: drain\n", "", ["bad: { run: fails-late }"]),
        ("drain of the group", "drained", "", "fail-fast: drain", ["bad: { run: fails-late }"]),
    ]

    /// The lines of a group whose `s` is in a state after ten seconds, and whose end is checked.
    private static func subject(in state: String) -> (lines: [String], id: String) {
        let retry = "retry: { attempts: 2, delay: 1h }"
        switch state {
        case "waits for what it needs": return (["w: { run: lasts }", "s: { needs: [w], run: x }"], "g.s")
        case "its condition is asked": return (["s: { if: \"hashFiles('f') != ''\", run: x }"], "g.s")
        case "its condition is false and those of other copies are asked":
            return (["s: { for-each: [a, b], if: \"item == 'b' && hashFiles('f') != ''\", run: x }"], "g.s[a]")
        case "is ready": return (["w: { run: lasts, mutex: m }", "s: { run: x, mutex: m }"], "g.s")
        case "runs": return (["s: { run: lasts }"], "g.s")
        case "a step waits for another attempt": return (["s: { run: fails, \(retry) }"], "g.s")
        case "a group waits for another round":
            return (["s: { \(retry), steps: { in: { run: fails } } }"], "g.s")
        case "a hook of a group in which something has begun":
            return (["s: { steps: { in: { run: lasts } }, finally: { h: { run: x } } }"], "g.s.finally.h")
        case "a hook of a group in which nothing has begun":
            return (
                [
                    "s: { steps: { in: { if: \"hashFiles('f') != ''\", run: x } }, finally: { h: { run: x } } }"
                ], "g.s.finally.h"
            )
        case "a hook of a group that has not started":
            return (
                ["w: { run: lasts }", "s: { needs: [w], steps: { in: { run: x } }, finally: { h: { run: x } } }"],
                "g.s.finally.h"
            )
        case "has ended": return (["s: { run: x }"], "g.s")
        default: preconditionFailure("nothing is in the state `\(state)`")
        }
    }

    @Test(arguments: DecisionTable.stops.rows)
    @EventLoopActor
    func `each state ends after a stop or a drain as the table says, whatever its origin`(state: String) throws {
        let (lines, id) = Self.subject(in: state)
        for stop in Self.stops {
            let run = try run(
                ["g:"] + (stop.key.isEmpty ? [] : ["  " + stop.key]) + ["  steps:"]
                    + (lines + stop.beside).map { "    \($0)" }, top: stop.top
            ) { run in
                switch stop.name {
                case "Ctrl-C": run.at(.seconds(10)) { run.runner.interrupt(by: SIGINT) }
                case "ctl cancel of the run": run.at(.seconds(10)) { _ = run.runner.cancel(nil) }
                case "ctl cancel of the group": run.at(.seconds(10)) { _ = run.runner.cancel("g") }
                default: break
                }
            }
            let says = DecisionTable.stops[state, stop.column]
            let end = run.lines(of: id).last { $0.contains(" finished ") }
            #expect(end?.hasSuffix(" \(says)") == true, "\(stop.name), \(state): \(run.lines)")
        }
    }

    @Test(arguments: DecisionTable.rounds.rows)
    @EventLoopActor
    func `the hook for failures runs once, after the last round, and finally after each`(row: String) throws {
        let isDrained = row.contains("drained")
        let isEarly = row.hasSuffix("stopped during finally")
        let attempts = row == "it was the last" ? 1 : 2
        let delay = row == "another one follows" ? "0s" : "1h"
        for body in ["in: { run: fails }", "in: { run: hangs, timeout: 1s }", "in: { run: fails, mutex: m }"] {
            let run = try run(
                [
                    "g:", "  mutex: held", "  retry: { attempts: \(attempts), delay: \(delay) }",
                    "  steps: { \(body) }",
                    "  on-failure: { h: { run: x } }", "  finally: { f: { run: lasts } }",
                    isDrained ? "bad: { run: fails-at-200 }" : "good: { run: x }",
                ], top: isDrained ? "fail-fast: drain\n" : ""
            ) { run in
                if isEarly { run.at(.seconds(50)) { _ = run.runner.cancel("g") } }
                if row.hasSuffix("stopped while it waits") {
                    run.at(.seconds(200)) { run.runner.interrupt(by: SIGINT) }
                }
                if row.contains("aborted") { run.at(.seconds(200)) { run.runner.abort(by: SIGINT) } }
            }
            let table = DecisionTable.rounds
            func ends(_ id: String) -> [String] {
                run.lines(of: id).filter { $0.contains(" finished ") }.map {
                    $0.split(separator: " ").map(String.init)[3]
                }
            }
            let isFollowed = table[row, "the group"] == "tries again"
            #expect(run.lines(of: "g").contains { $0.contains("retry") } == (attempts > 1 && !isEarly), "\(row)")
            let hook = table[row, "on-failure"]
            // The next round is the last one.
            let last = hook == "waits" ? DecisionTable.rounds["it was the last", "on-failure"] : hook
            #expect(ends("g.on-failure.h") == [last == "runs" ? "success" : last], "\(row): \(run.lines)")
            #expect(table[row, "finally"] == "runs")
            #expect(ends("g.finally.f") == Array(repeating: "success", count: isFollowed ? 2 : 1), "\(row)")
            let outcome = body.contains("timeout") ? "timeout" : "failure"
            #expect(ends("g") == [outcome], "\(row): \(run.lines)")
            let starts = run.lines(of: "g.finally.f").filter { $0.contains("started") }.count
            #expect(starts == (isFollowed ? 2 : 1))
        }
    }
}
