/// All that a makefile says about one target.
struct MakeTarget {
    let name: String
    /// The files and other targets that it is made from, expanded.
    var needs: [String] = []
    /// The files and other targets that only have to be there before.
    var orderedAfter: [String] = []
    var recipe: [MakeLine] = []
    /// The part of its name that `%` of its pattern matches; nil for one that is written out.
    var stem: String?
    var assignments: [MakeAssignment] = []
    /// The patterns that lead to it from a target that is written out.
    var chain: Set<Int> = []
    var description: String?
    var comments: [String] = []
    var origin: Excerpt
    /// The reason why it cannot be converted; nil if it can.
    var problem: String?

    /// The values of `$@` and the other automatic variables.
    var automatic: [String: String] {
        var values = ["@": name, "^": needs.unique.joined(separator: " "), "+": needs.joined(separator: " ")]
        // Of a pattern of files only make knows the first.
        if needs.first?.contains(where: { "*?[".contains($0) }) != true { values["<"] = needs.first ?? "" }
        values["|"] = orderedAfter.joined(separator: " ")
        if let stem { values["*"] = stem }
        for (key, value) in values {
            // What a symbol stands for may have slashes.
            guard !value.words.contains(where: { MakeFunction.fileName(of: $0).contains(MakeSymbol.start) }) else {
                continue
            }
            values[key + "D"] = value.words.map(MakeFunction.folder).joined(separator: " ")
            values[key + "F"] = value.words.map(MakeFunction.fileName).joined(separator: " ")
        }
        return values
    }

    mutating func add(_ rule: MakeRule, needs: [String], orderedAfter: [String], origin: Excerpt) {
        self.needs += needs
        self.orderedAfter += orderedAfter
        if !rule.recipe.isEmpty {
            // make uses the last recipe, but all of those with two colons.
            if rule.isOneOfSeveral {
                if !recipe.isEmpty, !self.needs.isEmpty {
                    problem = problem ?? "each of its recipes has needs of its own"
                }
                recipe += rule.recipe
            } else {
                if !recipe.isEmpty { comments += self.origin.comments("replaced by what follows") }
                recipe = rule.recipe
            }
        }
        if let assignment = rule.assignment { assignments.append(assignment) }
        description = description ?? rule.description
        problem = problem ?? rule.problem
        if self.origin.lines.isEmpty { self.origin = origin } else { self.origin.add(origin) }
    }
}

/// A rule for every target that matches its pattern.
struct MakePatternRule {
    let target: MakePattern
    let needs: [String]
    let orderedAfter: [String]
    let rule: MakeRule
    let origin: Excerpt
    /// The reason why only make knows what it makes; nil if the rule says it.
    var problem: String?
}

/// The rules that make has without a file, for the kinds of files that are common.
enum MakeImplicitRule {
    /// The endings of sources, in the order in which make looks for them, and the recipe for a file from one of them.
    static func sources(of name: String) -> [(source: String, recipe: String)] {
        let file = MakeFunction.fileName(of: name)
        if name.hasSuffix(".o") {
            let stem = String(name.dropLast(2))
            let tail = "$(CPPFLAGS) $(TARGET_ARCH) -c -o $@ $<"
            return [(stem + ".c", "$(CC) $(CFLAGS) \(tail)")]
                + [".cc", ".C", ".cpp"].map { (stem + $0, "$(CXX) $(CXXFLAGS) \(tail)") }
                + [
                    (stem + ".s", "$(AS) $(ASFLAGS) $(TARGET_MACH) -o $@ $<"),
                    (stem + ".S", "$(CC) $(ASFLAGS) $(CPPFLAGS) $(TARGET_MACH) -c -o $@ $<"),
                ]
        }
        guard !file.contains(".") else { return [] }
        let tail = "$(LDFLAGS) $(TARGET_ARCH) $^ $(LOADLIBES) $(LDLIBS) -o $@"
        return [
            (name + ".o", "$(CC) \(tail)"), (name + ".c", "$(CC) $(CFLAGS) $(CPPFLAGS) \(tail)"),
            (name + ".cc", "$(CXX) $(CXXFLAGS) $(CPPFLAGS) \(tail)"),
            (name + ".C", "$(CXX) $(CXXFLAGS) $(CPPFLAGS) \(tail)"),
            (name + ".cpp", "$(CXX) $(CXXFLAGS) $(CPPFLAGS) \(tail)"),
            (name + ".sh", "cat $< >$@ \n chmod a+x $@"),
        ]
    }

    /// True for a file that make may know how to make, from a source that is not there.
    static func mayMake(_ name: String) -> Bool { name.hasSuffix(".o") || name.hasSuffix(".c") }
}
