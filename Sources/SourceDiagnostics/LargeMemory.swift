internal import Glibc

/// Memory for a file of a hundred thousand steps. Taking it page by page costs a third of the time that reading the file
/// takes, so large buffers ask the kernel for huge pages.
package enum LargeMemory {
    private static let hugePage = 2 << 20

    /// Asks for huge pages in a buffer that is about to be filled; small ones and refusals are left as they are.
    package static func prepare(_ buffer: UnsafeRawBufferPointer) {
        guard buffer.count >= 2 * hugePage, let base = buffer.baseAddress else { return }
        // Only whole huge pages inside the buffer: what is around it belongs to others.
        let start = (Int(bitPattern: base) + hugePage - 1) & ~(hugePage - 1)
        let end = (Int(bitPattern: base) + buffer.count) & ~(hugePage - 1)
        guard end > start, let address = UnsafeMutableRawPointer(bitPattern: start) else { return }
        madvise(address, end - start, MADV_HUGEPAGE)
    }
}
