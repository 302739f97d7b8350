/// Names on the command line that match no step or group of the plan.
package struct UnknownTargets: Error, Sendable, CustomStringConvertible {
    package struct Name: Sendable {
        /// As the user wrote it.
        package let name: String
        /// The id that was probably meant; nil if none is similar.
        package let suggestion: String?
        /// True for the name of an instance that only the run knows; then the suggestion is its fan-out.
        package var isDynamic = false
        /// The fan-out whose instance is missing, and the ids of those that it has; nil for any other name.
        package var fanOut: (name: String, instances: [String])?
    }

    /// In the order of the command line, never empty.
    package let names: [Name]

    /// One line, in the form of a finding.
    package var description: String {
        names.map { unknown in
            if unknown.isDynamic, let fanOut = unknown.suggestion {
                return "`\(unknown.name)` cannot be chosen: only the run knows the instances of `\(fanOut)`; "
                    + "name `\(fanOut)`"
            }
            if let (fanOut, instances) = unknown.fanOut, unknown.suggestion == nil {
                let more = instances.count > 12 ? ", …" : ""
                let known =
                    instances.isEmpty ? "it has none" : "it has \(instances.prefix(12).joined(separator: ", "))\(more)"
                return "`\(fanOut)` has no instance `\(unknown.name)`: \(known)"
            }
            return "no step or group `\(unknown.name)`" + (unknown.suggestion.map { "; did you mean `\($0)`?" } ?? "")
        }
        .joined(separator: "; ")
    }
}
