import FlowrunCommands
import FlowrunTestSupport
import Foundation
import Planning
import Syntax
import Testing
import Workflow

struct ListPrinterTests {
    private let printer: ListPrinter

    init() throws {
        let workflow = WorkflowSketch.workflow([
            .step("prepare").with(\.description, "Fetch everything\nand more"),
            .group(
                "build", needs: ["prepare"], forEach: ["a", "b"],
                [.step("compile").with(\.description, "Red \u{1B}[31m")]),
            .group("checks", [.step("lint")]),
        ])
        printer = ListPrinter(try #require(Planner.plan(workflow).plan))
    }

    @Test func `text is one aligned line each, with nothing that steers a terminal`() {
        #expect(
            printer.text() == """
                sketch

                prepare             Fetch everything
                build          × 2  (group)
                build.compile       Red \\x1b[31m
                checks              (group)
                checks.lint

                """)
    }

    @Test func `parameters, hooks and fan-outs of unknown size are listed`() throws {
        var workflow = WorkflowSketch.workflow(
            [.step("a").with(\.items, "params.files").with(\.maxItems, 7)], finally: [.step("report")])
        workflow.parameters = [
            Parameter(
                name: "channel", kind: .choice(["nightly", "stable"]), defaultValue: .string("nightly"),
                description: "Where it goes", range: .beginning),
            Parameter(name: "files", kind: .list, isRequired: true, variable: "FILES", range: .beginning),
        ]
        let printer = ListPrinter(try #require(Planner.plan(workflow).plan))
        #expect(
            printer.text() == """
                sketch

                --param channel=nightly|stable  Where it goes  (default: nightly)
                --param files=LIST              (required)  (from $FILES)

                a               [*]
                finally              (hook)
                finally.report

                """)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(printer.json().utf8)) as? [String: Any])
        let parameters = try #require(object["params"] as? [[String: Any]])
        #expect(parameters.map { $0["type"] as? String } == ["enum", "list"])
        #expect(parameters[0]["values"] as? [String] == ["nightly", "stable"])
        #expect(parameters[0]["default"] as? String == "nightly")
        #expect(parameters[0]["env"] is NSNull && parameters[1]["env"] as? String == "FILES")
        #expect(parameters[1]["default"] is NSNull && parameters[1]["required"] as? Bool == true)
        let steps = try #require(object["steps"] as? [[String: Any]])
        #expect(steps.map { $0["max_items"] as? Int } == [7, nil, nil])
        #expect(steps.map { $0["kind"] as? String } == ["step", "hook", "step"])
    }

    @Test func `json has the whole texts`() throws {
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(printer.json().utf8)) as? [String: Any])
        #expect(object["name"] as? String == "sketch")
        #expect(object["description"] is NSNull)
        let steps = try #require(object["steps"] as? [[String: Any]])
        #expect(steps.map { $0["id"] as? String } == ["prepare", "build", "build.compile", "checks", "checks.lint"])
        #expect(steps.map { $0["kind"] as? String } == ["step", "group", "step", "group", "step"])
        #expect(steps[0]["description"] as? String == "Fetch everything\nand more")
        #expect(steps[1]["instances"] as? Int == 2)
        #expect(steps[1]["needs"] as? [String] == ["prepare"])
        #expect(steps[2]["line"] as? Int == 9)
        #expect(steps[2]["instances"] is NSNull)
    }
}
