internal import Syntax

/// The machine of a job.
enum GitHubRunner {
    /// One like this.
    case here
    /// One of these platforms, and no other.
    case other([String])
    /// One like this only for the copies of which the condition is true.
    case some(String)
    case unknown(String)

    /// `values` are those of the variables of the job's copies.
    init(_ node: YAMLNode?, _ values: [String: [String]]) {
        guard let node else {
            self = .unknown("it has no `runs-on`")
            return
        }
        var labels = node.kind == .sequence ? node.elements.map(\.text) : [node.text]
        if node.kind == .mapping {
            var fields = YAMLFields(node)
            labels = fields.takeTexts("labels") ?? fields.takeTexts("group") ?? []
        }
        let text = labels.joined(separator: " ")
        let pieces = GitHubExpression.pieces(of: text)
        if pieces.count == 1, case .expression(let expression)? = pieces.first {
            guard expression.hasPrefix("matrix."),
                case let name = GitHubExpression.variableName(String(expression.dropFirst(7))),
                let known = values[name], !known.isEmpty, known.allSatisfy({ Self.platform($0) != nil })
            else {
                self = .unknown("only GitHub knows the machine `\(text)`")
                return
            }
            let here = known.filter { Self.platform($0) == "linux" && !$0.contains("-arm") }.unique
            if here.count == known.unique.count {
                self = .here
            } else {
                let tests = here.map { "\(name) == '\($0)'" }
                self = .some(
                    tests.isEmpty ? "false" : tests.count == 1 ? tests[0] : "(\(tests.joined(separator: " || ")))")
            }
            return
        }
        guard !text.contains("${{"), let platform = Self.platform(text) else {
            self = .unknown("nothing is known about the machine `\(text)`")
            return
        }
        if text.lowercased().contains("-arm") {
            self = .other([platform, "arm64"])
        } else {
            self = platform == "linux" ? .here : .other([platform])
        }
    }

    private static func platform(_ label: String) -> String? {
        let label = label.lowercased()
        if label.contains("windows") { return "windows" }
        if label.contains("macos") { return "macos" }
        return label.contains("ubuntu") || label.contains("linux") ? "linux" : nil
    }
}
