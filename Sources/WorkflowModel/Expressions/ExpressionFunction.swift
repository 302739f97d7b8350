/// A function of expressions, by its name in the file.
package enum ExpressionFunction: String, Sendable, CaseIterable {
    case contains, startsWith, endsWith, format, join, len, sum, unique, fromJSON, toJSON, hashFiles
    case success, failure, always, cancelled

    /// How many arguments it takes.
    package var arity: ClosedRange<Int> {
        switch self {
        case .contains, .startsWith, .endsWith, .join: 2...2
        case .format, .hashFiles: 1...100
        case .len, .sum, .unique, .fromJSON, .toJSON: 1...1
        case .success, .failure, .always, .cancelled: 0...0
        }
    }

    /// Which question about the run it asks; nil for a function of its arguments.
    package var status: StatusFunction? { StatusFunction(rawValue: rawValue) }
}

/// A question about what came before, for conditions.
package enum StatusFunction: String, Sendable, CaseIterable {
    /// Everything needed ended well, tolerated failures included.
    case success
    /// Something needed failed or timed out.
    case failure
    /// Always true: the step runs whatever happened.
    case always
    /// The run or a group around is being cancelled.
    case cancelled
}
