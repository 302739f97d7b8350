internal import Glibc
internal import Syntax

// Places where `${{ … }}` is evaluated, and findings for all others.
extension WorkflowDecoder {
    /// Reads the text of a scalar with its expressions. Every place that evaluates expressions reads its value with
    /// this.
    mutating func template(_ node: YAMLNode) -> Template {
        guard document.hasExpressions, Self.firstExpression(in: node.bytes, from: 0) != nil else {
            return .literal(node.text)
        }
        let row = node.contentRow
        // An alias has the text of its anchor, and errors are reported there.
        if let known = document.texts[row] { return known }
        let content = node.node(atRow: row)
        let (template, errors) = TemplateParser.parse(ExpressionText(content), range: content.range)
        for error in errors { report(error) }
        document.texts[row] = template
        return template
    }

    /// `if`: an expression, with or without braces; nil if it is invalid.
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

    /// Suggests a condition in place of a shell command.
    private func conditionFix(_ test: ShellTest, in node: YAMLNode) -> Diagnostic.Fix {
        guard let file = test.file else {
            return .init("let a step run the command and hand on what it found, and read that: `steps.ID.outputs.NAME`")
        }
        let condition = "\(test.isNegated ? "!" : "")exists('\(file)')"
        return .init(
            "write `\(condition)`: whether there is such a file", edits: [edit(node, to: Self.quoted(condition))])
    }

    /// Reads a value that is one expression and nothing else; nil if it is invalid.
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

    /// The part of a value between its braces; all of it if there are none.
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

    /// Reports every expression in a script or in a value that is not evaluated, each at its place.
    mutating func reportExpressions(below root: YAMLNode, rowCount: Int) {
        guard document.hasExpressions else { return }
        let unread = document.unreadRows.isEmpty ? [] : unreadRows(below: root, rowCount)
        let refused = (document.refusedRows + unread).sorted { $0.lowerBound < $1.lowerBound }
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

    /// Suggests the variable that a script reads in place of an expression: an existing one, or one of its own.
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
            guard isVariable(name, of: root) else { return Self.environmentFix }
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
        case "params"?, "inputs"?:
            document.parameterNames.contains(name) || document.stepParameterNames.contains(name)
        case "matrix"?, "env"?: true
        case ""?: name != "args"
        default: false
        }
    }

    /// For a place in single quotes.
    private static func literalFix(_ name: String) -> Diagnostic.Fix {
        .init(
            """
            write `\"$\(name)\"` outside of the single quotes, in which a shell replaces nothing; if they hold a \
            program, let that read `\(name)` from its environment
            """)
    }

    private static let environmentFix = Diagnostic.Fix(
        "set an environment variable with `env` and read it as \"$NAME\", or write `run: [list]`")

    private static let expressionPlaces =
        "values of `env`, `vars` and `with`, words of a `run` list, `working-directory`, `stdin`, `if`, `require`, "
        + "`label`, `for-each` as a whole, `outputs` of a group or of the workflow, and, as far as `params` and `vars` "
        + "without a command decide, \(WorkflowKey.computed.map { "`\($0.spelling)`" }.joined(separator: ", ")), "
        + "axes of `matrix` and defaults of `params`"

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

// Valid, but probably a mistake: it would run, and do something other than it seems to say.

// `run: [cargo build, cargo test]`: commands where words are wanted.
extension WorkflowDecoder {
    mutating func reportJoinedWords(_ list: YAMLNode) {
        guard let first = list.elements.first(where: { _ in true }), first.kind == .scalar,
            first.bytes.contains(where: { $0 <= UInt8(ascii: " ") || $0 >= 0x80 })
        else { return }
        // A path may have blanks, and so may the value of an expression.
        guard !first.text.contains("\n"), !first.text.contains("${{") else { return }
        let parts = Self.blankSeparated(first.text)
        guard parts.count > 1, !parts[0].contains("/") else { return }
        let words = list.elements.map { $0 }
        let isPlain = isFlow(list) && words.allSatisfy { $0.isPlain && !$0.isAlias }
        let areCommands = words.count > 1 && words.allSatisfy { Self.blankSeparated($0.text).count > 1 }
        let fix: Diagnostic.Fix
        if areCommands {
            let script = words.map(\.text).joined(separator: " && ")
            fix = .init(
                "write the commands as a script: `run: \(script)`", edits: isPlain ? [edit(list, to: script)] : [])
        } else {
            let split = parts.joined(separator: ", ")
            let isSafe = isPlain && parts.allSatisfy(Self.mayBePlain)
            fix = .init("write each word by itself: `\(split)`", edits: isSafe ? [edit(first, to: split)] : [])
        }
        report(
            .lookAlike, "\(Phrase.quoted(first.text)) is one word of a list: a program with a blank in its name",
            at: first, severity: .warning, fix: fix)
    }

    private static func blankSeparated(_ text: String) -> [String] {
        text.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// True if a word without blanks, commas and brackets needs no quotes.
    private static func mayBePlain(_ word: String) -> Bool {
        guard let first = word.utf8.first else { return false }
        return !"&*!%@`?|>'\"#:~".utf8.contains(first) && word.utf8.last != UInt8(ascii: ":")
    }
}

// `env: { PATH: "bin:$PATH" }`: no shell reads the values of `env`.
extension WorkflowDecoder {
    /// Names that most likely mean the environment variable.
    private static let wellKnown: Set<String> = [
        "PATH", "HOME", "PWD", "USER", "TMPDIR", "SHELL", "HOSTNAME", "LD_LIBRARY_PATH", "PYTHONPATH", "GOPATH",
        "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
    ]

    mutating func reportUnexpanded(_ value: YAMLNode, of variable: String) {
        let bytes = value.bytes
        // Commands are meant for the shell of the program that reads them.
        guard !["COMMAND", "CMD", "PAGER", "EDITOR", "PS4"].contains(where: variable.hasSuffix) else { return }
        guard !value.isAlias, bytes.contains(UInt8(ascii: "$")) || bytes.contains(UInt8(ascii: "~")) else { return }
        let text = ExpressionText(value)
        var found: [(part: Range<Int>, meant: String?)] = []
        for (part, name) in ShellReferences(text.bytes) {
            if document.parameterNames.contains(name) {
                found.append((part, "params.\(name)"))
            } else if name == "PWD" {
                found.append((part, nil))
            } else if name == variable || Self.wellKnown.contains(name)
                || Self.isVariable(name, ofWord: text.bytes)
            {
                found.append((part, "env.\(name) ?? ''"))
            }
        }
        found += Self.homes(in: text.bytes).map { ($0, "env.HOME ?? ''") }
        found.sort { $0.part.lowerBound < $1.part.lowerBound }
        guard let first = found.first else { return }
        report(
            .lookAlike, "`\(text.string(first.part))` is not expanded in `env`, whose values are taken as they are",
            at: text.range(first.part), severity: .warning, fix: expanding(found, in: text, of: value, variable))
    }

    /// True if the name is written as those of the environment are, and the value is a single word: anything else may
    /// be a command or a pattern.
    private static func isVariable(_ name: String, ofWord value: [UInt8]) -> Bool {
        let isUpper = name.utf8.count > 1 && !name.utf8.contains { (0x61...0x7A).contains($0) }
        return isUpper && value.allSatisfy { !" \t\n\"';|&()<>*?^".utf8.contains($0) }
    }

    private func expanding(
        _ parts: [(part: Range<Int>, meant: String?)], in text: ExpressionText, of value: YAMLNode, _ variable: String
    ) -> Diagnostic.Fix {
        guard parts.allSatisfy({ $0.meant != nil }) else {
            return .init("set it in the script: `export \(variable)=\(Self.quoted(text.string(0..<text.bytes.count)))`")
        }
        var meant = ""
        var end = 0
        for (part, expression) in parts {
            meant += text.string(end..<part.lowerBound) + "${{ \(expression ?? "") }}"
            end = part.upperBound
        }
        meant += text.string(end..<text.bytes.count)
        let isOneLine = !text.bytes.contains(UInt8(ascii: "\n"))
        return .init("write `\(meant)`", edits: isOneLine ? [edit(value, to: Self.quoted(meant))] : [])
    }

    /// `~` at the start of a path, or of one in a list of paths.
    private static func homes(in bytes: [UInt8]) -> [Range<Int>] {
        bytes.indices.filter { index in
            bytes[index] == UInt8(ascii: "~") && (index == 0 || bytes[index - 1] == UInt8(ascii: ":"))
                && index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "/")
        }.map { $0..<$0 + 1 }
    }
}

// `echo a=b >> "$FLOWRUN_OUTPUT"` in a step without `outputs`, which has no such file.
extension WorkflowDecoder {
    private static let outputFile = "FLOWRUN_OUTPUT"

    static func mentionsOutputFile(_ file: SourceFile) -> Bool { file.mentions("FLOWRUN_OUTPUT") }

    mutating func reportUndeclaredOutput(
        _ run: MappingReader.Entry, in reader: borrowing MappingReader, of step: NodeIndex
    ) {
        let outputs = nodes[step.row].settings?.outputs ?? []
        let hasFile = outputs.contains { if case .standardOutput = $0.source { false } else { true } }
        guard !hasFile, outputs.isEmpty != reader.has(.outputs) else { return }
        let texts = run.value.kind == .scalar ? [run.value] : run.value.elements.filter { $0.kind == .scalar }
        for node in texts where !node.isAlias {
            let text = ExpressionText(node)
            let uses = ShellReferences(text.bytes).filter { $0.name == Self.outputFile }
            guard let use = uses.first?.part else { continue }
            let name = Self.assignedName(in: text.bytes, before: use.lowerBound)
            let outputs = "outputs: { \(name ?? "NAME"): string }"
            let isSure = name != nil && uses.count == 1 && !reader.has(.outputs)
            return report(
                .lookAlike, "the step declares no `outputs`, so `$\(Self.outputFile)` is not set",
                at: text.range(use), severity: .warning,
                fix: .init(
                    "declare what the step writes, such as `\(outputs)`",
                    edits: isSure ? [insertion(of: outputs, before: run.key, in: reader.node)] : []))
        }
    }

    /// The name in `echo "name=value" >> "$FLOWRUN_OUTPUT"`.
    private static func assignedName(in bytes: [UInt8], before end: Int) -> String? {
        let start = bytes[..<end].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        for equals in start..<end where bytes[equals] == UInt8(ascii: "=") {
            var first = equals
            while first > start, VariableName.isLetter(bytes[first - 1]) { first -= 1 }
            guard first > start, first < equals, " \t\"'".utf8.contains(bytes[first - 1]) else { continue }
            // A value in JSON is of another type than `string`.
            let value = bytes[(equals + 1)...].first
            guard value != UInt8(ascii: "["), value != UInt8(ascii: "{") else { return nil }
            let name = String(decoding: bytes[first..<equals], as: UTF8.self)
            return VariableName.isValid(name) ? name : nil
        }
        return nil
    }

    /// Inserts a `key: value` into a mapping, before an existing key.
    mutating func noteMake(_ run: MappingReader.Entry, in reader: borrowing MappingReader) {
        guard document.makeCalls?.note(run.value, in: reader) == true else { return }
        let edit = insertion(of: "jobserver: true", before: run.key, in: reader.node)
        document.makeCalls?.edit = edit
    }

    private func insertion(of text: String, before key: YAMLNode, in mapping: YAMLNode) -> Diagnostic.Fix.Edit {
        let start = key.range.lowerOffset
        let range = SourceRange(start..<start)
        guard !isFlow(mapping) else { return .init(range: range, replacement: text + ", ") }
        let indentation = String(repeating: " ", count: file.location(at: start).column - 1)
        return .init(range: range, replacement: text + "\n" + indentation)
    }
}
