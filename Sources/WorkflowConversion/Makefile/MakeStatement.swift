/// A part of a makefile: one or more whole lines of it.
struct MakeStatement {
    enum Content {
        case blank, comment
        case assignment(MakeAssignment)
        case rule(MakeRule)
        /// `export`, `include`, a condition with all in it: its first word, and the variables that it sets.
        case other(first: String, sets: [String])
    }

    let content: Content
    let origin: Excerpt
    /// The index of its first line.
    let line: Int
}

struct MakeAssignment {
    let name: String
    /// `=`, `:=`, `?=`, `+=`, `!=`, …
    let sign: String
    let value: String
    let isExported: Bool
}

struct MakeRule {
    let targets: String
    let needs: String
    /// What follows `|`.
    let orderedAfter: String
    /// The lines under it without their tab, each with its continuations.
    var recipe: [String] = []
    /// What `## …` on the rule's line says.
    let description: String?
    /// A variable of these targets alone.
    let assignment: MakeAssignment?
    /// Whether two colons say that the target has several recipes.
    let isOneOfSeveral: Bool
    /// Whether a condition stands in the recipe.
    var isConditional = false
}
