import Basics
import Testing

struct `A word for a shell` {
    @Test(arguments: [
        ("build.compile", "build.compile"), ("a/b-c_d:e,f@g%h+i", "a/b-c_d:e,f@g%h+i"), ("übung", "übung"),
        ("g[b]", "'g[b]'"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("", "''"), ("~x", "'~x'"), ("$x", "'$x'"),
        ("a*", "'a*'"), ("=ls", "'=ls'"),
    ])
    func `is quoted where it would mean something else`(text: String, word: String) {
        #expect(text.shellWord == word)
    }
}
