internal import CLibYAML

/// Turns the bytes of a workflow file into nodes with places. The only file that calls libyaml.
package enum YAMLParser {
    /// Returns the one document of a file, and every finding about its text. The document is nil if the text cannot
    /// be read as YAML at all; with lesser findings (a duplicate key, a tag) it is whole, so that its reader can go
    /// on.
    package static func parse(_ file: SourceFile) -> (document: YAMLDocument?, diagnostics: [Diagnostic]) {
        let (document, diagnostics) = read(file)
        return (document, file.start == 0 ? diagnostics : diagnostics.map { $0.moved(to: file) })
    }

    /// Parses a file with places that count from its start.
    private static func read(_ file: SourceFile) -> (document: YAMLDocument?, diagnostics: [Diagnostic]) {
        let check = TextCheck(file)
        guard check.diagnostics.isEmpty else { return (nil, check.diagnostics) }
        return file.bytes.withUnsafeBufferPointer { source in
            var builder = YAMLTreeBuilder(file: file, source: source)
            let stream = EventStream(source, isASCII: check.isASCII)
            stream.read(into: &builder)
            return builder.finish()
        }
    }
}

/// Owns libyaml's parser, which points into itself and so must not move.
private struct EventStream: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let source: UnsafeBufferPointer<UInt8>
    private let isASCII: Bool
    /// The length of the byte order mark, which libyaml does not see.
    private let base: Int

    init(_ source: UnsafeBufferPointer<UInt8>, isASCII: Bool) {
        self.source = source
        self.isASCII = isASCII
        base = source.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        parser = .allocate(capacity: 1)
        precondition(yaml_parser_initialize(parser) == 1, "no memory for the YAML parser")
        // Set, so that libyaml does not guess; `TextCheck` has verified it.
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        let text = UnsafeBufferPointer(rebasing: source[base...])
        // libyaml needs an address even for no bytes.
        yaml_parser_set_input_string(parser, text.baseAddress ?? UnsafePointer(bitPattern: 1), text.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    func read(into builder: inout YAMLTreeBuilder) {
        var offsets = CharacterOffsets(source: source, base: base, isASCII: isASCII)
        var documents = 0
        var event = yaml_event_t()
        if let directive = tagDirective(from: base) { builder.refuseTagDirective(at: directive) }
        while !builder.isStopped {
            guard yaml_parser_parse(parser, &event) == 1 else {
                return reportSyntaxError(to: &builder, &offsets)
            }
            defer { yaml_event_delete(&event) }
            let start = offsets.offset(ofCharacter: event.start_mark.index)
            let end = offsets.offset(ofCharacter: event.end_mark.index)
            switch event.type {
            case YAML_SCALAR_EVENT:
                let scalar = event.data.scalar
                builder.addScalar(
                    UnsafeBufferPointer(start: scalar.value, count: scalar.length), kind: .init(scalar.style),
                    from: start, to: end, properties: .init(anchorText: scalar.anchor, hasTag: scalar.tag != nil))
            case YAML_MAPPING_START_EVENT:
                let mapping = event.data.mapping_start
                builder.openCollection(
                    .mapping, from: start, to: end,
                    properties: .init(anchorText: mapping.anchor, hasTag: mapping.tag != nil))
            case YAML_SEQUENCE_START_EVENT:
                let sequence = event.data.sequence_start
                builder.openCollection(
                    .sequence, from: start, to: end,
                    properties: .init(anchorText: sequence.anchor, hasTag: sequence.tag != nil))
            case YAML_MAPPING_END_EVENT, YAML_SEQUENCE_END_EVENT:
                // Without a bracket the event is empty, and its place is that of the next token.
                builder.closeCollection(at: end > start ? end : nil)
            case YAML_ALIAS_EVENT:
                builder.addAlias(String(cString: event.data.alias.anchor), from: start, to: end)
            case YAML_DOCUMENT_START_EVENT:
                documents += 1
                builder.startDocument(documents, at: start..<end)
            case YAML_DOCUMENT_END_EVENT:
                if let directive = tagDirective(from: end) { builder.startDocument(documents + 1, at: directive) }
            case YAML_STREAM_END_EVENT:
                return builder.endStream()
            default:
                break
            }
        }
    }

    /// The first `%TAG` line before a document. It has to be refused before libyaml compares each with all others.
    private func tagDirective(from start: Int) -> Range<Int>? {
        var offset = start
        while offset < source.count {
            var end = offset
            while end < source.count, source[end] != UInt8(ascii: "\n"), source[end] != UInt8(ascii: "\r") { end += 1 }
            let line = source[offset..<end]
            if line.starts(with: "%TAG".utf8) { return offset..<end }
            let first = line.first { !SourceLine.isBlank($0) }
            guard first == nil || first == UInt8(ascii: "#") || line.first == UInt8(ascii: "%") else { return nil }
            offset = end + 1
        }
        return nil
    }

    private func reportSyntaxError(to builder: inout YAMLTreeBuilder, _ offsets: inout CharacterOffsets) {
        let problem = parser.pointee
        precondition(problem.error != YAML_MEMORY_ERROR, "no memory for the YAML parser")
        let context = problem.context.map { String(cString: $0) }
        builder.stop(
            YAMLSyntaxError(
                problem: problem.problem.map { String(cString: $0) } ?? "",
                context: context ?? "",
                offset: offsets.offset(ofCharacter: problem.problem_mark.index),
                contextOffset: context == nil ? nil : offsets.offset(ofCharacter: problem.context_mark.index)))
    }
}

extension YAMLRow.Kind {
    fileprivate init(_ style: yaml_scalar_style_t) {
        switch style {
        case YAML_SINGLE_QUOTED_SCALAR_STYLE: self = .singleQuoted
        case YAML_DOUBLE_QUOTED_SCALAR_STYLE: self = .doubleQuoted
        case YAML_LITERAL_SCALAR_STYLE: self = .literal
        case YAML_FOLDED_SCALAR_STYLE: self = .folded
        default: self = .plain
        }
    }
}

/// Converts libyaml's marks, which count characters, to byte offsets.
///
/// Marks come nearly in order, so the cursor walks from the last one requested; ASCII text needs no walk.
struct CharacterOffsets {
    private let source: UnsafeBufferPointer<UInt8>
    private let isASCII: Bool
    /// The bytes before the first character: a byte order mark.
    private let base: Int
    private var character = 0
    private var byte: Int

    init(source: UnsafeBufferPointer<UInt8>, base: Int, isASCII: Bool) {
        self.source = source
        self.base = base
        self.isASCII = isASCII
        byte = base
    }

    mutating func offset(ofCharacter index: Int) -> Int {
        if isASCII { return min(index + base, source.count) }
        while character < index, byte < source.count {
            byte += 1
            while byte < source.count, source[byte] & 0xC0 == 0x80 { byte += 1 }
            character += 1
        }
        while character > index, byte > base {
            byte -= 1
            while byte > base, source[byte] & 0xC0 == 0x80 { byte -= 1 }
            character -= 1
        }
        return byte
    }
}

/// Limits for one document, so that no file makes the program slow or large.
package enum YAMLLimits {
    /// The largest nesting depth of collections, the outermost counted as one.
    package static let depth = 64
    /// The largest number of nodes that aliases refer to, as a multiple of the nodes that the file spells out.
    package static let aliasFactor = 10
    /// The number of nodes that aliases may refer to however small the file is.
    package static let aliasMinimum = 10_000
    /// The number of findings about single bytes after which the search ends; a binary file is full of them.
    static let byteFindings = 5
}
