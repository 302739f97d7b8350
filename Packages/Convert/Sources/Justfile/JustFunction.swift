/// The functions of just that depend only on their arguments.
enum JustFunction {
    static func value(of name: String, _ arguments: [String]) -> String? {
        let text = arguments[0]
        let slash = text.lastIndex(of: "/")
        let file = slash.map { String(text[text.index(after: $0)...]) } ?? text
        let dot = file.dropFirst().lastIndex(of: ".")
        switch name {
        case "uppercase": return text.uppercased()
        case "lowercase": return text.lowercased()
        case "capitalize": return text.prefix(1).uppercased() + text.dropFirst().lowercased()
        case "trim": return text.trimmed
        case "trim_start": return String(text.drop(while: \.isWhitespace))
        case "trim_end": return String(text.reversed().drop(while: \.isWhitespace).reversed())
        case "trim_start_match": return text.hasPrefix(arguments[1]) ? String(text.dropFirst(arguments[1].count)) : text
        case "trim_end_match": return text.hasSuffix(arguments[1]) ? String(text.dropLast(arguments[1].count)) : text
        case "quote": return "'\(text.replacing("'", with: "'\\''"))'"
        case "replace": return arguments[1].isEmpty ? nil : text.replacing(arguments[1], with: arguments[2])
        case "join":
            return arguments.contains { $0.hasPrefix("/") || $0.isEmpty } ? nil : arguments.joined(separator: "/")
        case "append": return arguments[1].words.map { $0 + text }.joined(separator: " ")
        case "prepend": return arguments[1].words.map { text + $0 }.joined(separator: " ")
        case "file_name": return file.isEmpty ? nil : file
        case "file_stem": return file.isEmpty ? nil : dot.map { String(file[..<$0]) } ?? file
        case "extension": return dot.map { String(file[file.index(after: $0)...]) }
        case "without_extension":
            guard !file.isEmpty else { return nil }
            return text.prefix(text.count - file.count) + (dot.map { String(file[..<$0]) } ?? file)
        case "parent_directory", "parent_dir": return slash.map { String(text[..<$0]) } ?? ""
        case "clean": return clean(text)
        default: return nil
        }
    }

    /// A path without `.`, `..` and slashes that do not matter, as far as its text tells.
    static func clean(_ path: String) -> String {
        let isAbsolute = path.hasPrefix("/")
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part != ".." {
                parts.append(part)
            } else if let last = parts.last, last != ".." {
                parts.removeLast()
            } else if !isAbsolute {
                parts.append(part)
            }
        }
        let text = parts.joined(separator: "/")
        return isAbsolute ? "/\(text)" : text.isEmpty ? "." : text
    }

    /// The path from the root; nil if it needs to know more than the folder of the file.
    static func absolute(_ path: String) -> JustValue? {
        let path = clean(path)
        if path.hasPrefix("/") { return JustValue(parts: [.text(path)]) }
        if path == "." { return JustValue(parts: [.folder]) }
        return path.hasPrefix("..") ? nil : JustValue(parts: [.folder, .text("/\(path)")])
    }
}
