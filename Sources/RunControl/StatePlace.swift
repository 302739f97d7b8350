internal import Glibc

/// Where the state of a workflow's runs is kept, and under which name.
///
/// That is `.flowrun` beside the workflow file, so that everything about a project is in the project; where that folder
/// cannot be written, a folder of the user's own named after it (XDG base directories).
package struct StatePlace: Sendable {
    /// The place to use, if it can be.
    package let preferred: Candidate
    private let file: String?
    private let isExplicit: Bool
    /// What the names of the workflow's files begin with; nil for standard input, of which any number may run.
    package let name: String?

    package struct Candidate: Sendable, Hashable {
        package let path: String
        /// Whether it lies in somebody's project, among files that are kept.
        package let isInProject: Bool

        package init(path: String, isInProject: Bool) {
            self.path = path
            self.isInProject = isInProject
        }
    }

    /// `file` is the workflow file as it was named, `-` for standard input, nil for any in the current folder;
    /// `explicit` is what `--state-dir` says.
    package init(file: String?, explicit: String?) {
        let isFile = file != nil && file != "-"
        let slash = file?.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = Self.folder(of: file)
        let base = slash.map { String(file![file!.utf8.index(after: $0)...]) } ?? file ?? ""
        self.file = file
        isExplicit = explicit != nil
        if let explicit {
            // Workflows of many folders may share it.
            preferred = Candidate(path: explicit, isInProject: false)
            name = isFile ? "\(base.utf8.prefix(100).asText)-\(Self.digest(Self.absolute(folder) + "/" + base))" : nil
            return
        }
        preferred = Candidate(
            path: folder.map { $0 == "/" ? "/.flowrun" : "\($0)/.flowrun" } ?? ".flowrun", isInProject: true)
        // A name may have 255 bytes, and these get something behind them.
        name = isFile ? base.utf8.count <= 200 ? base : "\(base.utf8.prefix(100).asText)-\(Self.digest(base))" : nil
    }

    /// Where to go if the preferred place cannot be used; nil if that one was asked for, or the user has no home.
    package var fallback: Candidate? {
        guard !isExplicit, let home = Self.stateHome else { return nil }
        let folder = Self.digest(Self.absolute(Self.folder(of: file)))
        return Candidate(path: "\(home)/flowrun/\(folder)", isInProject: false)
    }

    /// The folder of a workflow file; nil for the current one.
    private static func folder(of file: String?) -> String? {
        guard let file, file != "-", let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return slash == file.startIndex ? "/" : String(file[..<slash])
    }

    private static var stateHome: String? {
        if let path = getenv("XDG_STATE_HOME").map({ String(cString: $0) }), path.hasPrefix("/") { return path }
        guard let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") else { return nil }
        return "\(home)/.local/state"
    }

    /// The folder's real path; the folder itself if it cannot be resolved.
    private static func absolute(_ folder: String?) -> String {
        guard let path = realpath(folder ?? ".", nil) else { return folder ?? "." }
        defer { free(path) }
        return String(cString: path)
    }

    /// 64 bits by FNV-1a, as 16 digits: names only have to differ, nobody gains by making two alike in a folder of his own.
    private static func digest(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

extension Sequence<UInt8> {
    fileprivate var asText: String { String(decoding: Array(self), as: UTF8.self) }
}
