import Testing

@testable import WorkflowConversion

/// What `flowrun check` refuses is given up, so that the rest can be run.
struct DraftTests {
    private func draft(_ steps: [StepDraft]) -> WorkflowDraft {
        var draft = WorkflowDraft()
        draft.steps = steps
        return draft
    }

    private func step(_ id: String, _ change: (inout StepDraft) -> Void = { _ in }) -> StepDraft {
        let origin = Excerpt(file: "Makefile", line: 7, lines: ["\(id):", "\trun it"])
        var step = StepDraft(id, .script("true"), origin: origin)
        change(&step)
        return step
    }

    @Test func `a step that is refused fails until somebody writes it, below its lines`() {
        var draft = draft([step("a"), step("b") { $0.condition = "nonsense(" }])
        draft.settle(check: wrongLines)
        #expect(draft.unfinishedIDs == ["b"])
        #expect(
            draft.text == """
                version: 1

                steps:
                  a:
                    run: 'true'

                  # Makefile:7: not converted, fill in the step: flowrun does not accept what it would become
                  #     b:
                  #     \trun it
                  b:
                    run: |
                      echo 'b: to be filled in, see the workflow file' >&2
                      exit 1

                """)
        #expect(findings(in: draft.text).isEmpty)
    }

    @Test func `only the member of a group that is refused is given up`() {
        let group = StepDraft("g", .group([step("a"), step("b") { $0.condition = "nonsense(" }]))
        var draft = draft([group])
        draft.settle(check: wrongLines)
        #expect(draft.unfinishedIDs == ["g.b"])
        #expect(wrongLines(draft.text) == [])
    }

    @Test func `a cycle is cut`() {
        var draft = draft([step("a") { $0.needs = ["b"] }, step("b") { $0.needs = ["a"] }])
        draft.settle(check: wrongLines)
        #expect(wrongLines(draft.text) == [])
        #expect(!draft.unfinishedIDs.isEmpty)
    }

    @Test func `a parameter, a variable and a default that are refused become comments`() {
        var draft = draft([step("a")])
        draft.params = [YAMLEntry("PATH", .inline([YAMLEntry("type", .word("string"))]))]
        draft.env = [YAMLEntry("1x", .text("v"))]
        draft.defaultSteps = ["nowhere"]
        draft.settle(check: wrongLines)
        #expect(wrongLines(draft.text) == [])
        for text in ["#     PATH: { type: string }", "#     '1x': v", "# not converted: default: [nowhere]"] {
            #expect(draft.text.contains(text), "\(draft.text)")
        }
    }

    @Test func `settling ends even if everything is refused for ever`() {
        var draft = draft([step("a"), step("b")])
        var count = 0
        draft.settle { text in
            count += 1
            return [text.split(separator: "\n", omittingEmptySubsequences: false).count - 2]
        }
        #expect(count < 20)
        #expect(draft.steps.count == 1)
    }

    @Test(arguments: [
        (["build", "build"], ["build", "build"]), (["a/b", "a.b", "a-b"], ["a-b", "a-b-2", "a-b-3"]),
        (["--x", "é", ""], ["x", "step", "step-2"]), (["docker:push"], ["docker-push"]),
    ])
    func `names become ids, each one once`(_ names: [String], _ expected: [String]) {
        var ids = StepIDs()
        #expect(names.map { ids.id(for: $0) } == expected)
    }
}
