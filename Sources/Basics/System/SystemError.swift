internal import Glibc

/// What a system call refused, as its error number.
package struct SystemError: Error, Hashable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    /// Of the call that has just failed.
    package static var last: SystemError { SystemError(errno) }

    /// The system's words in lower case: `no such file or directory`.
    package var words: String { String(cString: strerror(number)).lowercased() }
}
