internal import Basics

/// The values of a copy whose id has only a number for them.
package enum InstanceValues {
    /// The longest that is shown, in characters.
    private static let lengthLimit = 64

    /// What stands behind the id of a copy, or of what is in one; nil where the id says the values itself. `item` are
    /// the values, with commas between them.
    package static func words(_ id: String, item: String?) -> String? {
        guard let item, let open = id.lastIndex(of: "["), let close = id[open...].firstIndex(of: "]") else {
            return nil
        }
        let key = id[id.index(after: open)..<close]
        guard !key.isEmpty, key.utf8.allSatisfy({ $0 &- 0x30 < 10 }), key != item[...] else { return nil }
        let shown = item.visible
        return shown.count > lengthLimit ? "\(shown.prefix(lengthLimit))…" : shown
    }

    /// The id and, behind it, what stands there.
    package static func title(_ id: String, item: String?) -> String {
        words(id, item: item).map { "\(id) (\($0))" } ?? id
    }
}
