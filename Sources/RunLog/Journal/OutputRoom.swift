internal import Basics

/// How much of the run's output is kept in files.
///
/// Besides the end of each step, which is always kept, files of output take up to a limit. A piece that would pass it
/// takes the room of the oldest output of a step that has succeeded and whose output no step reads; if there is none,
/// only the end is kept from then on.
struct OutputRoom {
    private let limit: Int
    /// The size of the files, in bytes.
    private var used = 0
    /// Files that may go, oldest first.
    private var spare: [(step: String, file: KeptOutput.File)] = []
    private var firstSpare = 0
    /// True once something has not been kept.
    private(set) var isExceeded = false

    init(limit: Int) { self.limit = limit }

    /// Makes room for so many bytes, takes it and returns true; otherwise takes nothing. Calls `goes` with the step of
    /// each file that is cut.
    mutating func take(_ count: Int, in folder: Int32, goes: (String) -> Void) -> Bool {
        while used + count > limit {
            isExceeded = true
            guard firstSpare < spare.count else { return false }
            let (step, file) = spare[firstSpare]
            firstSpare += 1
            if firstSpare > 64, firstSpare > spare.count / 2 {
                spare.removeFirst(firstSpare)
                firstSpare = 0
            }
            // A file that cannot be cut stays.
            let freed = (try? OutputFile.cut(file.name, before: file.end, in: folder)) ?? 0
            if freed > 0 { goes(step) }
            used -= freed
        }
        used += count
        return true
    }

    /// Files that go before the others, because no step needs them any more.
    mutating func mayGo(_ files: [KeptOutput.File], of step: String) {
        for file in files where file.end > 0 { spare.append((step, file)) }
    }
}
