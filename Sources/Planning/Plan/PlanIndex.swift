/// The row of a step, group or fan-out in `Plan.nodes`: a place in the run, whereas a `NodeIndex` is a place in the
/// file.
///
/// As large as the number in it, and inlined everywhere, so that it costs no more than the bare number.
@usableFromInline
package struct PlanIndex: Hashable, Strideable, Sendable {
    @usableFromInline let value: UInt32

    /// The row number `offset`, from 0, in the order of the plan.
    @inlinable
    package init(_ offset: Int) { value = UInt32(offset) }

    /// The workflow itself.
    @inlinable package static var root: PlanIndex { PlanIndex(0) }

    /// The number of rows before this one.
    @inlinable package var offset: Int { Int(value) }

    /// The row after this one.
    @inlinable package var next: PlanIndex { PlanIndex(offset + 1) }

    @inlinable
    package static func == (left: PlanIndex, right: PlanIndex) -> Bool { left.value == right.value }

    /// The order of the plan: preorder, and then the rows that the run has added.
    @inlinable
    package static func < (left: PlanIndex, right: PlanIndex) -> Bool { left.value < right.value }

    @inlinable
    package func hash(into hasher: inout Hasher) { hasher.combine(value) }

    @inlinable
    package func distance(to other: PlanIndex) -> Int { other.offset - offset }

    @inlinable
    package func advanced(by distance: Int) -> PlanIndex { PlanIndex(offset + distance) }
}

extension PlanIndex: CustomStringConvertible {
    /// The number, such as `12`.
    @usableFromInline package var description: String { "\(value)" }
}

extension Array {
    /// The element for this row in a table with an element for each row of a plan.
    @inlinable
    package subscript(row: PlanIndex) -> Element {
        @inline(__always) _read { yield self[row.offset] }
        @inline(__always) _modify { yield &self[row.offset] }
    }
}
