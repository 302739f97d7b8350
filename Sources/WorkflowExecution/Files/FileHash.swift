internal import CMessageDigest
internal import Glibc

/// One hash over files: their names and their contents, in the order of their names. Reads every byte of them, so it
/// belongs on a thread of its own, never on the event loop.
enum FileHash {
    /// A file that could not be read, and why.
    struct ReadError: Error {
        let path: String
        let reason: String
    }

    /// 64 hexadecimal digits; the empty text where nothing matches, so that a condition can tell.
    static func hash(_ patterns: [String], in folder: String) throws(ReadError) -> String {
        let files = Set(patterns.flatMap { FilePattern($0).files(in: folder) })
        guard !files.isEmpty else { return "" }
        var hash = SHA256()
        for file in files.sorted(by: { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }) {
            var contents = SHA256()
            try read(file.hasPrefix("/") ? file : "\(folder)/\(file)") { contents.update($0) }
            hash.update("\(file)\0\(contents.finish())\0")
        }
        return hash.finish()
    }

    private static func read(_ path: String, _ body: (UnsafeRawBufferPointer) -> Void) throws(ReadError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw ReadError(path: path, reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var failure: Int32?
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                if count < 0 { failure = errno }
                guard count > 0 else { return }
                body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
        if let failure { throw ReadError(path: path, reason: String(cString: strerror(failure))) }
    }
}

/// SHA-256 of bytes that come in pieces.
struct SHA256 {
    private var context = SHA2_CTX()

    init() { SHA256Init(&context) }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        SHA256Update(&context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    mutating func update(_ text: String) {
        var text = text
        text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
    }

    /// 64 hexadecimal digits. Called once, last.
    mutating func finish() -> String {
        let digest = [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { buffer, count in
            SHA256Final(buffer.baseAddress, &context)
            count = buffer.count
        }
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
