internal import Basics
internal import CMessageDigest
internal import Glibc
package import Workflow

/// One hash over files: their names and their contents, in the order of their names. Reads every byte of them, so it
/// belongs on a thread of its own, never on the event loop.
package enum FileHash {
    /// A file or folder that could not be read, and the reason.
    package struct ReadError: Error {
        package let path: String
        package let reason: String

        package init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }

        /// Shows bytes of a path that are not UTF-8 as U+FFFD.
        init(path: [UInt8], _ error: Int32) {
            self.init(path: String(decoding: path, as: UTF8.self), reason: SystemError(error).words)
        }
    }

    /// Returns 64 hexadecimal digits, or the empty text if nothing matches, so that a condition can tell. nil if it
    /// was given up; `isGivenUp` is called at every folder, file and block.
    static func hash(
        _ patterns: [String], in folder: String, isGivenUp: () -> Bool = { false }
    ) throws(ReadError) -> String? {
        var files: Set<[UInt8]> = []
        for pattern in patterns { files.formUnion(try FilePattern(pattern).files(in: folder, isGivenUp: isGivenUp)) }
        if isGivenUp() { return nil }
        guard !files.isEmpty else { return "" }
        var hash = SHA256()
        let root = Array("\(folder)/".utf8)
        for file in files.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            var contents = SHA256()
            try read(file.first == UInt8(ascii: "/") ? file : root + file) { bytes in
                contents.update(bytes)
                return !isGivenUp()
            }
            if isGivenUp() { return nil }
            file.withUnsafeBytes { hash.update($0) }
            hash.update("\0\(contents.finish())\0")
        }
        return hash.finish()
    }

    /// Reads to the end, or until `body` returns false.
    private static func read(_ path: [UInt8], _ body: (UnsafeRawBufferPointer) -> Bool) throws(ReadError) {
        let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { throw ReadError(path: path, errno) }
        defer { close(descriptor) }
        var failure: Int32?
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                if count < 0 { failure = errno }
                guard count > 0, body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return }
            }
        }
        if let failure { throw ReadError(path: path, failure) }
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

    /// Returns 64 hexadecimal digits. Called once, last.
    mutating func finish() -> String {
        let digest = [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { buffer, count in
            SHA256Final(buffer.baseAddress, &context)
            count = buffer.count
        }
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// A question of an expression about files.
package enum FileQuestion: Hashable, Sendable {
    /// One hash over all files that match.
    case hash([String])
    /// The list of files that match.
    case list([String])
    /// Asks for a file or folder at a path.
    case exists(String)

    /// The patterns or the path that it names.
    package var patterns: [String] {
        switch self {
        case .hash(let patterns), .list(let patterns): patterns
        case .exists(let path): [path]
        }
    }
}

/// A question, and the folder that its relative paths and patterns are relative to.
package struct PlacedQuestion: Hashable, Sendable {
    package let question: FileQuestion
    package let folder: String

    package init(_ question: FileQuestion, in folder: String) {
        self.question = question
        self.folder = folder
    }

    /// Answers it as `FileQuestion.answer` does.
    func answer(isGivenUp: () -> Bool) throws(FileHash.ReadError) -> Value? {
        try question.answer(in: folder, isGivenUp: isGivenUp)
    }
}

package typealias FileAnswer = Result<Value, FileHash.ReadError>

extension FileQuestion {
    /// Answers the question. Reads files or folders, so it belongs on a thread of its own, never on the event loop.
    /// nil if it was given up; `isGivenUp` is called at every folder, file and block.
    func answer(in folder: String, isGivenUp: () -> Bool) throws(FileHash.ReadError) -> Value? {
        switch self {
        case .hash(let patterns): return try FileHash.hash(patterns, in: folder, isGivenUp: isGivenUp).map(Value.string)
        case .list(let patterns):
            var found: Set<[UInt8]> = []
            for pattern in patterns {
                found.formUnion(try FilePattern(pattern, .visible).files(in: folder, isGivenUp: isGivenUp))
            }
            if isGivenUp() { return nil }
            var paths: [Value] = []
            for path in found.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                guard let text = String(validating: path, as: UTF8.self) else {
                    throw FileHash.ReadError(
                        path: String(decoding: path, as: UTF8.self), reason: "its name is not UTF-8")
                }
                paths.append(.string(text))
            }
            return .list(paths)
        case .exists(let path): return .bool(try FilePattern.isThere(path, in: folder))
        }
    }
}
