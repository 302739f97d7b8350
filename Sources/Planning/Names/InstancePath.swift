/// A full id split into its parts: `build[x86_64].compile` is `build` with the key `x86_64`, then `compile`.
struct InstancePath {
    struct Part {
        let id: String
        /// The text in the brackets; nil if there are none.
        let key: String?

        var text: String { key.map { "\(id)[\($0)]" } ?? id }
    }

    let parts: [Part]

    init(parts: some Sequence<Part>) { self.parts = Array(parts) }

    var text: String { parts.map(\.text).joined(separator: ".") }

    /// Text that is not such a path gives parts that name nothing.
    init(_ text: String) {
        var parts: [Part] = []
        var rest = text[...]
        while true {
            let id = rest.prefix { $0 != "." && $0 != "[" }
            rest = rest[id.endIndex...]
            var key: Substring?
            // A key may hold dots, as in `test[3.9]`.
            if rest.first == "[", let close = rest.firstIndex(of: "]") {
                key = rest[rest.index(after: rest.startIndex)..<close]
                rest = rest[rest.index(after: close)...]
            }
            parts.append(Part(id: String(id), key: key.map(String.init)))
            guard rest.first == "." else { break }
            rest.removeFirst()
        }
        self.parts = rest.isEmpty ? parts : []
    }

    /// True if the path names a row with this full id; a part without a key matches all instances.
    func names(_ id: String) -> Bool { names(InstancePath(id).parts[...]) }

    func names(_ other: ArraySlice<Part>) -> Bool {
        other.count == parts.count
            && zip(parts, other).allSatisfy { $0.id == $1.id && ($0.key == nil || $0.key == $1.key) }
    }
}
