/// All that make has said about a makefile.
struct MakeAnswer {
    let database: MakeDatabase
    /// The branches that make has taken of each condition that it has come to.
    private let taken: [MakePlace: Set<Int>]

    /// Asks for the database, and then for the conditions, in copies of the files with a message in each branch.
    static func ask(
        about source: SourceLines, in folder: ForeignFolder, _ ask: ToolQuestion.Asking
    ) async throws(ForeignFileError) -> MakeAnswer {
        var question = ToolQuestion.make(source.name)
        guard let database = MakeDatabase(try await ask(question)) else {
            throw ForeignFileError(
                "`\(question.spelling)` about `\(source.name)`: there is no database in the answer, as GNU make "
                    + "prints it; install GNU make, or convert it without `--ask-tool`")
        }
        var marks = MakeMarks()
        marks.add(source)
        for name in database.files where !name.hasPrefix("/") && !name.split(separator: "/").contains("..") {
            if name != source.name, let included = folder.source(name) { marks.add(included) }
        }
        var taken: [MakePlace: Set<Int>] = [:]
        if !marks.isEmpty {
            question.files = marks.files
            // A message may stand where make accepts none; then every condition is read as without an answer.
            if let output = try? await ask(question) { taken = marks.taken(in: output) }
        }
        return MakeAnswer(database: database, taken: taken)
    }

    /// True if make has taken a branch of the condition that begins at a place; nil if that is not known.
    func takes(_ branch: Int, of place: MakePlace) -> Bool? {
        guard let taken = taken[place], taken.count < 2 else { return nil }
        return taken.contains(branch)
    }

    /// The files that make has read and that an include may mean whose names only make knows.
    func files(like text: String, except known: Set<String>) -> [String] {
        let patterns = MakePiece.mapped(text) { _ in "*" }.words
        return database.files.filter { file in
            !known.contains(ForeignFolder.normal(file)) && patterns.contains { ForeignFolder.fits(file[...], $0[...]) }
        }
    }
}

/// Messages in makefiles that tell which branches of conditions make takes.
struct MakeMarks {
    /// The files with their messages, by name.
    private(set) var files: [String: String] = [:]
    private var places: [MakePlace] = []
    private static let word = "flowrun-asks"

    var isEmpty: Bool { places.isEmpty }

    /// The lines of a condition that has not ended yet.
    private struct Open {
        let start: Int
        /// The first line of each branch.
        var branches: [Int]
        /// True if a recipe goes on in it, which a message would end.
        var isInRecipe = false
        /// True until its branch has a line.
        var isFresh = true
    }

    mutating func add(_ source: SourceLines) {
        var messages: [Int: [String]] = [:]
        var open: [Open] = []
        var index = 0
        var definitions = 0
        while index < source.lines.count {
            let line = source.lines[index]
            let start = index
            index += 1
            while source.lines[index - 1].hasSuffix("\\"), index < source.lines.count { index += 1 }
            if line.isBlank || line.trimmed.hasPrefix("#") { continue }
            let isRecipe = line.hasPrefix("\t") && isAfterRule
            let word = isRecipe ? "" : String((line.words.first ?? "").prefix(while: \.isLetter))
            if word == "define" || ["override", "export"].contains(word) && line.words.dropFirst().first == "define" {
                definitions += 1
            }
            if definitions > 0 {
                if word == "endef" { definitions -= 1 }
                continue
            }
            switch word {
            case "ifeq", "ifneq", "ifdef", "ifndef":
                open.append(Open(start: start, branches: [index]))
            case "else" where !open.isEmpty:
                open[open.count - 1].branches.append(index)
                open[open.count - 1].isFresh = true
            case "endif" where !open.isEmpty:
                let condition = open.removeLast()
                if condition.isInRecipe { continue }
                let number = places.count
                places.append(MakePlace(file: source.name, line: condition.start + 1))
                messages[condition.start, default: []].append("$(info \(Self.word) \(number) -)")
                for (branch, line) in condition.branches.enumerated() {
                    messages[line, default: []].insert("$(info \(Self.word) \(number) \(branch))", at: 0)
                }
            default:
                for row in open.indices where open[row].isFresh {
                    open[row].isFresh = false
                    if isRecipe { open[row].isInRecipe = true }
                }
                if !line.hasPrefix("\t") || !isAfterRule { isAfterRule = Self.isRule(line) }
            }
        }
        isAfterRule = false
        guard !messages.isEmpty else { return }
        let lines =
            source.lines.enumerated().flatMap { (messages[$0] ?? []) + [$1] } + (messages[source.lines.count] ?? [])
        files[source.name] = lines.map { $0 + "\n" }.joined()
    }

    /// True if lines with a tab are those of a recipe.
    private var isAfterRule = false

    private static func isRule(_ line: String) -> Bool {
        guard MakeReader.assignment(in: line) == nil, let first = line.words.first else { return false }
        let others = ["include", "-include", "sinclude", "export", "unexport", "vpath", "override", "undefine"]
        return MakeReader.separator(in: line) != nil && !others.contains(first)
    }

    /// The branches that an output tells of, by the places of their conditions.
    func taken(in output: String) -> [MakePlace: Set<Int>] {
        var taken: [MakePlace: Set<Int>] = [:]
        for line in output.split(separator: "\n") where line.hasPrefix(Self.word) {
            let words = line.words
            guard words.count == 3, let number = Int(words[1]), places.indices.contains(number) else { continue }
            taken[places[number], default: []].formUnion(Int(words[2]).map { [$0] } ?? [])
        }
        return taken
    }
}
