/// A list that grows at its end and is shared by all prefixes of itself, so that a chain of n calls of `then` takes
/// O(n) and each of its values stays what it was.
final class JobList<Element: Sendable>: Sendable {
    private let elements: Lock<[Element]>

    init(_ elements: [Element] = []) { self.elements = Lock(elements) }

    func prefix(_ count: Int) -> ArraySlice<Element> { elements.withLock { $0.prefix(count) } }

    /// The first `count` elements and one more: this list if it ends there, otherwise a copy.
    func appending(_ element: Element, after count: Int) -> JobList {
        let isAppended = elements.withLock { elements in
            guard elements.count == count else { return false }
            elements.append(element)
            return true
        }
        return isAppended ? self : JobList(Array(prefix(count)) + [element])
    }
}
