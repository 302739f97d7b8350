internal import Syntax

/// Makes the instances of a matrix: the product of its axes without those that `exclude` names, and then `include` as
/// in GitHub Actions. An entry that agrees with combinations adds its further variables to them; one that agrees with
/// none becomes an instance of its own.
struct FanOutExpansion {
    struct Axis {
        let name: String
        let range: SourceRange
        let values: [Value]
    }

    struct Value {
        let text: String
        /// True if YAML reads it as a text; `10` and `"10"` are different values.
        let isQuoted: Bool
        let range: SourceRange
    }

    var axes: [Axis] = []
    var include: [[Variable]] = []
    var exclude: [[Variable]] = []

    /// The limit on combinations times rules, and on combinations times axes.
    static let workLimit = 10_000_000

    /// The variables of each instance, those of the axes first.
    func expand() -> [[Variable]] {
        let positions = Dictionary(axes.enumerated().map { ($1.name, $0) }) { first, _ in first }
        let excluded = exclude.map { Rule($0, positions) }
        var combinations = product().filter { combination in !excluded.contains { $0.agrees(with: combination) } }
        let originals = combinations.count
        // The positions of the variables that entries have added to each combination.
        var added = [[String: Int]](repeating: [:], count: originals)
        for entry in include {
            let rule = Rule(entry, positions)
            var isNew = true
            for index in 0..<originals where rule.agrees(with: combinations[index]) {
                isNew = false
                for variable in rule.further {
                    if let known = added[index][variable.name] {
                        combinations[index][known] = variable
                    } else {
                        added[index][variable.name] = combinations[index].count
                        combinations[index].append(variable)
                    }
                }
            }
            // Axes first, so that the key of an instance from `include` has the same form as the others.
            if isNew { combinations.append(rule.onAxes.map(\.variable) + rule.further) }
        }
        return combinations
    }

    /// An entry of `include` or `exclude`.
    private struct Rule {
        /// In the order of the axes.
        let onAxes: [(position: Int, variable: Variable)]
        let further: [Variable]

        init(_ entry: [Variable], _ positions: [String: Int]) {
            onAxes = entry.compactMap { variable in positions[variable.name].map { ($0, variable) } }
                .sorted { $0.position < $1.position }
            further = entry.filter { positions[$0.name] == nil }
        }

        /// True if a combination, which has the variables of the axes first, has these values.
        func agrees(with combination: [Variable]) -> Bool {
            onAxes.allSatisfy { combination[$0.position] == $0.variable }
        }
    }

    /// The last axis changes fastest.
    private func product() -> [[Variable]] {
        guard !axes.isEmpty else { return [] }
        let values = axes.map { axis in axis.values.map { Variable(name: axis.name, value: $0.text) } }
        var positions = [Int](repeating: 0, count: axes.count)
        var combinations: [[Variable]] = []
        while true {
            combinations.append(zip(values, positions).map { $0[$1] })
            var axis = axes.count - 1
            while axis >= 0 {
                positions[axis] += 1
                guard positions[axis] == values[axis].count else { break }
                positions[axis] = 0
                axis -= 1
            }
            if axis < 0 { return combinations }
        }
    }
}
