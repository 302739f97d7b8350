internal import Glibc
internal import Syntax

// Where `${{ … }}` is evaluated, and what is said where it is not.
extension WorkflowDecoder {
    /// The text of a scalar with its expressions. Every place that evaluates them reads its value with this.
    mutating func template(_ node: YAMLNode) -> Template {
        guard document.hasExpressions, Self.firstExpression(in: node.bytes, from: 0) != nil else {
            return .literal(node.text)
        }
        let row = node.contentRow
        // An alias says what its anchor says, and its errors are reported there.
        if let known = document.texts[row] { return known }
        let content = node.node(atRow: row)
        let (template, errors) = TemplateParser.parse(ExpressionText(content), range: content.range)
        for error in errors { report(error) }
        document.texts[row] = template
        return template
    }

    /// `if`: an expression, which may have braces around it; nil where it is wrong.
    mutating func condition(_ entry: MappingReader.Entry?) -> Expression? {
        guard let entry else { return nil }
        guard entry.value.kind == .scalar, !entry.value.isNull else {
            let test =
                entry.value.kind == .sequence && entry.value.elements.allSatisfy { $0.kind == .scalar }
                ? ShellTest("[ " + entry.value.elements.map(\.text).joined(separator: " ") + " ]") : nil
            reportType(
                entry, expected: "a condition, such as `params.channel == 'stable'`",
                fix: test.map { conditionFix($0, in: entry.value) })
            return nil
        }
        if let test = ShellTest(entry.value.text) {
            report(
                .expressionSyntax, "`if` is an expression, and this is a command", at: entry.value,
                fix: conditionFix(test, in: entry.value))
            return nil
        }
        return expression(entry.value, needsBraces: false)
    }

    /// What to write in place of a command where a condition is wanted.
    private func conditionFix(_ test: ShellTest, in node: YAMLNode) -> Diagnostic.Fix {
        guard let file = test.file else {
            return .init("let a step run the command and hand on what it found, and read that: `steps.ID.outputs.NAME`")
        }
        let condition = "hashFiles('\(file)') \(test.isNegated ? "==" : "!=") ''"
        return .init(
            "write `\(condition)`: whether there is such a file", edits: [edit(node, to: Self.quoted(condition))])
    }

    /// A value that is one expression and nothing else; nil where it is wrong.
    mutating func expression(_ node: YAMLNode, needsBraces: Bool = true) -> Expression? {
        let content = node.node(atRow: node.contentRow)
        if document.hasExpressions { document.wholeRows.insert(node.contentRow) }
        let text = ExpressionText(content)
        do throws(ExpressionError) {
            return try ExpressionParser.parse(text, in: try Self.inside(text, needsBraces: needsBraces))
        } catch {
            report(error)
            return nil
        }
    }

    /// The part of a value between its braces; all of it where it has none.
    private static func inside(_ text: ExpressionText, needsBraces: Bool) throws(ExpressionError) -> Range<Int> {
        let all = 0..<text.bytes.count
        guard let first = text.bytes.withUnsafeBufferPointer({ firstExpression(in: $0, from: 0) }) else {
            guard needsBraces else { return all }
            throw ExpressionError(
                "expected an expression, found \(Phrase.quoted(text.string(all)))", at: text.range(all),
                fix: .init("write it in braces: `${{ … }}`"))
        }
        let isBlank = { (part: Range<Int>) in text.bytes[part].allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A } }
        guard let close = ExpressionBraces.close(of: text.bytes, from: first + 3) else {
            throw ExpressionError(
                "this `${{` is not closed", at: text.range(first..<first + 3), fix: .init("close it with `}}`"))
        }
        guard isBlank(0..<first), isBlank(close + 2..<all.upperBound) else {
            throw ExpressionError(
                "`${{ }}` goes around the whole expression, or is left out", at: text.range(first..<close + 2),
                fix: needsBraces
                    ? .init("write one `${{ … }}` and nothing beside it")
                    : text.replacing(
                        first..<close + 2,
                        by: text.string(first + 3..<close).trimmingBlanks, "write it without `${{` and `}}`"))
        }
        return first + 3..<close
    }

    private mutating func report(_ error: ExpressionError) {
        report(error.code, error.message, at: error.range, notes: error.notes, fix: error.fix)
    }

    static func mentionsExpression(_ file: SourceFile) -> Bool {
        file.bytes.withUnsafeBufferPointer { firstExpression(in: $0, from: 0) != nil }
    }

    /// Reports every expression in a script, or where nothing evaluates it, each at its place.
    mutating func reportExpressions(below root: YAMLNode, rowCount: Int) {
        guard document.hasExpressions else { return }
        let refused = document.refusedRows.sorted { $0.lowerBound < $1.lowerBound }
        var next = 0
        var row = 0
        while row < rowCount {
            while next < refused.count, refused[next].upperBound <= row { next += 1 }
            if next < refused.count, refused[next].contains(row) {
                row = refused[next].upperBound
                continue
            }
            let node = root.node(atRow: row)
            row += 1
            if node.kind == .scalar, !node.isAlias { reportExpressions(in: node) }
        }
    }

    private mutating func reportExpressions(in node: YAMLNode) {
        let isScript = document.scriptRows.contains(node.contentRow)
        guard isScript || document.texts[node.contentRow] == nil && !document.wholeRows.contains(node.contentRow) else {
            return
        }
        guard Self.firstExpression(in: node.bytes, from: 0) != nil else { return }
        let text = ExpressionText(node)
        var quoting = ScriptQuoting(text.bytes)
        for part in Self.expressions(in: text.bytes) {
            if isScript {
                report(
                    .expressionInScript, "`${{` in a script: flowrun never puts a value into code",
                    at: text.range(part), fix: scriptFix(part, in: text, &quoting))
            } else {
                report(
                    .expressionNotAllowed, "`${{ }}` is not evaluated here", at: text.range(part),
                    notes: [.init("expressions are accepted in \(Self.expressionPlaces)")],
                    fix: .init("write the value"))
            }
        }
    }

    /// What a script reads in place of an expression: a variable that is there already, or one of its own.
    private func scriptFix(
        _ part: Range<Int>, in text: ExpressionText, _ quoting: inout ScriptQuoting
    ) -> Diagnostic.Fix {
        let inside = part.lowerBound + 3..<max(part.lowerBound + 3, part.upperBound - 2)
        let words = text.string(inside).trimmingBlanks.split(separator: ".", omittingEmptySubsequences: false)
        guard let name = words.last.map(String.init), VariableName.isValid(name) else { return Self.environmentFix }
        let variable = quoting.variable(name, at: part)
        let root = words.count == 2 ? words[0] : words.count == 1 ? "" : nil
        if quoting.isLiteral, isVariable(name, of: root) { return Self.literalFix(name) }
        switch root {
        case "params"?, "inputs"?:
            guard document.parameterNames.contains(name) else { return Self.environmentFix }
            let edits = variable.map { text.replacing(part, by: $0).edits } ?? []
            return .init("write `\(variable ?? "$" + name)`: a parameter is a variable of the script", edits: edits)
        case "matrix"?, "env"?: return .init("write `$\(name)`, which is a variable of the script")
        case "secrets"?: return .init("list it under the step's `secrets`, and read it as \"$\(name)\"")
        case ""? where name == "args": return .init("write `\"$@\"`")
        case ""?: return .init("write `$\(name)` if it is the variable of a fan-out, or set one with `env`")
        default: return Self.environmentFix
        }
    }

    /// True if the last part of an expression is the name of a variable of the script.
    private func isVariable(_ name: String, of root: Substring?) -> Bool {
        switch root {
        case "params"?, "inputs"?: document.parameterNames.contains(name)
        case "matrix"?, "env"?: true
        case ""?: name != "args"
        default: false
        }
    }

    /// For a place in single quotes.
    private static func literalFix(_ name: String) -> Diagnostic.Fix {
        .init(
            "write `\"$\(name)\"` outside of the single quotes, in which a shell replaces nothing; if they hold a program, "
                + "let that read `\(name)` from its environment")
    }

    private static let environmentFix = Diagnostic.Fix(
        "set an environment variable with `env` and read it as \"$NAME\", or write `run: [list]`")

    private static let expressionPlaces =
        "values of `env`, `vars` and `with`, words of a `run` list, `working-directory`, `stdin`, `if`, `require`, "
        + "`label`, `for-each` as a whole, and `outputs` of a group or of the workflow"

    private static func expressions(in bytes: [UInt8]) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var offset = 0
        while let start = bytes.withUnsafeBufferPointer({ firstExpression(in: $0, from: offset) }) {
            let close = ExpressionBraces.close(of: bytes, from: start + 3)
            offset = close.map { $0 + 2 } ?? start + 3
            parts.append(start..<offset)
            if close == nil { break }
        }
        return parts
    }

    private static func firstExpression(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var offset = start
        while offset + 2 < bytes.count, let found = memchr(base + offset, 0x24, bytes.count - offset - 2) {
            offset = UnsafeRawPointer(found) - UnsafeRawPointer(base)
            if bytes[offset + 1] == UInt8(ascii: "{"), bytes[offset + 2] == UInt8(ascii: "{") { return offset }
            offset += 1
        }
        return nil
    }
}

extension String {
    var trimmingBlanks: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
