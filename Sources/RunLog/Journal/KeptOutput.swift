internal import Basics
internal import Glibc

/// The output of one attempt so far. It is kept in the journal at first, then in a file of its own. Once the run has
/// no room left, it goes to further files, of which only the last two remain. The attempt's file begins with the part
/// that is in the journal, so that users can read it as a whole.
struct KeptOutput {
    /// Up to this many bytes are in the journal itself.
    static let inlineLimit = 32 << 10
    /// The least size of the end that is always kept.
    static let tailSize = 64 << 10

    struct Place {
        let file: OutputFile
        let name: String
        let offset: Int
        /// True if the file may be removed before the step has ended.
        let isPassing: Bool
    }

    /// A file with the whole output of an attempt, or with its beginning.
    struct File {
        let name: String
        /// The start of the part that is always kept; the start of a piece.
        let end: Int
    }

    let attempt: Int
    /// True if other steps read its standard output.
    private(set) var isRead = false
    /// Files of earlier attempts of the same step.
    private var earlier: [File] = []
    /// The bytes that are in the journal, until there is a file.
    private var inline: [UInt8] = []
    private var file: OutputFile?
    private var name = ""
    private var size = 0
    /// The starts of the last two pieces that are at least `tailSize` apart.
    private var marks = (0, 0)
    private var tail: OutputTailFiles?

    init(attempt: Int, after other: KeptOutput? = nil) {
        self.attempt = attempt
        earlier = other?.files ?? []
    }

    /// Syncs the files, if any, to the disk.
    func sync() throws(SystemError) {
        try file?.sync()
        try tail?.sync()
    }

    /// Ends the output of the attempt.
    func end() throws(SystemError) { try tail?.end() }

    /// True if part of the output is in a file.
    var hasFile: Bool { file != nil || tail != nil }

    /// True once only the end is kept.
    private(set) var isCut = false

    /// The name of the file with the whole output; nil if there is none.
    var wholeFile: String? { isCut || file == nil ? nil : name }

    /// Files of all attempts so far, oldest first.
    var files: [File] {
        let end = size - marks.1 >= Self.tailSize ? marks.1 : marks.0
        return file == nil ? earlier : earlier + [File(name: name, end: end)]
    }

    mutating func noteReader() { isRead = true }

    /// True if `count` more bytes still go to the journal.
    func isInline(_ count: Int) -> Bool { !hasFile && !isCut && inline.count + count <= Self.inlineLimit }

    /// The number of bytes by which the attempt's file grows for `count` more bytes; nil if they do not go there.
    func growth(by count: Int) -> Int? { isInline(count) || isCut ? nil : inline.count + count }

    /// Keeps no further output of this attempt in the journal or its file.
    mutating func giveUp() {
        isCut = true
        inline = []
    }

    /// Keeps a piece and returns its place; nil if that is the journal. `sequence` makes the names of files unique.
    /// Without `hasRoom` the attempt's file does not grow.
    mutating func keep(
        _ bytes: UnsafeRawBufferPointer, of step: String, _ sequence: Int, in folder: Int32, hasRoom: Bool
    ) throws(SystemError) -> Place? {
        if isInline(bytes.count) {
            inline += bytes
            return nil
        }
        guard hasRoom, !isCut else {
            giveUp()
            var tail = tail ?? OutputTailFiles("\(Self.name(step, attempt, sequence)).end")
            self.tail = nil
            defer { self.tail = tail }
            return try tail.append(bytes, in: folder)
        }
        if file == nil { try begin(step, sequence, in: folder) }
        guard let file else { return nil }
        try file.write(bytes, at: size)
        if size - marks.1 >= Self.tailSize { marks = (marks.1, size) }
        defer { size += bytes.count }
        return Place(file: file, name: name, offset: size, isPassing: false)
    }

    private mutating func begin(_ step: String, _ sequence: Int, in folder: Int32) throws(SystemError) {
        name = "\(Self.name(step, attempt, sequence)).log"
        let file = try OutputFile.make(name, in: folder)
        self.file = file
        try file.write(inline, at: 0)
        size = inline.count
        inline = []
    }

    /// Returns a name such as `compile.1.17`, with an underscore for each character that is not plain. The attempts
    /// of a retried group have the same numbers again, so only the last number makes the name unique.
    private static func name(_ step: String, _ attempt: Int, _ sequence: Int) -> String {
        let plain = String(decoding: step.utf8.prefix(100).map { isPlain($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        return "\(plain).\(attempt).\(sequence)"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

/// The end of an attempt's output, in two files. When one is full, the other is written over from its start, under a
/// new name: records that name what was in it find no file. To make and remove files costs more than to write them.
private struct OutputTailFiles {
    private let name: String
    private var number = 0
    private var size = 0
    private var file: OutputFile?
    /// The file before, whose bytes are the next to go.
    private var before: OutputFile?

    init(_ name: String) { self.name = name }

    func sync() throws(SystemError) {
        try before?.sync()
        try file?.sync()
    }

    /// Removes what is left in the current file of the bytes that were there first.
    func end() throws(SystemError) { try file?.cut(after: size) }

    mutating func append(
        _ bytes: UnsafeRawBufferPointer, in folder: Int32
    ) throws(SystemError) -> KeptOutput.Place {
        if file == nil || size >= KeptOutput.tailSize {
            try end()
            let next = "\(name)\(number + 1)"
            let spare = try before?.renamed("\(name)\(number - 1)", to: next, in: folder)
            before = file
            file = if let spare { spare } else { try OutputFile.make(next, in: folder) }
            number += 1
            size = 0
        }
        guard let file else { throw SystemError(EBADF) }
        try file.write(bytes, at: size)
        defer { size += bytes.count }
        return KeptOutput.Place(file: file, name: "\(name)\(number)", offset: size, isPassing: true)
    }
}
