import Glibc

/// What the program reads on standard input.
package enum StandardInput: Sendable {
    case null
    /// A pipe that holds this text, at most 64 KiB, and ends.
    case text(String)
    /// A pipe on which nothing ever comes and which does not end while the program runs.
    case silent

    /// The descriptor for the child, and what has to stay open while it runs.
    func open() throws -> (reading: Descriptor, held: Descriptor?) {
        switch self {
        case .null:
            return (try Descriptor("open", "/dev/null", Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)), nil)
        case .text(let text):
            let bytes = Array(text.utf8)
            precondition(bytes.count <= 65536, "standard input of a test fits into a pipe; \(bytes.count) bytes do not")
            let (reading, writing) = try Descriptor.pipe()
            guard write(writing.number, bytes, bytes.count) == bytes.count else {
                throw SystemError(operation: "write", subject: "standard input", code: errno)
            }
            return (reading, nil)
        case .silent:
            let (reading, writing) = try Descriptor.pipe()
            return (reading, writing)
        }
    }
}
