internal import Glibc

extension SourceFile {
    /// The largest file that is read, in bytes: 64 MiB.
    package static let sizeLimit = 64 << 20

    /// Reads a file, or standard input where `path` is `-` (named `<stdin>` in places).
    ///
    /// Never waits for a pipe or a device, because those are refused by their kind; standard input is read to its end.
    /// Where the file cannot be read, the diagnostic says why and `file` is empty.
    package static func read(_ path: String) -> (file: SourceFile, diagnostic: Diagnostic?) {
        let name = path == "-" ? "<stdin>" : path
        do throws(ReadingError) {
            return (SourceFile(name: name, bytes: try path == "-" ? readStandardInput() : readFile(path)), nil)
        } catch {
            let file = SourceFile(name: name, bytes: [])
            return (
                file, Diagnostic(error.code, error.message, in: file, at: .beginning, fix: error.fix.map { .init($0) })
            )
        }
    }

    private struct ReadingError: Error {
        var code = DiagnosticCode.unreadableFile
        var message: String
        var fix: String?

        static func tooLarge(_ size: Int?) -> ReadingError {
            let found = size.map { "the file has \(($0 + (1 << 20) - 1) >> 20) MiB" } ?? "the input goes on"
            return ReadingError(
                code: .fileTooLarge, message: "\(found), at most \(sizeLimit >> 20) MiB are read",
                fix: "split the workflow into several files")
        }

        static func system(_ operation: String, _ number: Int32) -> ReadingError {
            ReadingError(message: "cannot \(operation): \(String(cString: strerror(number)))")
        }
    }

    private static func readFile(_ path: String) throws(ReadingError) -> [UInt8] {
        // Non-blocking, so that opening a fifo nobody writes to comes back at once.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw errno == ENOENT ? ReadingError(message: "there is no such file") : .system("open the file", errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system("look at the file", errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR:
            throw ReadingError(
                message: "this is a directory, expected a workflow file", fix: "name the file in it")
        default:
            throw ReadingError(
                message: "this is neither a file nor a directory, expected a workflow file",
                fix: "to read from a pipe, give `-` and connect it to standard input")
        }
        guard status.st_size <= sizeLimit else { throw .tooLarge(Int(status.st_size)) }
        return try readToEnd(descriptor, expecting: Int(status.st_size))
    }

    private static func readStandardInput() throws(ReadingError) -> [UInt8] {
        try readToEnd(STDIN_FILENO, expecting: 0)
    }

    /// One read where `size` is right, and then no copy; more where the input is longer or of unknown length.
    private static func readToEnd(_ descriptor: Int32, expecting size: Int) throws(ReadingError) -> [UInt8] {
        var bytes: [UInt8] = []
        var capacity = max(size, 64 << 10) + 1
        while true {
            var failure: Int32 = 0
            bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
                count = buffer.update(fromContentsOf: bytes)
                failure = fill(buffer, &count, from: descriptor)
            }
            guard failure == 0 else { throw .system("read the file", failure) }
            guard bytes.count <= sizeLimit else { throw .tooLarge(nil) }
            guard bytes.count == capacity else { return bytes }
            // One byte more than the limit, so that going over it shows.
            capacity = min(capacity * 2, sizeLimit + 1)
        }
    }

    /// Reads until the buffer is full or the input ends; returns the errno of a failure, or 0.
    private static func fill(
        _ buffer: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int, from descriptor: Int32
    ) -> Int32 {
        while count < buffer.count, let base = buffer.baseAddress {
            let got = Glibc.read(descriptor, base + count, buffer.count - count)
            if got == 0 { return 0 }
            if got > 0 {
                count += got
            } else if errno == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&ready, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}
