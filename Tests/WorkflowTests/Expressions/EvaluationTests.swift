import FlowrunTestSupport
import Syntax
import Testing
import Workflow

struct `An expression comes to` {
    static let scope = SampleScope(
        values: [
            "params": json(#"{"channel":"stable","n":3,"yes":true,"list":["a","b"],"empty":[]}"#),
            "os": .string("linux"),
            "run": json(#"{"outcome":"failure"}"#), "env": json(#"{"HOME":"/root"}"#),
            "config": json(#"{"a":{"b":[1,2.5,null]},"nothing":null,"key":"a","2x":1}"#),
        ],
        steps: [
            "a": json(#"{"outputs":{"v":"x","n":7,"big":9007199254740993}}"#),
            "build": json(
                #"{"items":[{"item":"p","compile":{"outputs":{"bytes":10}}},{"item":"q","compile":{"outputs":{}}}],"outputs":{"v":[1,null]}}"#
            ),
        ], statuses: [.always, .failure])

    private func result(_ text: String) -> String {
        do throws(EvaluationError) {
            return try Expression(text: text).evaluate(in: Self.scope).json
        } catch {
            let place = String(
                decoding: Array(text.utf8)[error.range.lowerOffset..<error.range.upperOffset], as: UTF8.self)
            return "\(place): \(error.message)"
        }
    }

    @Test(arguments: [
        ("1", "1"), ("-12", "-12"), ("true", "true"), ("null", "null"), ("'it''s'", "\"it's\""),
        ("[1, 'a', []]", "[1,\"a\",[]]"),
        ("params.channel", "\"stable\""), ("os", "\"linux\""), ("steps.a.outputs.v", "\"x\""),
        ("steps['a'].outputs['n']", "7"),
        ("config.a.b[1]", "2.5"), ("config[config.key].b[0]", "1"), ("config.2x", "1"), ("params.list[0]", "\"a\""),
        ("params.channel == 'stable'", "true"), ("params.n != 3", "false"), ("params.n >= 3 && params.n < 4", "true"),
        ("1 == fromJSON('1.0')", "true"), ("steps.a.outputs.big > fromJSON('9007199254740992.0')", "true"),
        ("'B' < 'a'", "true"), ("'é' == 'é'", "true"), ("[1, 'a'] == [1, 'a']", "true"), ("[1] == ['1']", "false"),
        ("fromJSON('{\"a\":1,\"b\":2}') == fromJSON('{\"b\":2,\"a\":1}')", "true"),
        ("!false && !(true && false)", "true"), ("false || true", "true"), ("true || steps.zz.x", "true"),
        ("false && steps.zz.x", "false"), ("false && true || true", "true"), ("true || true && false", "true"),
        ("steps.zz.outputs.v ?? 'd'", "\"d\""), ("config.nothing ?? 1", "1"), ("config.nothing.deeper ?? 2", "2"),
        ("env.NO ?? env.NEITHER ?? 'x'", "\"x\""), ("env.NO ?? null", "null"), ("null ?? env.NO", "null"),
        ("null ?? 1", "1"), ("env.HOME ?? 'x' == '/root'", "true"),
        ("config.nothing == null", "true"),
        ("steps.zz == null", "true"), ("1 != null", "true"), ("params.list[5] ?? 'none'", "\"none\""),
        ("steps.build.items.*.item", "[\"p\",\"q\"]"), ("steps.build.items.*.compile.outputs.bytes ?? 0", "[10,0]"),
        ("sum(steps.build.items.*.compile.outputs.bytes ?? 0)", "10"),
        ("steps.build.items.*.compile.outputs.bytes", "[10,null]"),
        ("steps.build.outputs.v ?? []", "[1,null]"), ("steps.build.outputs.v ?? steps.zz.x ?? 5", "[1,5]"),
        ("[[1], [2]].*[0]", "[1,2]"), ("contains(params.list, 'b')", "true"), ("contains(params.list, 1)", "false"),
        ("contains('abc', 'bc')", "true"), ("contains('abc', '')", "true"), ("contains('', 'a')", "false"),
        ("startsWith('abc', 'ab')", "true"), ("endsWith('abc', 'bc')", "true"), ("endsWith('c', 'bc')", "false"),
        ("format('{1}-{0}-{{}}', 'a', 2)", "\"2-a-{}\""), ("join(params.list, ', ')", "\"a, b\""),
        ("join([1, true], '')", "\"1true\""),
        ("len('aé😀')", "3"), ("len(params.list)", "2"), ("len(config)", "4"), ("sum([])", "0"),
        ("sum([1, fromJSON('0.5')])", "1.5"), ("fromJSON('[1.10, 1e400, -0, 12e2]')", "[1.10,1e400,-0,12e2]"),
        ("fromJSON('1.10') == fromJSON('1.1')", "true"), ("fromJSON('1.2e2') == 120", "true"),
        ("fromJSON('1e400') > fromJSON('9e399')", "true"), ("fromJSON('-1e400') < -1", "true"),
        ("fromJSON('1e400') == fromJSON('10e399')", "true"), ("fromJSON('1e-400') > 0", "true"),
        ("fromJSON('-0') == 0", "true"), ("fromJSON('0.000') == fromJSON('0e99')", "true"),
        ("fromJSON('0.01') < fromJSON('0.1')", "true"), ("fromJSON('-0.01') > fromJSON('-0.1')", "true"),
        ("fromJSON('1e99999999999999999999') > fromJSON('1e999')", "true"),
        ("fromJSON('1e-99999999999999999999') < fromJSON('1e-999')", "true"),
        ("fromJSON('100000000000000000001') > fromJSON('100000000000000000000')", "true"),
        ("fromJSON('123456789012345678901234567890')", "123456789012345678901234567890"),
        ("unique([1, 2, 1, 'a', 'a', '1'])", "[1,2,\"a\",\"1\"]"), ("fromJSON('[1, {}]')", "[1,{}]"),
        ("toJSON(params.list)", #""[\"a\",\"b\"]""#),
        ("hashFiles('a', 'b*')", "\"a+b*\""), ("always()", "true"), ("success()", "false"),
        ("failure() && !cancelled()", "true"), ("glob('a', 'b*')", #"["<a>","<b*>"]"#),
        ("exists('here') && !exists('there')", "true"), ("matches('v1.2', '^v[[:digit:]]+')", "true"),
        ("matches('a v1', '^v')", "false"), ("matches('release/1', '/')", "true"), ("matches('', '')", "true"),
        ("matches('abd', '(a|b)c$')", "false"), ("matches('xbc', '(a|b)c$')", "true"),
        ("split('a,b,,c', ',')", #"["a","b","","c"]"#), ("split('', ',')", "[]"), ("split('a', 'ab')", #"["a"]"#),
        ("split('a::b:c', '::')", #"["a","b:c"]"#), ("split(',', ',')", #"["",""]"#),
        ("split('aaa', 'aa')", #"["","a"]"#),
        ("split('aéb', 'é')", #"["a","b"]"#), ("replace('a/b/c', '/', '-')", #""a-b-c""#),
        ("replace('aaaa', 'aa', 'a')", #""aa""#), ("replace('abc', 'x', 'y')", #""abc""#),
        ("replace('', 'x', 'y')", "\"\""),
        ("replace('abab', 'ab', '')", "\"\""), ("lower('ÄB1')", #""äb1""#), ("upper('straße')", #""STRASSE""#),
        ("range(0, 3)", "[0,1,2]"), ("range(3, 3)", "[]"), ("range(-1, 1)", "[-1,0]"), ("range(2, 1)", "[]"),
        ("len(range(0, 100000))", "100000"), ("range(0, len(params.list))", "[0,1]"),
        ("if(params.yes, 1, 'x')", "1"), ("if(!params.yes, 1, 'x')", "\"x\""),
        ("if(true, 1, fromJSON('{'))", "1"), ("if(false, steps.zz.x, 2)", "2"), ("if(true, steps.zz.x, 2) ?? 3", "3"),
        ("if(true, params, 1).n", "3"), ("steps.zz.x ?? 5", "5"),
        ("(params.n)", "3"), ("!!true", "true"), ("a-b ?? 1", "1"),
    ])
    func `a value`(text: String, expected: String) {
        #expect(result(text) == expected)
    }

    @Test(arguments: [
        ("steps.zz.outputs.v", "steps.zz.outputs.v: this has no value here; a default can be given with `??`"),
        ("1 == 'a'", "1 == 'a': cannot compare a whole number with a text"),
        ("1 < 'a'", "1 < 'a': cannot order a whole number and a text"),
        ("true < false", "true < false: cannot order true and false"),
        ("!1", "1: expected true or false, found a whole number"),
        ("if(1, 2, 3)", "1: expected true or false, found a whole number"),
        ("sum([fromJSON('1e400')])", "[fromJSON('1e400')]: the sum is too large"),
        ("true && 'a'", "'a': expected true or false, found a text"), ("os.x", "x: a text has no field `x`"),
        ("os.*", "*: `.*` takes a list, found a text"), ("params.list[-1]", "-1: an index counts from 0, found -1"),
        ("params.list['x']", "'x': a list has no field `x`"),
        ("params.list[os]", "os: a list has no index that is a text"),
        ("len(1)", "1: a whole number has no length"), ("sum(['a'])", "['a']: `sum` adds numbers, found a text"),
        ("sum([9223372036854775807, 1])", "[9223372036854775807, 1]: the sum does not fit into 64 bits"),
        ("sum(steps.build.outputs.v)", "steps.build.outputs.v: an element has no value; `??` gives each a default"),
        ("fromJSON('[1')", "'[1': this is not JSON: expected `,` or `]`, at byte 2"),
        ("join(1, ',')", "1: expected a list, found a whole number"),
        ("format('{2}', 1)", "'{2}': the pattern names value 2, counted from 0, and there are 1"),
        ("format('{', 1)", "'{': a `{` in a pattern is followed by a number and `}`, or written twice"),
        ("startsWith(1, 'a')", "1: expected a text, found a whole number"),
        ("split('a', '')", "'': expected a text of at least one character, found an empty one"),
        ("replace(params.n, 'a', 'b')", "params.n: expected a text, found a whole number"),
        ("replace('a', '', 'b')", "'': expected a text of at least one character, found an empty one"),
        ("matches('a', '(')", "'(': `(` is not closed"), ("exists('')", "'': a path has at least one character"),
        ("range(0, 100001)", "range(0, 100001): the list would have more than 100000 elements"),
        (
            "range(-9223372036854775807, 9223372036854775807)",
            "range(-9223372036854775807, 9223372036854775807): the list would have more than 100000 elements"
        ),
        ("range('0', 1)", "'0': expected a whole number, found a text"),
    ])
    func `an error with its place`(text: String, expected: String) {
        #expect(result(text) == expected)
    }

    /// Each call makes sixteen texts of one; without a limit the last would have 2^32 bytes.
    @Test(arguments: [
        "replace(_, 'a', 'aaaaaaaaaaaaaaaa')", "format('{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}', _)",
        "join([_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _], '')",
    ])
    func `no text that grows from call to call`(call: String) throws {
        let isShared = call.hasPrefix("join")
        let text = (0..<(isShared ? 3 : 8)).reduce("'a'") { text, _ in call.replacing("_", with: text) }
        var scope = Self.scope
        scope.values["x"] = .string(String(repeating: "a", count: 1 << 20))
        let grown = isShared ? text.replacing("'a'", with: "x") : text
        let error = try #require(throws: EvaluationError.self) { try Expression(text: grown).evaluate(in: scope) }
        #expect(error.message == "the text would have more than 16 MiB")
    }

    @Test func `no list of more parts than a fan-out has copies, and no endless search`() throws {
        let scope = SampleScope(values: ["x": .string(String(repeating: ",", count: 100_000))])
        let error = try #require(throws: EvaluationError.self) {
            try Expression(text: "split(x, ',')").evaluate(in: scope)
        }
        #expect(error.message == "the list would have more than 100000 elements")
        let slow = try #require(throws: EvaluationError.self) {
            try Expression(text: "matches(join([x, x], x), '(,{900}){2}')").evaluate(in: scope)
        }
        #expect(slow.message.hasPrefix("the text is too long for it: 300000 bytes, at most "))
    }

    @Test func `the text of its template, and keeps its type alone`() throws {
        let checked = checkStep("run: [\"a${{ params.n }}b${{ params.list }}\", \"${{ params.list }}\", c]")
        guard case .arguments(let words)? = checked.node("a")?.body else {
            return #expect(checked.summary == ["words"])
        }
        #expect(try words.map { try $0.evaluate(in: Self.scope) } == [#"a3b["a","b"]"#, #"["a","b"]"#, "c"])
        #expect(
            try words.map { try $0.value(in: Self.scope).json } == [#""a3b[\"a\",\"b\"]""#, #"["a","b"]"#, "\"c\""])
    }

    @Test(arguments: [
        "${{ params.channel }}", "$(touch canary)", "`id`", "'; rm -rf / #", "a\nb\0c", "\u{FEFF}é\u{301}", "}}",
        "' || true || '",
    ])
    func `a hostile text as it is`(text: String) throws {
        let scope = SampleScope(values: ["x": .string(text)])
        #expect(try Expression(text: "x").evaluate(in: scope) == .string(text))
        #expect(try Expression(text: "fromJSON(toJSON([x]))[0]").evaluate(in: scope).text.utf8.elementsEqual(text.utf8))
        #expect(
            try Expression(text: "format('{0}{0}', x)").evaluate(in: scope).text.utf8.elementsEqual((text + text).utf8))
        #expect(try Expression(text: "x == x && contains(x, x)").evaluate(in: scope) == .bool(true))
    }
}
