internal import Glibc

package typealias KeySet = EnumSet<WorkflowKey>

extension WorkflowKey {
    package var spelling: String { "\(definition.word)" }

    /// The words of version 1 that this program answers with "not supported yet".
    package static var notSupportedYet: KeySet { KeyIndex.shared.notSupportedYet }

    /// The keys that a group hands down to the members that do not set them.
    package static var handedDown: KeySet { KeyIndex.shared.handedDown }

    /// The keys of a fan-out that belong to the whole of it.
    package static var ofWhole: KeySet { KeyIndex.shared.ofWhole }

    /// The keys whose values may hold expressions over parameters and `vars`. Made for the first file with expressions.
    package static let computed = KeySet(allCases.lazy.filter(\.definition.isComputed))

    static func named(_ word: String) -> WorkflowKey? { allCases.first { $0.spelling == word } }

    /// The key with the spelling in these bytes.
    static func named(_ bytes: UnsafeBufferPointer<UInt8>) -> WorkflowKey? { KeyIndex.shared.key(spelt: bytes) }
}

extension KeyPlace {
    /// The keys that are accepted here, in the order of the table.
    package var keys: KeySet { KeyIndex.shared.placed[Int(rawValue)] }
}

/// The parts of the table of keys that every run reads, made in one pass over it.
private struct KeyIndex {
    nonisolated(unsafe) static let shared = KeyIndex()

    private(set) var notSupportedYet = KeySet()
    private(set) var handedDown = KeySet()
    private(set) var ofWhole = KeySet()
    /// By place. This and the next are memory of their own, valid as long as the program runs: the first arrays of
    /// their types would cost a small run as much as the whole index.
    let placed: UnsafeMutablePointer<KeySet>
    /// By key.
    private let words: UnsafeMutablePointer<StaticString>
    /// The raw values of the keys by the hash of the word, each in its own slot or in the next free one. A workflow has
    /// three keys per step, and for a small run a dictionary costs more to build than all its look-ups.
    private let slots: [UInt8]

    private static let slotCount = 128
    private static let free = UInt8.max

    private init() {
        var slots = [UInt8](repeating: Self.free, count: Self.slotCount)
        let keys = WorkflowKey.allCases
        let places = KeyPlace.allCases.count
        words = .allocate(capacity: keys.count)
        placed = .allocate(capacity: places)
        placed.initialize(repeating: [], count: places)
        for key in keys {
            let definition = key.definition
            if definition.places.isEmpty { notSupportedYet.insert(key) }
            if definition.isHandedDown { handedDown.insert(key) }
            if definition.isOfWhole { ofWhole.insert(key) }
            var places = definition.places.rawValue
            while places != 0 {
                placed[places.trailingZeroBitCount].insert(key)
                places &= places - 1
            }
            (words + Int(key.rawValue)).initialize(to: definition.word)
            var position = Self.slot(of: Self.letters(definition.word))
            while slots[position] != Self.free { position = (position + 1) % Self.slotCount }
            slots[position] = key.rawValue
        }
        self.slots = slots
    }

    func key(spelt bytes: UnsafeBufferPointer<UInt8>) -> WorkflowKey? {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return nil }
        var position = Self.slot(of: bytes)
        while slots[position] != Self.free {
            let letters = Self.letters(words[Int(slots[position])])
            if letters.count == bytes.count, memcmp(letters.baseAddress!, start, bytes.count) == 0 {
                return WorkflowKey(rawValue: slots[position])
            }
            position = (position + 1) % Self.slotCount
        }
        return nil
    }

    private static func letters(_ word: StaticString) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    }

    /// The slot of a word of at least one byte. Chosen so that few keys of version 1 share a slot.
    private static func slot(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
        let (first, middle, last) = (bytes[0], bytes[bytes.count / 2], bytes[bytes.count - 1])
        return (Int(first) &+ 5 &* Int(middle) &+ 17 &* Int(last) &+ bytes.count) % slotCount
    }
}

/// A set of cases of an enum with raw values from 0, at most 128, in one `UInt128`. Iterates in the order of the
/// cases.
package struct EnumSet<Element: RawRepresentable<UInt8> & Sendable>: Sequence, Equatable, Sendable,
    ExpressibleByArrayLiteral
{
    private var bits: UInt128 = 0

    package init() {}

    package init(_ elements: some Sequence<Element>) {
        for element in elements { insert(element) }
    }

    package init(arrayLiteral elements: Element...) { self.init(elements) }

    package var isEmpty: Bool { bits == 0 }

    package func contains(_ element: Element) -> Bool { bits & Self.bit(of: element) != 0 }

    package mutating func insert(_ element: Element) { bits |= Self.bit(of: element) }

    /// The number of elements before this one.
    package func position(of element: Element) -> Int { (bits & (Self.bit(of: element) - 1)).nonzeroBitCount }

    package func union(_ other: Self) -> Self { Self(bits: bits | other.bits) }

    package func intersection(_ other: Self) -> Self { Self(bits: bits & other.bits) }

    package func subtracting(_ other: Self) -> Self { Self(bits: bits & ~other.bits) }

    package func makeIterator() -> Iterator { Iterator(bits: bits) }

    package struct Iterator: IteratorProtocol {
        fileprivate var bits: UInt128

        package mutating func next() -> Element? {
            guard bits != 0 else { return nil }
            defer { bits &= bits - 1 }
            return Element(rawValue: UInt8(truncatingIfNeeded: bits.trailingZeroBitCount))
        }
    }

    private init(bits: UInt128) { self.bits = bits }

    private static func bit(of element: Element) -> UInt128 {
        // A shift by more than the width gives 0, and the element would be lost silently.
        precondition(element.rawValue < UInt128.bitWidth, "an EnumSet holds 128 cases")
        return 1 << UInt128(truncatingIfNeeded: element.rawValue)
    }
}
