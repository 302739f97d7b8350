import FlowrunTestSupport
import Foundation
import Testing

/// The page of recipes: each is run in a folder of its own, with the commands that the page states.
@Suite struct RecipeTests {
    struct Recipe: Sendable, CustomTestStringConvertible {
        let title: String
        /// By their paths.
        var files: [String: String] = [:]
        var commands: [Command] = []

        /// The files of flowrun's.
        var workflows: [String] {
            files.keys.filter { $0.hasSuffix(".yml") && !$0.hasPrefix(".") }.sorted()
        }
        var testDescription: String { title }
    }

    /// A line such as `flowrun -k  # exit 1: one failed`.
    struct Command: Sendable {
        let words: String
        let exit: Int32
        /// A part of what it prints.
        let output: String

        init(_ line: Substring) throws {
            let parts = try #require(line.wholeMatch(of: /(.*?)(?: +# (?:exit (\d+): )?(.+))?/))
            words = String(parts.1)
            exit = parts.2.flatMap { Int32($0) } ?? 0
            output = String(parts.3 ?? "")
        }
    }

    private static let path = "Sources/FlowrunCommands/Flowrun.docc/Recipes.md"

    static let recipes: [Recipe] = (try? read()) ?? []

    /// Files are fenced, and begin with `# PATH` unless they are the `flowrun.yml`; commands are fenced as `sh`.
    private static func read() throws -> [Recipe] {
        let document = try PackageDocument(path)
        var blocks = document.blocks[...]
        var recipes: [Recipe] = []
        for (index, line) in document.lines.enumerated() {
            if line.hasPrefix("## "), line != "## Overview" { recipes.append(Recipe(title: String(line.dropFirst(3)))) }
            guard blocks.first?.line == index + 1, let block = blocks.popFirst(), let last = recipes.indices.last
            else { continue }
            if block.language == "sh" {
                recipes[last].commands += try block.text.split(separator: "\n").map(Command.init)
            } else {
                let path = block.text.prefixMatch(of: /# (\S+)\n/).map { String($0.1) } ?? "flowrun.yml"
                recipes[last].files[path] = block.text
            }
        }
        return recipes
    }

    @Test func `there are at least thirty, each with a workflow, commands and what these print`() {
        #expect(Self.recipes.count >= 30)
        for recipe in Self.recipes {
            #expect(recipe.workflows.contains("flowrun.yml"), "\(recipe.title)")
            #expect(recipe.commands.contains { !$0.output.isEmpty }, "\(recipe.title)")
        }
    }

    @Test(arguments: recipes)
    func `a recipe does what the page says`(recipe: Recipe) async throws {
        let test = try FlowrunTest(files: recipe.files)
        for workflow in recipe.workflows { try await test.run("check", "--strict", workflow).expect(exit: 0) }
        for command in recipe.commands {
            let script = #"PATH="${0%/*}:$PATH"; export PATH; \#(command.words)"#
            let result = try await test.run(launcher: ["sh", "-c", script])
            result.expect(exit: command.exit)
            #expect(
                command.output.isEmpty || (result.stdout + result.stderr).contains(command.output),
                "\(command.words) printed:\n\(result.stdout)\(result.stderr)")
        }
    }

    @Test func `the schema accepts all workflows of the page`() async throws {
        let test = try FlowrunTest()
        var paths: [String] = []
        for (number, recipe) in Self.recipes.enumerated() {
            for workflow in recipe.workflows {
                let path = "\(number)-\(workflow.replacing("/", with: "-"))"
                try test.write(try #require(recipe.files[workflow]), to: path)
                paths.append(test.path(path))
            }
        }
        try await expectSchemaAccepts(paths)
    }

    @Test func `what the files of CI systems call is among the commands`() throws {
        let recipe = try #require(Self.recipes.first { $0.files[".gitlab-ci.yml"] != nil })
        let run = Set(recipe.commands.map(\.words))
        for (path, text) in recipe.files where path.hasPrefix(".") {
            let called = text.matches(of: /- (?:run: )?(flowrun.*)/).map { String($0.1) }
            #expect(called.count == 2 && run.isSuperset(of: called), "\(path)")
        }
    }
}
