internal import BasicContainers
internal import Glibc

/// Collects the nodes of one document and refuses what flowrun's YAML excludes: tags, too many aliased nodes, deep
/// nesting. Knows nothing of libyaml.
struct YAMLTreeBuilder: ~Copyable {
    /// The properties before a node: `&anchor` and `!tag`. Read from the event on demand, because they are rare.
    struct Properties {
        /// Ends with a NUL.
        let anchorText: UnsafePointer<UInt8>?
        let hasTag: Bool

        var anchor: String? { anchorText.map { String(cString: $0) } }
        var isEmpty: Bool { anchorText == nil && !hasTag }
    }

    private struct OpenCollection {
        var row: UInt32
        var children: UInt32 = 0
        /// The number of nodes before it, including those that aliases refer to.
        var nodesBefore: Int
        var anchor: String?
        var isMapping: Bool
        var keys = SeenKeys()
    }

    private struct Anchor {
        var row: UInt32
        /// The number of its nodes; nil while it is still open.
        var size: Int?
    }

    let file: SourceFile
    let source: UnsafeBufferPointer<UInt8>
    var rows: YAMLRows
    private(set) var copiedText: [UInt8] = []
    private var findings = FindingList()
    /// True if a finding makes it pointless to read on.
    private(set) var isStopped = false
    private var open = UniqueArray<OpenCollection>(minimumCapacity: YAMLLimits.depth)
    private var anchors: [String: Anchor] = [:]
    private var aliasedNodes = 0
    /// The end of the last content. A block collection ends there, not where libyaml notices its end.
    private var lastEnd: UInt32 = 0

    init(file: SourceFile, source: UnsafeBufferPointer<UInt8>) {
        self.file = file
        self.source = source
        // A node of an ordinary workflow takes more than ten bytes of text; unused memory costs nothing.
        rows = YAMLRows(capacity: source.count / 8 + 64)
    }

    /// Returns the document that was collected; none if reading had to stop.
    consuming func finish() -> (document: YAMLDocument?, diagnostics: [Diagnostic]) {
        // Collections that are still open because reading had to stop.
        while let collection = open.popLast() { refuseDuplicates(in: collection.keys) }
        let diagnostics = findings.sorted
        if isStopped { return (nil, diagnostics) }
        return (YAMLDocument(file: file, rows: rows, copiedText: copiedText, hasAliases: aliasedNodes > 0), diagnostics)
    }

    private var nodeCount: Int { rows.count + aliasedNodes }

    mutating func startDocument(_ number: Int, at place: Range<Int>) {
        guard number == 2 else { return }
        stop(
            .severalDocuments, "a second document begins here, a workflow file holds one", at: place,
            fix: "remove the `---`, or move the rest to a file of its own")
    }

    mutating func refuseTagDirective(at place: Range<Int>) {
        stop(
            .tagRefused, "YAML tags are not accepted, found a `%TAG` directive", at: place, fix: "remove the directive")
    }

    /// Reports an empty file.
    mutating func endStream() {
        guard rows.count == 0 || rows[0].kind == .plain && rows[0].start == rows[0].end else { return }
        stop(
            .emptyDocument, "the file contains no workflow", at: 0..<0,
            fix: "the smallest one has `version: 1` and one step under `steps:`")
    }

    mutating func addScalar(
        _ value: UnsafeBufferPointer<UInt8>, kind: YAMLRow.Kind, from start: Int, to end: Int, properties: Properties
    ) {
        var start = start
        if !properties.isEmpty {
            start = readProperties(from: start, to: end)
            if let anchor = properties.anchor { anchors[anchor] = Anchor(row: UInt32(rows.count), size: 1) }
        }
        var end = end
        if kind == .literal || kind == .folded { end = trimmedEnd(from: start, to: end) }
        var row = YAMLRow(kind, from: start, to: end)
        // Most values are spelt in the source as they are, with or without quotes.
        if end - start != value.count + 2 * kind.quote || !isSource(at: start + kind.quote, value) {
            row.markCopied(at: copiedText.count)
            withUnsafeBytes(of: UInt32(value.count)) { copiedText.append(contentsOf: $0) }
            copiedText.append(contentsOf: value)
            if kind == .doubleQuoted, value.contains(0) { refuseNUL(at: start..<end) }
        }
        append(row)
        lastEnd = UInt32(end)
    }

    mutating func openCollection(_ kind: YAMLRow.Kind, from start: Int, to end: Int, properties: Properties) {
        let start = properties.isEmpty ? start : readProperties(from: start, to: source.count)
        if open.count == YAMLLimits.depth {
            stop(
                .nestingTooDeep, "the nesting is deeper than \(YAMLLimits.depth) levels", at: start..<max(end, start),
                fix: "no workflow needs that many; look for a forgotten `]` or `}`")
            return
        }
        let row = UInt32(rows.count)
        let before = nodeCount
        if let anchor = properties.anchor { anchors[anchor] = Anchor(row: row, size: nil) }
        append(YAMLRow(kind, from: start, to: max(end, start)))
        open.append(
            OpenCollection(row: row, nodesBefore: before, anchor: properties.anchor, isMapping: kind == .mapping))
        lastEnd = UInt32(max(end, start))
    }

    /// `end` is the end of the closing bracket; nil for a collection without one.
    mutating func closeCollection(at end: Int?) {
        guard let closed = open.popLast() else { return }
        if let end { lastEnd = UInt32(end) }
        rows[closed.row].end = max(lastEnd, rows[closed.row].end)
        rows[closed.row].link = UInt32(rows.count)
        if let name = closed.anchor, anchors[name]?.row == closed.row {
            anchors[name] = Anchor(row: closed.row, size: nodeCount - closed.nodesBefore)
        }
        refuseDuplicates(in: closed.keys)
    }

    mutating func addAlias(_ name: String, from start: Int, to end: Int) {
        var row = YAMLRow(.invalid, from: start, to: end)
        switch anchors[name] {
        case nil:
            // Comparing with thousands of anchors for thousands of aliases would take minutes.
            let near = anchors.count > 100 ? nil : Suggestion.nearest(to: name, among: anchors.keys.sorted())
            report(
                .unknownAnchor, "there is no anchor `&\(name)` before this alias", at: start..<end,
                fix: near.map { near in
                    Diagnostic.Fix(
                        "did you mean `*\(near)`?",
                        edits: [.init(range: SourceRange(start..<end), replacement: "*\(near)")])
                } ?? .init("give a value here `&\(name)` first, or quote the text if it is not an alias"))
        case let anchor? where anchor.size == nil:
            let opened = rows[anchor.row]
            report(
                .recursiveAlias, "the alias `*\(name)` is inside the node it refers to", at: start..<end,
                notes: [
                    .init("`&\(name)` begins here", at: SourceRange(start: opened.start, end: opened.start + 1))
                ],
                fix: .init("write out what is meant"))
        case let anchor?:
            row = YAMLRow(.alias, from: start, to: end, link: anchor.row)
            aliasedNodes += anchor.size ?? 0
        }
        append(row)
        lastEnd = UInt32(end)
        if aliasedNodes > max(YAMLLimits.aliasMinimum, YAMLLimits.aliasFactor * rows.count) {
            stop(
                .aliasBudget,
                "the aliases up to here stand for \(aliasedNodes) nodes, "
                    + "more than \(YAMLLimits.aliasFactor) times what the file spells out",
                at: start..<end, fix: "write out what is meant, or use `matrix` or `for-each`")
        }
    }

    mutating func report(
        _ code: DiagnosticCode, _ message: String, at range: Range<Int>, notes: [Diagnostic.Note] = [],
        fix: Diagnostic.Fix? = nil
    ) {
        findings.add(.error) { [file] in
            Diagnostic(code, message, in: file, at: SourceRange(range), notes: notes, fix: fix)
        }
    }

    mutating func stop(_ code: DiagnosticCode, _ message: String, at range: Range<Int>, fix: String) {
        report(code, message, at: range, fix: .init(fix))
        isStopped = true
    }

    mutating func stop(_ error: YAMLSyntaxError) {
        findings.add(.error) { [file] in error.diagnostic(in: file) }
        isStopped = true
    }

    private mutating func append(_ row: YAMLRow) {
        let number = UInt32(rows.count)
        rows.append(row)
        guard !open.isEmpty else { return }
        let parent = open.count - 1
        let isKey = open[parent].isMapping && open[parent].children & 1 == 0
        open[parent].children &+= 1
        // Now, while the key's bytes are in the cache: checking all keys at the end would read the whole file again.
        guard isKey, !refuseOddKey(number) else { return }
        if let first = open[parent].keys.insert(number, rows, source, copiedText) { refuseDuplicate(number, of: first) }
    }

    private func isSource(at start: Int, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let text = value.baseAddress, let source = source.baseAddress, !value.isEmpty else {
            return value.isEmpty
        }
        return memcmp(source + start, text, value.count) == 0
    }

    /// For libyaml, block text ends after its last line end and blank lines; in findings, after its last character.
    private func trimmedEnd(from start: Int, to end: Int) -> Int {
        var end = end
        while end > start, [0x20, 0x09, 0x0A, 0x0D].contains(source[end - 1]) { end -= 1 }
        return end
    }

    /// Walks over anchor and tag, reports the tag, and returns the start of the node itself.
    private mutating func readProperties(from start: Int, to end: Int) -> Int {
        var offset = start
        while offset < end {
            switch source[offset] {
            case UInt8(ascii: "&"), UInt8(ascii: "!"):
                var last = offset
                while last < end, !" \t\r\n,[]{}".utf8.contains(source[last]) { last += 1 }
                if source[offset] == UInt8(ascii: "!") { refuseTag(at: offset..<last) }
                offset = max(last, offset + 1)
            case UInt8(ascii: "#"):
                while offset < end, source[offset] != UInt8(ascii: "\n") { offset += 1 }
            case 0x20, 0x09, 0x0A, 0x0D:
                offset += 1
            default:
                return offset
            }
        }
        // Nothing follows, so only the properties are left to point at.
        return start
    }

    private mutating func refuseTag(at range: Range<Int>) {
        let tag = String(decoding: source[range], as: UTF8.self)
        report(
            .tagRefused, "YAML tags are not accepted, found \(Phrase.quoted(tag))", at: range,
            fix: .init("quote the value if the `!` belongs to it, remove the tag otherwise"))
    }

    private mutating func refuseNUL(at range: Range<Int>) {
        report(
            .controlCharacter, "the text holds a NUL character, which cannot be passed to a program", at: range,
            fix: .init("remove the `\\0` or `\\x00`"))
    }
}

/// The type of a scalar in the YAML 1.2 core schema. The text stays as it is written: `3.10` is a float and reads
/// `3.10`.
package enum YAMLScalarType: Sendable, Hashable {
    case null, bool, int, float, string

    /// The type of a plain scalar with this text; a quoted one is always a string.
    init(plain text: UnsafeBufferPointer<UInt8>) {
        guard let first = text.first else {
            self = .null
            return
        }
        switch first {
        case UInt8(ascii: "~"), UInt8(ascii: "n"), UInt8(ascii: "N"):
            self = Self.isOne(of: ["~", "null", "Null", "NULL"], text) ? .null : .string
        case UInt8(ascii: "t"), UInt8(ascii: "T"), UInt8(ascii: "f"), UInt8(ascii: "F"):
            self = Self.isOne(of: ["true", "True", "TRUE", "false", "False", "FALSE"], text) ? .bool : .string
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."):
            self = Self.number(text)
        default:
            self = .string
        }
    }

    private static func isOne(of words: [StaticString], _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        words.contains { word in
            word.utf8CodeUnitCount == text.count
                && text.elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: text.count))
        }
    }

    private static func number(_ text: UnsafeBufferPointer<UInt8>) -> YAMLScalarType {
        if text.count > 2, text[0] == UInt8(ascii: "0"), text[1] == UInt8(ascii: "x") || text[1] == UInt8(ascii: "o") {
            let isHex = text[1] == UInt8(ascii: "x")
            return text[2...].allSatisfy { isHex ? isHexDigit($0) : (0x30...0x37).contains($0) } ? .int : .string
        }
        var rest = text[...]
        let isDot = isOne(of: [".nan", ".NaN", ".NAN"], text)
        if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        if isDot || isOne(of: [".inf", ".Inf", ".INF"], UnsafeBufferPointer(rebasing: rest)) { return .float }
        let whole = rest.prefix(while: isDigit)
        rest = rest.dropFirst(whole.count)
        if rest.isEmpty { return whole.isEmpty ? .string : .int }
        var fractionDigits = 0
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            fractionDigits = rest.prefix(while: isDigit).count
            rest = rest.dropFirst(fractionDigits)
        }
        guard !whole.isEmpty || fractionDigits > 0 else { return .string }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
            guard !rest.isEmpty else { return .string }
            rest = rest.drop(while: isDigit)
        }
        return rest.isEmpty ? .float : .string
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    private static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20) &- 0x61 < 6 }
}

extension YAMLNode {
    /// The core-schema type of a scalar; nil for a collection.
    package var type: YAMLScalarType? {
        guard kind == .scalar else { return nil }
        return isPlain ? YAMLScalarType(plain: bytes) : .string
    }

    /// True if the value is absent, `null` or `~`.
    package var isNull: Bool { type == .null }
}
