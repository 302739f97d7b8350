extension Plan {
    /// The rows of a longest chain of steps, each waiting for the one before, when every step takes equally long; of
    /// several, the one whose steps come first in the file, from the last step backwards. Empty for a plan without steps.
    package func criticalPath() -> [Int] {
        let lengths = PathLengths(nodes, edges) { _ in 1 }
        var left = lengths.beforeEnd[0]
        guard var step = step(in: 0, endingAt: left, lengths) else { return [] }
        var path = [step]
        while left > 1 {
            left -= 1
            guard let before = lastStep(before: step, endingAt: left, lengths) else { break }
            path.append(before)
            step = before
        }
        return path.reversed()
    }

    /// The sum of lengths along the longest chain of steps. O(rows + edges).
    package func longestPath(length: (Int) -> Int) -> Int {
        PathLengths(nodes, edges, length: length).beforeEnd[0]
    }

    /// The first step in a subtree up to whose end the longest path is exactly so long.
    private func step(in row: Int, endingAt length: Int, _ lengths: PathLengths) -> Int? {
        (row..<Int(nodes[row].subtreeEnd)).first { nodes[$0].role == .step && lengths.beforeEnd[$0] == length }
    }

    /// A step that ends at the length given, and that the start of the row waits for: by an edge of its own or of a group
    /// around it, directly or through groups without steps.
    private func lastStep(before row: Int, endingAt length: Int, _ lengths: PathLengths) -> Int? {
        var seen: Set<Int> = [row]
        var worklist = [row]
        while let waiting = worklist.popLast() {
            for target in prerequisites(of: waiting) where lengths.beforeEnd[target] == length {
                if let step = step(in: target, endingAt: length, lengths) { return step }
                if seen.insert(target).inserted { worklist.append(target) }
            }
            let parent = Int(nodes[waiting].parent)
            if lengths.beforeStart[parent] == length, seen.insert(parent).inserted { worklist.append(parent) }
        }
        return nil
    }

    /// What a row waits for itself: its needs, or as a hook everything before it in its group.
    private func prerequisites(of row: Int) -> [Int] {
        guard nodes[row].hook != nil else { return edges(of: row).map { Int($0.target) } }
        return members(of: Int(nodes[row].parent)).filter { $0 < row }
    }
}
