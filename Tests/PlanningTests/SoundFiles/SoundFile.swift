import FlowrunTestSupport

/// The text of a workflow in which every step reads only results that are certain when it starts: outputs of its needs,
/// direct or not, with a default if a step may be skipped or fail.
struct SoundFile {
    private enum Kind: CaseIterable {
        case plain, conditional, tolerant, always, copies, group, sequence
    }

    private struct Unit {
        let kind: Kind
        /// Earlier units whose good end it waits for.
        let needs: [Int]
    }

    /// How far back the needs of a unit are.
    private enum Shape: CaseIterable {
        case chain, neighbours, layers, anywhere, hub
    }

    private(set) var text = """
        version: 1
        params: { flag: { type: bool, default: true } }
        steps:

        """
    private var units: [Unit] = []
    private(set) var reads = 0
    private(set) var steps = 0
    private let shape: Shape
    private let width: Int

    init(steps limit: Int, random: inout SeededGenerator) {
        shape = Shape.allCases.randomElement(using: &random)!
        width = Int.random(in: 1...max(1, min(200, limit / 3)), using: &random)
        text.reserveCapacity(limit * 120)
        while steps < limit { addUnit(&random) }
        guard Bool.random(using: &random) else { return }
        text += "finally:\n  report: { run: [echo, \"${{ steps.u0.outcome }}\", \"${{ run.outcome }}\"] }\n"
        reads += 1
    }

    private mutating func addUnit(_ random: inout SeededGenerator) {
        let needs = self.needs(&random)
        let roll = Int.random(in: 0..<100, using: &random)
        let kind: Kind =
            switch roll {
            case ..<60: .plain
            case ..<70: .conditional
            case ..<78: .tolerant
            case ..<82: .always
            case ..<88: .copies
            case ..<94: .group
            default: .sequence
            }
        let id = units.count
        units.append(Unit(kind: kind, needs: needs))
        text += "  u\(id):\n"
        if !needs.isEmpty { text += "    needs: [\(needs.map { "u\($0)" }.joined(separator: ", "))]\n" }
        switch kind {
        case .plain: addCommand(of: id, "", &random)
        case .conditional: addCommand(of: id, "    if: params.flag\n", &random)
        case .tolerant: addCommand(of: id, "    continue-on-error: true\n", &random)
        case .always: addCommand(of: id, "    if: always()\n", &random)
        case .copies: addCommand(of: id, "    for-each: [a, b]\n", &random)
        case .group, .sequence: addMembers(of: id, isSequence: kind == .sequence, &random)
        }
    }

    private mutating func addCommand(of unit: Int, _ key: String, _ random: inout SeededGenerator) {
        text += key + "    outputs: { v: string }\n    run: [echo\(words(of: unit, &random))]\n"
        steps += 1
    }

    private mutating func addMembers(of unit: Int, isSequence: Bool, _ random: inout SeededGenerator) {
        if isSequence { text += "    order: sequence\n" }
        let count = Int.random(in: 1...8, using: &random)
        text += "    outputs: { v: \"${{ steps.m\(Int.random(in: 0..<count, using: &random)).outputs.v }}\" }\n"
        text += "    steps:\n"
        for member in 0..<count {
            var words = words(of: unit, &random)
            var needs = ""
            if member > 0 {
                if !isSequence { needs = "needs: [m\(member - 1)], " }
                // All earlier ones have succeeded, whether it needs them itself or not.
                let earlier = Int.random(in: 0..<member, using: &random)
                let isPrevious = isSequence && Bool.random(using: &random)
                words += ", \"${{ \(isPrevious ? "previous" : "steps.m\(earlier)").outputs.v }}\""
                reads += 1
            }
            text += "      m\(member): { \(needs)outputs: { v: string }, run: [echo\(words)] }\n"
            steps += 1
        }
    }

    private func needs(_ random: inout SeededGenerator) -> [Int] {
        let count = units.count
        guard count > 0 else { return [] }
        let wanted: [Int]
        switch shape {
        case .chain: wanted = [count - 1]
        case .neighbours:
            wanted = (0..<2).map { _ in count - Int.random(in: 1...min(count, width), using: &random) }
        case .layers:
            let layer = count / width
            guard layer > 0 else { return [] }
            wanted = (0..<min(3, width)).map { _ in (layer - 1) * width + Int.random(in: 0..<width, using: &random) }
        case .anywhere:
            wanted = (0..<Int.random(in: 0...3, using: &random)).map { _ in Int.random(in: 0..<count, using: &random) }
        case .hub: wanted = [count - Int.random(in: 1...min(count, 3), using: &random), 0]
        }
        // No unit needs one that runs after a failure: it would run after the failure, too.
        return Set(wanted).filter { units[$0].kind != .always }.sorted()
    }

    /// The command of a unit: words that read the results of earlier units.
    private mutating func words(of unit: Int, _ random: inout SeededGenerator) -> String {
        var words = ""
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            guard let read = ancestor(of: unit, &random) else { continue }
            reads += 1
            // After a failure only the end is certain.
            let value = units[unit].kind == .always ? "steps.u\(read).outcome" : value(of: read)
            words += ", \"${{ \(value) }}\""
        }
        return words
    }

    /// An earlier unit, any number of needs away.
    private func ancestor(of unit: Int, _ random: inout SeededGenerator) -> Int? {
        guard var found = units[unit].needs.randomElement(using: &random) else { return nil }
        var hops = Int.random(in: 0...[0, 1, 3, 300].randomElement(using: &random)!, using: &random)
        while hops > 0, let next = units[found].needs.randomElement(using: &random) {
            found = next
            hops -= 1
        }
        return found
    }

    private func value(of unit: Int) -> String {
        switch units[unit].kind {
        case .plain, .group, .sequence: "steps.u\(unit).outputs.v"
        case .conditional, .tolerant, .always: "steps.u\(unit).outputs.v ?? 'none'"
        case .copies: "join(steps.u\(unit).outputs.v, ' ')"
        }
    }
}
