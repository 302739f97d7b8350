import FlowrunTestSupport
import Foundation

/// The JSON schema of the records of a log.
struct EventSchema {
    let root: JSONValue

    /// What every record has.
    static let shared: Set<String> = ["v", "seq", "time", "t", "event"]

    init() throws {
        let text = try PackageDocument("schema/flowrun-event.schema.json").text
        root = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    func definition(_ name: String) -> JSONValue? { root["definitions"]?[name] }

    /// The fields of a record, a cause or a failure.
    func fields(of name: String) -> Set<String> {
        Set(definition(name)?["properties"]?.object.map { Array($0.keys) } ?? [])
    }

    /// The events for which the schema has a definition that it applies.
    var events: [String] {
        (root["allOf"]?.array ?? []).compactMap { rule in
            let event = rule["if"]?["properties"]?["event"]?["const"]?.string
            return rule["then"]?["$ref"]?.string == event.map { "#/definitions/\($0)" } ? event : nil
        }
    }
}
