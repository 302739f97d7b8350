/// Where the rows of a whole plan lie in one that left some of them out. Without numbers, everything lies where it did.
struct RowNumbers: Sendable {
    /// By row of the whole plan; of a row left out, the next one's number.
    private var numbers: [UInt32] = []
    /// By row of the plan at hand; rows behind these were added later and are laid out in one piece.
    private var originals: [UInt32] = []

    init() {}

    init(keeping isKept: some Sequence<Bool>) {
        for isKept in isKept {
            let original = UInt32(numbers.count)
            numbers.append(UInt32(originals.count))
            if isKept { originals.append(original) }
        }
    }

    /// The row that in the whole plan lies at a distance from another one, which is given as it lies here.
    func row(_ distance: Int, behind row: Int) -> Int {
        row < originals.count ? Int(numbers[Int(originals[row]) + distance]) : row + distance
    }
}
