/// Every word that the file format of version 1 knows as a key.
package enum WorkflowKey: UInt8, CaseIterable, Sendable {
    case version, name, description, env, dotenv, defaults, steps, needs, run, shell, workingDirectory, timeout, grace
    case killSignal, continueOnError, maxParallel, failFast, order, matrix, forEach, `as`, maxItems, params, secrets
    case `if`, outputs, retry, pool, pools, mutex, finally, onFailure, stdin, envPolicy, platforms, log

    // Words of version 1 that this program answers with "not supported yet".
    case interactive, detach, jobserver, uses, with, sources, generates, services

    /// The word as it stands in a file: the case's name in kebab case.
    package var spelling: String { Self.spellings[Int(rawValue)] }

    // Written out, because every run reads it first and reflection takes a tenth of a small one.
    private static let spellings: [String] = [
        "version", "name", "description", "env", "dotenv", "defaults", "steps", "needs", "run", "shell",
        "working-directory", "timeout", "grace", "kill-signal", "continue-on-error", "max-parallel", "fail-fast",
        "order", "matrix", "for-each", "as", "max-items", "params", "secrets", "if", "outputs", "retry", "pool",
        "pools", "mutex", "finally", "on-failure", "stdin", "env-policy", "platforms", "log", "interactive", "detach",
        "jobserver", "uses", "with", "sources", "generates", "services",
    ]

    /// Whether this program does what the word says; the cases are in this order.
    var isSupported: Bool { rawValue < Self.interactive.rawValue }

    static func named(_ word: String) -> WorkflowKey? { allCases.first { $0.spelling == word } }

    /// The key spelt by these bytes.
    static func named(_ bytes: UnsafeBufferPointer<UInt8>) -> WorkflowKey? {
        guard bytes.count < byLength.count else { return nil }
        let start = firstLetters(of: bytes)
        for candidate in byLength[bytes.count] where candidate.start == start {
            if bytes.count <= 8 || candidate.letters.elementsEqual(bytes) { return candidate.key }
        }
        return nil
    }

    private struct Spelling {
        let letters: [UInt8]
        /// The first eight letters as one number: most keys are no longer.
        let start: UInt64
        let key: WorkflowKey
    }

    /// Spellings by their length: a workflow has three keys per step, and most lengths have few words.
    private static let byLength: [[Spelling]] = {
        let longest = spellings.map(\.utf8.count).max() ?? 0
        var table = [[Spelling]](repeating: [], count: longest + 1)
        for key in allCases {
            let letters = Array(key.spelling.utf8)
            let start = letters.withUnsafeBufferPointer(firstLetters)
            table[letters.count].append(Spelling(letters: letters, start: start, key: key))
        }
        return table
    }()

    private static func firstLetters(of bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var letters: UInt64 = 0
        for index in 0..<min(bytes.count, 8) { letters = letters << 8 | UInt64(bytes[index]) }
        return letters
    }
}
