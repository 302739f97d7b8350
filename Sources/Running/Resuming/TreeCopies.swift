package import Basics
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
    /// By isolated group, and by fan-out with such groups that only the run expands; none for one that begins as in a
    /// run that resumes nothing.
    var starts: [PlanIndex: Start] = [:]

    /// True to read the files of the tree itself in place of those of the copies.
    var isForecast = false

    /// The beginning of a group of a resuming run.
    package enum Start: Sendable {
        /// It goes on in the copy that was kept.
        case kept
        /// All its steps are restored, so that it needs no copy.
        case restored
        /// All its steps run again, in a new copy.
        case new
    }

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

    /// The folder in it that stands for the one that was copied from; nil if there is no copy, or it lacks that folder.
    var folder: String? {
        guard let folder = text(of: "folder").map({ tree + $0 }), isDirectory(folder) else { return nil }
        return folder
    }

    package struct Record {
        /// The run that has made the copy.
        package let maker: String
        /// The last run that used it.
        package let user: String
        /// The path of the copy then: its content has that in many places.
        let path: String
    }

    /// nil if there is no copy, or it lacks the folder.
    package var record: Record? {
        guard folder != nil, let text = text(of: "record") else { return nil }
        let lines = text.split(separator: "\n", maxSplits: 2).map(String.init)
        return lines.count == 3 ? Record(maker: lines[0], user: lines[1], path: String(lines[2].dropLast())) : nil
    }

    private func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static let textLimit = 8192

    private func text(of name: String) -> String? {
        let file = open("\(path)/\(name)", O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return (try? WholeFile.read(file, limit: Self.textLimit)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Notes that a run uses it. Throws if that cannot be written, or if there is no copy.
    func noteUse(by run: String) throws(SystemError) {
        guard let maker = record?.maker else { throw SystemError(ENOENT) }
        let (place, new) = ("\(path)/record", "\(path)/record.new")
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .last }
        defer { close(file) }
        try WholeFile.write(Array("\(maker)\n\(run)\n\(path)\n".utf8), to: file)
        if rename(new, place) != 0 { throw .last }
    }

    /// Takes it away from its place, so that no resume goes on in it, and returns what is to be removed; nil if there
    /// is no copy.
    package func takeAway() throws(SystemError) -> String? {
        // Other copies for the group may still be in removal.
        var (rest, number) = ("\(path).old", 1)
        while access(rest, F_OK) == 0 {
            number += 1
            rest = "\(path).\(number).old"
        }
        if rename(path, rest) == 0 { return rest }
        if errno != ENOENT { throw .last }
        return nil
    }
}
