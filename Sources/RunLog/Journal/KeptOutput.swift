internal import Basics
internal import Glibc

/// The output of one attempt so far. It is kept in the journal at first, then in a file of its own, and once the run
/// has no room left, in files of which only the last two stay. The file starts with what the journal has, so that
/// people can read it.
struct KeptOutput {
    /// Up to this many bytes stand in the journal itself.
    static let inlineLimit = 32 << 10
    /// How much of the end is always kept, at least.
    static let tailSize = 64 << 10

    struct Place {
        let file: OutputFile
        let name: String
        let offset: Int
        /// True if the file may go before the step has ended.
        let isPassing: Bool
    }

    /// A file with all the output of an attempt, or its beginning.
    struct File {
        let name: String
        /// Where the part that is always kept begins, at a whole piece.
        let end: Int
    }

    let attempt: Int
    /// True if others read its standard output.
    private(set) var isRead = false
    /// Files of earlier attempts of the same step.
    private var earlier: [File] = []
    /// What stands in the journal, until there is a file.
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

    /// Writes the files, if there are any, through to the disk.
    func sync() throws(SystemError) {
        try file?.sync()
        try tail?.sync()
    }

    /// Whether there is a file.
    var hasFile: Bool { file != nil || tail != nil }

    /// True once only the end is kept.
    private(set) var isCut = false

    /// The name of the file that has everything; nil where there is none.
    var wholeFile: String? { isCut || file == nil ? nil : name }

    /// Files of all attempts so far, oldest first.
    var files: [File] {
        let end = size - marks.1 >= Self.tailSize ? marks.1 : marks.0
        return file == nil ? earlier : earlier + [File(name: name, end: end)]
    }

    mutating func noteReader() { isRead = true }

    /// True if so many more bytes still go to the journal.
    func isInline(_ count: Int) -> Bool { !hasFile && !isCut && inline.count + count <= Self.inlineLimit }

    /// How much the attempt's file grows for so many more bytes; nil if they go elsewhere.
    func growth(by count: Int) -> Int? { isInline(count) || isCut ? nil : inline.count + count }

    /// Gives up what is kept: not even the end stays.
    mutating func giveUp() {
        isCut = true
        inline = []
    }

    /// Keeps a piece, or returns nil if its place is the journal. `sequence` makes the files' names unique; without
    /// `hasRoom` the attempt's file does not grow.
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
        var failure: SystemError?
        inline.withUnsafeBytes { bytes in
            do throws(SystemError) { try file.write(bytes, at: 0) } catch { failure = error }
        }
        if let failure { throw failure }
        size = inline.count
        inline = []
    }

    /// `compile.1.17`: characters that are not plain are replaced. A retried group has attempts of one number twice, so
    /// only the last number makes the name unique.
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

/// The end of an attempt's output, in two files by turns: when one is full, the next one begins, and the one before it
/// goes.
private struct OutputTailFiles {
    private let name: String
    private var number = 0
    private var size = 0
    private var file: OutputFile?

    init(_ name: String) { self.name = name }

    func sync() throws(SystemError) { try file?.sync() }

    mutating func append(
        _ bytes: UnsafeRawBufferPointer, in folder: Int32
    ) throws(SystemError) -> KeptOutput.Place {
        if file == nil || size >= KeptOutput.tailSize {
            unlinkat(folder, "\(name)\(number - 1)", 0)
            number += 1
            size = 0
            file = try OutputFile.make("\(name)\(number)", in: folder)
        }
        guard let file else { throw SystemError(EBADF) }
        try file.write(bytes, at: size)
        defer { size += bytes.count }
        return KeptOutput.Place(file: file, name: "\(name)\(number)", offset: size, isPassing: true)
    }
}
