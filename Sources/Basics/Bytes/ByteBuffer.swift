internal import Glibc

/// Growing memory for bytes on their way out: a record, a line, a block. Emptied and filled again, it allocates only
/// while it has not yet met its longest content.
///
/// Unlike an array it has one owner, so that a byte costs a store and no look at who else may hold it.
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

    /// Empties the buffer. Memory beyond `limit` is given back, so that one very long record does not keep it for good.
    package mutating func removeAll(keepingAtMost limit: Int = 512 << 10) {
        count = 0
        guard capacity > limit else { return }
        base.deallocate()
        capacity = limit
        base = .allocate(byteCount: limit, alignment: 16)
    }

    /// Takes back what was appended last; `less` is at most `count`.
    package mutating func removeLast(_ less: Int) { count -= less }

    /// Makes room for that many bytes more.
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

    /// Text as it is, control characters and all.
    package mutating func append(raw text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Text that stands in the program.
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

    /// Makes room in front of what has been appended since `start`, for text that ends in a column.
    package mutating func insert(repeating byte: UInt8, count more: Int, at start: Int) {
        guard more > 0 else { return }
        reserve(more)
        memmove(base + start + more, base + start, count - start)
        memset(base + start, Int32(byte), more)
        count += more
    }

    /// The decimal digits of `number`, with zeros in front up to `padding` digits (at most 20).
    package mutating func append(decimal number: UInt, padding: Int = 1) {
        reserve(20)
        var digits = 1
        var rest = number
        while rest >= 100 {
            rest /= 100
            digits += 2
        }
        if rest >= 10 { digits += 1 }
        digits = max(digits, padding)
        // Two at a time: a step writes dozens of numbers.
        rest = number
        var place = count + digits
        while place >= count + 2 {
            let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
            place -= 2
            (base + place).copyMemory(from: Self.pairs.utf8Start + 2 * Int(pair), byteCount: 2)
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

    /// Two decimal digits of a number from 0 to 99, as clocks and calendars have them.
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

    /// The lowest `digits` hexadecimal digits of `number`, in lower case.
    package mutating func append(hexadecimal number: UInt32, digits: Int) {
        for place in stride(from: digits - 1, through: 0, by: -1) {
            let digit = UInt8(truncatingIfNeeded: number >> UInt32(4 * place) & 0xF)
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
