/// A part of a makefile: one or more whole lines of it.
struct MakeStatement {
    enum Content {
        case blank, comment
        case assignment(MakeAssignment)
        case rule(MakeRule)
        /// `export`, `include`, or a condition with everything in it: its first word, and the variables that it sets.
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
    /// The needs after `|`.
    let orderedAfter: String
    /// The lines below it without their tab, each with its continuations.
    var recipe: [String] = []
    /// The text of `## …` on the rule's line.
    let description: String?
    /// A variable that is set only for these targets.
    let assignment: MakeAssignment?
    /// True if the rule has two colons: its target may have several recipes.
    let isOneOfSeveral: Bool
    /// True if there is a condition in the recipe.
    var isConditional = false
}
