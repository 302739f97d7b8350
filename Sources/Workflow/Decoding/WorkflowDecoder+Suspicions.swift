internal import Glibc
internal import Syntax

// What is valid but probably a mistake: it would run, and do something other than what it seems to say.

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

    /// Whether a word without blanks, commas and brackets needs no quotes.
    private static func mayBePlain(_ word: String) -> Bool {
        guard let first = word.utf8.first else { return false }
        return !"&*!%@`?|>'\"#:~".utf8.contains(first) && word.utf8.last != UInt8(ascii: ":")
    }
}

// `env: { PATH: "bin:$PATH" }`: no shell reads the values of `env`.
extension WorkflowDecoder {
    /// Names that most people mean the variable by.
    private static let wellKnown: Set<String> = [
        "PATH", "HOME", "PWD", "USER", "TMPDIR", "SHELL", "HOSTNAME", "LD_LIBRARY_PATH", "PYTHONPATH", "GOPATH",
        "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
    ]

    mutating func reportUnexpanded(_ value: YAMLNode, of variable: String) {
        let bytes = value.bytes
        // Commands are for the shell of the program that reads them.
        guard !["COMMAND", "CMD", "PAGER", "EDITOR", "PS4"].contains(where: variable.hasSuffix) else { return }
        guard !value.isAlias, bytes.contains(UInt8(ascii: "$")) || bytes.contains(UInt8(ascii: "~")) else { return }
        let text = ExpressionText(value)
        var found: [(part: Range<Int>, meant: String?)] = []
        for (part, name) in ShellReferences(text.bytes) {
            if document.parameterNames.contains(name) {
                found.append((part, "params.\(name)"))
            } else if name == "PWD" {
                found.append((part, nil))
            } else if name == variable || Self.wellKnown.contains(name) {
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

    /// `~` in front of a path, or of one in a list of paths.
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

    static func mentionsOutputFile(_ file: SourceFile) -> Bool {
        let name = Array(outputFile.utf8)
        return file.bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while rest.count >= name.count, let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                let found = memchr(start, Int32(name[0]), rest.count - name.count + 1)
            {
                if memcmp(found, name, name.count) == 0 { return true }
                rest = rest.dropFirst(UnsafeRawPointer(found) - start + 1)
            }
            return false
        }
    }

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

    /// A further `key: value` of a mapping, in front of one that is there.
    private func insertion(of text: String, before key: YAMLNode, in mapping: YAMLNode) -> Diagnostic.Fix.Edit {
        let start = key.range.lowerOffset
        let range = SourceRange(start..<start)
        guard !isFlow(mapping) else { return .init(range: range, replacement: text + ", ") }
        let indentation = String(repeating: " ", count: file.location(at: start).column - 1)
        return .init(range: range, replacement: text + "\n" + indentation)
    }
}
