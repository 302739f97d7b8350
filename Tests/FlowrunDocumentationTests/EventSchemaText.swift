import Basics
import RunLog

/// The schema of the log, made of the declarations of its events.
enum EventSchemaText {
    private static let title = "flowrun event"
    private static let summary =
        "One line of flowrun's JSON Lines log (`flowrun --log json`, `--log-file`). A record has every field of its event; a field that does not apply is null. Readers skip events and fields they do not know: later versions of flowrun may add some within format 1."

    /// The whole document.
    static var text: String {
        var json = JSONWriter()
        json.object { json in
            json.field("$schema", "http://json-schema.org/draft-07/schema#")
            json.field("$id", "urn:flowrun:schema:event:1")
            json.field("title", title)
            json.field("description", summary)
            json.field("type", "object")
            json.field("required", ["v", "seq", "time", "t", "event"])
            json.object("properties") { json in
                json.object("event") { json in
                    json.field("type", "string")
                    json.field("description", "what happened; decides which fields follow")
                }
            }
            json.array("allOf") { json in
                for kind in RunEvent.Kind.blanks { json.object { rule(for: "\(kind.word)", to: &$0) } }
            }
            json.object("definitions") { json in
                var records: [any RecordFields.Type] = []
                for kind in RunEvent.Kind.blanks {
                    var event = RunEvent(sequence: 0, wallClock: 0, elapsed: .zero, kind: kind)
                    json.key("\(kind.word)")
                    records += define(&event, "\(kind.meaning)", event: "\(kind.word)", to: &json)
                }
                var known: Set<String> = []
                while let type = records.popLast() {
                    if known.insert(name(of: type)).inserted { records += define(type, to: &json) }
                }
            }
        }
        return pretty(json.text) + "\n"
    }

    private static func rule(for event: String, to json: inout JSONWriter) {
        json.object("if") { json in
            json.field("required", ["event"])
            json.object("properties") { $0.object("event") { $0.field("const", event) } }
        }
        json.object("then") { $0.field("$ref", "#/definitions/\(event)") }
    }

    fileprivate static func name(of type: any RecordFields.Type) -> String { "\(type)".lowercased() }

    private static func define<Record: RecordFields>(
        _ type: Record.Type, to json: inout JSONWriter
    ) -> [any RecordFields.Type] {
        var record = Record()
        json.key(name(of: type))
        return define(&record, nil, event: nil, to: &json)
    }

    /// Returns the records that stand inside this one.
    private static func define<Record: RecordFields>(
        _ record: inout Record, _ meaning: String?, event: String?, to json: inout JSONWriter
    ) -> [any RecordFields.Type] {
        var records: [any RecordFields.Type] = []
        json.object { json in
            json.field("type", "object")
            if let meaning { json.field("description", meaning) }
            json.field("additionalProperties", false)
            var fields = SchemaFields(event: event)
            record.fields(&fields)
            json.field("required", fields.required)
            json.key("properties")
            json.value(json: "{\(fields.properties.text)}")
            records = fields.records
        }
        return records
    }

    /// The same on lines of two spaces a level.
    private static func pretty(_ json: String) -> String {
        var (text, depth, isInString, isEscaped) = ("", 0, false, false)
        func newline() { text += "\n" + String(repeating: "  ", count: depth) }
        for character in json {
            if isInString || character == "\"" {
                text.append(character)
                if character == "\"", !isEscaped { isInString.toggle() }
                isEscaped = character == "\\" && !isEscaped
                continue
            }
            switch character {
            case "{", "[":
                text.append(character)
                depth += 1
                newline()
            case "}", "]":
                depth -= 1
                newline()
                text.append(character)
            case ",":
                text.append(character)
                newline()
            case ":": text += ": "
            default: text.append(character)
            }
        }
        return text
    }
}

/// Collects the fields of one record, as members of `properties`.
private struct SchemaFields: RecordVisitor, ~Copyable {
    static var isReader: Bool { false }

    let event: String?
    var properties = JSONWriter()
    var required: [String] = []
    /// Records inside it.
    var records: [any RecordFields.Type] = []

    init(event: String?) { self.event = event }

    mutating func field<Value: RecordValue>(_ name: StaticString, _ value: inout Value, _ rule: FieldRule) {
        property(name, Value.shape, rule)
        required.append("\(name)")
    }

    mutating func optional<Value: RecordValue>(_ name: StaticString, _ value: inout Value?, _ rule: FieldRule) {
        property(name, Value.shape, rule)
    }

    mutating func kept<Value: RecordValue>(_ name: StaticString, _ value: inout Value?) {}

    mutating func text(_ name: StaticString, _ bytes: inout UnsafeRawBufferPointer, _ meaning: StaticString) {
        var text = ""
        field(name, &text, FieldRule(meaning))
    }

    func fail() {}

    private mutating func property(_ name: StaticString, _ shape: RecordShape, _ rule: FieldRule) {
        var records: [any RecordFields.Type] = []
        properties.object(name) { json in
            if let event, "\(name)" == "event" { return json.field("const", event) }
            if case .constant(let number) = shape { json.field("const", number) }
            json.field("description", "\(rule.meaning)")
            if case .orNull(let shape) = shape {
                Self.type(shape, orNull: true, rule, &records, to: &json)
            } else {
                Self.type(shape, orNull: false, rule, &records, to: &json)
            }
        }
        self.records += records
    }

    private static func type(
        _ shape: RecordShape, orNull: Bool, _ rule: FieldRule, _ records: inout [any RecordFields.Type],
        to json: inout JSONWriter
    ) {
        func type(_ word: String, to json: inout JSONWriter) {
            if orNull { json.field("type", [word, "null"]) } else { json.field("type", word) }
        }
        switch shape {
        case .constant, .orNull: break
        case .integer, .number:
            if case .integer = shape { type("integer", to: &json) } else { type("number", to: &json) }
            json.field("minimum", rule.least)
        case .string:
            type("string", to: &json)
            if let pattern = rule.pattern { json.field("pattern", "\(pattern)") }
        case .boolean: type("boolean", to: &json)
        case .words(let words) where words.allSatisfy { $0.meaning == nil }: json.field("enum", words.map(\.word))
        case .words(let words):
            json.array("oneOf") { json in
                for word in words {
                    json.object { json in
                        json.field("const", word.word)
                        json.field("description", word.meaning)
                    }
                }
            }
        case .list(.record(let record)):
            type("array", to: &json)
            json.object("items") { $0.field("$ref", "#/definitions/\(EventSchemaText.name(of: record))") }
            records.append(record)
        case .list:
            type("array", to: &json)
            json.object("items") { $0.field("type", "string") }
        case .map: type("object", to: &json)
        case .numbers(let names):
            type("object", to: &json)
            json.field("additionalProperties", false)
            json.field("required", names)
            json.object("properties") { json in
                for name in names {
                    json.key(name)
                    json.object { json in
                        json.field("type", "integer")
                        json.field("minimum", 0)
                    }
                }
            }
        case .record(let record):
            json.array("oneOf") { json in
                if orNull { json.object { $0.field("type", "null") } }
                json.object { $0.field("$ref", "#/definitions/\(EventSchemaText.name(of: record))") }
            }
            records.append(record)
        }
    }
}
