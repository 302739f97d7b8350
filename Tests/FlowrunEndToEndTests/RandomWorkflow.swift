import FlowrunTestSupport

/// A random workflow with nearly everything that a file can say, and what a run of it has to keep to. Its processes are
/// tiny, and none of its steps depends on how long another takes.
///
/// Locks may be asked for so that steps could wait for one another forever; `flowrun plan` refuses those.
struct RandomWorkflow {
    /// What an attempt of a step does by itself.
    enum Work: Hashable {
        case succeeds, sleeps
        case exits(Int)
        case dies
        /// Fails the first time it runs at all, in whichever attempt or round.
        case failsOnce
        /// Runs for longer than it may.
        case hangs
        /// Writes the list for a fan-out whose size only the run knows.
        case lists
    }

    /// The keys that instances of such a fan-out may have.
    static let dynamicKeys = ["a", "b", "c"]

    private(set) var text = ""
    private(set) var resources: ResourceRules
    /// How what is needed has to end, where the file says that.
    private(set) var kinds: [String: [String: DependencyTable.Wanted]] = [:]
    /// By full id, also of instances that only may come to be.
    private(set) var works: [String: Work] = [:]
    private(set) var attempts: [String: Int] = [:]

    private var random: SeededGenerator
    private var names = 0
    /// How many more steps there may be, instances counted.
    private var budget = 14

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        resources = ResourceRules(jobs: Int.random(in: 1...4, using: &random))
        resources.pools = ["p0": 2, "p1": 3]
        var lines = ["version: 1", "params: { on: { type: bool, default: true } }", "pools: { p0: 2, p1: 3 }"]
        lines.append("defaults: { grace: 500ms }")
        if chance(4) { lines.append("fail-fast: \(pick(["true", "drain"]))") }
        if chance(12) { lines.append("timeout: 150ms") }
        if chance(4) {
            resources.stepLimits[""] = Int.random(in: 1...3, using: &random)
            lines.append("max-parallel: \(resources.stepLimits[""] ?? 1)")
        }
        lines.append("steps:")
        lines += members(of: Scope(prefixes: [""]), atLeast: 2)
        lines += hooks(of: Scope(prefixes: [""], indent: ""), oneIn: 4)
        text = lines.joined(separator: "\n") + "\n"
    }

    private mutating func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &random)]
    }

    // MARK: - Members of a group

    /// Where members are declared: `prefixes` come before their ids, one for each instance of what is around them.
    private struct Scope {
        var prefixes: [String]
        var indent = "  "
        var depth = 0
        /// What may be needed from outside, with its full id as seen from each prefix.
        var outer: [Needable] = []
        var isSequence = false
        var isInHook = false
    }

    private struct Needable {
        let name: String
        var ids: [String]
    }

    /// Lines of YAML. In a sequence their order counts; elsewhere it has no meaning, so they are shuffled.
    private mutating func members(of scope: Scope, atLeast: Int = 1) -> [String] {
        var blocks: [[String]] = []
        var siblings: [Needable] = []
        for number in 0..<Int.random(in: atLeast...(scope.depth == 0 ? 7 : 4), using: &random) {
            guard budget >= scope.prefixes.count || number < atLeast else { break }
            let isGroup = scope.depth < 2 && !scope.isInHook && budget > 3 && chance(3)
            blocks.append(isGroup ? group(in: scope, after: &siblings) : step(in: scope, after: &siblings))
        }
        if !scope.isSequence { blocks.shuffle(using: &random) }
        return blocks.flatMap(\.self)
    }

    private mutating func name(_ letter: String) -> String {
        names += 1
        return "\(letter)\(names)"
    }

    private mutating func step(in scope: Scope, after siblings: inout [Needable]) -> [String] {
        let name = name("s")
        let copies = scope.isInHook ? nil : copies(of: name, in: scope, after: &siblings)
        let ids = copies?.ids ?? scope.prefixes.map { $0 + name }
        budget -= ids.count
        var lines = ["\(name):"] + (copies?.lines ?? [])
        lines += edges(of: name, in: scope, needing: copies?.producer, after: siblings)
        lines += work(of: ids, in: scope)
        if chance(6) { lines.append("continue-on-error: true") }
        lines += locks(of: ids, withPools: true)
        siblings.append(Needable(name: name, ids: scope.prefixes.map { $0 + name }))
        return lines.enumerated().map { scope.indent + ($0 == 0 ? "" : "  ") + $1 }
    }

    private mutating func group(in scope: Scope, after siblings: inout [Needable]) -> [String] {
        let name = name("g")
        let copies = copies(of: name, in: scope, after: &siblings)
        let ids = copies?.ids ?? scope.prefixes.map { $0 + name }
        var lines = ["\(name):"] + (copies?.lines ?? [])
        lines += edges(of: name, in: scope, needing: copies?.producer, after: siblings)
        if chance(5) { lines.append("continue-on-error: true") }
        if chance(7) { lines.append("timeout: 90ms") }
        if chance(5) { lines.append("retry: { attempts: 2, delay: \(pick(["0s", "10ms"])) }") }
        if copies == nil, chance(3) { lines.append("fail-fast: \(pick(["true", "false", "drain"]))") }
        if copies == nil, chance(4) {
            let limit = Int.random(in: 1...2, using: &random)
            for id in ids { resources.stepLimits[id] = limit }
            lines.append("max-parallel: \(limit)")
        }
        lines += locks(of: ids, withPools: false)
        var inside = Scope(prefixes: ids.map { $0 + "." }, indent: scope.indent + "    ", depth: scope.depth + 1)
        inside.isSequence = chance(3)
        if inside.isSequence { lines.append("order: sequence") }
        let copiesOfEach = ids.count / scope.prefixes.count
        inside.outer = (scope.outer + siblings).map { needable in
            Needable(name: needable.name, ids: needable.ids.flatMap { Array(repeating: $0, count: copiesOfEach) })
        }
        lines.append("steps:")
        var result = lines.enumerated().map { scope.indent + ($0 == 0 ? "" : "  ") + $1 }
        result += members(of: inside)
        inside.indent = scope.indent + "  "
        result += hooks(of: inside, oneIn: 5)
        siblings.append(Needable(name: name, ids: scope.prefixes.map { $0 + name }))
        return result
    }

    private mutating func hooks(of scope: Scope, oneIn: Int) -> [String] {
        var lines: [String] = []
        for hook in ["on-failure", "finally"] where chance(oneIn) {
            let prefixes = scope.prefixes.map { "\($0)\(hook)." }
            lines.append("\(scope.indent)\(hook):")
            lines += members(of: Scope(prefixes: prefixes, indent: scope.indent + "  ", depth: 2, isInHook: true))
        }
        return lines
    }

    // MARK: - Keys

    private struct Copies {
        var lines: [String]
        /// Full ids of the instances, those of the first prefix first.
        var ids: [String]
        /// The step that writes the list of the instances.
        var producer: String?
    }

    private mutating func copies(of name: String, in scope: Scope, after siblings: inout [Needable]) -> Copies? {
        guard budget >= 4 * scope.prefixes.count, chance(4) else { return nil }
        let keys: [String]
        var lines: [String]
        var producer: String?
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            keys = ["x", "z"]
            lines = ["for-each: [x, z]"]
        case 1:
            keys = ["l,1", "l,2", "m,1", "m,2"]
            lines = ["matrix: { os: [l, m], ver: [1, 2] }"]
        default:
            guard !scope.isSequence, let list = siblings.first(where: { works[$0.ids[0]] == .lists })?.name else {
                return nil
            }
            producer = list
            keys = Self.dynamicKeys
            lines = ["for-each: ${{ steps.\(list).outputs.list ?? fromJSON('[]') }}"]
        }
        let fanOuts = scope.prefixes.map { $0 + name }
        if chance(3) {
            let limit = Int.random(in: 1...2, using: &random)
            for id in fanOuts { resources.instanceLimits[id] = limit }
            lines.append("max-parallel: \(limit)")
        }
        if chance(4) { lines.append("fail-fast: \(pick(["true", "drain"]))") }
        return Copies(lines: lines, ids: fanOuts.flatMap { id in keys.map { "\(id)[\($0)]" } }, producer: producer)
    }

    /// `needs` and `if`.
    private mutating func edges(
        of name: String, in scope: Scope, needing producer: String?, after siblings: [Needable]
    ) -> [String] {
        var lines: [String] = []
        let condition =
            chance(4)
            ? pick(["params.on", "params.on", "!params.on", "success()", "failure()", "always()", "cancelled()"]) : nil
        if let condition { lines.append("if: \"\(condition)\"") }
        let usesStatus = condition?.hasSuffix("()") ?? false
        var wanted: [(Needable, DependencyTable.Wanted)] = []
        if scope.isSequence {
            if let last = siblings.last { wanted.append((last, .ok)) }
        } else {
            var candidates = siblings + (chance(5) ? scope.outer : [])
            candidates.shuffle(using: &random)
            var chosen = Array(candidates.prefix(Int.random(in: 0...2, using: &random)))
            if let producer {
                chosen.removeAll { $0.name == producer }
                chosen.insert(siblings.first { $0.name == producer }!, at: 0)
            }
            let isMap = !chosen.isEmpty && chance(2)
            wanted = chosen.map { ($0, isMap ? pick([.success, .failure, .done, .done]) : .ok) }
            let entries = wanted.map { isMap ? "\($0.name): \($1)" : $0.name }.joined(separator: ", ")
            if !entries.isEmpty { lines.append("needs: " + (isMap ? "{ \(entries) }" : "[\(entries)]")) }
        }
        for (index, prefix) in scope.prefixes.enumerated() {
            for (needable, kind) in wanted {
                kinds[prefix + name, default: [:]][needable.ids[index]] = usesStatus ? .done : kind
            }
        }
        return lines
    }

    /// `run` and what goes with it.
    private mutating func work(of ids: [String], in scope: Scope) -> [String] {
        let isAlone = ids.count == scope.prefixes.count
        let works: [Work] = [
            .succeeds, .succeeds, .succeeds, .sleeps, .sleeps, .exits(Int.random(in: 1...99, using: &random)), .dies,
            .failsOnce, .hangs,
        ]
        let work = isAlone && !scope.isInHook && chance(6) ? .lists : pick(works)
        for id in ids { self.works[id] = work }
        var lines: [String]
        switch work {
        case .succeeds: lines = [pick(["run: [\"true\"]", "run: \"true\""])]
        case .sleeps: lines = ["run: sleep 0.0\(Int.random(in: 1...3, using: &random))"]
        case .exits(let code): lines = ["run: exit \(code)"]
        case .dies: lines = ["run: kill -9 $$"]
        case .failsOnce: lines = ["run: mkdir \"ran-$FLOWRUN_STEP\" && exit 1; true"]
        case .hangs: lines = ["run: sleep 9999", "timeout: 50ms"]
        case .lists:
            let list = pick(["[]", "[\"a\"]", "[\"c\",\"a\"]", "[\"a\",\"b\",\"c\"]"])
            lines = ["run: echo 'list=\(list)' >> \"$FLOWRUN_OUTPUT\"", "outputs: { list: list }"]
        }
        if chance(4) {
            let count = Int.random(in: 2...3, using: &random)
            for id in ids { attempts[id] = count }
            lines.append("retry: { attempts: \(count), delay: \(pick(["0s", "10ms"])) }")
        }
        return lines
    }

    private mutating func locks(of ids: [String], withPools: Bool) -> [String] {
        var lines: [String] = []
        var requests: [String: Int] = [:]
        if chance(4) {
            let names = Array(["m0", "m1", "m2"].shuffled(using: &random).prefix(chance(3) ? 2 : 1))
            for name in names { requests[name] = 1 }
            lines.append("mutex: [\(names.joined(separator: ", "))]")
        }
        if withPools, chance(4) {
            let pool = pick(["p0", "p1"])
            let units = Int.random(in: 1...2, using: &random)
            requests[pool] = units
            lines.append("pool: { \(pool): \(units) }")
        }
        if !requests.isEmpty { for id in ids { resources.requests[id] = requests } }
        return lines
    }
}
