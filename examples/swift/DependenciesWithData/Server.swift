/// A stand-in for a server with encrypted pictures.
struct Server: Sendable {
    struct Unreachable: Error {}

    static let key: UInt8 = 42
    let isReachable: Bool

    func image() throws(Unreachable) -> [UInt8] {
        guard isReachable else { throw Unreachable() }
        return bundledImage.utf8.map { $0 ^ Self.key }
    }
}

/// Houses along a street.
let bundledImage = """
    ....................
    ...@@@.......@@.....
    ..@@@@@.....@@@@....
    ..@#.#@.@@@.@#.@....
    ..@@@@@.@.@.@@@@.*..
    ====================
    ..-..-..-..-..-..-..

    """
