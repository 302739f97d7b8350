/// What an expression comes to. No type turns into another by itself.
package enum Value: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int)
    /// Only out of JSON; the file has no way to write one.
    case decimal(Double)
    case string(String)
    case list([Value])
    /// In the order in which the fields were written.
    case object([Field])

    package struct Field: Sendable, Hashable {
        package let name: String
        package let value: Value

        package init(name: String, value: Value) {
            self.name = name
            self.value = value
        }
    }
}
