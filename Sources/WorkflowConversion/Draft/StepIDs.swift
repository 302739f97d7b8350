/// Gives the names of another tool ids that flowrun accepts, each one once.
struct StepIDs {
    private var ids: [String: String] = [:]
    private var taken: Set<String> = []

    /// The id of a name: the name itself where it can be one, or else with `-` in place of what an id cannot have.
    mutating func id(for name: String) -> String {
        if let id = ids[name] { return id }
        let id = id(like: name)
        ids[name] = id
        return id
    }

    /// An id of its own for something that nobody names: others may be described by the same words.
    mutating func id(like name: String) -> String {
        var id = ""
        for character in name {
            if character.isIDCharacter, character != "-" || !id.isEmpty && id.last != "-" {
                id.append(character)
            } else if !id.isEmpty, id.last != "-" {
                id.append("-")
            }
        }
        while id.last == "-" { id.removeLast() }
        id = String((id.isEmpty ? "step" : id).prefix(120))
        var number = 2
        let base = id
        while !taken.insert(id).inserted {
            id = "\(base)-\(number)"
            number += 1
        }
        return id
    }

    /// The id that a name has been given; nil if it has none.
    func known(_ name: String) -> String? { ids[name] }
}

extension Character {
    var isIDCharacter: Bool { isASCII && (isLetter || isNumber || self == "_" || self == "-") }
    var isVariableCharacter: Bool { isASCII && (isLetter || isNumber || self == "_") }
}
