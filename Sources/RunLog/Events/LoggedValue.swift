package import Basics

/// One of a step's or group's outputs, or of a run's parameters, as the log shows it.
package struct LoggedValue: RecordElement, Sendable, Hashable {
    package let name: String
    /// The value as JSON, secrets masked.
    package let json: String

    package init(name: String, json: String) {
        self.name = name
        self.json = json
    }

    package static var listShape: RecordShape { .map }

    package static func list(_ record: JSONObject, _ name: StaticString) -> [LoggedValue]? {
        record.object(name)?.members.map { LoggedValue(name: $0.name, json: $0.json) }
    }

    package static func write(
        _ list: [LoggedValue], _ name: StaticString, to json: inout JSONWriter, isJournal: Bool
    ) {
        json.object(name) { json in
            for value in list {
                json.key(value.name)
                json.value(json: value.json)
            }
        }
    }
}
