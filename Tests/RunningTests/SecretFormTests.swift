import FlowrunTestSupport
import Foundation
import Testing

@testable import Running

/// Secrets stay hidden in the forms that other programs give them: bash, python3, base32 and xxd write the texts.
struct SecretFormTests {
    private static let secrets = [
        "hunter2 \"&/'<>", "correct horse battery staple, and 17 more $(words) `of` {it} [all]!",
        "~a:~b=~c#d^e*f?\\g|h;i,j", "tab\tand\u{1B}escape", "geheim-äöü✓🎉", "line one\nline two\n{\"k\": \"v\"}",
        "abcd", String(repeating: "0123456789abcdef", count: 20),
    ]

    /// Prints as JSON, for each secret of `secrets.json` and each way to write it: the secret, the way, the text, and
    /// the rest that a mask leaves of it, either exactly or as the most characters that are not blanks.
    private static let script = #"""
        import html, json, shutil, subprocess, xml.sax.saxutils

        def run(*words, locale="C.UTF-8", stdin=b""):
            environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": locale}
            return subprocess.run(words, input=stdin, stdout=subprocess.PIPE, env=environment, check=True).stdout.decode()

        def drawn(text):
            rows = [text[at:at + 16] for at in range(0, len(text), 16)]
            pairs = [" ".join(row[at:at + 2].hex() for at in range(0, len(row), 2)) for row in rows]
            shown = ["".join(chr(byte) if 32 <= byte < 127 else "." for byte in row) for row in rows]
            return "".join(f"{at * 16:08x}: {pairs[at]:39}  {shown[at]}\n" for at in range(len(rows)))

        found = []
        for secret in json.load(open("secrets.json")):
            def add(way, text, left="<***>"): found.append([secret, way, f"<{text}>" if left == "<***>" else text, left])
            for locale in ["C", "C.UTF-8"]:
                word = run("bash", "-c", 'printf %q "$1"', "bash", secret, locale=locale)
                if word.startswith("$'"): add(f"%q {locale}", word, "$'***'")
                else: add(f"%q {locale}", word.removeprefix("\\") if secret[0] in "#~" else word)
                shown = run("bash", "-c", 'a=$1; declare -p a', "bash", secret, locale=locale)
                add(f"declare {locale}", shown, "declare -- a=" + ("$'***'" if "=$'" in shown else '"***"') + "\n")
            for ascii in [True, False]:
                inner = json.dumps(secret, ensure_ascii=ascii)[1:-1]
                add("JSON", inner)
                for outer in [True, False]: add("JSON in JSON", json.dumps(inner, ensure_ascii=outer and ascii)[1:-1])
            add("HTML", html.escape(secret)), add("HTML text", html.escape(secret, quote=False))
            add("XML", xml.sax.saxutils.escape(secret, {'"': "&quot;", "'": "&apos;"}))
            data = secret.encode()
            for program, group, bits in [("base32", 5, 5), ("base64", 3, 6)]:
                for shift in range(group):
                    own = (shift + len(data)) * 8 // bits - -(-shift * 8 // bits)
                    for width in ["0", "76", "20"] if len(data) > 12 else ["0"]:
                        shown = run(program, "-w", width, stdin=b"." * shift + data + b"." * (2 * group))
                        add(f"{program} -w {width} +{shift}", shown, len("".join(shown.split())) - own + 3)
            for start in [0, 1, 5, 8, 13, 15, 16, 31]:
                text = b"." * start + data + b"." * 40
                dumps = [("xxd as documented", drawn(text), 16, lambda at: 10 + at * 2 + at // 2)]
                if shutil.which("xxd"):
                    shown = run("xxd", "-p", stdin=text)
                    if len(data) > 6: add("xxd -p", shown, len("".join(shown.split())) - 2 * len(data) + 3)
                    dumps.append(("xxd", run("xxd", stdin=text), 16, lambda at: 10 + at * 2 + at // 2))
                    dumps.append(("xxd -u -c 8 -g 1", run("xxd", "-u", "-c8", "-g1", stdin=text), 8, lambda at: 10 + at * 3))
                if shutil.which("hexdump"):
                    dumps.append(("hexdump", run("hexdump", "-Cv", stdin=text), 16, lambda at: 10 + at * 3 + at // 8))
                for way, shown, width, column in dumps:
                    first, last = start // width, (start + len(data) - 1) // width
                    rows = shown.splitlines(True)
                    left = "".join(rows[:first]) + rows[first][:column(start % width)] + "***\n" + "".join(rows[last + 1:])
                    add(f"{way} +{start}", shown, left)
        print(json.dumps(found))
        """#

    private static let missing = ["bash", "python3", "base32"].filter { program in
        !(ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    @Test(.enabled(if: missing.isEmpty, "not installed: \(missing)"))
    func `no secret is left of what programs make of it, however the stream is cut`() async throws {
        let test = try FlowrunTest(files: ["forms.py": Self.script])
        try test.write(Array(JSONEncoder().encode(Self.secrets)), to: "secrets.json")
        let result = try await test.run(launcher: ["python3", "forms.py"])
        result.expect(exit: 0)
        let rows = try JSONDecoder().decode([[JSONValue]].self, from: Data(result.stdout.utf8))
        #expect(rows.count > 400)
        for row in rows {
            let (secret, way, text) = (row[0].string ?? "", row[1].string ?? "", row[2].string ?? "")
            let mask = try #require(SecretMask([secret]))
            for size in [1, 7, 1 << 16] {
                let masked = cut(text, by: mask, every: size)
                if let left = row[3].string {
                    #expect(masked == left, "\(way) of \(secret) in pieces of \(size): \(text)")
                } else {
                    let shown = masked.filter { !$0.isWhitespace }
                    #expect(shown.contains("***") && shown.count <= row[3].int ?? 0, "\(way) of \(secret): \(masked)")
                }
            }
        }
    }

    @Test func `a dump of something else, and a text that resembles one, are left as they are`() throws {
        let mask = try #require(SecretMask(["hunter2", "correct horse battery"]))
        for text in [
            "00000000: 6875 6e74 6572 3120 6875 6e74 6572 0a    hunter1 hunter.\n",
            "00000000: 6875 6e74\nsome text\n00000010: 6572 3220\n", "deadbeef: 6875 6e74 or\n6572 32\n",
            "0000000: 6875 6e74 6572 32\n", "00000000 : 6875 6e74 6572 32\n",
        ] {
            for size in [1, 7, 1 << 16] { #expect(cut(text, by: mask, every: size) == text) }
        }
        // The text beside it goes with it.
        #expect(mask.mask("00000000: 6875 6e74 6572 320a  hunter2.\nnext\n") == "00000000: ***\nnext\n")
    }
}
