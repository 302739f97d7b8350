/// A regular expression: the `pattern` of a parameter, which has to match a whole text, or that of `matches`, which may
/// be found anywhere in one. It reads POSIX extended ones, and what Perl adds to them without a need to backtrack.
///
/// Matching follows all paths through the expression at once (Thompson 1968), so that its time is the length of the
/// text times the size of the expression: no pattern can be made to backtrack. Features that need backtracking,
/// lookaround and references back to groups, are refused. Letters are Unicode scalars.
package struct Pattern: Sendable {
    /// The largest number of instructions; counted repetitions are written out.
    static let sizeLimit = 2000

    enum Instruction: Sendable {
        case letter(Unicode.Scalar)
        /// An index into `sets`.
        case set(Int)
        case assertion(PatternNode.Assertion)
        case jump(Int)
        case split(Int, Int)
        case accept
    }

    /// As written.
    package let text: String
    private let program: [Instruction]
    private let sets: [ScalarSet]

    /// Throws if `text` is not a regular expression, or one that flowrun does not support.
    package init(_ text: String) throws(PatternError) {
        self.text = text
        var compiler = PatternCompiler()
        try compiler.append(try PatternParser.parse(text))
        compiler.program.append(.accept)
        program = compiler.program
        sets = compiler.sets
    }

    /// True if the expression matches the text from its beginning to its end. O(text * expression).
    package func matches(_ text: String) -> Bool { follow(text, isAnywhere: false) }

    /// The largest length of a text times the number of instructions: a second of work at the very worst.
    private static let workLimit = 1 << 27

    /// True if the expression matches a part of the text. Throws if that might take too long. O(text * expression).
    package func isFound(in text: String) throws(PatternError) -> Bool {
        let (size, limit) = (text.utf8.count, Self.workLimit / program.count)
        guard size <= limit else {
            throw PatternError(message: "the text is too long for it: \(size) bytes, at most \(limit)")
        }
        return follow(text, isAnywhere: true)
    }

    private func follow(_ text: String, isAnywhere: Bool) -> Bool {
        var states = States(program)
        var scalars = text.unicodeScalars.makeIterator()
        var next = scalars.next()
        states.enter(0, after: nil, before: next)
        while let letter = next {
            if isAnywhere ? states.isAccepting : states.current.isEmpty { return isAnywhere }
            next = scalars.next()
            states.step(after: letter, before: next) { instruction in
                switch instruction {
                case .letter(let wanted): wanted == letter
                case .set(let index): sets[index].contains(letter)
                case .assertion, .jump, .split, .accept: false
                }
            }
            if isAnywhere { states.enter(0, after: letter, before: next) }
        }
        return states.isAccepting
    }

    /// The places in the program that a match may have reached.
    private struct States {
        let program: [Instruction]
        private(set) var current: [Int] = []
        private var upcoming: [Int] = []
        /// By place: the number of the step that entered it last.
        private var entered: [Int]
        private var number = 1
        private var pending: [Int] = []

        var isAccepting: Bool { current.contains { if case .accept = program[$0] { true } else { false } } }

        init(_ program: [Instruction]) {
            self.program = program
            entered = [Int](repeating: 0, count: program.count)
        }

        /// Enters a place, and all places that can be reached from it without a letter.
        mutating func enter(_ place: Int, after previous: Unicode.Scalar?, before next: Unicode.Scalar?) {
            pending.append(place)
            while let place = pending.popLast() {
                guard entered[place] != number else { continue }
                entered[place] = number
                switch program[place] {
                case .jump(let target): pending.append(target)
                case .split(let first, let second): pending += [second, first]
                case .assertion(let assertion):
                    if assertion.holds(after: previous, before: next) { pending.append(place + 1) }
                case .letter, .set, .accept: current.append(place)
                }
            }
        }

        /// Continues after every place whose instruction takes the current letter.
        mutating func step(
            after letter: Unicode.Scalar, before next: Unicode.Scalar?, where takes: (Instruction) -> Bool
        ) {
            swap(&current, &upcoming)
            current.removeAll(keepingCapacity: true)
            number += 1
            for place in upcoming where takes(program[place]) { enter(place + 1, after: letter, before: next) }
        }
    }
}

/// The mistake in a pattern: a clause that can follow a colon.
package struct PatternError: Error {
    package let message: String
}

/// A set of scalars: some, or all but some.
struct ScalarSet: Sendable {
    enum Part: Sendable {
        case range(ClosedRange<Unicode.Scalar>)
        case digits, words, blanks
        indirect case not(Part)
    }

    var parts: [Part] = []
    var isInverted = false
    /// True if `a` also takes `A`.
    var ignoresCase = false

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        (holds(scalar) || ignoresCase && scalar.otherCases.contains(where: holds)) != isInverted
    }

    private func holds(_ scalar: Unicode.Scalar) -> Bool { parts.contains { Self.holds($0, scalar) } }

    private static func holds(_ part: Part, _ scalar: Unicode.Scalar) -> Bool {
        switch part {
        case .range(let range): range.contains(scalar)
        case .digits: scalar.properties.generalCategory == .decimalNumber
        case .words: scalar.isWordScalar
        case .blanks: scalar.properties.isWhitespace
        case .not(let part): !holds(part, scalar)
        }
    }
}

extension Unicode.Scalar {
    /// True for the scalars of `\w`: letters, marks, digits and `_`.
    var isWordScalar: Bool {
        switch properties.generalCategory {
        case .decimalNumber, .connectorPunctuation, .nonspacingMark, .spacingMark, .enclosingMark: return true
        default: return properties.isAlphabetic
        }
    }

    /// The scalar in upper and in lower case, as far as each is one scalar.
    fileprivate var otherCases: [Unicode.Scalar] {
        [properties.uppercaseMapping, properties.lowercaseMapping].compactMap {
            $0.unicodeScalars.count == 1 ? $0.unicodeScalars.first : nil
        }
    }
}

/// Compiles a parsed pattern to a program.
private struct PatternCompiler {
    var program: [Pattern.Instruction] = []
    var sets: [ScalarSet] = []

    mutating func append(_ node: PatternNode) throws(PatternError) {
        guard program.count < Pattern.sizeLimit else {
            throw PatternError(message: "it is too large once its repetitions are written out")
        }
        switch node {
        case .letter(let scalar): program.append(.letter(scalar))
        case .assertion(let assertion): program.append(.assertion(assertion))
        case .set(let set):
            program.append(.set(sets.count))
            sets.append(set)
        case .sequence(let nodes): for node in nodes { try append(node) }
        case .alternatives(let nodes): try append(nodes)
        case .repeated(let node, let least, let most): try append(node, least, most)
        }
    }

    private mutating func append(_ alternatives: [PatternNode]) throws(PatternError) {
        var jumps: [Int] = []
        for (index, node) in alternatives.enumerated() {
            guard index + 1 < alternatives.count else {
                try append(node)
                continue
            }
            let split = program.count
            program.append(.accept)
            try append(node)
            jumps.append(program.count)
            program.append(.accept)
            program[split] = .split(split + 1, program.count)
        }
        for jump in jumps { program[jump] = .jump(program.count) }
    }

    private mutating func append(_ node: PatternNode, _ least: Int, _ most: Int?) throws(PatternError) {
        for _ in 0..<least { try append(node) }
        let start = program.count
        guard let most else {
            program.append(.accept)
            try append(node)
            program.append(.jump(start))
            program[start] = .split(start + 1, program.count)
            return
        }
        var splits: [Int] = []
        for _ in least..<most {
            splits.append(program.count)
            program.append(.accept)
            try append(node)
        }
        for split in splits { program[split] = .split(split + 1, program.count) }
    }
}
