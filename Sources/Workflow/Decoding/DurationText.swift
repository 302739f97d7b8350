/// Durations in the form of workflow files: `90s`, `10m`, `1h30m`, `250ms`, `1d`.
enum DurationText {
    enum Reading: Equatable {
        case duration(Duration)
        case tooLong
        /// Not a duration; the suggestion is the most likely meaning.
        case invalid(suggestion: String?)
    }

    /// The longest duration: a thousand days.
    static let limitInDays: Int64 = 1000

    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Other common spellings of the units.
    private static let otherNames: [String: String] = [
        "": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m",
        "minutes": "m", "hr": "h", "hrs": "h", "hour": "h", "hours": "h", "day": "d", "days": "d", "msec": "ms",
        "millis": "ms", "millisecond": "ms", "milliseconds": "ms",
    ]

    /// Reads units from the largest to the smallest, each at most once, without blanks.
    static func read(_ text: String) -> Reading {
        var rest = text.utf8[...]
        var unitsLeft = units[...]
        var total: Int64 = 0
        repeat {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(digits.count)
            let letters = rest.prefix { (0x61...0x7A).contains($0) }
            rest = rest.dropFirst(letters.count)
            guard !digits.isEmpty, let unit = unitsLeft.firstIndex(where: { letters.elementsEqual($0.name.utf8) })
            else {
                return .invalid(suggestion: suggestion(for: text))
            }
            var number: Int64 = 0
            for digit in digits {
                number = number * 10 + Int64(digit - UInt8(ascii: "0"))
                guard number < 1 << 40 else { return .tooLong }
            }
            total += number * units[unit].milliseconds
            unitsLeft = unitsLeft[(unit + 1)...]
            guard total <= limitInDays * 86_400_000 else { return .tooLong }
        } while !rest.isEmpty
        return .duration(.milliseconds(total))
    }

    /// In the largest units that need no fraction: `1h30m`, `2s250ms`.
    static func text(milliseconds: Int64) -> String {
        var rest = milliseconds
        var text = ""
        for unit in units where rest >= unit.milliseconds {
            text += "\(rest / unit.milliseconds)\(unit.name)"
            rest %= unit.milliseconds
        }
        return text.isEmpty ? "0s" : text
    }

    /// The meaning of a text with blanks, unit words, capitals or fractions; a bare number is taken for `bareUnit`.
    static func suggestion(for text: String, bareUnit: String = "s") -> String? {
        var rest = text.lowercased().filter { $0 != " " && $0 != "_" && $0 != "," }[...]
        var total: Int64 = 0
        repeat {
            let number = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            rest = rest.dropFirst(number.count)
            let letters = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(letters.count)
            let name = letters.isEmpty ? bareUnit : otherNames[String(letters)] ?? String(letters)
            guard number.contains(where: \.isNumber), let value = Double(number.hasSuffix(".") ? number + "0" : number),
                let unit = units.first(where: { $0.name == name })
            else { return nil }
            let milliseconds = (value * Double(unit.milliseconds)).rounded()
            guard milliseconds < 1e14 else { return nil }
            total += Int64(milliseconds)
            guard total <= limitInDays * 86_400_000 else { return nil }
        } while !rest.isEmpty
        return total > 0 ? Self.text(milliseconds: total) : nil
    }
}

extension Duration {
    /// Reads a duration in the form of workflow files, such as `90s` or `1h30m`; nil if it is invalid, zero, or
    /// longer than a thousand days. For command lines.
    package init?(workflowText text: String) {
        guard case .duration(let duration) = DurationText.read(text), duration > .zero else { return nil }
        self = duration
    }

    /// In the form of workflow files: `1h30m`, `90ms`; parts that are 0 are omitted.
    package var asWritten: String {
        let (seconds, attoseconds) = components
        let parts = [
            (seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s"),
            (attoseconds / 1_000_000_000_000_000, "ms"),
        ]
        let text = parts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }.joined()
        return text.isEmpty ? "0s" : text
    }
}

/// Sizes in the form `128MiB`, `1GiB`, `0`.
package enum SizeText {
    package enum Reading: Equatable {
        /// In bytes.
        case size(Int)
        case tooLarge
        /// Not a size; the suggestion is the most likely meaning.
        case invalid(suggestion: String?)
    }

    /// The accepted forms, for messages.
    package static let expected = "a size such as `512KiB`, `64MiB` or `1GiB`"

    private static let units: [(name: String, bytes: Int)] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)]
    /// The largest size, in GiB.
    static let limit = 1024

    package static func read(_ text: String) -> Reading {
        if text == "0" { return .size(0) }
        guard let unit = units.first(where: { text.hasSuffix($0.name) }),
            case let digits = text.utf8.dropLast(unit.name.utf8.count), !digits.isEmpty,
            digits.allSatisfy({ $0 &- 0x30 < 10 })
        else { return .invalid(suggestion: suggestion(for: text)) }
        guard let number = Int(Substring(digits)), number <= limit * units[2].bytes / unit.bytes else {
            return .tooLarge
        }
        return .size(number * unit.bytes)
    }

    /// The size meant by a text with a blank, capitals or another tool's unit.
    private static func suggestion(for text: String) -> String? {
        let text = text.filter { $0 != " " && $0 != "_" }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let letter = text.dropFirst(digits.count).lowercased()
        guard !digits.isEmpty,
            let unit = units.first(where: { unit in
                let first = unit.name.prefix(1).lowercased()
                return [first, first + "b", first + "ib"].contains(letter)
            })
        else { return nil }
        return "\(digits)\(unit.name)"
    }
}
