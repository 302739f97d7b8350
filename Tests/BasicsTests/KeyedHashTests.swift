import Basics
import Testing

@Suite struct KeyedHashTests {
    /// The first of the reference's vectors: key 00 to 0f, inputs 00 to n.
    @Test(arguments: [
        (0, "a3817f04ba25a8e66df67214c7550293"), (1, "da87c1d86b99af44347659119b22fc45"),
        (7, "a1f1ebbed8dbc153c0b84aa61ff08239"), (8, "3b62a9ba6258f5610f83e264f31497b4"),
        (15, "5493e99933b0a8117e08ec0f97cfc3d9"),
    ])
    func `it is SipHash-2-4 with 128 bits`(count: Int, digest: String) throws {
        let key = try #require(KeyedHash.Key(Array(0..<16)))
        var hash = KeyedHash(key: key)
        for byte in 0..<count { hash.append(UInt8(byte)) }
        #expect(hash.finish() == digest)
    }

    @Test func `another key, and another cut between two texts, give another digest`() throws {
        func digest(_ key: UInt8, _ texts: String...) throws -> String {
            var hash = KeyedHash(key: try #require(KeyedHash.Key([UInt8](repeating: key, count: 16))))
            for text in texts { hash.append(text) }
            return hash.finish()
        }
        #expect(try digest(1, "ab", "c") == digest(1, "ab", "c"))
        #expect(try digest(1, "ab", "c") != digest(2, "ab", "c"))
        #expect(try digest(1, "ab", "c") != digest(1, "a", "bc"))
        #expect(KeyedHash.Key([1]) == nil)
    }

    @Test(arguments: [[], [0], [0, 255], [1, 2, 3], Array(0...255)] as [[UInt8]])
    func `base64 gives back what was written`(bytes: [UInt8]) {
        let text = Base64.text(of: bytes)
        #expect(Base64.bytes(of: text) == bytes)
        for wrong in ["=", "A", "AA=A", "A===", "AAA*", text + "A"] { #expect(Base64.bytes(of: wrong) == nil) }
    }
}
