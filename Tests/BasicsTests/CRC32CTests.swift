import Testing

@testable import Basics

@Suite struct CRC32CTests {
    // RFC 3720, B.4
    @Test(arguments: [
        (Array("123456789".utf8), "e3069283"), (Array(repeating: 0, count: 32), "8a9136aa"),
        (Array(repeating: 0xFF, count: 32), "62a8ab43"), (Array(0..<32), "46dd794e"), ([], "00000000"),
    ])
    func `the sums of the standard`(bytes: [UInt8], digits: String) {
        #expect(CRC32C.digits(of: bytes) == digits)
        #expect(CRC32C.digits(bytes.withUnsafeBytes(CRC32C.byTables)) == digits)
    }

    @Test func `the tables and the instruction of the machine say the same, wherever the bytes begin and end`() {
        let bytes = (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 89 &+ 7) }
        bytes.withUnsafeBytes { bytes in
            for start in 0..<9 {
                for end in start...bytes.count {
                    let part = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                    #expect(CRC32C.of(part) == CRC32C.byTables(part))
                }
            }
        }
    }
}
