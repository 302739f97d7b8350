internal import Basics
internal import Glibc

/// What one attempt has written so far: at first in the journal, then in a file of its own, in the end nowhere.
struct KeptOutput {
    /// Up to this many bytes stand in the journal itself.
    static let inlineLimit = 32 << 10
    /// Up to this many are kept in the file.
    static let fileLimit = 64 << 20

    enum Way {
        case inline
        case inFile(name: String, offset: Int)
        /// The limit is reached.
        case dropped
    }

    let attempt: Int
    private var inlineCount = 0
    private var file: OutputFile?
    private var name = ""
    private var size = 0

    init(attempt: Int) { self.attempt = attempt }

    /// Whether there is a file to be written through to the disk.
    func sync() throws(SystemError) { try file?.sync() }

    /// Keeps a piece, or says that it has its place in the journal. `sequence` makes the file's name unique.
    mutating func keep(
        _ bytes: UnsafeRawBufferPointer, of step: String, _ sequence: Int, in folder: Int32
    ) throws(SystemError) -> Way {
        if file == nil, inlineCount + bytes.count <= Self.inlineLimit {
            inlineCount += bytes.count
            return .inline
        }
        guard size + bytes.count <= Self.fileLimit else { return .dropped }
        if file == nil {
            name = Self.name(step, attempt, sequence)
            file = try OutputFile.make(name, in: folder)
        }
        guard let file else { return .dropped }
        try file.write(bytes, at: size)
        defer { size += bytes.count }
        return .inFile(name: name, offset: size)
    }

    /// `compile.1.log`; a number behind an id that cannot be a name as it is, or whose attempt may come twice.
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
