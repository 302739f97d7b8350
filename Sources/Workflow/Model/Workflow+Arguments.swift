// Which steps do something with the words behind `--` on the command line.
extension Workflow {
    /// Whether a step takes arguments: its script reads them as a shell does, its list names `args`. O(length).
    package func takesArguments(_ step: NodeIndex) -> Bool {
        switch nodes[step.row].body {
        case .script(let script): Script.readsArguments(script.text(in: file))
        case .arguments(let words):
            words.contains { $0.expressions.contains { $0.references.contains { $0.root == "args" } } }
        case .group, .milestone: false
        }
    }
}

extension Script {
    /// Whether a text has `$@`, `$*`, `$#` or `$1` and so on, with braces or without, or the word `shift`; or `argv`,
    /// as scripts for other interpreters do. Comments and quotes count like everything else.
    static func readsArguments(_ script: String) -> Bool {
        let bytes = Array(script.utf8)
        for index in bytes.indices where bytes[index] == UInt8(ascii: "$") {
            var next = index + 1
            let isBraced = next < bytes.count && bytes[next] == UInt8(ascii: "{")
            if isBraced { next += 1 }
            guard next < bytes.count else { break }
            switch bytes[next] {
            case UInt8(ascii: "@"), UInt8(ascii: "*"), UInt8(ascii: "1")...UInt8(ascii: "9"): return true
            case UInt8(ascii: "#"):
                // `${#name}` is a length.
                let behind = next + 1 < bytes.count ? bytes[next + 1] : 0
                if !isBraced || "}@*".utf8.contains(behind) { return true }
            default: break
            }
        }
        return ["shift", "argv", "ARGV"].contains { script.hasWord($0) }
    }
}

extension Shell {
    /// What starts a script with arguments. Shells take the first word behind a script for `$0`, so that keeps the name
    /// that it has without arguments; other interpreters do not.
    package func command(for script: String, with arguments: [String] = []) -> [String] {
        guard !arguments.isEmpty, let program = self.arguments.first else { return self.arguments + [script] }
        let name = program.split(separator: "/").last.map(String.init) ?? program
        return self.arguments + [script] + (Self.namesItself.contains(name) ? [program] : []) + arguments
    }

    private static let namesItself: Set<String> = ["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "yash"]
}
