internal import CVector

/// Copying text from outside: what can stay as it is goes by blocks, and the rest is left to the caller.
extension ByteBuffer {
    /// Bytes that end a run that can be copied as it is. Both kinds end at control characters, DEL and all that is not
    /// ASCII.
    package enum Care {
        case unprintable
        /// Also at a quote and a backslash.
        case json
    }

    /// Copies from `source` up to the first byte that needs care; returns that byte's offset, or the count of `source`.
    package mutating func copyPlain(_ source: UnsafeRawBufferPointer, from start: Int, until care: Care) -> Int {
        let length = source.count - start
        guard length > 0, let first = source.baseAddress else { return start }
        // What is copied beyond the run stands where the next bytes will.
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
        while offset < length {
            let byte = from.load(fromByteOffset: offset, as: UInt8.self)
            if byte &- 0x20 >= 0x5F { break }
            if care == .json, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            to.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
            offset &+= 1
        }
        count &+= offset
        return start &+ offset
    }

    /// Copies printable text and tabs, with `lineEnd` in place of each line feed. Returns where it stops: at a byte
    /// that needs more care, or so short before the end of `source` that blocks are no use.
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

    /// Copies what the inside of a JSON string may hold, with escapes for the rest of ASCII. Returns where it stops, as
    /// `copyLines` does.
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

    /// Copies blocks of 64 bytes. For each ASCII byte that needs care `replace` writes what stands in its place, up to
    /// `longest` bytes, and returns how many; 0 stops before that byte.
    @inline(__always)
    private mutating func copyBlocks(
        _ source: UnsafeRawBufferPointer, from start: Int, until care: Care, longest: Int,
        replace: (UInt8, UnsafeMutableRawPointer) -> Int
    ) -> Int {
        guard let first = source.baseAddress else { return start }
        let block = 64
        let room = (longest &+ 2) &* block
        var offset = start
        // Behind a replacement a whole block is copied again, which reaches into the next one.
        while offset &+ 2 &* block <= source.count {
            reserve(room)
            let from = first + offset
            var to = base + count
            var found = ~cvector_copy_64(to, from, care == .json)
            // How much of the block stands before `to`.
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
                            // It begins the next block.
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

    /// As a bit for each byte: what of a block is well-formed and not ASCII. Apart, to keep the loop for ASCII small.
    @inline(never)
    private static func text(inBlock block: UnsafeRawPointer, until care: Care) -> UInt64 {
        cvector_text_64(block, care == .json)
    }

    /// Copies a run of well-formed scalars from U+00A0 on; returns where it ends. Stops also before U+2028 and U+2029
    /// where `lineSeparators` are to be kept out.
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
