import FlowrunTestSupport
import Foundation
import Testing
import Workflow

@Suite struct SchemaTests {
    @Test func `every property tells what it is`() throws {
        let properties = try WorkflowSchema().properties
        #expect(properties.count > 40)
        for (path, schema) in properties {
            #expect(schema["title"]?.string?.isEmpty == false, "\(path)")
            #expect(schema["description"]?.string?.isEmpty == false, "\(path)")
        }
    }

    @Test func `the schemas have ids, defaults from the table of keys, and examples`() throws {
        let schema = try WorkflowSchema()
        #expect(schema.root["$id"] == .string("urn:flowrun:schema:workflow:1"))
        for key in KeyPlace.step.keys {
            let property = schema.definition("step")?["properties"]?[key.spelling]
            #expect((property?["default"] != nil) == (key.definition.standard != nil), "\(key)")
        }
        let defaults = schema.properties.compactMap { $0.schema["default"] }
        #expect(defaults.count > 40)
        #expect(schema.definition("step")?["properties"]?["grace"]?["default"] == .string("10s"))
        #expect(schema.definition("retry")?["properties"]?["backoff"]?["default"] == .number(1))
        #expect((schema.root["definitions"]?.object ?? [:]).values.count { $0["examples"] != nil } >= 25)
    }

    /// Each as a file of its own: an editor writes them into one.
    @Test func `defaults and examples are values of their kind`() async throws {
        let script = """
            import json, jsonschema, sys
            schema = json.load(open(sys.argv[1]))
            kinds = schema["definitions"]
            def fits(kind, value):
                found = {"$ref": "#/definitions/" + kind, "definitions": kinds}
                return not list(jsonschema.Draft7Validator(found).iter_errors(value))
            for kind in kinds:
                for value in kinds[kind].get("examples", []):
                    if not fits(kind, value): print(kind, value)
            def walk(node):
                if isinstance(node, dict):
                    for name, property in node.get("properties", {}).items():
                        if isinstance(property, dict) and "default" in property:
                            found = {**property, "definitions": kinds}
                            if list(jsonschema.Draft7Validator(found).iter_errors(property["default"])): print(name)
                    for value in node.values(): walk(value)
                elif isinstance(node, list):
                    for value in node: walk(value)
            walk(schema)
            """
        let test = try FlowrunTest(files: ["script.py": script])
        let result = try await test.run(
            "\(PackageFolder.path)/schema/flowrun.schema.json", launcher: ["sh", "-c", #"exec python3 script.py "$1""#])
        result.expect(exit: 0, stdout: "", stderr: "")
    }

    @Test(arguments: [([], "flowrun"), (["workflow"], "flowrun"), (["log"], "flowrun-event")])
    func `flowrun prints the schemas`(words: [String], file: String) async throws {
        let text = try PackageDocument("schema/\(file).schema.json").text
        let result = try await FlowrunTest().start(["schema"] + words).finish()
        result.expect(exit: 0, stderr: "")
        #expect(result.stdout == text)
    }

    @Test func `flowrun has no other schema`() async throws {
        try await FlowrunTest().run("schema", "plan").expect(
            exit: 64, stdout: "", stderr: "flowrun: schema plan: expected `workflow` or `log`\n")
    }

    @Test(arguments: ["step", "group", "use", "template", "defaults", "retry", "parameter", "secret", "output"])
    func `no place takes unknown keys`(place: String) throws {
        let schema = try WorkflowSchema()
        #expect(schema.root["additionalProperties"] == .bool(false))
        #expect(schema.definition(place)?["additionalProperties"] == .bool(false))
    }

    /// `make schema` writes the file.
    @Test func `the schema is made of the table of keys and the words of the model`() throws {
        let path = PackageFolder.path + "/schema/flowrun.schema.json"
        let text = try WorkflowSchemaText.text()
        if getenv("FLOWRUN_WRITE_SCHEMA") != nil { try text.write(toFile: path, atomically: true, encoding: .utf8) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }

    @Test func `each kind of value has a shape`() throws {
        let schema = try WorkflowSchema()
        for type in KeyType.allCases { #expect(schema.definition(type.rawValue) != nil, "\(type)") }
        #expect(schema.definition("failFast")?["enum"]?.array == [.bool(false), .bool(true), .string("drain")])
        #expect(FailFastWord.allCases.map(\.rawValue) == ["false", "true", "drain"])
    }

    private static let mistakes = [
        "{a: {run: x, steps: {}}}", "{a: {}}", "{a: {run: true}}", "{a: {run: []}}", "{a.b: {run: x}}",
        "{a: {run: x, timeout: 30}}", "{a: {run: x, timeout: 0s}}", "{a: {run: x, timeout: 30m1h}}",
        "{a: {run: x, kill-signal: SIGTERM}}", "{a: {run: x, continue-on-error: 1}}", "{a: {run: x, deps: [b]}}",
        "{a: {run: x, needs: b}, b: {run: x}}", "{a: {run: x, order: sequence}}", "{a: {steps: {}, max-parallel: 0}}",
        "{a: {run: x, as: y}}", "{a: {run: x, max-parallel: 2}}", "{a: {run: x, fail-fast: true}}",
        "{a: {run: x, max-items: 5}}", "{a: {run: x, for-each: [1], matrix: {b: [1]}}}",
        "{a: {run: x, matrix: {b: []}}}", "{a: {run: x, for-each: [1], as: 1a}}",
        "{a: {run: x, env: {FLOWRUN_X: 1}}}", "{a: {run: x, env: {1X: 1}}}",
        "{a: {run: x, retry: 3}}", "{a: {run: x, retry: {}}}", "{a: {run: x, retry: {attempts: 0}}}",
        "{a: {run: x, retry: {attempts: 2, backoff: 2}}}", "{a: {run: x, retry: {attempts: 2, when: [0]}}}",
        "{a: {run: x, retry: {attempts: 2, delay: 5}}}", "{a: {run: x, retry: {limit: 2}}}",
        "{a: {run: x, retry: {attempts: 2, delay: 1s, jitter: 2}}}", "{a: {run: x, pool: {b: 0}}}",
        "{a: {run: x, pool: true}}", "{a: {run: x, mutex: {name: b}}}", "{a: {run: x, mutex: [b, b]}}",
        "{a: {run: x, outputs: {b: float}}}", "{a: {run: x, outputs: [b]}}",
        "{a: {run: x, outputs: {b: {from: stderr}}}}", "{a: {steps: {b: {run: x}}, outputs: {c: int}}}",
        "{a: {run: x, if: []}}", "{a: {run: x, stdin: [b]}}", "{a: {run: x, interactive: 1}}",
        "{a: {run: x, env-policy: none}}", "{a: {run: x, log: loud}}",
        "{a: {run: x, platforms: [amiga]}}", "{a: {run: x, platforms: linux}}", "{a: {run: x, secrets: {A: b}}}",
        "{a: {run: x, manual: 1}}", "{a: {run: x, internal: 1}}",
        "{a: {run: x, aliases: b}}", "{a: {run: x, aliases: [b.c]}}", "{a: {run: x, aliases: [b, b]}}",
        "{a: {run: x, section: [b]}}", "{a: {run: x, params: [b]}}", "{a: {run: x, params: {b: 1}}}",
        "{a: {steps: {b: {run: x}}, params: {c: {}}}}", "{a: {needs: [b], params: {c: {}}}, b: {run: x}}",
        "{a: {needs: [b], timeout: 5m}, b: {run: x}}", "{a: {name: b}}",
        "{a: {run: x, for-each: x}}", "{a: {run: x, finally: {b: {run: x}}}}",
        "{a: {steps: {b: {run: x}}, finally: {}}}", "{a: {steps: {b: {run: x}}, on-failure: {c: {}}}}",
        "{a: {steps: {b: {run: x}}, pool: c}}", "{a: {steps: {b: {run: x}}, secrets: [C]}}",
        "{a: {run: x, vars: {b: c}}}", "{a: {steps: {b: {run: x}}, vars: {c: null}}}",
        "{a: {run: x, require: {}}}", "{a: {run: x, require: {message: b}}}",
        "{a: {run: x, require: [{run: 1, if: b}]}}",
        "{a: {run: x, require: [{run: true}]}}", "{a: {run: x, x-b: 1}}", "{a: {steps: {b: {run: x}}, x-b: 1}}",
    ]

    /// Beside a good step.
    private static let topMistakes = [
        "default: a", "default: [a, a]", "default: {a: b}", "params: {a: {type: path}}",
        "params: {a: {pattern: b}}", "params: {a: {type: enum, values: [b]}}", "params: {a: {env: B-C}}",
        "params: {a: 1}", "params: {a: {type: float}}", "params: {a-b: {}}", "params: {a: {type: enum}}",
        "params: {a: {values: [b]}}", "params: {a: {required: true, default: b}}", "params: {a: {options: [b]}}",
        "vars: [a]", "vars: {a: null}", "vars: {a: {}}", "vars: {a: {run: x, value: y}}",
        "vars: {a: {value: x, shell: sh}}",
        "vars: {a-b: x}", "vars: {a: {run: []}}", "vars: {a: {run: x, type: enum}}", "vars: {a: {run: x, timeout: 5}}",
        "vars: {a: [[b]]}", "vars: {a: {run: x, env: {B: c}}}", "secrets: [A]", "secrets: {A: B}", "secrets: {A: {}}",
        "secrets: {A: {env: B, file: c}}",
        "secrets: {A: {env: B-C}}", "pools: [a]", "pools: {a: 0}", "pools: {a.b: 1}", "env-policy: none", "log: loud",
        "outputs: {a: b}", "outputs: {a: {type: int}}", "finally: {}", "finally: [a]", "on-failure: {a: {}}",
        "finally: {run: x}", "retry: {attempts: 2}", "mutex: a", "if: success()", "defaults: {retry: 2}",
        "defaults: {env-policy: none}", "output-limit: 64", "output-limit: 64MB", "output-limit: [1GiB]",
        "output-limit: true", "x-: 1", "defaults: {x-a: 1}",
    ]

    private static let files =
        mistakes.map { "version: 1\nsteps: \($0)\n" } + topMistakes.map { "version: 1\nsteps: {a: {run: x}}\n\($0)\n" }

    @Test(arguments: files)
    func `check refuses what the schema refuses`(file: String) async throws {
        let test = try FlowrunTest(file)
        try await test.run("check", "workflow.yml").expect(exit: 2)
    }

    /// So that an editor says while one types what `check` would say.
    @Test func `the schema refuses what check refuses`() async throws {
        let test = try FlowrunTest()
        for (index, file) in Self.files.enumerated() { try test.write(file, to: "\(index).yml") }
        let script = "\(PackageFolder.path)/Tests/Scripts/validate_workflow.py"
        let result = try await test.run(script, launcher: ["sh", "-c", #"exec python3 "$1" *.yml"#])
        result.expect(exit: 1)
        let refused = Set(result.stdout.split(separator: "\n").map { $0.prefix { $0 != ":" } })
        for (index, file) in Self.files.enumerated() {
            #expect(refused.contains("\(index).yml"), "\(file)")
        }
    }
}
