internal import Glibc

package typealias KeySet = EnumSet<WorkflowKey>

extension WorkflowKey {
    package var spelling: String { "\(definition.word)" }

    /// The words of version 1 that this program answers with "not supported yet".
    package static let notSupportedYet = KeySet(allCases.lazy.filter { !$0.definition.isSupported })

    /// What a group hands down to the members that do not say it.
    package static let handedDown = KeySet(allCases.lazy.filter(\.definition.isHandedDown))

    /// What of a fan-out belongs to the whole of it.
    package static let ofAllCopies = KeySet(allCases.lazy.filter(\.definition.isOfAllCopies))

    static func named(_ word: String) -> WorkflowKey? { allCases.first { $0.spelling == word } }

    /// The key spelt by these bytes.
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
        /// There for as long as the program.
        let letters: UnsafeBufferPointer<UInt8>
    }

    private static let slotCount = 128

    /// The keys by the hash of the word, or in the next slot that was free: a workflow has three keys per step, and a
    /// dictionary costs a small run more to build than all its look-ups.
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

    /// Of at least one byte. Chosen so that all but two of the keys of version 1 have a slot of their own.
    private static func slot(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
        let (first, middle, last) = (bytes[0], bytes[bytes.count / 2], bytes[bytes.count - 1])
        return (Int(first) &+ 5 &* Int(middle) &+ 17 &* Int(last) &+ bytes.count) % slotCount
    }
}
