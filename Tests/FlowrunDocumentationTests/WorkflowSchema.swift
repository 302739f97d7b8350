import FlowrunTestSupport
import Foundation

/// The JSON schema of workflow files.
struct WorkflowSchema {
    let root: JSONValue

    init() throws {
        let text = try PackageDocument("schema/flowrun.schema.json").text
        root = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    func definition(_ name: String) -> JSONValue? { root["definitions"]?[name] }

    /// Every property at any depth, with the path to it.
    var properties: [(path: String, schema: JSONValue)] {
        var found: [(String, JSONValue)] = []
        func visit(_ value: JSONValue, _ path: String) {
            for (key, child) in value.object ?? [:] {
                if key == "properties" {
                    found += (child.object ?? [:]).map { ("\(path)/\($0.key)", $0.value) }
                }
                visit(child, "\(path)/\(key)")
            }
            for child in value.array ?? [] { visit(child, path) }
        }
        visit(root, "")
        return found
    }
}
