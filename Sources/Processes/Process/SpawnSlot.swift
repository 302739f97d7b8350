internal import Basics
internal import CLinux
internal import Glibc

/// The memory of this process that a child needs until it has become its program: a stack, the arguments and
/// variables, and a place for the error that kept it from becoming one.
///
/// A slot belongs to one child until that is reaped. Then its memory goes to the next child.
@EventLoopActor
final class SpawnSlot {
    private let child: UnsafeMutablePointer<clinux_child>
    private let stack: UnsafeMutableRawPointer
    /// The pointers for exec, then the strings that they point to.
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// Owns the variables that the pointers point to.
    private var environment: EnvironmentBlock?
    /// A larger buffer, in bytes, is not kept for the next child.
    private static let keptMemory = 64 << 10

    init() throws(SpawnError) {
        guard let stack = clinux_make_stack() else { throw SpawnError(errno: errno) }
        self.stack = stack
        child = .allocate(capacity: 1)
        child.initialize(to: clinux_child())
    }

    isolated deinit {
        clinux_free_stack(stack)
        child.deallocate()
        memory.deallocate()
    }

    /// Starts a process; the descriptors are above 2. With `mark` nil it gets none. Returns its number, or a negative
    /// error number.
    func spawn(
        _ command: ProcessCommand, input: Int32, output: Int32, error: Int32, mark: ProcessMark?,
        leaf: CgroupLeaf?, pidfd: inout Int32
    ) -> pid_t {
        lay(command)
        child.pointee.ends_with_parent = command.attributes.isDetached ? 0 : clinux_wants_death_signal()
        child.pointee.standard_input = input
        child.pointee.standard_output = output
        child.pointee.standard_error = error
        child.pointee.defaulted = Signals.defaulted
        child.pointee.mark = mark?.rawValue ?? 0
        child.pointee.leaf = leaf?.folder ?? 0
        child.pointee.jobserver = command.jobserver?.inherited ?? 0
        child.pointee.terminal = command.terminal?.descriptor ?? 0
        if let given = DescriptorLimit.given {
            child.pointee.descriptors = (UInt64(given.rlim_cur), UInt64(given.rlim_max))
        }
        return clinux_spawn(child, stack, &pidfd)
    }

    /// True if the kernel put the child into the leaf that was meant for it.
    var isInLeaf: Bool { child.pointee.leaf != 0 }

    /// The reason why the child never became its program; nil if it did. Meaningful once the child is reaped.
    var error: SpawnError? {
        guard child.pointee.error != 0 else { return nil }
        return SpawnError(
            errno: child.pointee.error,
            subject: child.pointee.failed_call == CLINUX_FAILED_CHDIR ? .workingDirectory : .program)
    }

    func clear() {
        environment = nil
        guard memory.count > Self.keptMemory else { return }
        memory.deallocate()
        memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    /// Lays the command out in memory in the form that exec needs.
    private func lay(_ command: ProcessCommand) {
        let pointers = command.arguments.count + 1 + command.environment.count + command.additions.count + 1
        var size = pointers * MemoryLayout<CString?>.stride
        size += command.path.utf8.count + 1 + (command.workingDirectory?.utf8.count ?? 0) + 1
        for argument in command.arguments { size += argument.utf8.count + 1 }
        for (name, value) in command.additions { size += name.utf8.count + value.utf8.count + 2 }
        if memory.count < size {
            memory.deallocate()
            memory = .allocate(byteCount: max(size, 4096), alignment: 16)
        }

        environment = command.environment
        let start = memory.baseAddress!
        var vector = start.assumingMemoryBound(to: CString?.self)
        var text = CStringWriter(next: start + pointers * MemoryLayout<CString?>.stride)
        func append(_ pointer: CString?) {
            vector.initialize(to: pointer)
            vector += 1
        }
        child.pointee.argv = UnsafePointer(vector)
        for argument in command.arguments { append(text.write(argument)) }
        append(nil)
        child.pointee.envp = UnsafePointer(vector)
        command.environment.forEachEntry(append)
        for (name, value) in command.additions { append(text.write(name, value)) }
        append(nil)
        child.pointee.path = UnsafePointer(text.write(command.path))
        child.pointee.working_directory = command.workingDirectory.map { UnsafePointer(text.write($0)) }
    }
}

typealias CString = UnsafeMutablePointer<CChar>

/// Writes NUL-terminated strings one after another into memory that is large enough.
private struct CStringWriter {
    var next: UnsafeMutableRawPointer

    mutating func write(_ text: String) -> CString {
        let start = next
        append(text)
        append(0)
        return start.assumingMemoryBound(to: CChar.self)
    }

    /// Writes a variable of an environment, `name=value`.
    mutating func write(_ name: String, _ value: String) -> CString {
        let start = next
        append(name)
        append(UInt8(ascii: "="))
        append(value)
        append(0)
        return start.assumingMemoryBound(to: CChar.self)
    }

    private mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            guard let source = bytes.baseAddress else { return }
            next.copyMemory(from: source, byteCount: bytes.count)
            next += bytes.count
        }
    }

    private mutating func append(_ byte: UInt8) {
        next.storeBytes(of: byte, as: UInt8.self)
        next += 1
    }
}
