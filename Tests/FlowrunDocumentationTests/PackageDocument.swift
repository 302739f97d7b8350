import FlowrunTestSupport
import Foundation

/// A text file of the package, as its readers see it.
struct PackageDocument {
    /// Relative to the package's folder.
    let path: String
    let text: String

    init(_ path: String) throws {
        self.path = path
        text = try String(contentsOfFile: "\(PackageFolder.path)/\(path)", encoding: .utf8)
    }

    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// Whether a file or folder stands at a path that the document names, relative to itself.
    func reaches(_ target: String) -> Bool {
        let place = URL(filePath: "\(PackageFolder.path)/\(path)").deletingLastPathComponent().appending(path: target)
        return FileManager.default.fileExists(atPath: place.path)
    }

    /// A fenced block of Markdown.
    struct Block {
        let language: String
        let text: String
        /// Of the opening fence, from 1.
        let line: Int
    }

    var blocks: [Block] {
        var blocks: [Block] = []
        var open: (language: String, line: Int, text: String)?
        for (index, line) in lines.enumerated() {
            switch (open, line.hasPrefix("```")) {
            case (nil, true): open = (String(line.dropFirst(3)), index + 1, "")
            case (let block?, true):
                blocks.append(Block(language: block.language, text: block.text, line: block.line))
                open = nil
            case (_?, false): open?.text += line + "\n"
            case (nil, false): break
            }
        }
        return blocks
    }
}
