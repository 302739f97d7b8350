/// Gives unique ids that flowrun accepts to the names of another tool.
struct StepIDs {
    private var ids: [String: String] = [:]
    private var taken: Set<String> = []

    /// Returns the id of a name: the name itself if it can be one, or else with `-` in place of what an id cannot
    /// have.
    mutating func id(for name: String) -> String {
        if let id = ids[name] { return id }
        let id = id(like: name)
        ids[name] = id
        return id
    }

    /// Returns a new id for something that is not referred to by name: others may have the same description.
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

    /// The id that a name has already; nil if it has none.
    func known(_ name: String) -> String? { ids[name] }
}

extension Character {
    var isIDCharacter: Bool { isASCII && (isLetter || isNumber || self == "_" || self == "-") }
    var isVariableCharacter: Bool { isASCII && (isLetter || isNumber || self == "_") }
}
