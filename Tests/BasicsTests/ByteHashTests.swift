import Basics
import Testing

struct ByteHashTests {
    @Test func `texts that differ in any byte, in their length or in the order of words have different hashes`() {
        var texts = (0..<2000).map { "step-\($0)" }
        texts += ["", "a", "\0", "\0\0", "aaaaaaaabbbbbbbb", "bbbbbbbbaaaaaaaa", "aaaaaaaa", "aaaaaaaa\0"]
        #expect(Set(texts.map { ByteHash.of($0) }).count == texts.count)
    }

    @Test(arguments: ["", "build", "exactly-fifteen", "a text that is too long to stand in a string itself", "größer"])
    func `a text has the hash of its bytes`(text: String) {
        #expect(Array(text.utf8).withUnsafeBytes(ByteHash.of) == ByteHash.of(text))
    }
}
