internal import Basics
internal import Glibc
internal import Planning

/// The copies of the tree that isolated groups run in: their places, and what a resuming run does with those that are
/// there.
package struct TreeCopies: Sendable {
    /// The folder with the copies of this run and of the runs that it resumes, absolute; nil if none is to outlive the
    /// run.
    let folder: String?
    /// The state directory, which is left out of the copies; nil if there is none.
    let state: String?
    /// The groups that go on in the copy that was kept.
    var kept: Set<PlanIndex> = []
    /// The groups whose steps are all restored, so that they need no copy.
    var restored: Set<PlanIndex> = []
    /// The groups, and the fan-outs that only the run expands, in which all steps run again, in a new copy.
    var lost: Set<PlanIndex> = []

    package init(in folder: String?, state: String?) {
        self.folder = folder
        self.state = state
    }
}

/// One copy of the tree, in a folder of its own: the tree itself, and beside it what is known of it. Made under another
/// name first, so that it is whole if it is there.
package struct TreeCopy: Sendable {
    /// The folder of the copy, absolute.
    package let path: String

    package init(at path: String) { self.path = path }

    /// The copy for a group. Ids with other characters than those of plain names also have a checksum in their name.
    init(of group: String, in folder: String) {
        let isPlain = group.utf8.count <= Self.nameLimit && group.utf8.allSatisfy(Self.isPlain)
        let name = String(decoding: group.utf8.map { Self.isPlain($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        path = "\(folder)/" + (isPlain ? group : "\(name.prefix(Self.nameLimit)).\(CRC32C.digits(of: group.utf8))")
    }

    private static let nameLimit = 100

    private static func isPlain(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// The tree.
    var tree: String { "\(path)/tree" }

    /// The folder in it that stands for the one that was copied from; nil if there is no copy.
    var folder: String? { text(of: "folder").map { tree + $0 } }

    /// The run that has made it, and the last one that used it; nil if there is no copy.
    package var runs: (maker: String, user: String)? {
        guard let text = text(of: "runs") else { return nil }
        let runs = text.split(separator: "\n").map(String.init)
        return runs.count == 2 ? (runs[0], runs[1]) : nil
    }

    private static let textLimit = 8192

    private func text(of name: String) -> String? {
        let file = open("\(path)/\(name)", O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return (try? WholeFile.read(file, limit: Self.textLimit)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Notes that a run uses it. Throws if that cannot be written.
    func noteUse(by run: String) throws(SystemError) {
        guard let maker = runs?.maker else { return }
        let (place, new) = ("\(path)/runs", "\(path)/runs.new")
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .last }
        defer { close(file) }
        try WholeFile.write(Array("\(maker)\n\(run)\n".utf8), to: file)
        if rename(new, place) != 0 { throw .last }
    }

    /// Takes it away from its place, so that no resume goes on in it, and returns what is to be removed; nil if there
    /// is no copy.
    func takeAway() throws(SystemError) -> String? {
        let rest = "\(path).old"
        if access(rest, F_OK) == 0 { try FolderRemoval.remove(rest) }
        if rename(path, rest) == 0 { return rest }
        if errno != ENOENT { throw .last }
        return nil
    }
}
