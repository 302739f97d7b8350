internal import Glibc
internal import Processes
internal import Workflow

/// The text that bash reads before a script, through `$BASH_ENV`, so that it notes the command that fails.
///
/// The script behaves as without it. bash gets the script's text unchanged, so `$LINENO` and bash's own messages stay
/// the same. The traps write only to the file of notes, keep `$_`, `$?` and `PIPESTATUS`, and show neither in `set
/// -x` nor in the environment. A script that traps ERR or DEBUG itself, or looks at what is used here, is left alone.
/// Only `trap -p` and `$-` can tell the difference.
struct BashStartup: Equatable {
    /// True if functions and subshells inherit the trap, so that a note has the line inside them.
    private let reachesFunctions: Bool
    /// The line from which nothing may be trapped but DEBUG; nil if ERR may stay to the end.
    private let tail: Int?

    /// nil if the shell is not bash, for a script that may not be watched, and for one of a single command, which
    /// needs no watching.
    init?(_ script: String, for shell: Shell) {
        guard !ScriptOutline.isOneCommand(script), Self.reads(shell) else { return nil }
        let outline = ScriptOutline(script)
        guard !outline.forbidsWatching else { return nil }
        reachesFunctions = outline.hasFunctionsOrSubshells && !outline.readsOtherScripts
        tail = outline.tail
    }

    /// Returns true if a shell is bash that takes its script by `-c` and reads `$BASH_ENV`: not a login shell, not
    /// POSIX.
    private static func reads(_ shell: Shell) -> Bool {
        guard let name = shell.arguments.first, name == "bash" || name.hasSuffix("/bash"),
            let last = shell.arguments.last, last.hasPrefix("-"), last.hasSuffix("c"), shell.arguments.count > 1
        else { return false }
        let words = ["--noprofile", "--norc", "pipefail", "errexit", "nounset"]
        return shell.arguments.dropFirst().allSatisfy { argument in
            words.contains(argument)
                || argument.hasPrefix("-") && argument.dropFirst().allSatisfy { "eucox".contains($0) }
        }
    }

    /// Variables of an environment with which bash would read something else, or nothing.
    static let conflicts = ["BASH_ENV", "POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS"]

    /// The commands. The notes are appended after them, to the file that `$BASH_ENV` names.
    var text: String {
        var setUp = reachesFunctions ? "set -E; " : ""
        setUp += "trap -- \(trap("case $- in *e*) \(note("E"));; esac")) ERR; "
        if let tail {
            // The last command of a script replaces bash, but only if neither ERR nor EXIT is trapped when bash gets
            // there. So from the command before it on, DEBUG notes what starts; it does not count as trapped.
            let release = keepingLastWord("builtin trap - ERR")
            let watch = "((LINENO<\(tail)))||[[ ${BASH_SOURCE-} ]]||{ \(note("D")); \(release); }"
            setUp += "trap -- \(trap(watch)) DEBUG; "
        }
        return "{ \(keepingLastWord("{ \(setUp)unset BASH_ENV; }")); } 2>/dev/null\n"
    }

    /// The loop's own variable is `$_`. Its second word is what that was before, and stays.
    private func keepingLastWord(_ command: String) -> String {
        "for _ in \"flowrun first\" \"${_-}\"; do [[ $_ != \"flowrun first\" ]]||\(command); done"
    }

    /// Output of `set -x` goes to standard error, and so nowhere.
    private func trap(_ commands: String) -> String { "'{ \(commands); } 2>/dev/null'" }

    /// Returns the command that appends a note. Its last word keeps `$_` and is not written: the arguments of a
    /// command may be secret.
    private func note(_ kind: String) -> String {
        let format = String(repeating: #"%s\0"#, count: BashNote.fields) + "%.0s"
        return """
            builtin printf "\(format)" \(kind) "$?" "$LINENO" "$BASHPID" "${PIPESTATUS[*]-}" "${BASH_SOURCE-}" \
            "${BASH_COMMAND:0:\(BashNote.commandLimit)}" "${_-}" >>'"$BASH_ENV"'
            """
    }
}

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

/// The file that bash reads first and appends its notes to.
@EventLoopActor
struct NoteFile {
    private enum Place {
        case inMemory(MemoryFile)
        case named(StepFiles)
    }

    /// The path for a process of the same user.
    let path: String
    private let place: Place
    private let start: Int

    /// The number of bytes of notes that are read; only a script whose background jobs fail all the time writes more.
    private static let limit = 1 << 20

    /// Makes a file in memory, which is found through flowrun's own entry in `/proc`; nil if the machine has no
    /// descriptor or no memory left, or no `/proc`.
    init?(_ startup: BashStartup) {
        let text = Array(startup.text.utf8)
        guard let file = try? MemoryFile(text) else { return nil }
        path = file.publish()
        guard access(path, R_OK | W_OK) == 0 else { return nil }
        place = .inMemory(file)
        start = text.count
    }

    /// Makes a file in the run's folder, for a run with secrets: a process that may open flowrun's descriptors may
    /// read its memory. Nil if it cannot be made.
    init?(_ startup: BashStartup, in files: StepFiles) {
        guard let path = try? files.make(holding: startup.text, of: "notes") else { return nil }
        self.path = path
        place = .named(files)
        start = startup.text.utf8.count
    }

    /// Returns the notes; the file is not used afterwards.
    func take() -> [BashNote] {
        switch place {
        case .inMemory(let file): BashNote.read(file.bytes(from: start, limit: Self.limit))
        case .named(let files):
            BashNote.read(Array(((try? files.take(path, limit: start + Self.limit)) ?? []).dropFirst(start)))
        }
    }

    /// Removes the file without reading its notes.
    func drop() { if case .named(let files) = place { files.drop(path) } }
}
