internal import Basics
internal import Glibc

/// A pattern for paths, as shells and CI systems write them: `*`, `?` and `[…]` inside one name, `**` for any number
/// of folders, including none. Hidden names match like all others, or only if the pattern begins with a dot for them;
/// the folder in which flowrun keeps its state never matches. Links to files count as files; links to folders are
/// followed if the pattern names them. Names are bytes, UTF-8 or not.
struct FilePattern {
    private enum Kind {
        case file, folder, other
    }

    /// The names that wildcards and `**` match.
    enum Reach {
        case everything
        /// No names with a leading dot; a slash at the end of a pattern asks for folders.
        case visible
    }

    private let isAbsolute: Bool
    private let reach: Reach
    private let wantsFolders: Bool
    private let parts: [[UInt8]]

    init(_ text: String, _ reach: Reach = .everything) {
        self.reach = reach
        isAbsolute = text.hasPrefix("/")
        wantsFolders = reach == .visible && text.hasSuffix("/")
        var parts: [[UInt8]] = []
        for part in text.utf8.split(separator: UInt8(ascii: "/")).map(Array.init) {
            if part != Self.here, part != Self.anyFolders || parts.last != part { parts.append(part) }
        }
        self.parts = parts
    }

    private static let here = Array(".".utf8)
    private static let anyFolders = Array("**".utf8)
    private static let anyName = Array("*".utf8)
    private static let skipped = [".", "..", ".flowrun"].map { Array($0.utf8) }

    /// Returns the paths of all files, or folders, that match, relative to `folder` or absolute as the pattern is,
    /// sorted. Incomplete once it is given up. Throws if a folder, or the target of a name, cannot be read.
    func files(in folder: String, isGivenUp: () -> Bool = { false }) throws(FileHash.ReadError) -> [[UInt8]] {
        var found: Set<[UInt8]> = []
        let root = isAbsolute ? [] : Array("\(folder)/".utf8)
        try search(root, below: isAbsolute ? Array("/".utf8) : [], parts[...], into: &found, isGivenUp)
        return found.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// `path` is empty or ends with a slash.
    private func search(
        _ root: [UInt8], below path: [UInt8], _ parts: ArraySlice<[UInt8]>, into found: inout Set<[UInt8]>,
        _ isGivenUp: () -> Bool
    ) throws(FileHash.ReadError) {
        guard let part = parts.first, !isGivenUp() else { return }
        let rest = parts.dropFirst()
        if part == Self.anyFolders {
            try search(root, below: path, rest.isEmpty ? [Self.anyName] : rest, into: &found, isGivenUp)
            for (name, kind) in try Self.entries(of: root + path) where kind == .folder && isInReach(name) {
                try search(root, below: path + name + [UInt8(ascii: "/")], parts, into: &found, isGivenUp)
            }
        } else if part.contains(where: { "*?[\\".utf8.contains($0) }) {
            for (name, kind) in try Self.entries(of: root + path) where matches(part, name) {
                try take(kind, path + name, in: root, rest, into: &found, isGivenUp)
            }
        } else {
            try take(try Self.kind(of: root + path + part), path + part, in: root, rest, into: &found, isGivenUp)
        }
    }

    private func take(
        _ kind: Kind, _ path: [UInt8], in root: [UInt8], _ rest: ArraySlice<[UInt8]>, into found: inout Set<[UInt8]>,
        _ isGivenUp: () -> Bool
    ) throws(FileHash.ReadError) {
        if wantsFolders, rest.isEmpty {
            if kind == .folder { found.insert(path) }
        } else if kind == .folder {
            try search(root, below: path + [UInt8(ascii: "/")], rest, into: &found, isGivenUp)
        } else if kind == .file, rest.isEmpty {
            found.insert(path)
        }
    }

    private func isInReach(_ name: [UInt8]) -> Bool { reach == .everything || name.first != UInt8(ascii: ".") }

    private func matches(_ pattern: [UInt8], _ name: [UInt8]) -> Bool {
        let flags = reach == .everything ? 0 : FNM_PERIOD
        return pattern.withCString { pattern in name.withCString { fnmatch(pattern, $0, flags) == 0 } }
    }

    /// True if a path, which is no pattern, leads to a file or folder of any kind, as `test -e` has it.
    static func isThere(_ path: String, in folder: String) throws(FileHash.ReadError) -> Bool {
        let bytes = Array((path.hasPrefix("/") ? path : "\(folder)/\(path)").utf8)
        // No file has such a name, and the C library would look for its beginning.
        return bytes.contains(0) ? false : try status(of: bytes) != nil
    }

    /// Returns the kind of the file that a path leads to, links followed. A missing file, or a link that leads
    /// nowhere, is `other`.
    private static func kind(of path: [UInt8]) throws(FileHash.ReadError) -> Kind {
        switch try status(of: path).map({ $0.st_mode & S_IFMT }) {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    /// nil for a missing file, and for a link that leads nowhere.
    private static func status(of path: [UInt8]) throws(FileHash.ReadError) -> stat? {
        var status = stat()
        guard path.withCString({ stat($0, &status) }) != 0 else { return status }
        if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
        throw FileHash.ReadError(path: path, errno)
    }

    /// Returns the entries of a folder; none if it is not there any more.
    private static func entries(of folder: [UInt8]) throws(FileHash.ReadError) -> [(name: [UInt8], kind: Kind)] {
        guard let stream = folder.withCString({ opendir($0) }) else {
            if [ENOENT, ENOTDIR].contains(errno) { return [] }
            throw FileHash.ReadError(path: folder, errno)
        }
        defer { closedir(stream) }
        var entries: [([UInt8], Kind)] = []
        while let entry = try Self.next(in: stream, of: folder) {
            let name = Array(UnsafeRawBufferPointer(start: entry.name, count: strlen(entry.name)))
            if skipped.contains(name) { continue }
            switch entry.kind {
            case .file: entries.append((name, .file))
            case .folder: entries.append((name, .folder))
            case .link:
                let kind = try kind(of: folder + name)
                entries.append((name, kind == .folder ? .other : kind))
            case .other: entries.append((name, try kind(of: folder + name)))
            }
        }
        return entries
    }

    private static func next(
        in stream: OpaquePointer, of folder: [UInt8]
    ) throws(FileHash.ReadError) -> FolderEntry? {
        do throws(SystemError) {
            return try FolderEntry.next(in: stream)
        } catch {
            throw FileHash.ReadError(path: folder, error.number)
        }
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes of a path or name and a NUL after them, for the C library.
    func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        (map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { body($0.baseAddress.unsafelyUnwrapped) }
    }
}
