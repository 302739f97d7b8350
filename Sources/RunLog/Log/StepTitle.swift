internal import Basics

/// An event of a step that has its `name` and the values of its fan-out.
protocol TitledStep {
    var step: String { get }
    var name: String? { get }
    var item: String? { get }
}

extension TitledStep {
    var title: String { StepTitle.words(step, name: name, item: item) }
}

extension StepStarted: TitledStep {}
extension StepFinished: TitledStep {}
extension StepRestored: TitledStep {}

/// The title of a step as shown to users: its id, followed by the values that its number abbreviates and by its
/// `name`, if they say more.
enum StepTitle {
    static func words(_ id: String, name: String?, item: String? = nil) -> String {
        let name = name.flatMap { says($0, moreThan: id) ? $0 : nil }
        let parts = [InstanceValues.words(id, item: item), name].compactMap(\.self)
        return parts.isEmpty ? id : "\(id) (\(parts.joined(separator: ": ")))"
    }

    /// False for `Run tests` with the id `ci.run-tests`, or with that of one of its instances.
    private static func says(_ name: String, moreThan id: String) -> Bool {
        let outside = id.last == "]" ? id[..<(id.lastIndex(of: "[") ?? id.endIndex)] : id[...]
        let own = outside.lastIndex(of: ".").map { outside[outside.index(after: $0)...] } ?? outside
        return letters(name[...]) != letters(own)
    }

    private static func letters(_ text: Substring) -> String {
        String(text.lowercased().filter { $0.isLetter || $0.isNumber })
    }
}

/// The values of an instance whose id has only a number for them.
package enum InstanceValues {
    /// The most characters that are shown.
    private static let lengthLimit = 64

    /// Returns the text to show after the id of an instance, or of a node inside one; nil if the id has the values
    /// itself. `item` has the values, separated by commas.
    package static func words(_ id: String, item: String?) -> String? {
        guard let item, let open = id.lastIndex(of: "["), let close = id[open...].firstIndex(of: "]") else {
            return nil
        }
        let key = id[id.index(after: open)..<close]
        guard !key.isEmpty, key.utf8.allSatisfy({ $0 &- 0x30 < 10 }), key != item[...] else { return nil }
        let shown = item.visible
        return shown.count > lengthLimit ? "\(shown.prefix(lengthLimit))…" : shown
    }

    /// Returns the id, followed by the values if it does not have them.
    package static func title(_ id: String, item: String?) -> String {
        words(id, item: item).map { "\(id) (\($0))" } ?? id
    }
}
