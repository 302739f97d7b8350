extension [UInt8] {
    /// Appends text that stands in the program: one copy of its bytes.
    mutating func append(literal text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
