import WorkflowModel

/// What every definition needs, as rows: a range of one array per row, in the order of the file, nothing twice.
struct ResolvedNeeds {
    struct Entry {
        let target: UInt32
        /// Which entry of the node's `needs` this is.
        let position: UInt32
    }

    /// `starts[row]..<starts[row + 1]` are the row's entries.
    private(set) var starts: [UInt32] = [0]
    private(set) var entries: [Entry] = []

    init(rows: Int) { starts.reserveCapacity(rows + 1) }

    func range(of row: Int) -> Range<Int> { Int(starts[row])..<Int(starts[row + 1]) }

    /// Adds to the row that is not yet closed.
    mutating func append(_ entry: Entry) { entries.append(entry) }

    mutating func closeRow() { starts.append(UInt32(entries.count)) }
}
