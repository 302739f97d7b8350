/// A full id, such as `build[x86_64].compile`.
enum StepPath {
    /// The ids in it, without instances.
    static func ids(_ name: String) -> [String] {
        var ids = [""]
        var isInstance = false
        for character in name {
            switch character {
            case "[": isInstance = true
            case "]": isInstance = false
            case "." where !isInstance: ids.append("")
            default: if !isInstance { ids[ids.count - 1].append(character) }
            }
        }
        return ids
    }
}
