/// Bytes as text by RFC 4648, with padding.
package enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    package static func text(of bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var (bits, count) = (UInt32(0), 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 1
            guard count == 3 else { continue }
            for shift in [18, 12, 6, 0] as [UInt32] { text.append(digits[Int(bits >> shift & 63)]) }
            (bits, count) = (0, 0)
        }
        if count == 1 { text += [digits[Int(bits >> 2)], digits[Int(bits << 4 & 63)], padding, padding] }
        if count == 2 {
            text += [digits[Int(bits >> 10)], digits[Int(bits >> 4 & 63)], digits[Int(bits << 2 & 63)], padding]
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text; nil if it is not in this form.
    package static func bytes(of text: String) -> [UInt8]? {
        let text = Array(text.utf8)
        guard text.count % 4 == 0 else { return nil }
        let content = text.suffix(2).drop { $0 != padding }.isEmpty ? text[...] : text.prefix { $0 != padding }
        guard text.count - content.count <= 2, text[content.count...].allSatisfy({ $0 == padding }) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var (bits, count) = (UInt32(0), 0)
        for byte in content {
            guard let digit = digits.firstIndex(of: byte) else { return nil }
            bits = bits << 6 | UInt32(digit)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }
}
