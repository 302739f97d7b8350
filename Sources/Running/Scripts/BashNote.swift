/// One note by bash about a command, as `BashStartup` asks for it.
struct BashNote: Equatable {
    enum Kind: String {
        /// The command failed, and the shell ends because of it.
        case failed = "E"
        /// The command was about to start, near the end of the script.
        case started = "D"
    }

    let kind: Kind
    /// A line of the script, or of a file that it has read; from 1.
    let line: Int
    /// The process of the shell: that of the script, or of one of its subshells.
    let process: Int32
    let status: Int32
    /// The statuses of the members of a pipeline; one for a simple command.
    let statuses: [Int32]
    /// The file that was read with `source`; nil for the script itself.
    let file: String?
    let command: String

    /// The number of characters of a command that are noted: here-documents belong to it and may be long.
    static let commandLimit = 400

    static let fields = 7

    /// Returns the notes in a file, oldest first; leaves out what is cut off or malformed.
    static func read(_ bytes: [UInt8]) -> [BashNote] {
        let words = bytes.split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        return stride(from: 0, to: words.count - fields, by: fields).compactMap { BashNote(words[$0..<$0 + fields]) }
    }

    private init?(_ words: ArraySlice<String>) {
        let words = Array(words)
        guard let kind = Kind(rawValue: words[0]), let status = Int32(words[1]), let line = Int(words[2]),
            let process = Int32(words[3])
        else { return nil }
        self.kind = kind
        self.status = status
        self.line = line
        self.process = process
        statuses = words[4].split(separator: " ").compactMap { Int32($0) }
        // bash's names for code that it did not read from a file.
        file = ["", "main", "environment"].contains(words[5]) ? nil : words[5]
        command = words[6]
    }
}

extension [BashNote] {
    /// Returns the note of the command that made the script of this shell process fail: the one that ended the shell,
    /// or inside the subshell where it happened; otherwise the one that was started last.
    func culprit(of process: Int32) -> BashNote? {
        guard let index = firstIndex(where: { $0.kind == .failed && $0.process == process }) else {
            return last { $0.kind == .started && $0.process == process }
        }
        var culprit = index
        // A subshell in the foreground ends right before the shell notes that it has failed.
        while culprit > 0, self[index].command.hasPrefix("("), self[culprit - 1].kind == .failed,
            self[culprit - 1].process != process, self[culprit - 1].status == self[index].status
        {
            culprit -= 1
        }
        return self[culprit]
    }
}
