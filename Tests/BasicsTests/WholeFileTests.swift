import Basics
import FlowrunTestSupport
import Glibc
import Testing

struct WholeFileTests {
    @Test(arguments: [0, 1, 4095, 4096, 4097, 100_000])
    func `what is written is read, whatever size was expected`(count: Int) throws {
        for expected in [0, count, count + 1, count / 2] {
            let file = try Descriptor.temporaryFile()
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            try WholeFile.write(bytes, to: file.number)
            lseek(file.number, 0, SEEK_SET)
            #expect(try WholeFile.read(file.number, expecting: expected) == bytes)
        }
    }

    @Test func `reading stops one byte behind the limit`() throws {
        let file = try Descriptor.temporaryFile()
        try WholeFile.write([UInt8](repeating: 1, count: 10_000), to: file.number)
        for limit in [0, 5, 4095, 4096, 9_999, 10_000, 20_000] {
            lseek(file.number, 0, SEEK_SET)
            #expect(try WholeFile.read(file.number, limit: limit).count == min(limit + 1, 10_000))
        }
    }

    @Test func `a refusal is told in the system's words`() {
        #expect(throws: SystemError(EBADF)) { try WholeFile.read(-1) }
        #expect(throws: SystemError(EBADF)) { try WholeFile.write([1], to: -1) }
        #expect(SystemError(ENOENT).words == "no such file or directory")
    }
}
