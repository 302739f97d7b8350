/// A shell script that is put together from text and from references in place of another tool's templates.
///
/// Tracks the quotes, so that the shell reads a reference wherever the template was.
struct ShellText {
    private(set) var text = ""
    /// The reason why the shell would not read a reference in its place; nil if there is none.
    private(set) var problem: String?
    private var nesting = [Nesting()]
    private var previous: Character = "\n"
    /// A variable whose spelling depends on the next character.
    private var open: String?
    private var hereDocuments: [HereDocument] = []
    private var line = ""
    /// True if the quotes around a reference were closed and have to be opened again.
    private var isOutside = false

    private enum Quote { case none, single, double, comment, hereDocument }

    private struct Nesting {
        var quote = Quote.none
        var isEscaped = false
        /// Open round brackets, apart from that of `$(`.
        var brackets = 0
    }

    private struct HereDocument {
        let word: String
        let isQuoted: Bool
        let isIndented: Bool
    }

    private var quote: Quote { nesting[nesting.count - 1].quote }

    mutating func append(_ literal: some StringProtocol) {
        for character in literal {
            close(before: character)
            if isOutside {
                isOutside = false
                if character == "'" {
                    nesting[nesting.count - 1].quote = .none
                    line.append(character)
                    previous = character
                    continue
                }
                text += "'"
            }
            text.append(character)
            follow(character)
            previous = character
        }
    }

    /// Appends the value of a variable.
    mutating func append(variable name: String) {
        switch quote {
        case .single: insert("$\(name)")
        default:
            close(before: nil)
            if isUnread { return insert("") }
            open = name
            previous = "x"
        }
    }

    /// Appends `${…}`, given without its braces.
    mutating func append(expansion: String) { insert("${\(expansion)}") }

    /// Appends the output of a command.
    mutating func append(output command: String) { insert("$(\(command))") }

    /// Appends all arguments of the script, each a word of its own if it is outside of quotes.
    mutating func appendArguments() { insert(quote == .none ? "\"$@\"" : "$*") }

    /// Returns the whole script.
    mutating func finish() -> String {
        close(before: nil)
        if isOutside { text += "'" }
        return text
    }

    private var isUnread: Bool { quote == .hereDocument && hereDocuments.first?.isQuoted == true }

    private mutating func insert(_ reference: String) {
        close(before: nil)
        if isUnread { problem = "a here-document in quotes has no references" }
        if quote == .single {
            // Quotes that have only just been opened are not needed.
            if !isOutside, previous == "'" { text.removeLast() } else if !isOutside { text += "'" }
            text += "\"\(reference)\""
            isOutside = true
        } else {
            text += reference
        }
        previous = "x"
    }

    private mutating func close(before character: Character?) {
        guard let name = open else { return }
        open = nil
        text += character?.isVariableCharacter ?? false ? "${\(name)}" : "$\(name)"
    }

    private mutating func follow(_ character: Character) {
        let top = nesting.count - 1
        if character == "\n" { return endLine() }
        line.append(character)
        if nesting[top].isEscaped {
            nesting[top].isEscaped = false
            return
        }
        switch (nesting[top].quote, character) {
        case (.none, "\\"), (.double, "\\"): nesting[top].isEscaped = true
        case (.none, "'"): nesting[top].quote = .single
        case (.none, "\""): nesting[top].quote = .double
        case (.single, "'"), (.double, "\""): nesting[top].quote = .none
        case (.none, "#") where previous.isWhitespace || previous == ";": nesting[top].quote = .comment
        case (.none, "("), (.double, "("):
            if previous == "$" { nesting.append(Nesting()) } else if quote == .none { nesting[top].brackets += 1 }
        case (.none, ")"):
            if nesting[top].brackets > 0 { nesting[top].brackets -= 1 } else if top > 0 { nesting.removeLast() }
        default: break
        }
    }

    private mutating func endLine() {
        defer { line = "" }
        let top = nesting.count - 1
        nesting[top].isEscaped = false
        switch nesting[top].quote {
        case .comment: nesting[top].quote = .none
        case .hereDocument:
            guard let document = hereDocuments.first else { return }
            let text = document.isIndented ? String(line.drop { $0 == "\t" }) : line
            guard text == document.word else { return }
            hereDocuments.removeFirst()
            if hereDocuments.isEmpty { nesting[top].quote = .none }
            return
        default: break
        }
        guard nesting[top].quote == .none else { return }
        hereDocuments = Self.hereDocuments(in: line)
        if !hereDocuments.isEmpty { nesting[top].quote = .hereDocument }
    }

    private static func hereDocuments(in line: String) -> [HereDocument] {
        var result: [HereDocument] = []
        var rest = line[...]
        while let range = rest.firstRange(of: "<<") {
            rest = rest[range.upperBound...]
            // `<<<` takes a word, not lines.
            if rest.first == "<" {
                rest = rest.drop { $0 == "<" }
                continue
            }
            let isIndented = rest.first == "-"
            let word = rest.drop { $0 == "-" || $0 == " " }.prefix { !$0.isWhitespace && !";&|)".contains($0) }
            let name = word.filter { $0 != "'" && $0 != "\"" && $0 != "\\" }
            guard let first = name.first, first.isLetter || first == "_" else { continue }
            result.append(HereDocument(word: name, isQuoted: name.count != word.count, isIndented: isIndented))
        }
        return result
    }
}
