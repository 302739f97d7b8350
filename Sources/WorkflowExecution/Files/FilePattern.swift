internal import Glibc

/// A pattern for paths, as shells and CI systems write them: `*`, `?` and `[…]` inside one name, `**` for any number of
/// folders, none too. Hidden names are matched like all others, but for the folder in which flowrun keeps its state.
/// Links to files count as files; links to folders are followed if the pattern names them.
struct FilePattern {
    private enum Kind {
        case file, folder, other
    }

    private let isAbsolute: Bool
    private let parts: [String]

    init(_ text: String) {
        isAbsolute = text.hasPrefix("/")
        var parts: [String] = []
        for part in text.split(separator: "/") where part != "." && !(part == "**" && parts.last == "**") {
            parts.append(String(part))
        }
        self.parts = parts
    }

    /// The paths of all files that match, relative to `folder` or absolute as the pattern is, sorted by their bytes.
    /// Incomplete once it is given up.
    func files(in folder: String, isGivenUp: () -> Bool = { false }) -> [String] {
        var found: Set<String> = []
        search(isAbsolute ? "" : "\(folder)/", below: isAbsolute ? "/" : "", parts[...], into: &found, isGivenUp)
        return found.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    }

    /// `path` is empty or ends with a slash.
    private func search(
        _ root: String, below path: String, _ parts: ArraySlice<String>, into found: inout Set<String>,
        _ isGivenUp: () -> Bool
    ) {
        guard let part = parts.first, !isGivenUp() else { return }
        let rest = parts.dropFirst()
        if part == "**" {
            search(root, below: path, rest.isEmpty ? ["*"] : rest, into: &found, isGivenUp)
            for (name, kind) in Self.entries(of: root + path) where kind == .folder {
                search(root, below: "\(path)\(name)/", parts, into: &found, isGivenUp)
            }
        } else if part.utf8.contains(where: { "*?[\\".utf8.contains($0) }) {
            for (name, kind) in Self.entries(of: root + path) where fnmatch(part, name, 0) == 0 {
                take(kind, "\(path)\(name)", in: root, rest, into: &found, isGivenUp)
            }
        } else {
            take(Self.kind(of: root + path + part), path + part, in: root, rest, into: &found, isGivenUp)
        }
    }

    private func take(
        _ kind: Kind, _ path: String, in root: String, _ rest: ArraySlice<String>, into found: inout Set<String>,
        _ isGivenUp: () -> Bool
    ) {
        if kind == .folder {
            search(root, below: "\(path)/", rest, into: &found, isGivenUp)
        } else if kind == .file, rest.isEmpty {
            found.insert(path)
        }
    }

    /// Of what a link leads to.
    private static func kind(of path: String) -> Kind {
        var status = stat()
        guard stat(path, &status) == 0 else { return .other }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    private static func entries(of folder: String) -> [(name: String, kind: Kind)] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var entries: [(String, Kind)] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." || name == ".flowrun" { continue }
            switch Int(entry.pointee.d_type) {
            case Int(DT_REG): entries.append((name, .file))
            case Int(DT_DIR): entries.append((name, .folder))
            case Int(DT_LNK) where kind(of: folder + name) == .folder: entries.append((name, .other))
            default: entries.append((name, kind(of: folder + name)))
            }
        }
        return entries
    }
}
