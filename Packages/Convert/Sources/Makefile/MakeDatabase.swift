/// The database that `make -pn` prints: what make knows after it has read everything, conditions, includes and
/// functions decided.
struct MakeDatabase {
    struct Variable {
        /// As a makefile spells it.
        let value: String
        /// False if make has expanded it once, where it was assigned.
        let isRecursive: Bool
    }

    /// A rule of the files, names expanded.
    struct Rule {
        let name: String
        var needs: [String] = []
        var orderedAfter: [String] = []
        var recipe: [String] = []
        /// The file and line of the recipe; nil without one.
        var place: MakePlace?
        var assignments: [MakeAssignment] = []
        var isPhony = false
        /// True if one run of the recipe makes several targets.
        var makesOthers = false
        var isBuiltIn = false

        var lines: [MakeLine] { recipe.map { MakeLine(text: $0) } }
    }

    /// Those that files define, except make's own.
    private(set) var variables: [String: Variable] = [:]
    /// The rules of each target, in the order of the files.
    private(set) var rules: [String: [Rule]] = [:]
    /// The files that make has read, as they were named.
    private(set) var files: [String] = []
    private(set) var defaultGoal = ""
    /// The rules for patterns that files define.
    private(set) var patterns: [Rule] = []
    /// True if a pattern has variables of its own.
    private(set) var hasPatternValues = false

    /// nil for a text without a database.
    init?(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("# Make data base, printed on") }),
            let end = lines[start...].firstIndex(where: { $0 == "# Files" })
        else { return nil }
        readVariables(lines[start..<end].prefix { $0 != "# Pattern-specific Variable Values" && $0 != "# Directories" })
        readRules(lines[end...].dropFirst().prefix { !$0.hasPrefix("# files hash-table stats") })
        if let place = lines[start..<end].firstIndex(of: "# Implicit Rules") {
            patterns = lines[place..<end].dropFirst().split(separator: "").compactMap(Self.rule).filter {
                $0.place != nil && $0.name.contains("%")
            }
        }
        hasPatternValues = lines[start..<end].contains { $0.hasSuffix(" pattern-specific variable values") }
        files = variables.removeValue(forKey: "MAKEFILE_LIST")?.value.words ?? []
        defaultGoal = variables.removeValue(forKey: ".DEFAULT_GOAL")?.value.trimmed ?? ""
        for name in [
            "MAKEFLAGS", "GNUMAKEFLAGS", "CURDIR", ".SHELLSTATUS", "-*-command-variables-*-", "-*-eval-flags-*-",
        ] {
            variables[name] = nil
        }
    }

    /// True for the line that says where a variable is from.
    private static func isOrigin(_ line: String) -> Bool {
        ["makefile", "default", "automatic", "environment", "command line", "'override' directive"].contains {
            line.hasPrefix("# \($0)")
        }
    }

    private mutating func readVariables(_ lines: ArraySlice<String>) {
        var rest = lines
        while let origin = rest.popFirst() {
            guard Self.isOrigin(origin), let first = rest.popFirst() else { continue }
            let isFromFile = origin.hasPrefix("# makefile") || origin.hasPrefix("# 'override'")
            if first.hasPrefix("define ") {
                let body = rest.prefix { $0 != "endef" }
                rest = rest.dropFirst(body.count + 1)
                guard isFromFile else { continue }
                variables[String(first.dropFirst(7)).trimmed] = Variable(
                    value: body.joined(separator: "\n"), isRecursive: true)
                continue
            }
            // Further lines belong to a value that was expanded from several.
            let more = rest.prefix { !Self.isOrigin($0) && !$0.hasPrefix("# variable set hash-table") }
            rest = rest.dropFirst(more.count)
            guard isFromFile, let assignment = Self.assignment(([first] + more).joined(separator: "\n")) else {
                continue
            }
            variables[assignment.name] = Variable(value: assignment.value, isRecursive: assignment.sign == "=")
        }
    }

    /// Reads `name = value`, `name := value` or `name += value`.
    private static func assignment(_ text: String) -> MakeAssignment? {
        guard let (name, rest) = text.cut(at: " ") else { return nil }
        guard let sign = ["=", ":=", "+=", "?="].first(where: { rest.hasPrefix($0) }) else { return nil }
        let value = rest.dropFirst(sign.count)
        return MakeAssignment(
            name: name, sign: sign, value: String(value.first == " " ? value.dropFirst() : value), isExported: false)
    }

    private mutating func readRules(_ lines: ArraySlice<String>) {
        for block in lines.split(separator: "") where block.first != "# Not a target:" {
            guard let rule = Self.rule(block), rule.name != ToolQuestion.goal else { continue }
            rules[rule.name, default: []].append(rule)
        }
    }

    private static func rule(_ block: ArraySlice<String>) -> Rule? {
        var rule: Rule?
        var assignments: [MakeAssignment] = []
        var recipe: [String] = []
        var isAssignment = false
        for line in block {
            if line.hasPrefix("\t") {
                let line = String(line.dropFirst())
                if let last = recipe.last, last.hasSuffix("\\") {
                    recipe[recipe.count - 1] = "\(last)\n\(line)"
                } else {
                    recipe.append(line)
                }
            } else if isAssignment {
                isAssignment = false
                let text = line.cut(at: ": ")?.after ?? ""
                if let assignment = assignment(text) { assignments.append(assignment) }
            } else if isOrigin(line) {
                isAssignment = true
            } else if line.hasPrefix("#") {
                note(line, in: &rule)
            } else if rule == nil {
                rule = header(line)
            }
        }
        rule?.assignments = assignments
        rule?.recipe = recipe
        return rule
    }

    private static func note(_ line: String, in rule: inout Rule?) {
        let text = line.dropFirst().trimmed
        if text.hasPrefix("Phony target") { rule?.isPhony = true }
        if text.hasPrefix("Also makes") { rule?.makesOthers = true }
        if text.hasPrefix("Builtin rule") || text.hasSuffix("(built-in):") { rule?.isBuiltIn = true }
        guard text.hasPrefix("recipe to execute (from '"), let (file, rest) = text.dropFirst(25).cut(at: "', line "),
            let number = Int(rest.prefix(while: \.isNumber))
        else { return }
        rule?.place = MakePlace(file: file, line: number)
    }

    private static func header(_ line: String) -> Rule? {
        guard let (name, rest) = line.cut(at: ":"), !name.isEmpty else { return nil }
        var rule = Rule(name: name)
        let needs = rest.drop { $0 == ":" }
        guard needs.isEmpty || needs.first == " " else { return nil }
        let parts = needs.cut(at: "|")
        rule.needs = (parts?.before ?? String(needs)).words
        rule.orderedAfter = parts?.after.words ?? []
        return rule
    }
}

/// A line of a makefile.
struct MakePlace: Hashable {
    let file: String
    let line: Int
}
