internal import Basics

/// How much of the run's output is kept in files: what there is room for, and what goes first when there is none.
///
/// Beside the end of each step, which is always kept, files of output take so much of the disk. Where a piece would pass
/// the limit, the oldest output of a step that has succeeded and whose output nobody reads makes room for it; where there
/// is none, only the end of what is written from then on is kept.
struct OutputRoom {
    private let limit: Int
    /// What the files have, in bytes.
    private var used = 0
    /// What may go, oldest first.
    private var spare: [(step: String, file: KeptOutput.File)] = []
    private var firstSpare = 0
    /// Whether something has not been kept.
    private(set) var isExceeded = false

    init(limit: Int) { self.limit = limit }

    /// Makes room for so many bytes and takes it, and returns true; otherwise nothing is taken. `goes` hears which step's
    /// file is cut.
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
            // What cannot be cut stays.
            let freed = (try? OutputFile.cut(file.name, before: file.end, in: folder)) ?? 0
            if freed > 0 { goes(step) }
            used -= freed
        }
        used += count
        return true
    }

    /// Files that nobody needs any more before the others.
    mutating func mayGo(_ files: [KeptOutput.File], of step: String) {
        for file in files where file.end > 0 { spare.append((step, file)) }
    }
}
