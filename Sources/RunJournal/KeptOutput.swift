internal import Basics
internal import Glibc

/// What one attempt has written so far: at first in the journal, then in a file of its own, and once the run has no room
/// left in files of which only the last two stay. The file has all before those, also what stands in the journal, so that
/// people can read it.
struct KeptOutput {
    /// Up to this many bytes stand in the journal itself.
    static let inlineLimit = 32 << 10
    /// How much of the end is kept at least.
    static let tailSize = 64 << 10

    struct Place {
        let file: OutputFile
        let name: String
        let offset: Int
        /// Whether the file goes before the step has ended.
        let isPassing: Bool
    }

    /// A file that has all of an attempt, or its beginning.
    struct File {
        let name: String
        /// Where what is always kept begins, with a whole piece.
        let end: Int
    }

    let attempt: Int
    /// Whether others read what it writes to standard output.
    private(set) var isRead = false
    /// Those of attempts of the same step before this one.
    private var earlier: [File] = []
    /// What stands in the journal, until there is a file.
    private var inline: [UInt8] = []
    private var file: OutputFile?
    private var name = ""
    private var size = 0
    /// Where pieces begin, at least as far apart as what is always kept: the last two.
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

    /// Whether only the end is kept by now.
    private(set) var isCut = false

    /// The name of the file that has everything; nil where there is none.
    var wholeFile: String? { isCut || file == nil ? nil : name }

    /// Those of all attempts so far, oldest first.
    var files: [File] {
        let end = size - marks.1 >= Self.tailSize ? marks.1 : marks.0
        return file == nil ? earlier : earlier + [File(name: name, end: end)]
    }

    mutating func noteReader() { isRead = true }

    /// Whether so many bytes more have their place in the journal.
    func isInline(_ count: Int) -> Bool { !hasFile && !isCut && inline.count + count <= Self.inlineLimit }

    /// How much the attempt's file grows if it takes so many bytes more; nil if they are for another place.
    func growth(by count: Int) -> Int? { isInline(count) || isCut ? nil : inline.count + count }

    /// Not even the end is kept any more.
    mutating func giveUp() {
        isCut = true
        inline = []
    }

    /// Keeps a piece, or says with nil that it has its place in the journal. `sequence` makes the files' names unique;
    /// without `hasRoom` the attempt's file does not grow.
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

    /// `compile.1.17`: what is not plain in an id is replaced, and a retried group has attempts of one number twice, so
    /// that only the last number makes it unique.
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

/// The end of what an attempt writes, in two files by turns: when one has as much as is to be kept, the next one begins,
/// and the one before goes.
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
