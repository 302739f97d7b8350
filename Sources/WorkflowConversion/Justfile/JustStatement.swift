/// A part of a justfile: one or more whole lines of it.
struct JustStatement {
    enum Content {
        case blank, comment
        case setting(name: String, value: String)
        case alias(name: String, of: String)
        case assignment(name: String, value: String, isExported: Bool)
        case recipe(JustRecipe)
        case other
    }

    let content: Content
    let origin: Excerpt
    /// The index of its first line.
    let line: Int
}

struct JustRecipe {
    struct Parameter {
        let name: String
        /// As the file spells it; nil for one that has to be given.
        let defaultValue: String?
        /// Whether it takes all further arguments, at least one of them or none.
        let mark: Character?
        let isExported: Bool

        /// As it stands in the file.
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
    /// What runs after it.
    var followers: [Dependency] = []
    /// The lines without their indentation, each with its continuations.
    var body: [String] = []
    /// What stands in `[…]` above it.
    var attributes: [String] = []
}
