import Scheduling
import Syntax
import Workflow

/// Finds steps that run after a failure although nothing in them says so: a step they need runs `always()` or on a
/// `failure()`, and they ask only for its success.
struct PassedFailures {
    private let workflow: Workflow
    private let needs: ResolvedNeeds
    /// By row: true if it may run, and succeed, although something that it needs has failed.
    private var runsAfterFailure: [Bool]
    /// For rows whose condition reads the status of their needs: the value of the condition after a failure.
    private var truths: [Int: ConditionTruth] = [:]
    /// For rows with such a condition: the rows whose success they still require.
    private var required: [Int: [Int]] = [:]
    /// By row: false if its failure is tolerated, and for a group that fails only through its members, none of which
    /// may fail.
    private let mayFail: [Bool]
    /// By row: the previous member of its sequence.
    private var membersBefore: [Int: Int] = [:]
    /// The largest number of rows that are examined one by one for one question.
    private static let mostGuards = 256

    init(_ workflow: Workflow, _ needs: ResolvedNeeds) {
        self.workflow = workflow
        self.needs = needs
        mayFail = Self.rowsThatMayFail(workflow)
        runsAfterFailure = workflow.nodes.map { $0.settings?.condition?.holdsAfterFailure == true }
        for row in workflow.nodes.indices {
            guard let condition = workflow.nodes[row].settings?.condition, condition.usesStatus else { continue }
            truths[row] = condition.root.truth(of: .failure)
        }
        for row in workflow.nodes.indices where workflow.nodes[row].settings?.isSequence == true {
            var before: Int?
            for member in workflow.members(of: NodeIndex(row)) {
                if workflow.nodes[member.row].hook == nil { membersBefore[member.row] = before }
                before = member.row
            }
        }
        required = Dictionary(uniqueKeysWithValues: truths.keys.map { ($0, findRequired(by: $0)) })
    }

    private static func rowsThatMayFail(_ workflow: Workflow) -> [Bool] {
        var mayFail = workflow.nodes.map { node in
            guard let settings = node.settings else { return !node.isGroup || node.isUse }
            return !settings.continueOnError && (!node.isGroup || node.isUse || settings.mayFailGroup)
        }
        for row in workflow.nodes.indices.dropFirst().reversed() where mayFail[row] {
            let parent = workflow.nodes[row].parent.row
            if workflow.nodes[parent].settings?.continueOnError != true { mayFail[parent] = true }
        }
        return mayFail
    }

    /// True if some condition uses a status function; otherwise there is nothing to find.
    static func concern(_ workflow: Workflow) -> Bool {
        workflow.nodes.contains { $0.settings?.condition?.usesStatus == true }
    }

    /// O(rows + needs). Rows with too many guards to examine one by one cost this once more for every 64 rows that
    /// may fail.
    func add(to findings: inout FindingList) {
        var questions: [Question] = []
        var mayFail: [Int: MayFail] = [:]
        for row in workflow.nodes.indices.dropFirst() where !decidesByStatus(row) {
            let passing = needed(by: row).filter { runsAfterFailure[$0.row] }
            guard !passing.isEmpty else { continue }
            for need in passing {
                let needed = mayFail[need.row] ?? failures(before: need.row)
                mayFail[need.row] = needed
                guard !needed.rows.isEmpty else { continue }
                // A member of a sequence needs all previous members anyway.
                if needed.areOfItsSequence, isLaterMember(row, than: need.row) { continue }
                questions.append(Question(row: row, need: need))
            }
        }
        guard !questions.isEmpty else { return }
        var answers = questions.map { _ in Passed() }
        var open: [Int] = []
        // Questions about one row are adjacent.
        var known: (row: Int, guards: Set<Int>?)?
        for (index, question) in questions.enumerated() {
            if known?.row != question.row { known = (question.row, guards(of: question.row)) }
            guard let guards = known?.guards else {
                open.append(index)
                continue
            }
            if let mayFail = mayFail[question.need.row] { answers[index] = passed(mayFail, guards) }
        }
        if !open.isEmpty { answer(open, of: questions, mayFail, &answers) }
        for (question, passed) in zip(questions, answers) where passed.count > 0 {
            findings.add(.warning) { finding(about: question.row, question.need, passed) }
        }
    }

    private struct Question {
        let row: Int
        /// The row that runs after a failure.
        let need: Edge
    }

    /// The rows whose failure counts among the needs of a step that runs after failures.
    private struct MayFail {
        let rows: [Int]
        let all: Set<Int>
        /// True if all of them are previous members of the step's own sequence.
        let areOfItsSequence: Bool
    }

    private func failures(before row: Int) -> MayFail {
        let needed = needed(by: row).map(\.row)
        var rows = failing(needed)
        if let truth = truths[row], !truth.namesThatMakeItFalse.isEmpty {
            let direct = Set(needed)
            rows.removeAll { direct.contains($0) && truth.isFalse(ifFailed: workflow.nodes[$0].id) }
        }
        return MayFail(
            rows: rows, all: Set(rows), areOfItsSequence: rows.allSatisfy { isLaterMember(row, than: $0) })
    }

    /// True if both are members of one sequence and `row` is the later one in the file.
    private func isLaterMember(_ row: Int, than other: Int) -> Bool {
        membersBefore[row] != nil && other < row && workflow.nodes[other].parent == workflow.nodes[row].parent
    }

    /// Rows whose failure does not stop the step.
    private struct Passed {
        var count = 0
        /// The first few of them.
        var first: [Int] = []
        static let shown = 4

        mutating func add(_ row: Int) {
            count += 1
            if first.count < Self.shown { first.append(row) }
        }
    }

    /// Returns the rows whose failure keeps a row from running; nil if they are too many to examine one by one.
    private func guards(of row: Int) -> Set<Int>? {
        let enclosing = rows(around: row)
        guard enclosing.allSatisfy({ needs.range(of: $0).count <= Self.mostGuards }) else { return nil }
        var guards: Set<Int> = []
        var open = enclosing.flatMap(requiredWithMemory)
        while let next = open.popLast() {
            guard guards.insert(next).inserted else { continue }
            guard guards.count <= Self.mostGuards, size(of: next) <= Self.mostGuards else { return nil }
            open += before(next)
        }
        return guards
    }

    /// The largest number of rows that `before` may return.
    private func size(of row: Int) -> Int {
        Int(workflow.nodes[row].subtreeEnd) - row + (required[row]?.count ?? needs.range(of: row).count)
    }

    /// The row and its enclosing groups, without those whose condition reads a status.
    private func rows(around row: Int) -> [Int] {
        var rows: [Int] = []
        var next = row
        while next != 0 {
            if !decidesByStatus(next) { rows.append(next) }
            next = workflow.nodes[next].parent.row
        }
        return rows
    }

    /// O(guards), independent of the number of rows that may fail.
    private func passed(_ mayFail: MayFail, _ guards: Set<Int>) -> Passed {
        var passed = Passed()
        for row in mayFail.rows where !guards.contains(row) {
            passed.add(row)
            if passed.count == Passed.shown { break }
        }
        passed.count = mayFail.rows.count - guards.count { mayFail.all.contains($0) }
        return passed
    }

    /// Propagates the failures that stop a row along all needs, for 64 rows that may fail at a time.
    private func answer(
        _ open: [Int], of questions: [Question], _ mayFail: [Int: MayFail], _ answers: inout [Passed]
    ) {
        var targets: [Int] = []
        var places: [Int: Int] = [:]
        for index in open {
            for row in mayFail[questions[index].need.row]?.rows ?? [] where places[row] == nil {
                places[row] = targets.count
                targets.append(row)
            }
        }
        // By need: the rows that the answer depends on, as a mask for each word of 64 rows.
        var masks: [Int: [(word: Int, mask: UInt64)]] = [:]
        for need in Set(open.map { questions[$0].need.row }) {
            var words: [Int: UInt64] = [:]
            for row in mayFail[need]?.rows ?? [] {
                guard let place = places[row] else { continue }
                words[place / 64, default: 0] |= 1 << UInt64(place % 64)
            }
            masks[need] = words.map { ($0.key, $0.value) }.sorted { $0.word < $1.word }
        }
        var asked: [[Int]] = Array(repeating: [], count: (targets.count + 63) / 64)
        for index in open { for (word, _) in masks[questions[index].need.row] ?? [] { asked[word].append(index) } }
        var next = [Int](repeating: 0, count: questions.count)
        let order = stopOrder()
        var stops = [UInt64](repeating: 0, count: workflow.nodes.count)
        var bits = stops
        for (word, indices) in asked.enumerated() {
            let members = targets[word * 64..<min(targets.count, word * 64 + 64)]
            for (place, target) in members.enumerated() { bits[target] = 1 << UInt64(place) }
            for row in order { stops[row] = ownStops(of: row, stops, bits) }
            var (row, known): (Int, UInt64) = (0, 0)
            for index in indices {
                if row != questions[index].row {
                    row = questions[index].row
                    known = stopsAround(row, stops)
                }
                let mask = masks[questions[index].need.row]?[next[index]].mask ?? 0
                next[index] += 1
                var rest = mask & ~known
                while rest != 0 {
                    answers[index].add(targets[word * 64 + rest.trailingZeroBitCount])
                    rest &= rest - 1
                }
            }
            for target in members { bits[target] = 0 }
        }
    }

    /// The failures that keep a row from running: those of the rows that it and its enclosing groups require.
    private func stopsAround(_ row: Int, _ stops: [UInt64]) -> UInt64 {
        rows(around: row).reduce(0) { known, around in
            requiredWithMemory(by: around).reduce(known) { $0 | stops[$1] }
        }
    }

    /// The row itself, the rows it requires, and the members of a group: the failure of a member is the failure of
    /// the group, and so is anything that rules a member out. In a sequence each member needs all previous ones,
    /// whatever the conditions of those in between.
    private func ownStops(of row: Int, _ stops: [UInt64], _ bits: [UInt64]) -> UInt64 {
        var known = bits[row]
        for target in required(by: row) { known |= stops[target] }
        if let before = membersBefore[row] { known |= stops[before] }
        if workflow.nodes[row].isGroup {
            for member in workflow.members(of: NodeIndex(row)) { known |= stops[member.row] }
        }
        return known
    }

    /// An order in which members come before their group, and required rows before the rows that require them.
    private func stopOrder() -> [Int] {
        var starts: [UInt32] = [0, 0]
        var targets: [UInt32] = []
        for row in workflow.nodes.indices.dropFirst() {
            targets += before(row).map { UInt32($0) }
            starts.append(UInt32(targets.count))
        }
        return WaitForGraph(starts: starts, targets: targets).postorder(from: workflow.nodes.indices.dropFirst())
    }

    private func before(_ row: Int) -> [Int] {
        let members = workflow.nodes[row].isGroup ? workflow.members(of: NodeIndex(row)).map(\.row) : []
        return members + requiredWithMemory(by: row)
    }

    private struct Edge {
        let row: Int
        let range: SourceRange
        /// nil for the previous member of a sequence.
        let position: Int?
    }

    /// The needs of a row without an explicit kind, including the previous member of its sequence.
    private func needed(by row: Int) -> [Edge] {
        var edges: [Edge] = []
        var isBeforeNeeded = false
        let before = membersBefore[row]
        for index in needs.range(of: row) {
            let entry = needs.entries[index]
            let need = workflow.need(Int(entry.position), of: row)
            isBeforeNeeded = isBeforeNeeded || Int(entry.target) == before
            guard need.kind == .ok else { continue }
            edges.append(Edge(row: Int(entry.target), range: need.range, position: Int(entry.position)))
        }
        if let before, !isBeforeNeeded {
            edges.append(Edge(row: before, range: workflow.nodes[row].range, position: nil))
        }
        return edges
    }

    private func decidesByStatus(_ row: Int) -> Bool { workflow.nodes[row].settings?.condition?.usesStatus == true }

    /// The rows whose failure counts. A row that cannot fail is replaced by its needs and, unless its failure is
    /// tolerated, its members.
    private func failing(_ rows: [Int]) -> [Int] {
        guard rows.contains(where: { !mayFail[$0] }) else { return rows }
        var found: [Int] = []
        var seen = Set(rows)
        var open = Array(rows.reversed())
        while let row = open.popLast() {
            guard !mayFail[row] else {
                found.append(row)
                continue
            }
            let isTolerated = workflow.nodes[row].settings?.continueOnError == true
            let members = isTolerated ? [] : workflow.members(of: NodeIndex(row)).map(\.row)
            for next in (needed(by: row).map(\.row) + members).reversed() where seen.insert(next).inserted {
                open.append(next)
            }
        }
        return found
    }

    /// The rows that have to succeed, or to be skipped, before a row runs.
    private func required(by row: Int) -> [Int] { required[row] ?? findRequired(by: row) }

    private func findRequired(by row: Int) -> [Int] {
        let explicit = needs.range(of: row).map { needs.entries[$0] }.filter { entry in
            workflow.need(Int(entry.position), of: row).kind == .success
        }
        var needed = needed(by: row).map(\.row)
        if let truth = truths[row] { needed.removeAll { !truth.isFalse(ifFailed: workflow.nodes[$0].id) } }
        return needed + explicit.map { Int($0.target) }
    }

    /// The required rows and the previous member of the sequence, even if `needs` names a kind for that one.
    private func requiredWithMemory(by row: Int) -> [Int] {
        let required = required(by: row)
        guard let before = membersBefore[row], !required.contains(before) else { return required }
        return required + [before]
    }

    private func finding(about row: Int, _ need: Edge, _ passed: Passed) -> Diagnostic {
        let names = passed.first.map { workflow.nodes[$0].id }
        let (name, between) = (workflow.nodes[row].id, workflow.nodes[need.row].id)
        let condition = workflow.nodes[need.row].settings?.condition
        var notes = [Diagnostic.Note("`\(between)` runs after a failure, too", at: condition?.range ?? need.range)]
        if need.position == nil {
            notes.append(.init("in a sequence, `\(name)` needs those before it"))
        }
        let all = Phrase.all(names, of: passed.count)
        return Diagnostic(
            .passedFailure, "`\(name)` runs even if \(all) \(passed.count == 1 ? "fails" : "fail")", in: workflow.file,
            at: need.range, severity: .warning, notes: notes,
            fix: Diagnostic.Fix(
                "let `\(name)` need \(all), too; or write `if: always()` if it is to run in any case",
                edits: passed.count == names.count && need.position != nil
                    ? NeedEdits(workflow).adding(names, behind: need.range) : []))
    }
}

extension Settings {
    /// True for a group that may fail for other reasons than its members.
    fileprivate var mayFailGroup: Bool {
        keys.contains(.timeout) || !requirements.isEmpty || keys.contains(.confirm) || !outputs.isEmpty
            || fanOut?.items != nil
    }
}
