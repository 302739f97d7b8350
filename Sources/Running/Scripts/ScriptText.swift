internal import RunLog
internal import Syntax
internal import Workflow

/// The text of a script, and the places of its commands in the workflow's file.
struct ScriptText {
    private let bytes: [UInt8]
    /// The place of each byte in the file.
    private let offsets: [Int]
    private let file: SourceFile
    /// The beginnings of the lines, and the end.
    private let starts: [Int]

    /// nil for a script of no file.
    init?(_ script: Script, in file: SourceFile) {
        guard let offsets = script.offsets(in: file) else { return nil }
        bytes = Array(script.text(in: file).utf8)
        self.offsets = offsets
        self.file = file
        var starts = [0]
        for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(offset + 1) }
        if starts.last != bytes.count { starts.append(bytes.count) }
        self.starts = starts
    }

    /// The command of a script that is one command; nil for any other.
    var onlyCommand: FailedCommand? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard ScriptOutline.isOneCommand(text), let start = bytes.firstIndex(where: { !Self.isBlank($0) }) else {
            return nil
        }
        return command(text.trimmingBlanks, at: start)
    }

    /// Returns the command that a note is about, in the workflow's file or in the one that the script has read.
    func command(of note: BashNote) -> FailedCommand? {
        if let path = note.file { return FailedCommand(text: Self.shown(note.command), file: path, line: note.line) }
        guard note.line >= 1, note.line < starts.count else { return nil }
        guard let range = place(of: note.command, endingAtLine: note.line) else {
            let start = bytes[starts[note.line - 1]...].firstIndex { !Self.isBlank($0) } ?? starts[note.line - 1]
            return command(note.command, at: start)
        }
        if note.statuses.count > 1, let member = member(of: note.statuses, before: range) {
            return command(String(decoding: bytes[member], as: UTF8.self), at: member.lowerBound)
        }
        return command(note.command, at: range.lowerBound)
    }

    private func command(_ text: some StringProtocol, at offset: Int) -> FailedCommand? {
        guard offset < offsets.count else { return nil }
        return FailedCommand(
            text: Self.shown(text), file: file.file(at: offsets[offset]).name,
            line: file.line(at: offsets[offset]))
    }

    private static func shown(_ command: some StringProtocol) -> String {
        let line = command.prefix { !$0.isNewline }
        let isCut = line.endIndex != command.endIndex && command[line.endIndex...].contains { !$0.isWhitespace }
        return line.count > 100 ? "\(line.prefix(100))…" : isCut ? "\(line) …" : String(line)
    }

    // MARK: Finding a command

    /// Returns the place of a command, given its text and line as bash reports them. The line may be any of the
    /// command's, so the last place counts that begins before the line's end and reaches the line.
    private func place(of command: String, endingAtLine line: Int) -> Range<Int>? {
        let wanted = command.utf8.filter { !Self.isSeparator($0) }
        guard let first = wanted.first else { return nil }
        for start in (0..<starts[line]).reversed() where bytes[start] == first {
            if let end = end(of: wanted, from: start), end > starts[line - 1] { return start..<end }
            // A command may have many lines, but the search for each is limited.
            if starts[line] - start > 64 << 10 { break }
        }
        return nil
    }

    /// Returns the end of a command's text; blanks, line ends and `;` may differ from the source.
    private func end(of wanted: [UInt8], from start: Int) -> Int? {
        var next = start
        for byte in wanted {
            while next < bytes.count, bytes[next] != byte, Self.isSeparator(bytes[next]) || isContinuation(next) {
                next += 1
            }
            guard next < bytes.count, bytes[next] == byte else { return nil }
            next += 1
        }
        return next
    }

    private func isContinuation(_ offset: Int) -> Bool {
        offset >= 0 && bytes[offset] == UInt8(ascii: "\\") && offset + 1 < bytes.count
            && bytes[offset + 1] == UInt8(ascii: "\n")
    }

    /// Returns the member of a pipeline that has failed, given the place of its last one; nil if that is the last
    /// one.
    private func member(of statuses: [Int32], before last: Range<Int>) -> Range<Int>? {
        guard let failed = statuses.lastIndex(where: { $0 != 0 }), failed < statuses.count - 1 else { return nil }
        var end = last.lowerBound
        var start = end
        for _ in failed..<statuses.count - 1 {
            guard let pipe = pipe(before: start) else { return nil }
            end = pipe
            start = beginning(ofCommandBefore: pipe)
        }
        while end > start, Self.isSeparator(bytes[end - 1]) { end -= 1 }
        return start < end ? start..<end : nil
    }

    /// Returns the offset of the `|` that feeds the command at an offset.
    private func pipe(before offset: Int) -> Int? {
        var next = offset - 1
        while next >= 0, Self.isSeparator(bytes[next]) || isContinuation(next) { next -= 1 }
        if next >= 0, bytes[next] == UInt8(ascii: "&") { next -= 1 }
        return next >= 0 && bytes[next] == UInt8(ascii: "|") ? next : nil
    }

    /// Goes back to the operator or line end before a command, over quoted text.
    private func beginning(ofCommandBefore end: Int) -> Int {
        var start = end
        var quote: UInt8?
        while start > 0 {
            let byte = bytes[start - 1]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                quote = byte
            } else if byte == UInt8(ascii: "\n") && !isContinuation(start - 2) {
                break
            } else if "|;&({`!".utf8.contains(byte), !isOfRedirection(start - 1) {
                break
            }
            start -= 1
        }
        while start < end, Self.isSeparator(bytes[start]) { start += 1 }
        return start
    }

    /// Returns true for the `&` of `2>&1` and `&>`, and the `|` of `>|`.
    private func isOfRedirection(_ offset: Int) -> Bool {
        if offset > 0, "<>".utf8.contains(bytes[offset - 1]) { return true }
        return bytes[offset] == UInt8(ascii: "&") && offset + 1 < bytes.count && bytes[offset + 1] == UInt8(ascii: ">")
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private static func isSeparator(_ byte: UInt8) -> Bool { isBlank(byte) || byte == UInt8(ascii: ";") }
}

extension String {
    fileprivate var trimmingBlanks: Substring {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

/// The first line of a script that names its interpreter, `#!/usr/bin/env python3`, read as the kernel reads it.
struct Shebang: Equatable {
    let interpreter: String
    /// Everything after the interpreter, as one word; nil if there is nothing.
    let argument: String?

    /// nil for a script without one.
    init?(_ script: String) {
        guard script.utf8.starts(with: "#!".utf8) else { return nil }
        let line = script.utf8.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let name = line.drop(while: isBlank).prefix { !isBlank($0) }
        guard !name.isEmpty else { return nil }
        var rest = line[name.endIndex...].drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        interpreter = String(Substring(name))
        argument = rest.isEmpty ? nil : String(Substring(rest))
    }

    /// Returns the words that start the script in a file.
    func command(for path: String, isTraced: Bool) -> [String] {
        var words = [interpreter]
        if let argument { words.append(argument) }
        // In `/bin/bash -e` after the shell, in `/usr/bin/env bash` after its name.
        if isTraced, let shell = words.firstIndex(where: TracedShell.isOne) { words.insert("-x", at: shell + 1) }
        return words + [path]
    }
}

/// Shells that show with `-x` what they execute.
enum TracedShell {
    /// Returns true if a program is one of them, by its name.
    static func isOne(_ program: String) -> Bool {
        let name = program.split(separator: "/").last ?? ""
        return ["bash", "sh", "dash", "ksh", "mksh", "zsh", "ash"].contains(name)
    }

    /// Returns a shell's words, `-c` the last of them, with `-x` before it; unchanged if it is none of these.
    static func words(_ shell: [String]) -> [String] {
        guard let program = shell.first, let last = shell.last, isOne(program), last.hasPrefix("-"), shell.count > 1
        else {
            return shell
        }
        return shell.dropLast() + ["-x", last]
    }
}
