import Glibc
import Testing
import Workflow

struct PatternTests {
    @Test(arguments: [
        ("", "", true), ("", "a", false), ("abc", "abc", true), ("abc", "abcd", false), ("a|bc|", "bc", true),
        ("a|bc|", "", true), ("a|bc|", "b", false), ("a*b+c?", "bb", true), ("a*b+c?", "aac", false),
        ("(ab)+", "abab", true), ("(ab)+", "aba", false), ("(?:a|b){2,3}", "abba", false),
        ("(?:a|b){2,3}", "aba", true), ("a{2}", "aa", true), ("a{2,}", "aaaa", true), ("a{2,}", "a", false),
        ("a{0}", "", true), ("a{,2}", "a{,2}", true), ("a{x", "a{x", true), ("a+?b", "aab", true), ("]}", "]}", true),
        ("(?<year>[0-9]{4})-(?P<m>\\d\\d)", "2024-07", true), ("((a*)*)*b", "aaab", true),
    ])
    func `matches a whole text`(pattern: String, text: String, isMatch: Bool) throws {
        #expect(try Pattern(pattern).matches(text) == isMatch)
    }

    @Test(arguments: [
        ("[a-c]+", "abc", true), ("[^a-c]+", "abd", false), ("[]a]+", "]a", true), ("[^]]", "]", false),
        ("[a-]+", "a-", true), ("[\\w.-]+", "a_1.-é", true), ("[\\]\\\\]+", "]\\", true), ("[^\\s]+", "a b", false),
        ("\\d+", "१2", true), ("\\D", "2", false), ("\\S\\s\\W", "a\u{A0}-", true), (".", "é", true),
        (".", "\n", false),
        ("\\x41\\u0042\\x{1F600}", "AB\u{1F600}", true), ("\\.\\/\\-\\t", "./-\t", true),
        ("[[:digit:][:lower:]]+", "a1", true),
        ("(?i)ab[c-d]", "ABD", true), ("(?i:a)b", "AB", false), ("(?i:a)b", "Ab", true), ("[+-/]", ",", true),
        ("e\u{301}", "\u{E9}", false),
    ])
    func `classes and escapes mean Unicode scalars`(pattern: String, text: String, isMatch: Bool) throws {
        #expect(try Pattern(pattern).matches(text) == isMatch)
    }

    private static let classes = [
        "digit", "lower", "upper", "alpha", "alnum", "xdigit", "punct", "blank", "space", "word", "print", "graph",
        "cntrl",
    ]

    /// The classes of POSIX, compared with its definitions for every character of ASCII.
    @Test(arguments: [
        ("alpha", "isalpha"), ("alnum", "isalnum"), ("xdigit", "isxdigit"), ("punct", "ispunct"), ("blank", "isblank"),
        ("print", "isprint"), ("graph", "isgraph"), ("cntrl", "iscntrl"), ("digit", "isdigit"), ("lower", "islower"),
        ("upper", "isupper"), ("space", "isspace"),
    ])
    func `named classes are those of the C library`(name: String, function: String) throws {
        let isMember: (Int32) -> Int32 =
            switch function {
            case "isalpha": isalpha
            case "isalnum": isalnum
            case "isxdigit": isxdigit
            case "ispunct": ispunct
            case "isblank": isblank
            case "isprint": isprint
            case "isgraph": isgraph
            case "iscntrl": iscntrl
            case "isdigit": isdigit
            case "islower": islower
            case "isupper": isupper
            default: isspace
            }
        let pattern = try Pattern("[[:\(name):]]")
        for letter in 0..<128 as Range<UInt8> {
            let text = String(Unicode.Scalar(letter))
            #expect(pattern.matches(text) == (isMember(Int32(letter)) != 0), "\(letter)")
        }
    }

    @Test(arguments: [
        ("b", "abc", true), ("^b", "abc", false), ("c$", "abc", true), ("", "abc", true), ("", "", true),
        ("a", "", false),
        ("b+c", "abbbc", true), ("x|bc", "abcd", true), ("\\bbc", "a bc", true), ("\\bbc", "abc", false),
        ("(ab)+$", "cabab", true), ("a{3}", "aabaaa", true), ("a{3}", "aabaa", false), ("$", "abc", true),
    ])
    func `is found in a part of a text`(pattern: String, text: String, isFound: Bool) throws {
        #expect(try Pattern(pattern).isFound(in: text) == isFound)
    }

    @Test(arguments: [
        ("^a$", "a", true), ("\\Aa\\z", "a", true), ("a^b", "ab", false), ("(^|-)a", "-a", true),
        ("\\bab\\b", "ab", true),
        ("a\\bb", "ab", false), ("a\\Bb", "ab", true), ("a\\b-", "a-", true), ("$", "", true), ("\\b", "", false),
    ])
    func `anchors hold where they stand`(pattern: String, text: String, isMatch: Bool) throws {
        #expect(try Pattern(pattern).matches(text) == isMatch)
    }

    @Test(arguments: [
        ("(a+)+b", 50_000), ("(a|a)*b", 50_000), ("(a|aa)+b", 50_000), ("(.*)(.*)(.*)b", 50_000),
        ("(a?){600}a{600}b", 600),
    ])
    func `takes linear time where other engines go back and forth for ever`(pattern: String, length: Int) throws {
        #expect(try !Pattern(pattern).matches(String(repeating: "a", count: length)))
    }

    @Test(arguments: [
        ("a(", "`(` is not closed"), ("a)", "`)` closes no group"), ("*", "`*` has nothing in front of it to repeat"),
        ("a**", "`*` has nothing in front of it to repeat"), ("{2}", "`{` has nothing in front of it to repeat"),
        ("v[0-9", "`[` is not closed"), ("[", "`[` is not closed"), ("a\\", "it ends with a lone `\\`"),
        ("[z-a]", "a range in `[ ]` goes from a letter to one that is not before it"),
        ("a{3,2}", "a repetition ends below its beginning"), ("a{1001}", "a repetition counts to 1000 at most"),
        ("(a{1000}){1000}", "it is too large once its repetitions are written out"),
        ("\\q", "`\\q` has no meaning"), ("\\xZZ", "`\\x` and `\\u` take the hexadecimal number of a character"),
        ("(?<a", "the name of a group is not closed with `>`"),
        ("[[:foo:]]", "a named class is one of \(Self.classes.map { "[:\($0):]" }.joined(separator: ", "))"),
    ])
    func `what is no regular expression is told`(pattern: String, message: String) throws {
        #expect(try #require(throws: PatternError.self) { try Pattern(pattern) }.message == message)
    }

    @Test(arguments: [
        ("a(?=b)", "`(?=` (lookahead) is not supported"), ("a(?!b)", "`(?!` (lookahead) is not supported"),
        ("(?<=a)b", "`(?<=` (lookbehind) is not supported"), ("(?<!a)b", "`(?<!` (lookbehind) is not supported"),
        ("(?>a)", "`(?>` (atomic groups) is not supported"),
        ("(a)\\1", "`\\1` (a reference back to a group) is not supported"),
        ("(?<n>a)\\k<n>", "`\\k` (a reference back to a group) is not supported"),
        ("a++", "possessive repetitions such as `a++` are not supported"),
        ("\\p{L}", "`\\p` (a Unicode property) is not supported; `\\w`, `\\d` and `\\s` are"),
        ("(?s).", "`(?s` is not supported; `(?:`, `(?i)` are"),
    ])
    func `what needs more than one pass is refused by name`(pattern: String, message: String) throws {
        #expect(try #require(throws: PatternError.self) { try Pattern(pattern) }.message == message)
    }

    @Test func `deep nesting is refused, not recursed into`() throws {
        let deep = String(repeating: "(", count: 100_000)
        #expect(
            try #require(throws: PatternError.self) { try Pattern(deep) }.message
                == "groups are nested deeper than 50 levels")
    }
}
