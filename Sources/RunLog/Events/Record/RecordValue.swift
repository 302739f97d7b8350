package import Basics

/// A type that a field of a record can have.
package protocol RecordValue {
    /// The type in the schema.
    static var shape: RecordShape { get }

    /// Returns nil if the record has no such field, or one of another type.
    init?(_ record: JSONObject, _ name: StaticString)

    /// The value that a journal leaves out: null, 0, false, or an empty list or map; nil for a type without one.
    static var blank: Self? { get }
    var isBlank: Bool { get }

    /// False if a journal has more of a value than the log, inside of it.
    static var isAlike: Bool { get }

    func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool)
}

extension RecordValue {
    package static var blank: Self? { nil }
    package var isBlank: Bool { false }
    package static var isAlike: Bool { true }
}

extension RecordValue where Self: Equatable {
    package var isBlank: Bool { self == Self.blank }
}

/// The type of a field, as in JSON Schema.
package indirect enum RecordShape {
    case integer, number, string, boolean
    case constant(Int)
    /// One of these words, each with its meaning if it is not obvious.
    case words([(word: String, meaning: String?)])
    case list(RecordShape)
    /// An object whose names are not known in advance.
    case map
    /// An object with its own fields.
    case record(any RecordFields.Type)
    /// An object with a number for each of these names.
    case numbers([String])
    case orNull(RecordShape)
}

extension Int: RecordValue {
    package static var shape: RecordShape { .integer }
    package init?(_ record: JSONObject, _ name: StaticString) {
        guard let value = record.int(name) else { return nil }
        self = value
    }
    package static var blank: Self? { 0 }
    package func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool) { json.field(name, self) }
}

extension Int32: RecordValue {
    package static var shape: RecordShape { .integer }
    package init?(_ record: JSONObject, _ name: StaticString) {
        guard let value = record.int(name) else { return nil }
        self.init(truncatingIfNeeded: value)
    }
    package static var blank: Self? { 0 }
    package func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool) { json.field(name, Int(self)) }
}

extension Bool: RecordValue {
    package static var shape: RecordShape { .boolean }
    package init?(_ record: JSONObject, _ name: StaticString) {
        guard let value = record.bool(name) else { return nil }
        self = value
    }
    package static var blank: Self? { false }
    package func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool) { json.field(name, self) }
}

extension String: RecordValue {
    package static var shape: RecordShape { .string }
    package init?(_ record: JSONObject, _ name: StaticString) {
        guard let value = record.string(name) else { return nil }
        self = value
    }
    package func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool) { json.field(name, self) }
}

/// Written as seconds.
extension Duration: RecordValue {
    package static var shape: RecordShape { .number }
    package init?(_ record: JSONObject, _ name: StaticString) {
        guard let value = record.duration(name) else { return nil }
        self = value
    }
    package static var blank: Self? { .zero }
    package func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool) { json.field(name, self) }
}

/// A missing field and one of another type read as nil.
extension Optional: RecordValue where Wrapped: RecordValue {
    package static var shape: RecordShape { .orNull(Wrapped.shape) }
    package init?(_ record: JSONObject, _ name: StaticString) { self = Wrapped(record, name) }
    package static var blank: Self? { .some(.none) }
    package var isBlank: Bool { if case .none = self { true } else { false } }
    package static var isAlike: Bool { Wrapped.isAlike }
    package func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool) {
        if case .some(let value) = self { value.write(name, to: &json, isJournal: isJournal) } else { json.null(name) }
    }
}

/// One word of a fixed list.
package protocol RecordWord: RecordValue, RawRepresentable<String>, CaseIterable {
    /// The meaning in the schema; nil if the word is clear enough.
    var meaning: String? { get }
}

extension RecordWord {
    package var meaning: String? { nil }
    package static var shape: RecordShape { .words(allCases.map { ($0.rawValue, $0.meaning) }) }
    package init?(_ record: JSONObject, _ name: StaticString) {
        guard let value = record.string(name).flatMap(Self.init(rawValue:)) else { return nil }
        self = value
    }
    package func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool) { json.field(name, rawValue) }
}

/// A nested object of a record.
extension RecordFields where Self: RecordValue {
    package static var shape: RecordShape { .record(Self.self) }
    package init?(_ record: JSONObject, _ name: StaticString) {
        guard let value = record.object(name).flatMap({ Self($0) }) else { return nil }
        self = value
    }
    package static var isAlike: Bool { false }
    package func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool) {
        json.object(name) { $0.fields(of: self, isJournal: isJournal) }
    }
}

/// A type that the elements of a list or a map can have.
package protocol RecordElement {
    static var listShape: RecordShape { get }
    static func list(_ record: JSONObject, _ name: StaticString) -> [Self]?
    /// As in `RecordValue`.
    static var isAlike: Bool { get }
    static func write(_ list: [Self], _ name: StaticString, to json: inout JSONWriter, isJournal: Bool)
}

extension RecordElement {
    package static var isAlike: Bool { true }
}

extension Array: RecordValue where Element: RecordElement {
    package static var shape: RecordShape { Element.listShape }
    package init?(_ record: JSONObject, _ name: StaticString) {
        guard let value = Element.list(record, name) else { return nil }
        self = value
    }
    package static var blank: Self? { [] }
    package var isBlank: Bool { isEmpty }
    package static var isAlike: Bool { Element.isAlike }
    package func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool) {
        Element.write(self, name, to: &json, isJournal: isJournal)
    }
}

extension String: RecordElement {
    package static var isAlike: Bool { true }
    package static var listShape: RecordShape { .list(.string) }
    package static func list(_ record: JSONObject, _ name: StaticString) -> [String]? { record.strings(name) }
    package static func write(_ list: [String], _ name: StaticString, to json: inout JSONWriter, isJournal: Bool) {
        json.field(name, list)
    }
}

extension RecordElement where Self: RecordFields {
    package static var isAlike: Bool { false }
    package static var listShape: RecordShape { .list(.record(Self.self)) }
    package static func list(_ record: JSONObject, _ name: StaticString) -> [Self]? {
        let records = record.objects(name)
        let list = records.compactMap { Self($0) }
        return list.count == records.count ? list : nil
    }
    package static func write(_ list: [Self], _ name: StaticString, to json: inout JSONWriter, isJournal: Bool) {
        json.array(name) { json in
            for element in list { json.object { $0.fields(of: element, isJournal: isJournal) } }
        }
    }
}

/// The version of the format, the first field of each record.
struct RecordVersion: RecordValue {
    static let current = 1

    package static var shape: RecordShape { .constant(current) }

    init() {}

    /// Returns nil for any other version.
    package init?(_ record: JSONObject, _ name: StaticString) { if record.int(name) != Self.current { return nil } }

    package func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool) {
        json.field(name, Self.current)
    }
}

/// A time of the wall clock, in microseconds since 1970.
struct RecordTime: RecordValue {
    let microseconds: Int64

    package static var shape: RecordShape { .string }

    init(microseconds: Int64) { self.microseconds = microseconds }

    package init?(_ record: JSONObject, _ name: StaticString) {
        guard let time = record.string(name).flatMap(Timestamp.microseconds) else { return nil }
        microseconds = time
    }

    package func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool) {
        json.timestamp(name, microseconds: microseconds)
    }
}

/// A word that is known before the record is read.
struct RecordLiteral: RecordValue {
    private let word: StaticString

    package static var shape: RecordShape { .string }

    init(_ word: StaticString) { self.word = word }

    package init?(_ record: JSONObject, _ name: StaticString) { word = "" }

    package func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool) {
        json.field(name, literal: word)
    }
}

/// A list of bytes is written as a text, with ill-formed UTF-8 replaced.
extension UInt8: RecordElement {
    package static var listShape: RecordShape { .string }
    package static func list(_ record: JSONObject, _ name: StaticString) -> [UInt8]? {
        record.string(name).map { Array($0.utf8) }
    }
    package static func write(_ list: [UInt8], _ name: StaticString, to json: inout JSONWriter, isJournal: Bool) {
        json.field(name, repairing: list)
    }
}
