import FlowrunTestSupport
import Foundation

/// A workflow file with mistakes as people make them: a few changes to a file of the package.
struct MutatedFile {
    let text: String

    /// The examples and the documents of the tests of findings.
    static let originals: [String] = {
        let examples = "\(PackageFolder.path)/examples"
        let documents = "\(PackageFolder.path)/Tests/PlanningTests/BadCases/Documents"
        var texts: [String] = []
        for file in (FileManager.default.subpaths(atPath: examples) ?? []).sorted() where file.hasSuffix(".yml") {
            guard !file.contains("/."), !file.contains("build/") else { continue }
            texts.append((try? String(contentsOfFile: "\(examples)/\(file)", encoding: .utf8)) ?? "")
        }
        for file in (FileManager.default.subpaths(atPath: documents) ?? []).sorted() {
            let document = (try? String(contentsOfFile: "\(documents)/\(file)", encoding: .utf8)) ?? ""
            for part in document.split(separator: "==== ") {
                let lines = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
                let text = String(lines.last ?? "")
                texts.append(String(text.filter { $0.unicodeScalars.last != "\u{20E3}" }))
            }
        }
        return texts.filter { !$0.isEmpty && $0.utf8.count < 6000 }
    }()

    private static let foreignKeys = [
        "need", "depends_on", "retries", "command", "cmd", "script", "parallel", "env_vars", "continue_on_error",
        "timeout-minutes", "strategy", "jobs", "when", "dir", "cwd", "output", "matrx", "runn", "steps", "needs",
    ]
    private static let values = [
        "yes", "5", "10m", "serial", "[a, b]", "a b", "\"x\"", "'x'", "{ a: ok }", "${{ params.p }}", "true",
        "null", "~", "sigterm", "1.5", "on", "'${{ steps.a.outcome }}'", "\"echo ${{ params.p }}\"", "run:make",
        "*a", "&a x", "[]", "{}", "| x", "a: b", "@x", "%x", "`x`",
    ]

    init(_ random: inout SeededGenerator) {
        var text = Self.originals.randomElement(using: &random) ?? ""
        for _ in 0..<Int.random(in: 1...3, using: &random) { text = Self.changed(text, &random) }
        self.text = text
    }

    private static func changed(_ text: String, _ random: inout SeededGenerator) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let at = lines.indices.filter({ !lines[$0].isEmpty }).randomElement(using: &random) else { return text }
        let line = lines[at]
        let indentation = String(line.prefix { $0 == " " })
        let words = line.split { " ,:[]{}\"'".contains($0) }.map(String.init)
        let word = words.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<14, using: &random) {
        case 0: lines.remove(at: at)
        case 1: lines.insert(line, at: at)
        case 2: lines[at] = Bool.random(using: &random) ? "  " + line : String(line.dropFirst())
        case 3: lines[at] = line.replacing(word, with: misspelt(word, &random), maxReplacements: 1)
        case 4:
            let other = text.split { " ,:[]{}\"'\n".contains($0) }.randomElement(using: &random).map(String.init) ?? ""
            lines[at] = line.replacing(word, with: other, maxReplacements: 1)
        case 5:
            lines.insert(
                "\(indentation)\(foreignKeys.randomElement(using: &random)!): \(values.randomElement(using: &random)!)",
                at: at)
        case 6, 7:
            guard let colon = line.firstRange(of: ": ") else { return text }
            lines[at] = line[..<colon.upperBound] + values.randomElement(using: &random)!
        case 8:
            let brackets = line.indices.filter { "[]{}\"':,$".contains(line[$0]) }
            guard let bracket = brackets.randomElement(using: &random) else { return text }
            lines[at].remove(at: bracket)
        case 9:
            let place = line.indices.randomElement(using: &random)!
            lines[at].insert("[]{}\"':,#&*!|>%@`$-\\\t ".randomElement(using: &random)!, at: place)
        case 10: lines[at] = line.replacing(": ", with: ":", maxReplacements: 1)
        case 11:
            guard let colon = line.firstRange(of: ": ") else { return text }
            lines[at] = line[..<colon.upperBound] + "\"" + line[colon.upperBound...] + "\""
        case 12:
            let foreign = foreignKeys.randomElement(using: &random)!
            lines[at] = line.replacing(words.first ?? "", with: foreign, maxReplacements: 1)
        default:
            lines[at] = line.replacing("[", with: "", maxReplacements: 1).replacing("]", with: "", maxReplacements: 1)
        }
        return lines.joined(separator: "\n")
    }

    private static func misspelt(_ word: String, _ random: inout SeededGenerator) -> String {
        guard word.count > 1, let place = word.indices.dropLast().randomElement(using: &random) else {
            return word + "x"
        }
        var word = word
        switch Int.random(in: 0..<4, using: &random) {
        case 0: word.remove(at: place)
        case 1: word.insert(word[place], at: place)
        case 2:
            let letter = word.remove(at: place)
            word.insert(letter, at: word.index(after: place))
        default: word = Bool.random(using: &random) ? word.uppercased() : word.replacing("-", with: "_")
        }
        return word
    }
}
