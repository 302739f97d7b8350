internal import Glibc

package typealias KeySet = EnumSet<WorkflowKey>

extension WorkflowKey {
    package var spelling: String { "\(definition.word)" }

    /// The words of version 1 that this program answers with "not supported yet".
    package static let notSupportedYet = KeySet(allCases.lazy.filter { !$0.definition.isSupported })

    /// The keys that a group hands down to the members that do not set them.
    package static let handedDown = KeySet(allCases.lazy.filter(\.definition.isHandedDown))

    /// The keys of a fan-out that belong to the whole of it.
    package static let ofWhole = KeySet(allCases.lazy.filter(\.definition.isOfWhole))

    static func named(_ word: String) -> WorkflowKey? { allCases.first { $0.spelling == word } }

    /// The key with the spelling in these bytes.
    static func named(_ bytes: UnsafeBufferPointer<UInt8>) -> WorkflowKey? {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return nil }
        var position = slot(of: bytes)
        while let candidate = slots[position] {
            if candidate.letters.count == bytes.count, memcmp(candidate.letters.baseAddress!, start, bytes.count) == 0 {
                return candidate.key
            }
            position = (position + 1) % slotCount
        }
        return nil
    }

    private struct Slot {
        let key: WorkflowKey
        /// Valid as long as the program runs.
        let letters: UnsafeBufferPointer<UInt8>
    }

    private static let slotCount = 128

    /// The keys by the hash of the word, each in its own slot or in the next free one. A workflow has three keys per
    /// step, and for a small run a dictionary costs more to build than all its look-ups.
    nonisolated(unsafe) private static let slots: [Slot?] = {
        var slots = [Slot?](repeating: nil, count: slotCount)
        for key in allCases {
            let word = key.definition.word
            let letters = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
            var position = slot(of: letters)
            while slots[position] != nil { position = (position + 1) % slotCount }
            slots[position] = Slot(key: key, letters: letters)
        }
        return slots
    }()

    /// The slot of a word of at least one byte. Chosen so that few keys of version 1 share a slot.
    private static func slot(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
        let (first, middle, last) = (bytes[0], bytes[bytes.count / 2], bytes[bytes.count - 1])
        return (Int(first) &+ 5 &* Int(middle) &+ 17 &* Int(last) &+ bytes.count) % slotCount
    }
}
