internal import Basics
internal import Glibc

/// What one attempt has written so far: at first in the journal, then in a file of its own, in the end nowhere. The file
/// has all of it, also what stands in the journal, so that people can read it.
struct KeptOutput {
    /// Up to this many bytes stand in the journal itself.
    static let inlineLimit = 32 << 10
    /// Up to this many are kept in the file.
    static let fileLimit = 64 << 20

    enum Way {
        case inline
        case inFile(OutputFile, name: String, offset: Int)
        /// The limit is reached.
        case dropped
    }

    let attempt: Int
    /// What stands in the journal, until there is a file.
    private var inline: [UInt8] = []
    private var file: OutputFile?
    private var name = ""
    private var size = 0
    private var isWhole = true

    init(attempt: Int) { self.attempt = attempt }

    /// Writes the file, if there is one, through to the disk.
    func sync() throws(SystemError) { try file?.sync() }

    /// Whether there is a file.
    var hasFile: Bool { file != nil }

    /// The name of the file that has everything; nil where there is none.
    var wholeFile: String? { file != nil && isWhole ? name : nil }

    /// Keeps a piece, or says that it has its place in the journal. `sequence` makes the file's name unique.
    mutating func keep(
        _ bytes: UnsafeRawBufferPointer, of step: String, _ sequence: Int, in folder: Int32
    ) throws(SystemError) -> Way {
        if file == nil, inline.count + bytes.count <= Self.inlineLimit {
            inline += bytes
            return .inline
        }
        guard size + bytes.count <= Self.fileLimit else {
            isWhole = false
            return .dropped
        }
        if file == nil { try begin(step, sequence, in: folder) }
        guard let file else { return .dropped }
        try file.write(bytes, at: size)
        defer { size += bytes.count }
        return .inFile(file, name: name, offset: size)
    }

    private mutating func begin(_ step: String, _ sequence: Int, in folder: Int32) throws(SystemError) {
        name = Self.name(step, attempt, sequence)
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

    /// `compile.1.17.log`: what is not plain in an id is replaced, and a retried group has attempts of one number twice, so
    /// that only the last number makes it unique.
    private static func name(_ step: String, _ attempt: Int, _ sequence: Int) -> String {
        let plain = String(decoding: step.utf8.prefix(100).map { isPlain($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        return "\(plain).\(attempt).\(sequence).log"
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
