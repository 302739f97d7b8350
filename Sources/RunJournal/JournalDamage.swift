/// Where a journal is not what its run has written, although more follows: a torn end is none.
package struct JournalDamage: Sendable, Hashable {
    /// In bytes, from the start of the file to that of the line.
    package let offset: Int
    /// From 1.
    package let line: Int
}
