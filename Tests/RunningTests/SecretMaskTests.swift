import FlowrunTestSupport
import Foundation
import Glibc
import Testing
import Workflow

@testable import Running

@Suite struct SecretMaskTests {
    @Test(arguments: [
        ("the word is hunter2, they say", "the word is ***, they say"), ("hunter2", "***"), ("hunter", "hunter"),
        ("hunter2hunter2 and hunter2", "*** and ***"), ("hhunter22", "h***2"),
        ("hunter hunte hunter2", "hunter hunte ***"),
        ("", ""), ("HUNTER2", "HUNTER2"),
    ])
    func `a secret becomes three stars wherever it stands`(text: String, masked: String) throws {
        #expect(try #require(SecretMask(["hunter2"])).mask(text) == masked)
    }

    @Test(arguments: [
        (["abcdef", "cdefgh"], "xabcdefghx", "x***x"), (["abcd", "abcdefgh"], "abcdefgx", "***efgx"),
        (["abcd", "abcdefgh"], "abcdefgh", "***"), (["cdef", "abcdefgh"], "abcdefg", "ab***g"),
        (["abcd", "defg"], "abcdefg", "***"), (["abcd", "efgh"], "abcdefgh", "***"),
        (["aaaa"], "aaaaaaaaab", "***b"),
    ])
    func `secrets that overlap leave no end of one behind`(secrets: [String], text: String, masked: String) throws {
        let mask = try #require(SecretMask(secrets))
        #expect(mask.mask(text) == masked)
        #expect(cut(text, by: mask, every: 1) == masked)
    }

    @Test func `without secrets there is no mask`() {
        #expect(SecretMask([String]()) == nil)
    }

    @Test func `what cannot become a secret any more is not held back`() throws {
        var mask = try #require(SecretMask(["hunter!"]))
        #expect(feed("tell me: hunt", to: &mask) == "tell me: ")
        #expect(feed("er", to: &mask) == "")
        #expect(feed("s", to: &mask) == "hunters")
        #expect(feed("ay hunter", to: &mask) == "ay ")
        #expect(feed("!\n", to: &mask) == "***\n")
        #expect(feed("hunter", to: &mask) == "")
        var rest: [UInt8] = []
        mask.finish { rest += $0 }
        #expect(rest == Array("hunter".utf8))
        // A new stream begins with nothing of the old one.
        #expect(feed("! ", to: &mask) == "! ")
    }

    @Test func `a key in lines is hidden line by line, in one piece and as the tools encode it`() throws {
        let key = "-----BEGIN KEY-----\n  c2VjcmV0LWtleS1saW5lLTE\nab\nL2tleS1saW5lLTI= \n-----END KEY-----"
        let mask = try #require(SecretMask([key]))
        #expect(mask.mask("x \(key) y") == "x *** y")
        #expect(mask.mask("key: c2VjcmV0LWtleS1saW5lLTE\r\nab\r\n") == "key: ***\r\nab\r\n")
        #expect(mask.mask(key.replacing("\n", with: "\r\n")) == "***")
        let base64 = Data((key + "\n").utf8).base64EncodedString()
        let wrapped = Data((key + "\n").utf8).base64EncodedString(options: [
            .lineLength76Characters, .endLineWithLineFeed,
        ])
        for text in [base64, wrapped] {
            #expect(mask.mask(text).hasPrefix("***") && mask.mask(text).count <= 6, "\(mask.mask(text))")
        }
    }

    @Test func `values are masked at every depth and numbers by their text`() throws {
        let mask = try #require(SecretMask(["hunter2", "12345678"]))
        let value = Value.object([
            .init(name: "a", value: .list([.string("x hunter2"), .int(12_345_678), .int(7), .null, .bool(true)])),
            .init(name: "hunter2", value: .decimal(WrittenNumber("12345678.5"))),
        ])
        #expect(
            mask.mask(value)
                == .object([
                    .init(name: "a", value: .list([.string("x ***"), .string("***"), .int(7), .null, .bool(true)])),
                    .init(name: "***", value: .string("***.5")),
                ]))
    }

    @Test func `printing a mask or the secrets prints no secret`() throws {
        let secrets = try RunSecrets(
            of: [secret("TOKEN", .environment("TOKEN"))], folder: nil, variable: { _ in Array("hunter2".utf8) })
        var dumped = "\(secrets) \(String(reflecting: secrets)) \(String(reflecting: secrets.mask))"
        dump(secrets, to: &dumped)
        dump(secrets.mask, to: &dumped)
        #expect(!dumped.contains("hunter2"))
        #expect(dumped.contains("TOKEN"))
    }

    @Test func `no form of a secret gets through, however the stream is cut`() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            let secrets = (0..<Int.random(in: 1...3, using: &random)).reduce(into: [String]()) { secrets, _ in
                secrets.append(random.secret(near: secrets.last))
            }
            let mask = try #require(SecretMask(secrets))
            let forms = secrets.map { secret in
                SecretForms(of: secret).all.sorted { $0.lexicographicallyPrecedes($1) }
            }
            let all = Set(forms.joined())
            let wrapped = secrets.reduce(into: Set<[UInt8]>()) { $0.formUnion(SecretForms(of: $1).wrapped) }
            for _ in 0..<20 {
                let text = random.text(with: forms)
                let masked = random.cut(text, by: mask)
                guard masked == reference(text, hiding: all, orWrapped: wrapped) else {
                    Issue.record(
                        "\(secrets) in \(String(decoding: text, as: UTF8.self)): \(String(decoding: masked, as: UTF8.self))"
                    )
                    return
                }
                // Secrets here hold no stars, so that a replacement cannot complete one.
                for form in all where place(of: form, in: masked, from: 0) != nil {
                    Issue.record("\(String(decoding: form, as: UTF8.self)) of \(secrets) is still there")
                    return
                }
            }
        }
    }

    @Test func `colours between the bytes of a secret do not show it`() throws {
        let mask = try #require(SecretMask(["hunter2", "correct horse"]))
        #expect(
            mask.mask("a \u{1B}[31mhun\u{1B}[0m\u{1B}[1;38;2;1;2;3mter\u{1B}[K2\u{1B}[0m b")
                == "a \u{1B}[31m***\u{1B}[0m b")
        #expect(mask.mask("hun\u{1B}[31mters \u{1B}[0m hunter2") == "hun\u{1B}[31mters \u{1B}[0m ***")
        #expect(mask.mask("hun\u{1B}[0mhun\u{1B}[0mter2") == "hun\u{1B}[0m***")
        // More than any colour is text.
        let long = "hun\u{1B}[" + String(repeating: "1;", count: 200) + "mter2"
        #expect(mask.mask(long) == long)
        var random = SeededGenerator(seed: 4)
        for _ in 0..<300 {
            let secret = random.secret(near: nil)
            let mask = try #require(SecretMask([secret]))
            for form in SecretForms(of: secret).all {
                var text: [UInt8] = []
                for byte in form {
                    text.append(byte)
                    if Bool.random(using: &random) { text += "\u{1B}[\(Int.random(in: 0...107, using: &random))m".utf8 }
                }
                text += "\u{1B}[0m.".utf8
                let masked = String(decoding: random.cut(text, by: mask), as: UTF8.self)
                #expect(masked.hasPrefix("***") && masked.hasSuffix("\u{1B}[0m."), "\(secret): \(masked)")
                #expect(masked.utf8.count <= 3 + 7 + 5, "\(secret): \(masked)")
            }
        }
    }

    @Test(arguments: [76, 64], ["\n", "\r\n", "\n    "])
    func `base64 in lines is hidden wherever in it the secret begins`(width: Int, lineEnd: String) throws {
        let secret = "correct horse battery staple"
        let mask = try #require(SecretMask([secret]))
        let forms = SecretForms(of: secret).wrapped.map { String(decoding: $0, as: UTF8.self) }
        for offset in 0..<(2 * width) {
            let text = String(repeating: "-", count: offset) + secret + String(repeating: "+", count: 40)
            let base64 = Data(text.utf8).base64EncodedString()
            var lines = ""
            for (index, character) in base64.enumerated() {
                if index > 0, index % width == 0 { lines += lineEnd }
                lines.append(character)
            }
            let masked = cut(lines, by: mask, every: 1 + offset % 7)
            #expect(masked.contains("***"))
            let joined = masked.filter { !$0.isWhitespace }
            // Nothing is left of it but what other bytes share.
            #expect(joined.count <= base64.count - secret.utf8.count * 8 / 6 + 2 + 3, "\(offset): \(masked)")
            #expect(!forms.contains { joined.contains($0.prefix(12)) || joined.contains($0.suffix(12)) })
        }
    }

    @Test func `every encoding of a secret by other tools is hidden`() throws {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<200 {
            let secret = random.secret(near: nil)
            let mask = try #require(SecretMask([secret]))
            for text in try encodings(of: secret) {
                let masked = mask.mask("<\(text)>")
                #expect(masked == "<***>", "\(secret) as \(text)")
            }
            // What `echo` and a here-document hand on: the last group also holds the line feed.
            let line = mask.mask(Data((secret + "\n").utf8).base64EncodedString())
            #expect(line.hasPrefix("***") && line.filter { $0 != "=" }.count <= 4, "\(secret) in \(line)")
            for shift in 0..<3 {
                let before = [UInt8](repeating: 0x2E, count: shift)
                let encoded = Data(before + Array(secret.utf8) + [0x2E, 0x2E]).base64EncodedString()
                let url = encoded.replacing("+", with: "-").replacing("/", with: "_")
                for text in [encoded, url] {
                    let masked = mask.mask(text)
                    // At most the groups that other bytes share remain.
                    #expect(masked.contains("***") && masked.count <= 3 + 4 + 5, "\(secret) in \(text): \(masked)")
                }
            }
        }
    }

    @Test func `a text without secrets is left as it is, whatever bytes it has`() throws {
        let mask = try #require(SecretMask(["hunter2", "correct horse battery"]))
        var random = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            let text = (0..<Int.random(in: 0...400, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            #expect(random.cut(text, by: mask) == text)
        }
    }

    @Test func `a secret of the largest size that repeats itself is found in one pass`() throws {
        let secret = String(repeating: "ab", count: RunSecrets.sizeLimit / 2 - 1) + "c!"
        let mask = try #require(SecretMask([secret]))
        let near = String(repeating: "ab", count: RunSecrets.sizeLimit)
        #expect(cut(near + secret + "x", by: mask, every: 4096).utf8.count == near.utf8.count + 4)
        #expect(cut(near, by: mask, every: 1000) == near)
    }
}

/// Everything that a mask emits for a text cut into pieces of this size.
func cut(_ text: String, by mask: SecretMask, every size: Int) -> String {
    var mask = mask
    var result: [UInt8] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
        bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { mask.feed($0) { result += $0 } }
    }
    mask.finish { result += $0 }
    return String(decoding: result, as: UTF8.self)
}

private func feed(_ text: String, to mask: inout SecretMask) -> String {
    var result: [UInt8] = []
    Array(text.utf8).withUnsafeBytes { bytes in mask.feed(bytes) { result += $0 } }
    return String(decoding: result, as: UTF8.self)
}

/// What a mask should do, the slow way: every byte that any occurrence of any form covers goes.
private func reference(_ text: [UInt8], hiding forms: Set<[UInt8]>, orWrapped wrapped: Set<[UInt8]>) -> [UInt8] {
    var isHidden = [Bool](repeating: false, count: text.count)
    // Without line ends and the blanks behind them.
    var joined: [(byte: UInt8, place: Int)] = []
    var isIndenting = false
    for (place, byte) in text.enumerated() {
        if byte == 0x0A || byte == 0x0D {
            isIndenting = true
        } else if !isIndenting || byte != 0x20 && byte != 0x09 {
            isIndenting = false
            joined.append((byte, place))
        }
    }
    let plain = text.enumerated().map { (byte: $1, place: $0) }
    for (forms, bytes) in [(forms, plain), (wrapped, joined)] {
        for form in forms {
            var start = 0
            while let found = place(of: form, in: bytes.map(\.byte), from: start) {
                for index in bytes[found].place...bytes[found + form.count - 1].place { isHidden[index] = true }
                start = found + 1
            }
        }
    }
    var result: [UInt8] = []
    for (index, byte) in text.enumerated() {
        if !isHidden[index] {
            result.append(byte)
        } else if index == 0 || !isHidden[index - 1] {
            result += Array("***".utf8)
        }
    }
    return result
}

private func place(of form: [UInt8], in text: [UInt8], from start: Int) -> Int? {
    text.withUnsafeBytes { text in
        guard let base = text.baseAddress else { return nil }
        var start = start
        while start + form.count <= text.count {
            guard let found = memchr(base + start, Int32(form[0]), text.count - form.count - start + 1) else { break }
            start = UnsafeRawPointer(found) - base
            if memcmp(found, form, form.count) == 0 { return start }
            start += 1
        }
        return nil
    }
}

/// As others write them, not by the code under test.
private func encodings(of secret: String) throws -> [String] {
    let json = String(decoding: try JSONEncoder().encode(secret), as: UTF8.self)
    let plain = JSONEncoder()
    plain.outputFormatting = .withoutEscapingSlashes
    let plainJSON = String(decoding: try plain.encode(secret), as: UTF8.self)
    let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    let percent = try #require(secret.addingPercentEncoding(withAllowedCharacters: unreserved))
    let component = try #require(
        secret.addingPercentEncoding(withAllowedCharacters: unreserved.union(CharacterSet(charactersIn: "!'()*"))))
    let lower = percent.replacing(#/%[0-9A-F]{2}/#) { $0.output.lowercased() }
    let hex = secret.utf8.map { String(format: "%02x", $0) }.joined()
    return [
        secret, String(json.dropFirst().dropLast()), String(plainJSON.dropFirst().dropLast()), percent, component,
        lower,
        percent.replacing("%20", with: "+"), lower.replacing("%20", with: "+"), hex, hex.uppercased(),
        secret.replacing("'", with: #"'\''"#),
    ]
}

extension SeededGenerator {
    /// A secret that shares pieces with another one often, and letters with everything.
    fileprivate mutating func secret(near other: String?) -> String {
        let alphabets = ["ab", "abc/+ \"", "aA0-_ %", "xyzäß✓🎉'\\", "ab\n", "0123456789abcdefABCDEF=&?<>"]
        let alphabet = Array(alphabets.randomElement(using: &self)!.unicodeScalars)
        var text = ""
        if let other, Bool.random(using: &self) {
            let scalars = Array(other.unicodeScalars)
            let start = Int.random(in: 0..<scalars.count, using: &self)
            text.unicodeScalars.append(contentsOf: scalars[start...])
        }
        let length = Int.random(in: 1...12, using: &self)
        for _ in 0..<length { text.unicodeScalars.append(alphabet.randomElement(using: &self)!) }
        // No blanks at the ends: the lines of a secret are hidden without them.
        while text.utf8.count < 4 || text.hasSuffix(" ") || text.hasPrefix(" ") { text = "a" + text + "b" }
        return text
    }

    /// Secrets in all forms, beginnings and ends of them, and letters they are made of.
    fileprivate mutating func text(with secrets: [[[UInt8]]]) -> [UInt8] {
        var text: [UInt8] = []
        for _ in 0..<Int.random(in: 0...12, using: &self) {
            let form = secrets.randomElement(using: &self)!.randomElement(using: &self)!
            switch Int.random(in: 0..<6, using: &self) {
            case 0, 1: text += form
            case 2: text += form.prefix(Int.random(in: 0...form.count, using: &self))
            case 3: text += form.suffix(Int.random(in: 0...form.count, using: &self))
            case 4: text += (0..<6).map { _ in Array("ab \n\"'/%\\+".utf8).randomElement(using: &self)! }
            default: text.append(UInt8.random(in: 0...255, using: &self))
            }
        }
        return text
    }

    fileprivate mutating func cut(_ text: [UInt8], by mask: SecretMask) -> [UInt8] {
        var mask = mask
        var result: [UInt8] = []
        var start = 0
        while start < text.count {
            let size = Int.random(in: 1...(Bool.random(using: &self) ? 3 : 40), using: &self)
            text[start..<min(start + size, text.count)].withUnsafeBytes { mask.feed($0) { result += $0 } }
            start += size
        }
        mask.finish { result += $0 }
        return result
    }
}
