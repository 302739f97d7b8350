import FlowrunTestSupport
import Syntax
import Testing
import Workflow

@Suite struct ParameterValuesTests {
    @Test(arguments: [
        (Parameter.Kind.string, "", Value.string("")), (.string, " a=b ${{ x }} $(y) ", .string(" a=b ${{ x }} $(y) ")),
        (.int, "0", .int(0)), (.int, "-17", .int(-17)), (.int, "9223372036854775807", .int(.max)),
        (.bool, "true", .bool(true)), (.bool, "false", .bool(false)),
        (.choice(["nightly", "stable"]), "stable", .string("stable")), (.path, "../a b", .string("../a b")),
        (.list, "", .list([])), (.list, "a", .list([.string("a")])),
        (.list, "a, b,=c", .list([.string("a"), .string(" b"), .string("=c")])), (.list, "[]", .list([])),
        (.list, #"["a,b", "", 3, true]"#, .list([.string("a,b"), .string(""), .string("3"), .string("true")])),
    ])
    func `a text becomes the value of its type`(kind: Parameter.Kind, text: String, value: Value) throws {
        #expect(try parameter("p", kind).value(from: text) == value)
    }

    @Test(arguments: [
        (Parameter.Kind.int, "ten", "expected a whole number in decimal digits, such as 12 or -3"),
        (.int, "+1", "expected a whole number in decimal digits, such as 12 or -3"),
        (.int, "1e3", "expected a whole number in decimal digits, such as 12 or -3"),
        (.int, "", "expected a whole number in decimal digits, such as 12 or -3"),
        (
            .int, "9223372036854775808",
            "expected a whole number from -9223372036854775808 to 9223372036854775807"
        ),
        (.bool, "Yes", "expected true or false; did you mean true?"), (.bool, "", "expected true or false"),
        (.choice(["nightly", "stable"]), "stabel", "expected `nightly` or `stable`; did you mean `stable`?"),
        (.choice(["nightly", "stable"]), "", "expected `nightly` or `stable`"),
        (.path, "", "a path cannot be empty; `.` is the current folder"),
        (.list, "a,,b", "a value between commas is empty; for an empty text write a JSON array with `\"\"`"),
        (.list, "[3.10]", "item 1 needs quotes, so that it keeps its digits"),
        (.list, "[\"a\", [1]]", "item 2 is not a text; the items of a list are"),
        (.list, "[a", "what begins with `[` has to be a JSON array: expected a JSON value"),
    ])
    func `a text that is no value of the type is refused with what would be one`(
        kind: Parameter.Kind, text: String, message: String
    ) throws {
        let error = try #require(throws: Parameter.ValueError.self) { try parameter("p", kind).value(from: text) }
        #expect(error.message == message)
    }

    @Test(arguments: [
        ("v1.2", true), ("v1.2.3", false), ("xv1.2", false), ("v1.2\n", false), ("v१.2", true), ("", false),
    ])
    func `a pattern has to match the whole text`(text: String, isGood: Bool) throws {
        let tag = parameter("tag", .string, pattern: #"v\d+\.\d"#)
        if isGood {
            #expect(try tag.value(from: text) == .string(text))
        } else {
            #expect(throws: Parameter.ValueError.self) { try tag.value(from: text) }
        }
    }

    @Test func `each item of a list has to match the pattern`() throws {
        let list = parameter("l", .list, pattern: "[a-z]+")
        #expect(try list.value(from: "ab,cd") == .list([.string("ab"), .string("cd")]))
        let error = try #require(throws: Parameter.ValueError.self) { try list.value(from: "ab,Cd") }
        #expect(error.message == "item 2, `Cd`, does not match the pattern `[a-z]+`")
    }

    @Test func `parameters that nobody gives have their default, or nothing`() throws {
        let values = try ParameterValues(
            [("b", "given")],
            for: [
                parameter("a", .string, default: .string("x")), parameter("b", .string, default: .string("y")),
                parameter("c", .int), parameter("d", .list), parameter("e", .bool), parameter("f", .path),
            ])
        let wanted: [Value] = [.string("x"), .string("given"), .int(0), .list([]), .bool(false), .string("")]
        #expect(values.fields.map(\.name) == ["a", "b", "c", "d", "e", "f"])
        #expect(values.fields.map(\.value) == wanted)
        #expect(values["b"] == .string("given"))
        #expect(values["z"] == nil)
        #expect(values.environment.map { "\($0)=\($1)" } == ["a=x", "b=given", "c=0", "d=[]", "e=false", "f="])
    }

    @Test func `the last of two values counts`() throws {
        // Only the one that counts has to be right.
        let values = try ParameterValues([("n", "x"), ("n", "2")], for: [parameter("n", .int)])
        #expect(values["n"] == .int(2))
    }

    @Test func `all mistakes are told at once`() throws {
        let channel = Parameter(
            name: "channel", kind: .choice(["nightly", "stable"]), isRequired: true, description: "what to publish",
            range: .beginning)
        let error = try #require(throws: ParameterValues.ValuesError.self) {
            try ParameterValues(
                [("chanel", "stable"), ("count", "many"), ("zzz", String(repeating: "long\n", count: 90))],
                for: [channel, parameter("count", .int)])
        }
        let long = "zzz=" + String(repeating: "long␤", count: 11)
        #expect(
            error.messages == [
                "--param chanel=stable: the workflow has no parameter of this name; did you mean `channel`?",
                "--param \(long)…: the workflow has no parameter of this name, only `channel` or `count`",
                "--param count=many: expected a whole number in decimal digits, such as 12 or -3",
            ])
        #expect(
            error.missing.map(\.demand) == [
                "the parameter `channel` is required; give --param channel=VALUE with `nightly` or `stable` "
                    + "(what to publish)"
            ])
    }

    @Test func `a variable gives a value where the caller gives none`() throws {
        func values(_ texts: [(name: String, text: String)], _ variables: [String: String]) throws -> ParameterValues {
            try ParameterValues(
                texts,
                for: [
                    Parameter(name: "a", kind: .int, defaultValue: .int(1), variable: "A", range: .beginning),
                    Parameter(name: "b", kind: .string, isRequired: true, variable: "B", range: .beginning),
                    Parameter(name: "c", kind: .string, defaultValue: .string("x"), variable: "C", range: .beginning),
                ]
            ) { variables[$0].map { Array($0.utf8) } }
        }
        let all = try values([("a", "5")], ["A": "7", "B": "text", "C": ""])
        #expect(all.fields.map(\.value) == [.int(5), .string("text"), .string("")])
        #expect(all.given.map { "\($0)=\($1)" } == ["a=5", "b=text", "c="])
        // Where a value has to be given, an empty variable gives none.
        let none = try values([], ["B": ""])
        #expect(none.fields.map(\.name) == ["a", "c"])
        #expect(none.missing.map(\.name) == ["b"])
        #expect(
            none.missing.map(\.demand) == [
                "the parameter `b` is required; give --param b=VALUE, or set the variable `B`"
            ])
        let error = try #require(throws: ParameterValues.ValuesError.self) { try values([], ["A": "", "B": "x"]) }
        #expect(
            error.messages == [
                "the variable `A`, for the parameter `a`: expected a whole number in decimal digits, such as 12 or -3, "
                    + "found an empty text"
            ])
    }

    @Test func `hostile texts arrive as they are`() throws {
        let parameters = [parameter("p", .string), parameter("l", .list)]
        for text in [
            "`id`", "$(id)", "'; id #", "\"\\\n\t", "--help", "*", "${{ params.p }}", "é\u{301}", "\r\n", "=,=",
        ] {
            let json = Value.list([.string(text)]).json
            let values = try ParameterValues([("p", text), ("l", json)], for: parameters)
            #expect(values["p"] == .string(text))
            #expect(values["l"] == .list([.string(text)]))
            #expect(values.environment.map(\.value) == [text, json])
        }
    }

    private func parameter(
        _ name: String, _ kind: Parameter.Kind, default value: Value? = nil, pattern: String? = nil
    ) -> Parameter {
        Parameter(
            name: name, kind: kind, defaultValue: value, pattern: pattern.flatMap { try? Pattern($0) },
            range: .beginning)
    }
}
