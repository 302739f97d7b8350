/// What happened last to steps and groups, each with all that is inside it, by their ids; a fan-out's id stands for all
/// its copies.
struct IDMarks {
    struct Mark: Sendable {
        /// As in `PastResults.Step`.
        let moment: Int
        /// The hook that did it; empty for a new round of a group.
        let hook: String
    }

    private var marks: [String: Mark] = [:]

    var isEmpty: Bool { marks.isEmpty }

    /// An empty id stands for the run.
    mutating func note(_ id: String, _ mark: Mark) {
        if let known = marks[id], known.moment > mark.moment { return }
        marks[id] = mark
    }

    /// The last mark of an id or of something around it. O(length of the id).
    func last(of id: String) -> Mark? {
        guard !marks.isEmpty else { return nil }
        var last = marks[""]
        func look(_ id: String) {
            if let mark = marks[id], mark.moment > last?.moment ?? -1 { last = mark }
        }
        // A dot inside of a label makes a name that nothing has.
        for index in id.utf8.indices where id.utf8[index] == UInt8(ascii: ".") || id.utf8[index] == UInt8(ascii: "[") {
            look(String(id[..<index]))
        }
        look(id)
        return last
    }
}
