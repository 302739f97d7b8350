internal import Glibc
internal import Processes

/// The file that bash reads first and appends its notes to.
@EventLoopActor
struct NoteFile {
    private enum Place {
        case inMemory(MemoryFile)
        case named(StepFiles)
    }

    /// The path for a process of the same user.
    let path: String
    private let place: Place
    private let start: Int

    /// The number of bytes of notes that are read; only a script whose background jobs fail all the time writes more.
    private static let limit = 1 << 20

    /// Makes a file in memory, which is found through flowrun's own entry in `/proc`; nil if the machine has no
    /// descriptor or no memory left, or no `/proc`.
    init?(_ startup: BashStartup) {
        let text = Array(startup.text.utf8)
        guard let file = try? MemoryFile(text) else { return nil }
        path = file.publish()
        guard access(path, R_OK | W_OK) == 0 else { return nil }
        place = .inMemory(file)
        start = text.count
    }

    /// Makes a file in the run's folder, for a run with secrets: a process that may open flowrun's descriptors may
    /// read its memory. Nil if it cannot be made.
    init?(_ startup: BashStartup, in files: StepFiles) {
        guard let path = try? files.make(holding: startup.text, of: "notes") else { return nil }
        self.path = path
        place = .named(files)
        start = startup.text.utf8.count
    }

    /// Returns the notes; the file is not used afterwards.
    func take() -> [BashNote] {
        switch place {
        case .inMemory(let file): BashNote.read(file.bytes(from: start, limit: Self.limit))
        case .named(let files):
            BashNote.read(Array(((try? files.take(path, limit: start + Self.limit)) ?? []).dropFirst(start)))
        }
    }

    /// Removes the file without reading its notes.
    func drop() { if case .named(let files) = place { files.drop(path) } }
}
