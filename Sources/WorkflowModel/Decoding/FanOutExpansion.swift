internal import SourceDiagnostics

/// Makes the instances of a matrix: the product of its axes without what `exclude` names, and then `include` as in
/// GitHub Actions: an entry that agrees with combinations adds its further variables to them, one that agrees with
/// none becomes an instance of its own.
struct FanOutExpansion {
    struct Axis {
        let name: String
        let range: SourceRange
        let values: [Value]
    }

    struct Value {
        let text: String
        /// Whether YAML takes it for a text; `10` and `"10"` are not the same value.
        let isQuoted: Bool
        let range: SourceRange
    }

    var axes: [Axis] = []
    var include: [[Variable]] = []
    var exclude: [[Variable]] = []

    /// Combinations times rules that are compared.
    static let workLimit = 10_000_000

    /// The variables of each instance, those of the axes first.
    func expand() -> [[Variable]] {
        var combinations = product().filter { combination in
            !exclude.contains { $0.allSatisfy(combination.contains) }
        }
        let names = Set(axes.map(\.name))
        let originals = combinations.count
        for entry in include {
            let onAxes = entry.filter { names.contains($0.name) }
            let further = entry.filter { !names.contains($0.name) }
            var isNew = true
            for index in 0..<originals where onAxes.allSatisfy(combinations[index].contains) {
                isNew = false
                Self.merge(further, into: &combinations[index])
            }
            if isNew { combinations.append(inAxisOrder(entry)) }
        }
        return combinations
    }

    private func product() -> [[Variable]] {
        guard !axes.isEmpty else { return [] }
        return axes.reduce([[]]) { combinations, axis in
            combinations.flatMap { combination in
                axis.values.map { combination + [Variable(name: axis.name, value: $0.text)] }
            }
        }
    }

    /// Axes first, so that the key of an instance that `include` made is like the others'.
    private func inAxisOrder(_ entry: [Variable]) -> [Variable] {
        let onAxes = axes.compactMap { axis in entry.first { $0.name == axis.name } }
        return onAxes + entry.filter { variable in !axes.contains { $0.name == variable.name } }
    }

    private static func merge(_ further: [Variable], into combination: inout [Variable]) {
        for variable in further {
            if let index = combination.firstIndex(where: { $0.name == variable.name }) {
                combination[index] = variable
            } else {
                combination.append(variable)
            }
        }
    }
}
