internal import Glibc

/// A pattern for paths below a folder, as shells and CI systems write them: `*`, `?` and `[…]` inside one name, `**` for
/// any number of folders, none too. Hidden names are matched like all others; symbolic links to folders are not followed.
struct FilePattern {
    private let parts: [String]

    init(_ text: String) {
        parts = text.split(separator: "/").map(String.init).filter { $0 != "." }
    }

    /// The paths of all files that match, relative to `folder`, sorted by their bytes.
    func files(in folder: String) -> [String] {
        var found: Set<String> = []
        search(folder, below: "", parts[...], into: &found)
        return found.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    }

    private func search(_ root: String, below path: String, _ parts: ArraySlice<String>, into found: inout Set<String>)
    {
        guard let part = parts.first else { return }
        let rest = parts.dropFirst()
        if part == "**" { search(root, below: path, rest.isEmpty ? ["*"] : rest, into: &found) }
        for (name, isFolder) in Self.entries(of: path.isEmpty ? root : "\(root)/\(path)") {
            let inside = path.isEmpty ? name : "\(path)/\(name)"
            if part == "**" {
                if isFolder { search(root, below: inside, parts, into: &found) }
            } else if fnmatch(part, name, 0) == 0 {
                if !rest.isEmpty {
                    if isFolder { search(root, below: inside, rest, into: &found) }
                } else if !isFolder {
                    found.insert(inside)
                }
            }
        }
    }

    private static func entries(of folder: String) -> [(name: String, isFolder: Bool)] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var entries: [(String, Bool)] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." { continue }
            var isFolder = entry.pointee.d_type == UInt8(DT_DIR)
            if entry.pointee.d_type == UInt8(DT_UNKNOWN) {
                var status = stat()
                isFolder = lstat("\(folder)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            }
            entries.append((name, isFolder))
        }
        return entries
    }
}
