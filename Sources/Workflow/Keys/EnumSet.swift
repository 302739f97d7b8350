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
