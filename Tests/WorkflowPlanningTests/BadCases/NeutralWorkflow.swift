import FlowrunTestSupport

/// Writes a document of the bad cases, which use neutral words and a list of steps, as a workflow file, and remembers
/// where each JSON pointer of the document came to stand.
///
/// JSON is YAML, so scalars are written as JSON has them. The neutral words are those of the corpus: a `group` holds
/// `items`, `matrix`, `exclude`, `max_parallel` or `steps`; timeouts are seconds; `workers` bounds the whole run.
struct NeutralWorkflow {
    private(set) var text = "version: 1\n"
    /// From the start of the key to the end of the value, in bytes.
    private(set) var places: [String: Range<Int>] = [:]

    init(_ document: [String: JSONValue]) {
        for (word, value) in document.sorted(by: { $0.key < $1.key }) {
            switch word {
            case "steps": writeSteps(value, at: "/steps", indent: 0)
            case "workers": write("max-parallel", value, at: "/workers", indent: 0)
            default: write(word, value, at: "/\(word)", indent: 0)
            }
        }
        places[""] = 0..<text.utf8.count
    }

    private mutating func writeSteps(_ value: JSONValue, at pointer: String, indent: Int) {
        let start = text.utf8.count
        line("steps:", indent)
        if case .array(let steps) = value {
            if steps.isEmpty { replaceLineEnd(" {}") }
            for (index, step) in steps.enumerated() { writeStep(step, at: "\(pointer)/\(index)", indent + 2, index) }
        } else {
            replaceLineEnd(" " + value.json)
        }
        places[pointer] = start..<text.utf8.count
    }

    private mutating func writeStep(_ value: JSONValue, at pointer: String, _ indent: Int, _ index: Int) {
        let start = text.utf8.count
        guard case .object(var step) = value else {
            line("step\(index): \(value.json)", indent)
            places[pointer] = start..<text.utf8.count
            return
        }
        let id = step.removeValue(forKey: "id") ?? .string("step\(index)")
        line("\(id.json):", indent)
        places[pointer + "/id"] = start..<text.utf8.count
        if step.isEmpty { replaceLineEnd(" {}") }
        for (word, value) in step.sorted(by: { $0.key < $1.key }) {
            switch word {
            case "group": writeGroup(value, at: pointer + "/group", indent: indent + 2)
            case "timeout": write(word, value.inSeconds, at: pointer + "/timeout", indent: indent + 2)
            default: write(word, value, at: "\(pointer)/\(word)", indent: indent + 2)
            }
        }
        places[pointer] = start..<text.utf8.count
    }

    private mutating func writeGroup(_ value: JSONValue, at pointer: String, indent: Int) {
        guard case .object(var group) = value else { return }
        let start = text.utf8.count
        if case .object(var matrix) = group["matrix"] ?? .null {
            if let exclude = group.removeValue(forKey: "exclude") { matrix["exclude"] = exclude }
            write("matrix", .object(matrix), at: pointer + "/matrix", indent: indent)
            for (place, range) in places where place.hasPrefix(pointer + "/matrix/exclude") {
                places[pointer + place.dropFirst(pointer.count + "/matrix".count)] = range
            }
        }
        if let items = group["items"] { write("for-each", items, at: pointer + "/items", indent: indent) }
        if let count = group["max_parallel"] {
            write("max-parallel", count, at: pointer + "/max_parallel", indent: indent)
        }
        if let steps = group["steps"] { writeSteps(steps, at: pointer + "/steps", indent: indent) }
        places[pointer] = start..<text.utf8.count
    }

    /// An entry of a block mapping, its value in flow style.
    private mutating func write(_ key: String, _ value: JSONValue, at pointer: String, indent: Int) {
        let start = text.utf8.count
        text += String(repeating: " ", count: indent) + key + ": "
        writeFlow(value, at: pointer)
        text += "\n"
        places[pointer] = start + indent..<text.utf8.count - 1
    }

    private mutating func writeFlow(_ value: JSONValue, at pointer: String) {
        let start = text.utf8.count
        switch value {
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                text += index == 0 ? "" : ", "
                writeFlow(element, at: "\(pointer)/\(index)")
            }
            text += "]"
        case .object(let entries):
            text += "{ "
            for (index, entry) in entries.sorted(by: { $0.key > $1.key }).enumerated() {
                text += index == 0 ? "" : ", "
                let start = text.utf8.count
                text += JSONValue.string(entry.key).json + ": "
                writeFlow(entry.value, at: "\(pointer)/\(entry.key)")
                places["\(pointer)/\(entry.key)"] = start..<text.utf8.count
            }
            text += " }"
        default:
            text += value.json
        }
        if places[pointer] == nil { places[pointer] = start..<text.utf8.count }
    }

    private mutating func line(_ text: String, _ indent: Int) {
        self.text += String(repeating: " ", count: indent) + text + "\n"
    }

    private mutating func replaceLineEnd(_ end: String) {
        text.removeLast()
        text += end + "\n"
    }
}

extension JSONValue {
    /// A scalar as JSON; collections are written by `NeutralWorkflow`.
    fileprivate var json: String {
        switch self {
        case .bool(let value): String(value)
        case .number(let value): int.map { String($0) } ?? String(value)
        case .string(let text): "\"" + text.unicodeScalars.map(\.inJSON).joined() + "\""
        default: "null"
        }
    }

    /// A number of seconds as flowrun writes it: with a unit, and without a fraction.
    fileprivate var inSeconds: JSONValue {
        guard let seconds = double else { return self }
        let milliseconds = Int(seconds * 1000)
        return .string(milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms")
    }
}

extension Unicode.Scalar {
    fileprivate var inJSON: String {
        switch self {
        case "\"", "\\": "\\\(self)"
        case "\n": "\\n"
        default: String(self)
        }
    }
}
