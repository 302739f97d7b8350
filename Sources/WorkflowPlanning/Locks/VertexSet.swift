/// Vertices of a dependency graph, one bit each.
struct VertexSet {
    private var words: [UInt64]

    init(count: Int) { words = [UInt64](repeating: 0, count: (count + 63) / 64) }

    func contains(_ vertex: Int) -> Bool { words[vertex / 64] & (1 << UInt64(vertex % 64)) != 0 }

    /// Whether it was not in it before.
    mutating func insert(_ vertex: Int) -> Bool {
        guard !contains(vertex) else { return false }
        words[vertex / 64] |= 1 << UInt64(vertex % 64)
        return true
    }
}
