internal import CVector
internal import Glibc

/// A growing buffer for output: a record, a line, a block. Reused, it allocates only when its content is longer than
/// ever before.
///
/// Unlike an array it has a single owner, so appending a byte is one store without a check for uniqueness.
package struct ByteBuffer: ~Copyable {
    private(set) var base: UnsafeMutableRawPointer
    private var capacity: Int
    package internal(set) var count = 0

    package init(capacity: Int = 4096) {
        self.capacity = max(capacity, 64)
        base = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    package var isEmpty: Bool { count == 0 }

    /// A copy of the content.
    package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    /// The content as text, ill-formed UTF-8 repaired.
    package var text: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }

    package borrowing func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Empties the buffer. Frees memory beyond `limit`, so that one very long record does not keep it for good.
    package mutating func removeAll(keepingAtMost limit: Int = 512 << 10) {
        count = 0
        guard capacity > limit else { return }
        base.deallocate()
        capacity = limit
        base = .allocate(byteCount: limit, alignment: 16)
    }

    /// Removes the last `less` bytes; `less` is at most `count`.
    package mutating func removeLast(_ less: Int) { count -= less }

    /// Removes this byte from the end as often as it is there.
    mutating func removeLast(_ byte: UInt8) {
        while count > 0, base.load(fromByteOffset: count &- 1, as: UInt8.self) == byte { count &-= 1 }
    }

    /// Reserves room for `more` additional bytes.
    @inline(__always)
    package mutating func reserve(_ more: Int) {
        if capacity &- count < more { grow(by: more) }
    }

    @inline(never)
    private mutating func grow(by more: Int) {
        let wanted = max(capacity * 2, count + more)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 16)
        larger.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = larger
        capacity = wanted
    }

    // MARK: Appending

    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        reserve(1)
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        memcpy(base + count, source, bytes.count)
        count += bytes.count
    }

    package mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// Appends text unchanged, control characters included.
    package mutating func append(raw text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends a string literal.
    @inline(__always)
    package mutating func append(literal text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package mutating func append(repeating byte: UInt8, count more: Int) {
        guard more > 0 else { return }
        reserve(more)
        memset(base + count, Int32(byte), more)
        count += more
    }

    /// Inserts bytes in front of what has been appended since `start`, to align text to the right.
    package mutating func insert(repeating byte: UInt8, count more: Int, at start: Int) {
        guard more > 0 else { return }
        reserve(more)
        memmove(base + start + more, base + start, count - start)
        memset(base + start, Int32(byte), more)
        count += more
    }

    /// Appends the decimal digits of `number`, with leading zeros up to `padding` digits (at most 20).
    package mutating func append(decimal number: UInt, padding: Int = 1) {
        reserve(20)
        if number < 10, padding <= 1 {
            base.storeBytes(of: UInt8(ascii: "0") &+ UInt8(number), toByteOffset: count, as: UInt8.self)
            count += 1
            return
        }
        var digits = 1
        var rest = number
        while rest >= 100 {
            rest /= 100
            digits += 2
        }
        if rest >= 10 { digits += 1 }
        digits = max(digits, padding)
        // Two digits at a time: each step writes dozens of numbers.
        rest = number
        var place = count + digits
        while place >= count + 2 {
            let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
            place -= 2
            let digits = UnsafeRawPointer(Self.pairs.utf8Start + 2 * Int(pair)).loadUnaligned(as: UInt16.self)
            base.storeBytes(of: digits, toByteOffset: place, as: UInt16.self)
            rest = quotient
        }
        if place > count {
            let letter = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest)
            base.storeBytes(of: letter, toByteOffset: count, as: UInt8.self)
        }
        count += digits
    }

    /// The numbers below 100, two digits each.
    private static var pairs: StaticString {
        """
        00010203040506070809101112131415161718192021222324252627282930313233343536373839\
        40414243444546474849505152535455565758596061626364656667686970717273747576777879\
        8081828384858687888990919293949596979899
        """
    }

    /// Appends a number from 0 to 99 as two decimal digits, as clocks and calendars have them.
    @inline(__always)
    package mutating func append(pair number: Int64) {
        reserve(2)
        let (tens, ones) = number.quotientAndRemainder(dividingBy: 10)
        base.storeBytes(of: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: tens), toByteOffset: count, as: UInt8.self)
        base.storeBytes(
            of: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: ones), toByteOffset: count + 1, as: UInt8.self)
        count += 2
    }

    package mutating func append(_ number: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(decimal: number.magnitude)
    }

    /// Appends the lowest `digits` hexadecimal digits of `number`, in lower case.
    package mutating func append(hexadecimal number: UInt32, digits: Int) {
        reserve(8)
        if digits == 8 {
            base.storeBytes(of: UInt64.digits(number), toByteOffset: count, as: UInt64.self)
            count &+= 8
            return
        }
        var rest = number
        for place in (0..<digits).reversed() {
            let digit = UInt8(truncatingIfNeeded: rest & 0xF)
            let letter = digit &+ (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            base.storeBytes(of: letter, toByteOffset: count &+ place, as: UInt8.self)
            rest &>>= 4
        }
        count &+= digits
    }
}

/// Copies text from outside. Bytes that need no change are copied by blocks; the rest is left to the caller.
extension ByteBuffer {
    /// The bytes that end a run of plain text. Both kinds end it at control characters, DEL and everything that is
    /// not ASCII.
    package enum Care {
        case unprintable
        /// Ends it also at a quote and a backslash.
        case json
    }

    /// Copies from `source` up to the first byte that needs care; returns that byte's offset, or the count of `source`.
    package mutating func copyPlain(_ source: UnsafeRawBufferPointer, from start: Int, until care: Care) -> Int {
        let length = source.count - start
        guard length > 0, let first = source.baseAddress else { return start }
        // Blocks may write up to 16 bytes beyond the run; later bytes overwrite those.
        reserve(length + 16)
        let from = first + start
        let to = base + count
        var offset = 0
        while offset &+ 16 <= length {
            let found = ~cvector_copy_16(to + offset, from + offset, care == .json)
            if found != 0 {
                offset &+= found.trailingZeroBitCount
                count &+= offset
                return start &+ offset
            }
            offset &+= 16
        }
        let found = ~cvector_copy_short(to + offset, from + offset, length &- offset, care == .json)
        offset &+= found.trailingZeroBitCount
        count &+= offset
        return start &+ offset
    }

    /// Copies printable text and tabs, and writes `lineEnd` in place of each line feed. Returns the offset at which
    /// it stops: at a byte that needs more care, or too close to the end of `source` for whole blocks.
    package mutating func copyLines(
        _ source: UnsafeRawBufferPointer, from start: Int, lineEnd: UnsafeRawBufferPointer
    ) -> Int {
        guard lineEnd.count > 16 else {
            // The usual mark is a few bytes: one store instead of a call.
            var bytes = SIMD16<UInt8>()
            withUnsafeMutableBytes(of: &bytes) { $0.copyMemory(from: lineEnd) }
            return copyBlocks(source, from: start, until: .unprintable, longest: 16) { byte, to in
                guard byte == UInt8(ascii: "\n") else { return 0 }
                to.storeBytes(of: bytes, as: SIMD16<UInt8>.self)
                return lineEnd.count
            }
        }
        return copyBlocks(source, from: start, until: .unprintable, longest: lineEnd.count) { byte, to in
            guard byte == UInt8(ascii: "\n") else { return 0 }
            UnsafeMutableRawBufferPointer(start: to, count: lineEnd.count).copyMemory(from: lineEnd)
            return lineEnd.count
        }
    }

    /// Copies text for the inside of a JSON string and escapes ASCII that may not be there as it is. Returns the
    /// offset at which it stops, as `copyLines` does.
    mutating func copyJSONText(_ source: UnsafeRawBufferPointer, from start: Int) -> Int {
        copyBlocks(source, from: start, until: .json, longest: 6) { byte, to in
            let letter: UInt8
            switch byte {
            case UInt8(ascii: "\n"): letter = UInt8(ascii: "n")
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): letter = byte
            case UInt8(ascii: "\t"): letter = UInt8(ascii: "t")
            case UInt8(ascii: "\r"): letter = UInt8(ascii: "r")
            default:
                let low = byte & 0xF
                to.storeBytes(of: (0x5C, 0x75, 0x30, 0x30), as: (UInt8, UInt8, UInt8, UInt8).self)
                to.storeBytes(of: UInt8(ascii: "0") + byte >> 4, toByteOffset: 4, as: UInt8.self)
                let digit = low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10
                to.storeBytes(of: digit, toByteOffset: 5, as: UInt8.self)
                return 6
            }
            to.storeBytes(of: UInt8(ascii: "\\"), as: UInt8.self)
            to.storeBytes(of: letter, toByteOffset: 1, as: UInt8.self)
            return 2
        }
    }

    /// Copies blocks of 64 bytes. For each ASCII byte that needs care, `replace` writes the replacement, up to
    /// `longest` bytes, and returns its length; 0 stops before that byte.
    @inline(__always)
    private mutating func copyBlocks(
        _ source: UnsafeRawBufferPointer, from start: Int, until care: Care, longest: Int,
        replace: (UInt8, UnsafeMutableRawPointer) -> Int
    ) -> Int {
        guard let first = source.baseAddress else { return start }
        let block = 64
        let room = (longest &+ 2) &* block
        var offset = start
        // After a replacement, 64 bytes are copied again, which reaches into the next block.
        while offset &+ 2 &* block <= source.count {
            reserve(room)
            let from = first + offset
            var to = base + count
            var found = ~cvector_copy_64(to, from, care == .json)
            // The number of bytes of the block that are already written before `to`.
            var done = 0
            var end = block
            var isChecked = false
            while found != 0 {
                let place = found.trailingZeroBitCount
                let byte = from.load(fromByteOffset: place, as: UInt8.self)
                found &= found &- 1
                if care != .json, byte == UInt8(ascii: "\t") { continue }
                if byte >= 0x80 {
                    if !isChecked {
                        isChecked = true
                        let text = Self.text(inBlock: from, until: care)
                        if text != 0 {
                            found &= ~text
                            continue
                        }
                    }
                    let word = UInt32(littleEndian: from.loadUnaligned(fromByteOffset: place, as: UInt32.self))
                    let length = UTF8Sequence.lengthOfText(word)
                    if length > 0, care != .json || !UTF8Sequence.isLineSeparator(word) {
                        guard place &+ length <= block else {
                            // The sequence crosses into the next block, which begins with it.
                            end = place
                            break
                        }
                        found &= ~1 &<< UInt64(truncatingIfNeeded: place &+ length &- 1)
                        continue
                    }
                }
                to += place &- done
                let length = byte < 0x80 ? replace(byte, to) : 0
                guard length > 0 else {
                    count = to - base
                    return offset &+ place
                }
                to += length
                done = place &+ 1
                to.copyMemory(from: from + done, byteCount: block)
            }
            count = to - base &+ end &- done
            offset &+= end
        }
        return offset
    }

    /// One bit for each byte that belongs to well-formed text that is not ASCII. Not inlined, to keep the loop for
    /// ASCII small.
    @inline(never)
    private static func text(inBlock block: UnsafeRawPointer, until care: Care) -> UInt64 {
        cvector_text_64(block, care == .json)
    }

    /// Copies a run of well-formed scalars from U+00A0 on and returns the offset of its end. Unless `lineSeparators`,
    /// it stops also before U+2028 and U+2029.
    package mutating func copyScalars(
        _ source: UnsafeRawBufferPointer, from start: Int, lineSeparators: Bool = true
    ) -> Int {
        var offset = start
        while offset < source.count {
            let word = UTF8Sequence.word(of: source, at: offset)
            let length = UTF8Sequence.lengthOfText(word)
            guard length > 0, lineSeparators || !UTF8Sequence.isLineSeparator(word) else { break }
            offset &+= length
        }
        if offset > start { append(UnsafeRawBufferPointer(rebasing: source[start..<offset])) }
        return offset
    }
}
