/// One of a step's or group's outputs, or of a run's parameters, as the log shows it.
package struct LoggedValue: Sendable, Hashable {
    package let name: String
    /// The value as JSON, secrets masked.
    package let json: String

    package init(name: String, json: String) {
        self.name = name
        self.json = json
    }
}
