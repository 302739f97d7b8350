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

    func expand() -> [FanOut.Instance] {
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
        return Self.instances(combinations, axisCount: axes.count)
    }

    /// Gives each combination its key, which is a number where a value is not a plain word or `isHidden`.
    static func instances(
        _ combinations: [[Variable]], axisCount: Int, isHidden: (String) -> Bool = { _ in false }
    ) -> [FanOut.Instance] {
        let words = combinations.map { combination in
            key(of: combination, axisCount: axisCount).flatMap { isHidden($0) ? nil : $0 }
        }
        var keys = words.enumerated().map { index, word in word ?? String(index) }
        // An index may look like another instance's value: then all are counted.
        let hasIndex = words.contains(nil)
        if hasIndex, Set(keys).count < keys.count { keys = combinations.indices.map(String.init) }
        return zip(keys, combinations).map { FanOut.Instance(key: $0, variables: $1) }
    }

    /// The values in axis order, or nil where one of them is not a plain word.
    private static func key(of combination: [Variable], axisCount: Int) -> String? {
        let values = combination.prefix(axisCount > 0 ? axisCount : combination.count).map(\.value)
        guard values.allSatisfy(isPlainWord) else { return nil }
        return values.joined(separator: ",")
    }

    private static func isPlainWord(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "_.+-".utf8.contains(byte)
            }
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
