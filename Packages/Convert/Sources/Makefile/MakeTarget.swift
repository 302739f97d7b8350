/// All that a makefile says about one target.
struct MakeTarget {
    let name: String
    /// The files and other targets that it is made from, expanded.
    var needs: [String] = []
    /// The files and other targets that only have to be there before.
    var orderedAfter: [String] = []
    var recipe: [String] = []
    /// The part of its name that `%` of its pattern matches; nil for one that is written out.
    var stem: String?
    var assignments: [MakeAssignment] = []
    var description: String?
    var comments: [String] = []
    var origin: Excerpt
    /// The reason why it cannot be converted; nil if it can.
    var problem: String?

    /// The values of `$@` and the other automatic variables.
    var automatic: [String: String] {
        var values = ["@": name, "^": needs.unique.joined(separator: " "), "+": needs.joined(separator: " ")]
        values["<"] = needs.first ?? ""
        values["|"] = orderedAfter.joined(separator: " ")
        if let stem { values["*"] = stem }
        for (key, value) in values {
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
                recipe += rule.recipe
            } else {
                if !recipe.isEmpty { comments += self.origin.comments("replaced by what follows") }
                recipe = rule.recipe
            }
        }
        if let assignment = rule.assignment { assignments.append(assignment) }
        description = description ?? rule.description
        if rule.isConditional { problem = "its recipe has conditions of make" }
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
}
