/// A shell script that is put together from text and from references in place of another tool's templates.
///
/// Tracks the quotes, so that the shell reads a reference wherever the template was.
struct ShellText {
    private(set) var text = ""
    /// The reason why the shell would not read a reference in its place; nil if there is none.
    private(set) var problem: String?
    private var nesting = [Nesting()]
    private var previous: Character = "\n"
    /// A variable whose spelling depends on the next character, and its value if it is known.
    private var open: (name: String, value: String?)?
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
        /// The word so far, and true if it names the file of a redirection.
        var word = ""
        var isTarget = false
        /// True if the word may be the name of a command.
        var isFirst = true
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
    ///
    /// Where the shell would make something else of a known value than of its text in this place, appends the text.
    mutating func append(variable name: String, value: String? = nil) {
        close(before: nil)
        if let value, !readsAlike(value) { return append(value) }
        if quote == .single { return insert("$\(name)") }
        if isUnread { return insert("") }
        open = (name, value)
        previous = "x"
        nesting[nesting.count - 1].word += "x"
    }

    /// True if the shell makes the same of a value in a variable as of its text in this place.
    func readsAlike(_ value: String) -> Bool {
        let top = nesting[nesting.count - 1]
        if top.isEscaped { return false }
        switch quote {
        case .single: return !value.contains("'")
        case .double: return !value.contains { "\"\\$`".contains($0) }
        case .hereDocument: return !isUnread && !value.contains { "\\$`\n".contains($0) }
        case .comment: return false
        case .none: break
        }
        guard ShellWords.arePlain(value) else { return false }
        // Neither is split or expanded there; braces are expanded before variables.
        let isWhole = top.isTarget || ShellWords.isAssignment(top.word[...])
        if isWhole, value.contains(where: { " *?".contains($0) }) { return false }
        if top.word.contains("{"), value.contains(",") || value.contains("..") { return false }
        guard top.isFirst, top.word.isEmpty, let first = value.words.first else { return true }
        return !ShellWords.reserved.contains(first) && !ShellWords.isAssignment(first[...])
    }

    /// True if what comes next is the name of a command, outside of quotes.
    var isAtCommand: Bool {
        quote == .none && nesting[nesting.count - 1].isFirst && nesting[nesting.count - 1].word.isEmpty
            && !nesting[nesting.count - 1].isTarget
    }

    /// True if a command so far may have gone to another folder.
    var changesFolder: Bool {
        text.split { $0.isWhitespace || ";&|()".contains($0) }.contains { $0 == "cd" || $0 == "pushd" }
    }

    /// True if what comes next begins a word.
    var isAtWord: Bool { (quote == .none || quote == .double) && nesting[nesting.count - 1].word.isEmpty }

    var isInQuotes: Bool { quote == .double || quote == .single }

    /// True if what comes next is neither in quotes nor in a comment or here-document.
    var isOutsideQuotes: Bool { quote == .none && !nesting[nesting.count - 1].isEscaped }

    /// Appends a value in quotes of its own.
    mutating func append(word: String) { insert(word) }

    /// Appends `${…}`, given without its braces.
    mutating func append(expansion: String) { insert("${\(expansion)}") }

    /// Appends the output of a command.
    mutating func append(output command: String) {
        // `$((` would be arithmetic.
        insert(command.hasPrefix("(") ? "$( \(command))" : "$(\(command))")
    }

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
        nesting[nesting.count - 1].word += "x"
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
        guard let (name, value) = open else { return }
        open = nil
        // Digits before a redirection say which file it is about.
        if let value, let character, "<>".contains(character), value.allSatisfy(\.isNumber), quote == .none {
            text += value
            return
        }
        text += character?.isVariableCharacter ?? false ? "${\(name)}" : "$\(name)"
    }

    private mutating func follow(_ character: Character) {
        let top = nesting.count - 1
        if character == "\n" { return endLine() }
        line.append(character)
        if nesting[top].isEscaped {
            nesting[top].isEscaped = false
            nesting[top].word.append(character)
            return
        }
        followWord(character)
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

    private mutating func followWord(_ character: Character) {
        let top = nesting.count - 1
        guard nesting[top].quote == .none else { return nesting[top].word.append(character) }
        switch character {
        case " ", "\t": endWord(isFirst: nil)
        case ";", "&", "|", "(", ")": endWord(isFirst: true)
        case "<", ">":
            endWord(isFirst: nil)
            nesting[top].isTarget = true
        default: nesting[top].word.append(character)
        }
    }

    /// Ends the word; nil if the next one may only be the name of a command if this one comes before such a name.
    private mutating func endWord(isFirst: Bool?) {
        let top = nesting.count - 1
        let word = nesting[top].word
        if let isFirst {
            nesting[top].isFirst = isFirst
        } else if !word.isEmpty, !nesting[top].isTarget {
            nesting[top].isFirst =
                nesting[top].isFirst && (ShellWords.introducing.contains(word) || ShellWords.isAssignment(word[...]))
        }
        if !word.isEmpty || isFirst != nil { nesting[top].isTarget = false }
        nesting[top].word = ""
    }

    private mutating func endLine() {
        defer { line = "" }
        let top = nesting.count - 1
        // The sign of a line that goes on is no word.
        if nesting[top].isEscaped, nesting[top].quote == .none, nesting[top].word.last == "\\" {
            nesting[top].word.removeLast()
        }
        if nesting[top].quote == .none || nesting[top].quote == .comment {
            endWord(isFirst: nesting[top].isEscaped ? nil : true)
        }
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
