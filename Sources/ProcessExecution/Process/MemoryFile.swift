package import Basics
internal import CLinux
internal import Glibc

/// Bytes as a file that has no name and takes no disk: what a step reads as its standard input. Nobody has to feed a
/// pipe, and a step that does not read it all kills nobody.
package final class MemoryFile: Sendable {
    let descriptor: Int32

    /// Throws where the machine has no descriptor or no memory left.
    package init(_ bytes: [UInt8]) throws(SystemError) {
        descriptor = bytes.withUnsafeBytes { clinux_memory_file($0.baseAddress, $0.count) }
        guard descriptor >= 0 else { throw .last }
    }

    deinit { close(descriptor) }
}
