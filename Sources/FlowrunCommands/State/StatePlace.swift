internal import Basics
internal import Glibc

/// The place of the state of a workflow's runs, and the workflow's name there.
///
/// That is `.flowrun` beside the workflow file, so that everything about a project is in the project. If that folder
/// cannot be written, it is a folder of the user, named after the project's (XDG base directories).
struct StatePlace: Sendable {
    /// The place to use, if possible.
    var preferred: Candidate {
        // Workflows of several folders may share an explicit directory.
        explicit.map { Candidate(path: $0, isInProject: Self.hasDefaultName($0)) } ?? beside
    }
    /// With all links of its last component resolved, so that a linked file shares the state of the original.
    private let file: String?
    private let explicit: String?
    /// The folder of the workflow file; nil for the current one.
    private let folder: String?

    struct Candidate: Sendable, Hashable {
        let path: String
        /// True if it is in a project's folder, among files that are kept.
        let isInProject: Bool
    }

    /// `file` is the workflow file as the user named it, `-` for standard input, nil for any in the current folder;
    /// `explicit` is the value of `--state-dir`.
    init(file: String?, explicit: String?) {
        let file = file.map(Self.original)
        self.file = file
        self.explicit = explicit
        guard let file, file != "-", let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            folder = nil
            return
        }
        folder = slash == file.startIndex ? "/" : String(file[..<slash])
    }

    /// The place if the preferred one cannot be used; nil if that one is explicit, or if the user has no home.
    var fallback: Candidate? { explicit == nil ? own : nil }

    /// The folder of what concerns the runs of all files of the user, made if need be. The same for all processes of
    /// the user, whatever their environment. Throws if it cannot be made or is not to be trusted.
    static func ofAllFiles() throws(StateError) -> StateDirectory {
        try StateDirectory.made("/tmp/.flowrun-\(geteuid())")
    }

    /// Returns the state directory that exists at one of the places, and the workflow's name in it; nil if there is
    /// none. Throws if one cannot be used, unless those are skipped. Changes nothing.
    func existing(
        skippingUnusable isSkipping: Bool = false
    ) throws(StateError) -> (directory: StateDirectory, workflow: String?)? {
        for candidate in [preferred, fallback].compactMap(\.self) {
            do throws(StateError) {
                let directory = try StateDirectory.existing(candidate.path)
                return (directory, name(in: directory))
            } catch {
                if !error.isAbsence, !isSkipping { throw error }
            }
        }
        return nil
    }

    private var beside: Candidate {
        Candidate(path: folder.map { $0 == "/" ? "/.flowrun" : "\($0)/.flowrun" } ?? ".flowrun", isInProject: true)
    }

    private var own: Candidate? {
        Self.stateHome.map {
            Candidate(path: "\($0)/flowrun/\(Self.digest(Self.absolute(folder)))", isInProject: false)
        }
    }

    /// Returns the prefix of the names of the workflow's files in `directory`, which is one of these places; nil for
    /// standard input, of which any number of runs may be live.
    ///
    /// A directory has the same name for a workflow whether it is explicit or not, because the lock is found by that
    /// name.
    func name(in directory: StateDirectory) -> String? {
        guard let file, file != "-" else { return nil }
        let base = file.utf8.lastIndex(of: UInt8(ascii: "/")).map { file[file.utf8.index(after: $0)...] } ?? file[...]
        let start = base.utf8.prefix(100).asText
        if explicit == nil || [beside, own].contains(where: { $0.map { directory.isSame(as: $0.path) } ?? false }) {
            // A file name may have 255 bytes, and these names get a suffix.
            return base.utf8.count <= 200 ? String(base) : "\(start)-\(Self.digest(String(base)))"
        }
        return "\(start)-\(Self.digest("\(Self.absolute(folder))/\(base)"))"
    }

    private static let defaultName = ".flowrun"

    private static func hasDefaultName(_ path: String) -> Bool {
        path.split(separator: "/").last.map { $0 == defaultName } ?? false
    }

    /// Returns the final target of a link; the path itself if it is no link, or leads nowhere.
    private static func original(_ file: String) -> String {
        var status = stat()
        guard file != "-", lstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFLNK,
            let path = resolvedPath(file)
        else { return file }
        return path
    }

    private static var stateHome: String? {
        if let path = getenv("XDG_STATE_HOME").map({ String(cString: $0) }), path.hasPrefix("/") { return path }
        guard let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") else { return nil }
        return "\(home)/.local/state"
    }

    /// Returns the folder's real path; the folder itself if it cannot be resolved.
    private static func absolute(_ folder: String?) -> String { resolvedPath(folder ?? ".") ?? folder ?? "." }

    /// Returns 64 bits by FNV-1a, as 16 digits. The names only have to differ; a collision that a user makes in a
    /// folder of their own gains nothing.
    private static func digest(_ text: String) -> String {
        var hash = FNV1a()
        for byte in text.utf8 { hash.add(byte) }
        return hash.value.hexadecimal(digits: 16)
    }
}

extension Sequence<UInt8> {
    fileprivate var asText: String { String(decoding: Array(self), as: UTF8.self) }
}
