/// A part of a justfile: one or more whole lines of it.
struct JustStatement {
    enum Content {
        case blank, comment
        case setting(name: String, value: String)
        case alias(name: String, of: String)
        case assignment(name: String, value: String, isExported: Bool)
        case recipe(JustRecipe)
        /// Another file; nil if its name is computed.
        case importing(String?, isOptional: Bool)
        case unexport(String)
        /// Recipes of another file, which are called by longer names.
        case module
        case other
    }

    let content: Content
    let origin: Excerpt
    /// The lines of the comment right above it.
    let comment: [String]
    /// The number of imports that lead to it.
    var depth = 0
}

struct JustRecipe {
    struct Parameter {
        let name: String
        /// As the file spells it; nil for one that has to be given.
        let defaultValue: String?
        /// `+` or `*` for one that takes all further arguments: at least one of them, or any number; nil for any
        /// other.
        let mark: Character?
        let isExported: Bool

        /// The parameter as it is in the file.
        var spelling: String {
            (mark.map(String.init) ?? "") + (isExported ? "$" : "") + name + (defaultValue.map { "=\($0)" } ?? "")
        }
    }

    struct Dependency: Hashable {
        let name: String
        /// As the file spells them.
        let arguments: String
    }

    let name: String
    let parameters: [Parameter]
    var needs: [Dependency] = []
    /// The recipes that run after it.
    var followers: [Dependency] = []
    /// The lines without their indentation, each with its continuations.
    var body: [String] = []
    /// The attributes in `[…]` above it.
    var attributes: [String] = []
}

extension JustRecipe {
    /// True for the name of a system that flowrun knows.
    static func isPlatform(_ name: String) -> Bool { ["linux", "macos", "windows", "freebsd"].contains(name) }

    /// True if its first line names the program that reads it.
    var hasInterpreter: Bool { body.first?.hasPrefix("#!") ?? false }

    /// False if its attributes name only other systems.
    var isForLinux: Bool {
        let systems = attributes.filter {
            ["linux", "macos", "windows", "unix", "freebsd", "openbsd", "netbsd", "dragonfly"].contains($0)
        }
        return systems.isEmpty || systems.contains("linux") || systems.contains("unix")
    }

    /// Reads the logical line that begins a recipe; nil if it does not begin one.
    init?(header text: String) {
        guard let colon = Self.outer(":", in: text[...]) else { return nil }
        var head = text[..<colon]
        if head.first == "@" { head = head.dropFirst() }
        let parts = JustReader.parts(of: head, between: " ")
        guard let name = parts.first, name.allSatisfy(\.isIDCharacter) else { return nil }
        var parameters: [Parameter] = []
        for word in parts.dropFirst() {
            guard let parameter = Parameter(word) else { return nil }
            parameters.append(parameter)
        }
        self.init(name: name, parameters: parameters)
        var tail = text[text.index(after: colon)...]
        if let comment = Self.outer("#", in: tail) { tail = tail[..<comment] }
        let sides = String(tail).cut(at: "&&")
        needs = Self.dependencies(sides?.before ?? String(tail))
        followers = Self.dependencies(sides?.after ?? "")
    }

    private static func dependencies(_ text: String) -> [Dependency] {
        JustReader.parts(of: text[...], between: " ").map { part in
            guard part.hasPrefix("("), part.hasSuffix(")") else { return Dependency(name: part, arguments: "") }
            let inner = part.dropFirst().dropLast().trimmed
            let name = inner.prefix { !$0.isWhitespace }
            return Dependency(name: String(name), arguments: inner.dropFirst(name.count).trimmed)
        }
    }

    /// The first such character outside of quotes and brackets; nil if there is none.
    private static func outer(_ wanted: Character, in text: Substring) -> String.Index? {
        JustReader.unquoted(text).first { $0.depth == 0 && $0.character == wanted }?.index
    }
}

extension JustRecipe.Parameter {
    fileprivate init?(_ word: String) {
        var rest = word[...]
        mark = rest.first.flatMap { $0 == "+" || $0 == "*" ? $0 : nil }
        if mark != nil { rest.removeFirst() }
        isExported = rest.first == "$"
        if isExported { rest.removeFirst() }
        name = String(rest.prefix { $0.isIDCharacter })
        rest = rest.dropFirst(name.count)
        guard !name.isEmpty, rest.isEmpty || rest.first == "=" else { return nil }
        defaultValue = rest.isEmpty ? nil : String(rest.dropFirst())
    }
}
