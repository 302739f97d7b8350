#if FLOWRUN_SANITIZE
    internal import Platform

    typealias Mutex = PosixMutex
#else
    internal import Synchronization
#endif

/// A value that one thread at a time may use. The library has no other kind of lock, so tests can decide which thread
/// takes a lock next.
struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    #if DEBUG || FLOWRUN_EXPLORE
        private let number = Interleaving.nextLock()
    #endif

    init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Calls `body` with the lock held. Not reentrant.
    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if DEBUG || FLOWRUN_EXPLORE
            let probe = Interleaving.probe
            probe?.willLock(number)
            defer { probe?.didUnlock(number) }
        #endif
        return try mutex.withLock(body)
    }
}

/// A list that grows at its end and is shared by all its prefixes, so that a chain of n calls of `then` takes O(n)
/// and each value of the chain stays unchanged.
final class JobList<Element: Sendable>: Sendable {
    private let elements: Lock<[Element]>

    init(_ elements: [Element] = []) { self.elements = Lock(elements) }

    func prefix(_ count: Int) -> ArraySlice<Element> { elements.withLock { $0.prefix(count) } }

    /// Returns the first `count` elements and one more: this list if it ends there, otherwise a copy.
    func appending(_ element: Element, after count: Int) -> JobList {
        let isAppended = elements.withLock { elements in
            guard elements.count == count else { return false }
            elements.append(element)
            return true
        }
        return isAppended ? self : JobList(Array(prefix(count)) + [element])
    }
}
