/// `$(if …)` over the value of one variable.
struct MakeChoice {
    let variable: String
    /// The value that the variable is compared with; nil if any value will do.
    let wanted: String?
    let value: String
    let otherwise: String

    /// Reads the choice in a reference such as `if $(DEBUG),-g,-O2` or `if $(filter linux,$(OS)),-ldl`; nil for
    /// anything else.
    init?(_ reference: String) {
        guard let (name, rest) = reference.cut(at: " "), name == "if" else { return nil }
        let arguments = MakePiece.arguments(of: rest)
        guard 2...3 ~= arguments.count else { return nil }
        value = arguments[1].trimmed
        otherwise = arguments.count == 3 ? arguments[2].trimmed : ""
        let pieces = MakePiece.pieces(of: arguments[0].trimmed)
        guard pieces.count == 1, case .reference(let condition)? = pieces.first else { return nil }
        if condition.allSatisfy(\.isVariableCharacter) {
            (variable, wanted) = (condition, nil)
            return
        }
        guard let (function, rest) = condition.cut(at: " "), function == "filter" else { return nil }
        let operands = MakePiece.arguments(of: rest).map(\.trimmed)
        guard operands.count == 2, !operands[0].isEmpty,
            operands[0].allSatisfy({ $0.isVariableCharacter || "-_./".contains($0) }),
            case let pieces = MakePiece.pieces(of: operands[1]), pieces.count == 1,
            case .reference(let name)? = pieces.first, name.allSatisfy(\.isVariableCharacter)
        else { return nil }
        (variable, wanted) = (name, operands[0])
    }

    /// The choice as a flowrun expression; `read` is the expression that reads the variable.
    func expression(reading read: String, _ value: String, _ otherwise: String) -> String {
        let condition = "\(read) \(wanted == nil ? "!=" : "==") \(ExpressionText.literal(wanted ?? ""))"
        return "${{ if(\(condition), \(ExpressionText.literal(value)), \(ExpressionText.literal(otherwise))) }}"
    }

    /// The choice as the inside of a shell's `${…}` if it is an expansion, or else of `$(…)`.
    func shell(_ variable: String, _ value: String, _ otherwise: String) -> (text: String, isExpansion: Bool) {
        if wanted == nil, otherwise.isEmpty { return ("\(variable):+\(value)", true) }
        let test = wanted.map { "[ \"$\(variable)\" = \($0) ]" } ?? "[ -n \"$\(variable)\" ]"
        let other = otherwise.isEmpty ? "" : " else echo \(otherwise);"
        return ("if \(test); then echo \(value);\(other) fi", false)
    }
}
