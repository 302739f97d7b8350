package import Workflow

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
