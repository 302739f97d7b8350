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

    /// Of records inside a group that may be tried again.
    static let round = "round"

    /// The fields of a record, a cause or a failure that it always has: `round` only where it is the record's own.
    func fields(of name: String) -> Set<String> {
        let definition = definition(name)
        let properties = Set((definition?["properties"]?.object ?? [:]).keys)
        let isItsOwn = definition?["required"]?.strings?.contains(Self.round) == true
        return isItsOwn ? properties : properties.subtracting([Self.round])
    }

    /// The events for which the schema has a definition that it applies.
    var events: [String] {
        (root["allOf"]?.array ?? []).compactMap { rule in
            let event = rule["if"]?["properties"]?["event"]?["const"]?.string
            return rule["then"]?["$ref"]?.string == event.map { "#/definitions/\($0)" } ? event : nil
        }
    }
}
