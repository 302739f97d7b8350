internal import Basics

/// Findings in SARIF 2.1.0, `check --format sarif`, for code hosts and editors.
package enum SARIFPrinter {
    /// One run with all findings in the order given, and the rules that they break. Columns count Unicode scalars.
    /// `version` is flowrun's.
    package static func text(_ diagnostics: [Diagnostic], version: String) -> String {
        var codes: [DiagnosticCode] = []
        for diagnostic in diagnostics where !codes.contains(diagnostic.code) { codes.append(diagnostic.code) }
        var json = JSONWriter()
        json.object { json in
            json.field("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
            json.field("version", "2.1.0")
            json.array("runs") { json in
                json.object { json in
                    json.object("tool") { json in
                        json.object("driver") { json in
                            json.field("name", "flowrun")
                            json.field("version", version)
                            json.array("rules") { json in for code in codes { json.rule(code) } }
                        }
                    }
                    json.field("columnKind", "unicodeCodePoints")
                    json.array("results") { json in
                        for diagnostic in diagnostics {
                            json.result(diagnostic, ruleIndex: codes.firstIndex(of: diagnostic.code) ?? 0)
                        }
                    }
                }
            }
        }
        json.newline()
        return json.text
    }

    /// A path as a URI: a relative path as it is, an absolute one as a `file` URI.
    fileprivate static func uri(_ path: String) -> String {
        guard path != "<stdin>" else { return "stdin" }
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "/"):
                text.append(byte)
            default: text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return (path.hasPrefix("/") ? "file://" : "") + String(decoding: text, as: UTF8.self)
    }
}

extension JSONWriter {
    fileprivate mutating func rule(_ code: DiagnosticCode) {
        object { json in
            json.field("id", code.rawValue)
            json.message("shortDescription", code.title)
            json.message("fullDescription", code.details.meaning)
            json.message("help", code.explanation)
        }
    }

    fileprivate mutating func result(_ diagnostic: Diagnostic, ruleIndex: Int) {
        object { json in
            json.field("ruleId", diagnostic.code.rawValue)
            json.field("ruleIndex", ruleIndex)
            json.field("level", diagnostic.severity.rawValue)
            // A related location needs a place, so notes without one become part of the message.
            let notes = diagnostic.notes.filter { $0.range == nil }.map { "; \($0.message)" }
            json.message("message", diagnostic.message + notes.joined())
            json.array("locations") { json in
                json.object { json in json.place(diagnostic.range, in: diagnostic.file) }
            }
            json.array("relatedLocations") { json in
                for note in diagnostic.notes {
                    guard let range = note.range else { continue }
                    json.object { json in
                        json.place(range, in: diagnostic.file(of: range))
                        json.message("message", note.message)
                    }
                }
            }
            if let fix = diagnostic.fix, !fix.edits.isEmpty { json.change(fix, in: diagnostic.file) }
        }
    }

    private mutating func change(_ fix: Diagnostic.Fix, in file: SourceFile) {
        array("fixes") { json in
            json.object { json in
                json.message("description", fix.description)
                json.array("artifactChanges") { json in
                    json.object { json in
                        json.artifact(file)
                        json.array("replacements") { json in
                            for edit in fix.edits {
                                json.object { json in
                                    json.region("deletedRegion", edit.range, in: file)
                                    json.message("insertedContent", edit.replacement)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private mutating func place(_ range: SourceRange, in file: SourceFile) {
        object("physicalLocation") { json in
            json.artifact(file)
            json.region("region", range, in: file)
        }
    }

    private mutating func artifact(_ file: SourceFile) {
        object("artifactLocation") { json in json.field("uri", SARIFPrinter.uri(file.name)) }
    }

    private mutating func region(_ key: StaticString, _ range: SourceRange, in file: SourceFile) {
        let start = file.location(at: range.lowerOffset)
        let end = file.location(at: range.upperOffset)
        object(key) { json in
            json.field("startLine", start.line)
            json.field("startColumn", start.column)
            json.field("endLine", end.line)
            json.field("endColumn", end.column)
        }
    }

    private mutating func message(_ key: StaticString, _ text: String) {
        object(key) { json in json.field("text", text) }
    }
}
