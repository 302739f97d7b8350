internal import Syntax

/// Reads the entries of one mapping by key, and collects the keys that are not words of the format. Never copied,
/// because each step has one.
struct MappingReader: ~Copyable {
    let node: YAMLNode
    /// The keys of the mapping that the format knows, although not necessarily at this place.
    private(set) var present = KeySet()
    /// Keys that are not words of the format, in file order.
    private(set) var unknownKeys: [Entry] = []
    /// The row of the key node of each key; valid only for those that are `present`. Memory of its own,
    /// because the compiler copies all of an inline array to read one element.
    private let rows: UnsafeMutablePointer<UInt32>

    private static let capacity = WorkflowKey.allCases.count

    struct Entry {
        let key: YAMLNode
        let value: YAMLNode
    }

    init(_ node: YAMLNode) {
        self.node = node
        rows = .allocate(capacity: Self.capacity)
        for (key, value) in node.entries {
            guard let known = WorkflowKey.named(key.bytes) else {
                unknownKeys.append(Entry(key: key, value: value))
                continue
            }
            present.insert(known)
            rows[Int(known.rawValue)] = UInt32(key.placeRow)
        }
    }

    /// Reads one entry of a mapping alone, as that of `key`.
    init(_ entry: Entry, as key: WorkflowKey, in node: YAMLNode) {
        self.node = node
        rows = .allocate(capacity: Self.capacity)
        adopt(entry, as: key)
    }

    deinit { rows.deallocate() }

    func has(_ key: WorkflowKey) -> Bool { present.contains(key) }

    /// Returns the entry of a key; nil if there is none.
    func take(_ key: WorkflowKey) -> Entry? {
        guard present.contains(key) else { return nil }
        return entry(key)
    }

    /// Drops the entries of keys that do not belong here.
    mutating func keepOnly(_ keys: KeySet) { present = present.intersection(keys) }

    /// Treats a misspelt or foreign entry as the key that it means, so that its value is still read.
    mutating func adopt(_ entry: Entry, as key: WorkflowKey) {
        guard !present.contains(key) else { return }
        present.insert(key)
        rows[Int(key.rawValue)] = UInt32(entry.key.placeRow)
    }

    func entry(_ key: WorkflowKey) -> Entry {
        let (key, value) = node.entry(atKeyRow: Int(rows[Int(key.rawValue)]))
        return Entry(key: key, value: value)
    }
}

extension MappingReader.Entry {
    /// The place of a finding about the value: the value, or the key if the value is missing.
    var place: YAMLNode { value.range.start == value.range.end ? key : value }
}

/// The entries of a mapping below a key, by word; misspelt and foreign ones under the word that they mean.
struct FieldReader {
    private var entries: [(word: String, entry: MappingReader.Entry)] = []

    func take(_ word: String) -> MappingReader.Entry? { entries.first { $0.word == word }?.entry }

    /// The first entry of a word counts.
    mutating func add(_ entry: MappingReader.Entry, as word: String) { entries.append((word, entry)) }
}
