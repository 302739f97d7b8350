/// A part of a makefile: one or more whole lines of it.
struct MakeStatement {
    enum Content {
        case blank, comment
        case assignment(MakeAssignment)
        case rule(MakeRule)
        /// Lines with a tab behind a condition, of the rule that was read last.
        case recipe([MakeRecipePart])
        /// The names of files, unexpanded; one that is not there is an error unless it is optional.
        case include(String, isOptional: Bool)
        /// `export` or `unexport` of names, or of everything if there are none.
        case export([String], isExported: Bool)
        case condition(MakeCondition<[MakeStatement]>)
        /// Anything else: its first word.
        case other(first: String)
    }

    let content: Content
    let origin: Excerpt
    /// The lines of the comment right above it.
    let comment: [String]
    /// The reason why only a run of make knows whether it counts; nil if it does.
    var doubt: String?
}

/// `ifeq … else … endif` around parts of a makefile or of a recipe.
struct MakeCondition<Part> {
    /// Each part with the line that opens it, such as `ifdef DEBUG`; `else` has none.
    var branches: [(test: String?, part: Part)]
}

struct MakeAssignment {
    let name: String
    /// `=`, `:=`, `?=`, `+=`, `!=`, …
    let sign: String
    var value: String
    let isExported: Bool
}

/// A line of a recipe without its tab, with its continuations, or a condition around lines.
enum MakeRecipePart {
    case line(String)
    case condition(MakeCondition<[MakeRecipePart]>)
}

/// A line of a recipe, and the tests of the run under which it counts.
struct MakeLine: Equatable {
    let text: String
    var tests: [MakeTest] = []

    func under(_ outer: [MakeTest]) -> MakeLine { MakeLine(text: text, tests: outer + tests) }
}

struct MakeRule {
    var targets: String
    var needs: String
    /// The needs after `|`.
    var orderedAfter: String
    /// The pattern of the targets, in `targets: pattern: needs`.
    let pattern: String?
    var parts: [MakeRecipePart] = []
    /// The lines that count.
    var recipe: [MakeLine] = []
    /// The text of `## …` on the rule's line.
    let description: String?
    /// A variable that is set only for these targets.
    let assignment: MakeAssignment?
    /// True if the rule has two colons: its target may have several recipes.
    let isOneOfSeveral: Bool
    /// True for `a b &: …`, whose recipe makes all of its targets.
    let isGrouped: Bool
    /// The reason why only make knows the recipe; nil if it is `recipe`.
    var problem: String?
}
