/// What is shown of a step's output where the whole would be too long to read: its last lines.
enum OutputExcerpt {
    private static let lines = 20

    /// Where the last lines begin; 0 where there are no more.
    static func start(in output: UnsafeRawBufferPointer) -> Int {
        var lines = 0
        for offset in output.indices.dropLast().reversed() where output[offset] == UInt8(ascii: "\n") {
            lines += 1
            if lines == Self.lines { return offset + 1 }
        }
        return 0
    }
}
