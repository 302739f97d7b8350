/// The standard output of a process, kept whole for others to read.
struct KeptOutput {
    private(set) var bytes: [UInt8] = []
    /// Whether there was more than can be kept; then nothing is.
    private(set) var isOverfull = false

    /// In bytes.
    private static let limit = 64 << 20

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// Returns false when the limit is passed, once.
    mutating func append(_ new: UnsafeRawBufferPointer) -> Bool {
        guard !isOverfull else { return true }
        guard bytes.count + new.count > Self.limit else {
            bytes.append(contentsOf: new)
            return true
        }
        isOverfull = true
        bytes = []
        return false
    }
}
