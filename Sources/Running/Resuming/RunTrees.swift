internal import Basics

/// The copies of the tree that the isolated groups of a run have, in the state directory, so that a resume can go on
/// in those that are kept.
package struct RunTrees: Sendable {
    /// The folder that holds them, absolute.
    package let folder: String
    /// The state directory, which is left out of the copies.
    package let state: String
    /// The ids of the groups that go on in the copy that was kept.
    var kept: [String] = []
    /// The ids of the groups whose steps are all restored, so that they need no copy.
    var restored: [String] = []
    /// The ids of the groups, or of their fan-outs, whose steps all run again because their copy is gone.
    var lost: [String] = []

    package init(in folder: String, state: String) {
        self.folder = folder
        self.state = state
    }

    private static let nameLimit = 100

    /// Returns the path of a group's copy, the same in all runs that resume each other. Distinct ids have distinct
    /// paths, whatever characters are in them.
    func path(of group: String) -> String {
        let isPlain = group.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard !isPlain || group.utf8.count > Self.nameLimit else { return "\(folder)/\(group)" }
        let name = group.unicodeScalars.prefix(Self.nameLimit).map { scalar in
            let isKept = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            return isKept || scalar == "-" ? String(scalar) : "_"
        }
        return "\(folder)/\(name.joined()).\(CRC32C.digits(of: group.utf8))"
    }
}
