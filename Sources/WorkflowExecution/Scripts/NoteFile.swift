internal import Glibc
internal import ProcessExecution

/// The file that bash reads first and appends its notes to.
struct NoteFile {
    private let file: MemoryFile
    private let start: Int

    /// What is read of the notes; only a script whose background jobs fail all the time takes more.
    private static let limit = 1 << 20

    /// nil where the machine has no descriptor or no memory left, or no `/proc` to find the file by.
    init?(_ startup: BashStartup) {
        let text = Array(startup.text.utf8)
        guard let file = try? MemoryFile(text), access(file.path, R_OK | W_OK) == 0 else { return nil }
        self.file = file
        start = text.count
    }

    /// Where a process of the same user finds it.
    var path: String { file.path }

    var notes: [BashNote] { BashNote.read(file.bytes(from: start, limit: Self.limit)) }
}
