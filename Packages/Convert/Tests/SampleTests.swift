import Syntax
import Testing
import WorkflowConversion

/// Files of the shapes that people write, of each kind.
struct SampleTests {
    @Test func `there are five samples of each kind`() {
        let counts = Dictionary(grouping: Sample.all, by: \.format).mapValues(\.count)
        #expect(counts == ["make": 5, "just": 5, "task": 5, "github": 5])
    }

    @Test(arguments: Sample.all)
    func `what a sample comes to is accepted without a warning, and without giving anything up`(_ sample: Sample) throws
    {
        let draft = try sample.draft(of: sample.text())
        let found = findings(in: draft.text).filter { $0.severity != .note }.map {
            "\($0.file.line(at: $0.range.lowerOffset)): \($0.message)"
        }
        #expect(found == [], "\(draft.text)")
        // Of an import that is not there, of a container and of a computed key nothing is known.
        let unfinished: Set<String> = ["just/docs.just", "github/python-matrix.yml"]
        #expect((draft.stepCount == draft.unfinishedIDs.count) == unfinished.contains(sample.path))
    }

    @Test(arguments: Sample.all)
    func `every line of a sample is found again`(_ sample: Sample) throws {
        let source = try sample.text()
        let output = try converted(source, sample.name)
        let words = Self.words(of: output)
        for line in source.split(separator: "\n") {
            let text = line.drop { $0.isWhitespace }
            guard !text.isEmpty, !text.hasPrefix("#"), !output.contains(text) else { continue }
            let missing = Self.words(of: String(text)).subtracting(words).subtracting(Self.vocabulary).filter { word in
                // `15` in `15m`, `github.sha` in `GITHUB_SHA`
                let isNumber = word.allSatisfy(\.isNumber) && output.contains(word)
                return !isNumber && !output.contains("GITHUB_\(word.uppercased())")
            }
            #expect(missing.isEmpty, "\(missing) of `\(line)`\n\(output)")
        }
    }

    /// Whatever stands anywhere, something of it is in the result.
    @Test(arguments: Sample.all)
    func `a line that nobody knows is found again, wherever it is put`(_ sample: Sample) throws {
        let lines = try sample.text().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (index, line) in lines.enumerated() {
            for odd in Self.oddLines(before: line, of: sample) {
                let text = (lines[..<index] + [odd] + lines[index...]).joined(separator: "\n")
                let output = try converted(text, sample.name)
                #expect(output.contains("oddword"), "before line \(index + 1): \(odd)\n\(output)")
            }
        }
    }

    @Test(arguments: Sample.all)
    func `the beginning of a sample is accepted wherever it is cut`(_ sample: Sample) throws {
        let lines = try sample.text().split(separator: "\n", omittingEmptySubsequences: false)
        for count in 1..<lines.count {
            let text = lines[..<count].joined(separator: "\n")
            // Where nothing is left that could be a step, or the text is no YAML any more, there is no result.
            guard let output = try? converted(text, sample.name) else { continue }
            #expect(wrongLines(output) == [], "cut after line \(count)\n\(output)")
        }
    }

    private static func oddLines(before line: String, of sample: Sample) -> [String] {
        let indentation = line.prefix { $0 == " " }
        switch sample.format {
        case "make": return ["oddword something", "\toddword --something"]
        case "just":
            return line.isEmpty || indentation.isEmpty ? ["oddword something"] : ["\(indentation)oddword something"]
        default:
            // A further key of the mapping that the line is an entry of.
            let key = line.dropFirst(indentation.count).prefix { $0.isLetter || $0.isNumber || "-_:".contains($0) }
            return key.hasSuffix(":") && key.count > 1 ? ["\(indentation)oddword: something"] : []
        }
    }

    private static func words(of text: String) -> Set<Substring> {
        Set(text.split { !($0.isLetter || $0.isNumber || $0 == "_") })
    }

    /// What the tools say in words of their own.
    private static let vocabulary: Set<Substring> = [
        // Makefiles
        "PHONY", "DEFAULT_GOAL", "call", "NOTPARALLEL", "patsubst", "export", "MAKE", "MAKEFILE_LIST", "RM", "TESTS",
        // justfiles
        "set", "load", "dotenv", "filename", "alias", "just", "list", "confirm", "doc", "working", "directory",
        "env_var_or_default", "env", "justfile_directory", "num_cpus",
        // Taskfiles
        "version", "tasks", "vars", "desc", "deps", "cmds", "cmd", "sh", "dir", "task", "summary", "defer", "label",
        "ITEM", "TASK", "CLI_ARGS", "default", "preconditions", "msg", "prompt", "requires", "status", "aliases",
        "ignore_error", "internal", "darwin", "for", "var", "split", "as", "name", "enum", "3", "set", "shopt",
        "globstar", "pipefail", "platforms", "if", "OS", "ARCH",
        // GitHub workflows
        "jobs", "runs", "strategy", "minutes", "timeout", "max", "parallel", "fail", "fast", "false", "needs",
        "outputs", "id", "GITHUB_OUTPUT", "secrets", "matrix", "inputs", "github", "defaults", "continue", "on",
        "error",
        "true", "node", "dry", "fromJSON", "strategy", "60",
    ]
}
