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
        /// `+` or `*` for one that takes all further arguments: at least one of them, or any number; nil for any
        /// other.
        let mark: Character?
        let isExported: Bool

        /// The parameter as it is in the file.
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
    /// The recipes that run after it.
    var followers: [Dependency] = []
    /// The lines without their indentation, each with its continuations.
    var body: [String] = []
    /// The attributes in `[…]` above it.
    var attributes: [String] = []
}
