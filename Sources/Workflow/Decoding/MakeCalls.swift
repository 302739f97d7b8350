internal import Syntax

/// The calls of make(1) in the steps of a file: the recipes take part in the jobs of the run only if the step says so.
struct MakeCalls {
    /// The calls of one kind, one of each step.
    private struct Calls {
        private static let most = 4

        /// The first few.
        var places: [SourceRange] = []
        var count = 0

        mutating func add(_ call: Call) {
            count += 1
            if places.count < Self.most { places.append(ExpressionText(call.node).range(call.part)) }
        }

        var notes: [Diagnostic.Note] {
            let others = places.dropFirst().map { Diagnostic.Note("the same here", at: $0) }
            let more = count - places.count
            return more == 0 ? others : others + [.init("and in \(more) more step\(more == 1 ? "" : "s")")]
        }
    }

    private var serial = Calls()
    private var withOwnJobs = Calls()
    /// The text of the first call with jobs of its own.
    private var words = ""
    /// Adds the key to the first step of `serial`.
    var edit: Diagnostic.Fix.Edit?

    /// Returns nil if the file does not contain `make` anywhere.
    init?(in file: SourceFile) { guard file.mentions("make") else { return nil } }

    /// Notes the first call in a step. Returns true if `edit` is to add `jobserver: true` to the step.
    mutating func note(_ run: YAMLNode, in reader: borrowing MappingReader) -> Bool {
        let saysJobs = reader.has(.jobserver)
        if saysJobs, reader.entry(.jobserver).value.isText("false") { return false }
        guard let call = Call(in: run), !run.isAlias else { return false }
        if call.hasOwnJobs {
            if withOwnJobs.count == 0 { words = ExpressionText(call.node).string(call.part) }
            withOwnJobs.add(call)
        } else if !saysJobs {
            serial.add(call)
            return serial.count == 1
        }
        return false
    }

    /// Reports a finding for all calls of a kind.
    func report(to decoder: inout WorkflowDecoder) {
        if let first = withOwnJobs.places.first {
            decoder.report(
                .makeJobs, "`\(words)` runs jobs of its own beside those of the run", at: first, severity: .note,
                notes: withOwnJobs.notes,
                fix: .init("write `make` without it, and `jobserver: true` in the step, so that both share `-j`"))
        }
        if let first = serial.places.first {
            decoder.report(
                .makeJobs, "`make` runs one recipe at a time here, since the step takes no part in the run's jobs",
                at: first, severity: .note, notes: serial.notes,
                fix: .init(
                    "write `jobserver: true` in the step; or `jobserver: false` if it is meant",
                    edits: [edit].compactMap(\.self)))
        }
    }
}

/// A call of make(1) in a command.
private struct Call {
    /// The text that it is in.
    let node: YAMLNode
    /// The name of the program, or the option `-j`.
    let part: Range<Int>
    let hasOwnJobs: Bool

    /// Finds the first call; nil if there is none that is certain.
    init?(in run: YAMLNode) {
        guard run.kind == .sequence else {
            guard let found = Self.find(in: run.bytes) else { return nil }
            (node, part, hasOwnJobs) = (run, found.part, found.hasOwnJobs)
            return
        }
        let words = run.elements.filter { $0.kind == .scalar && !$0.isAlias }
        guard let program = words.first, Self.isMake(program.bytes) else { return nil }
        let option = words.dropFirst().first { Self.givesJobs($0.bytes) }
        node = option ?? program
        part = 0..<node.byteCount
        hasOwnJobs = option != nil
    }

    /// Reads a script word by word, as a shell does, up to the first here-document.
    private static func find(in bytes: UnsafeBufferPointer<UInt8>) -> (part: Range<Int>, hasOwnJobs: Bool)? {
        var mayBeProgram = true
        var program: Range<Int>?
        var offset = 0
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"): offset += 1
            case UInt8(ascii: "\\") where offset + 1 < bytes.count && bytes[offset + 1] == UInt8(ascii: "\n"):
                offset += 2
            case UInt8(ascii: "#"): while offset < bytes.count, bytes[offset] != UInt8(ascii: "\n") { offset += 1 }
            case UInt8(ascii: "<") where offset + 1 < bytes.count && bytes[offset + 1] == UInt8(ascii: "<"):
                offset = bytes.count
            case let byte where ends(byte):
                if let program { return (program, false) }
                mayBeProgram = true
                offset += 1
            default:
                let end = end(ofWordAt: offset, in: bytes)
                let word = UnsafeBufferPointer(rebasing: bytes[offset..<end])
                if program != nil {
                    if givesJobs(word) { return (offset..<end, true) }
                } else if mayBeProgram {
                    if isMake(word) { program = offset..<end } else { mayBeProgram = precedesProgram(word) }
                }
                offset = end
            }
        }
        return program.map { ($0, false) }
    }

    /// The word has at least one byte.
    private static func end(ofWordAt start: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var (end, quote) = (start, 0 as UInt8)
        while end < bytes.count {
            let byte = bytes[end]
            switch byte {
            case UInt8(ascii: " ") where quote == 0, UInt8(ascii: "\t") where quote == 0: return end
            case UInt8(ascii: "\\") where quote != UInt8(ascii: "'"): end += 1
            case UInt8(ascii: "'") where quote == 0, UInt8(ascii: "\"") where quote == 0: quote = byte
            case quote where quote != 0: quote = 0
            case _ where quote == 0 && ends(byte): return end
            default: break
            }
            end += 1
        }
        return min(end, bytes.count)
    }

    /// True for a byte behind which a command begins.
    private static func ends(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: ";"), UInt8(ascii: "&"), UInt8(ascii: "|"), UInt8(ascii: "("),
            UInt8(ascii: ")"), UInt8(ascii: "`"):
            true
        default: false
        }
    }

    private static let introducing = [
        "if", "then", "elif", "else", "while", "until", "do", "{", "!", "exec", "time", "command", "env", "nice",
    ]

    /// True for a word behind which the same command goes on: `CC=gcc make`, `time make`, `! make`.
    private static func precedesProgram(_ word: UnsafeBufferPointer<UInt8>) -> Bool {
        word[0] == UInt8(ascii: "-") || word.contains(UInt8(ascii: "="))
            || introducing.contains { $0.utf8.elementsEqual(word) }
    }

    private static func isMake(_ word: UnsafeBufferPointer<UInt8>) -> Bool {
        let letters = word.first == UInt8(ascii: "g") ? UnsafeBufferPointer(rebasing: word[1...]) : word
        return letters.count == 4 && letters[0] == UInt8(ascii: "m") && letters[1] == UInt8(ascii: "a")
            && letters[2] == UInt8(ascii: "k") && letters[3] == UInt8(ascii: "e")
    }

    /// True for `-j`, also among other letters without arguments, and `--jobs`.
    private static func givesJobs(_ word: UnsafeBufferPointer<UInt8>) -> Bool {
        guard word.first == UInt8(ascii: "-") else { return false }
        if word.count > 1, word[1] == UInt8(ascii: "-") {
            return word.starts(with: "--jobs".utf8) && !word.starts(with: "--jobserver".utf8)
        }
        return word.dropFirst().drop { "bBdeikmnpqrRsStvw".utf8.contains($0) }.first == UInt8(ascii: "j")
    }
}
