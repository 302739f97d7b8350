import FlowrunTestSupport

/// A random workflow in which everything has a limit, with all the features that lengthen a run or make steps wait.
struct LimitedWorkflow {
    enum Feature: String, CaseIterable {
        /// `needsInside`: a member of a group needs a step outside of the group; the reverse is an error.
        case needs, needsInside, group, sequence, stepRetry, groupRetry, groupLimit, retryDeadline, pool, mutex, holder
        case maxParallel, copies, copiesAtOnce, onFailure, finally, condition, tolerance, failFast, runLimit, vars
    }

    private(set) var text = ""
    private(set) var features: Set<Feature> = []
    let jobs: Int
    /// How many steps there are, copies counted.
    private(set) var steps = 0

    private var random: SeededGenerator
    private var names = 0
    private let size: Int
    private let hasVars: Bool

    /// `size` bounds the number of steps.
    init(seed: UInt64, size: Int, hasVars: Bool) {
        var random = SeededGenerator(seed: seed)
        jobs = Int.random(in: 1...4, using: &random)
        self.hasVars = hasVars && Int.random(in: 0..<3, using: &random) == 0
        self.size = size
        self.random = random
        var lines = ["pools: { p: 2, q: 3 }", "defaults: { timeout: 100s, grace: 5s }"]
        if chance(5) { lines.append("fail-fast: \(note(.failFast, pick(["true", "drain"])))") }
        if chance(6) { lines.append("timeout: \(note(.runLimit, pick([150, 400, 1000])))s") }
        if chance(8) { lines.append("max-parallel: \(note(.maxParallel, pick([1, 2, 3])))") }
        if self.hasVars {
            lines.append("vars: { v: { run: x, timeout: \(note(.vars, pick([10, 120])))s }, w: { run: 'echo $v' } }")
        }
        lines.append("steps:")
        lines += members(Scope(indent: "  "), atLeast: 2)
        lines += hooks("", copies: 1, oneIn: 5)
        text = lines.joined(separator: "\n") + "\n"
    }

    private struct Scope {
        var indent: String
        var depth = 0
        var outer: [String] = []
        var copies = 1
        var isInHook = false
    }

    private mutating func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &random)]
    }

    private mutating func note<Value>(_ feature: Feature, _ value: Value) -> Value {
        features.insert(feature)
        return value
    }

    private mutating func members(_ scope: Scope, atLeast: Int = 1) -> [String] {
        var lines: [String] = []
        var siblings: [String] = []
        for number in 0..<Int.random(in: atLeast...(scope.depth == 0 ? 7 : 4), using: &random) {
            guard steps + scope.copies <= size || number == 0 else { break }
            let isGroup = scope.depth < 2 && steps + 2 * scope.copies <= size && chance(3)
            lines += isGroup ? group(scope, &siblings) : step(scope, &siblings)
        }
        return lines
    }

    private mutating func keys(_ scope: Scope, _ siblings: [String], isGroup: Bool) -> [String] {
        var keys: [String] = []
        var known: [String] = []
        for sibling in siblings where chance(3) { known.append(note(.needs, sibling)) }
        if !scope.outer.isEmpty, chance(3) { known.append(note(.needsInside, pick(scope.outer))) }
        if !known.isEmpty {
            let kind = chance(6) ? pick(["done", "failure"]) : "success"
            keys.append("needs: { \(known.map { "\($0): \(kind)" }.joined(separator: ", ")) }")
            if chance(6) { keys.append("if: \(note(.condition, "always()"))") }
        }
        if chance(8) { keys.append("continue-on-error: \(note(.tolerance, true))") }
        if chance(isGroup ? 8 : 4) {
            if !isGroup, chance(2) {
                keys.append("pool: { \(note(.pool, pick(["p: 1", "p: 2", "q: 1", "q: 2"]))) }")
            } else {
                keys.append("mutex: \(note(isGroup ? .holder : .mutex, pick(["m", "n"])))")
            }
        }
        if chance(isGroup ? 4 : 5) {
            features.insert(isGroup ? .groupRetry : .stepRetry)
            let deadline = chance(4) ? ", deadline: \(note(.retryDeadline, pick([50, 150, 300])))s" : ""
            keys.append("retry: { attempts: \(pick([2, 3])), delay: \(pick([0, 7, 60]))s\(deadline) }")
        }
        return keys
    }

    private mutating func copies(_ scope: Scope) -> (keys: [String], count: Int) {
        guard !scope.isInHook, steps + 3 * scope.copies <= size, chance(6) else { return ([], 1) }
        let count = pick([2, 3])
        var keys = ["for-each: [\((1...count).map { "c\($0)" }.joined(separator: ", "))]"]
        features.insert(.copies)
        if chance(2) { keys.append("max-parallel: \(note(.copiesAtOnce, pick([1, 2])))") }
        return (keys, count)
    }

    private mutating func step(_ scope: Scope, _ siblings: inout [String]) -> [String] {
        names += 1
        let name = "s\(names)"
        let (own, count) = copies(scope)
        steps += count * scope.copies
        var lines = own + keys(scope, siblings, isGroup: false)
        if chance(2) { lines.append("timeout: \(pick([20, 60, 300]))s") }
        if chance(3) { lines.append("grace: \(pick([0, 1, 20]))s") }
        lines.append("run: '\(hasVars && chance(2) ? pick(["echo $v", "echo $w"]) : "x")'")
        siblings.append(name)
        return ["\(scope.indent)\(name): { \(lines.joined(separator: ", ")) }"]
    }

    private mutating func group(_ scope: Scope, _ siblings: inout [String]) -> [String] {
        names += 1
        let name = "g\(names)"
        features.insert(.group)
        let (own, count) = copies(scope)
        var settings = own + keys(scope, siblings, isGroup: true)
        if chance(3) { settings.append("timeout: \(note(.groupLimit, pick([30, 90, 200, 500])))s") }
        if own.isEmpty, chance(4) { settings.append("max-parallel: \(note(.maxParallel, pick([1, 2])))") }
        if own.isEmpty, chance(6) { settings.append("fail-fast: \(note(.failFast, pick(["true", "drain"])))") }
        var inside = scope
        inside.indent += "    "
        inside.depth += 1
        inside.copies *= count
        inside.outer += siblings
        if chance(4) { settings.append("order: \(note(.sequence, "sequence"))") }
        var lines = ["\(scope.indent)\(name):"] + settings.map { "\(scope.indent)  \($0)" }
        lines.append("\(scope.indent)  steps:")
        lines += members(inside)
        lines += hooks(scope.indent + "  ", copies: inside.copies, oneIn: 4)
        siblings.append(name)
        return lines
    }

    private mutating func hooks(_ indent: String, copies: Int, oneIn: Int) -> [String] {
        var lines: [String] = []
        for (hook, feature) in [("on-failure", Feature.onFailure), ("finally", .finally)] {
            guard steps + copies <= size, chance(oneIn) else { continue }
            features.insert(feature)
            var siblings: [String] = []
            lines.append("\(indent)\(hook):")
            let scope = Scope(indent: indent + "  ", depth: 2, copies: copies, isInHook: true)
            lines += step(scope, &siblings)
            if chance(3), steps + copies <= size { lines += step(scope, &siblings) }
        }
        return lines
    }
}
