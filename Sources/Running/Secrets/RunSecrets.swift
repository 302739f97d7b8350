internal import Basics
internal import Glibc
internal import RunLog
internal import Syntax
package import Workflow

/// The secrets of one run: their values, the steps that get them, and the mask that keeps them out of all output.
///
/// A step that lists a secret gets it as an environment variable of its name; it is never in an argv, since no
/// expression can name it. The variables that secrets are taken from are removed from every step, so that a secret is
/// seen only by the steps that list it.
package struct RunSecrets: Sendable {
    /// Secrets that cannot be read: wrong usage (64), as for a missing parameter, because the caller's environment
    /// has to change.
    package struct ReadError: Error {
        /// One for each secret, in the order of the file.
        package let messages: [String]
    }

    /// For a workflow without secrets; costs nothing.
    package static let none = RunSecrets()

    /// A mask for one stream or one text; nil if there is nothing to hide.
    package private(set) var mask: SecretMask?
    /// Variables of flowrun's own environment that no step inherits.
    package private(set) var sources: [String] = []
    private var values: [(name: String, value: String)] = []
    /// Secrets that cannot be read, each with the reason.
    private var missing: [(name: String, message: String)] = []

    private init() {}

    /// Reads the secrets, relative paths from `folder`; nil means the current one. All that are set are hidden,
    /// whichever step sees them; `demand` reports what is wrong with one, unless the commands are only shown.
    package init(
        _ secrets: [Secret], folder: String?, isOnlyShown: Bool = false,
        variable: (String) -> [UInt8]? = RunSecrets.variable
    ) {
        var unread: [String] = []
        for secret in secrets {
            do {
                values.append((secret.name, try Self.value(of: secret, folder: folder, variable: variable)))
            } catch {
                if isOnlyShown { unread.append(secret.name) } else { missing.append((secret.name, error.message)) }
            }
            if case .environment(let name) = secret.source { sources.append(name) }
        }
        mask = SecretMask(values.map(\.value))
        values += unread.map { ($0, SecretMask.replacement) }
    }

    /// Throws if one that is needed cannot be read.
    package func demand(_ isNeeded: (String) -> Bool) throws(ReadError) {
        let messages = missing.filter { isNeeded($0.name) }.map(\.message)
        guard messages.isEmpty else { throw ReadError(messages: messages) }
    }

    /// Returns the variables of a step that lists these, in their order. They override every `env` and `--env`.
    package func environment(for uses: [SecretUse]) -> [(name: String, value: String)] {
        uses.compactMap { use in values.first { $0.name == use.name } }
    }

    /// Returns the text as it may be logged.
    package func masked(_ text: String) -> String { mask?.mask(text) ?? text }

    /// Returns the value as it may be logged.
    package func masked(_ value: Value) -> Value { mask?.mask(value) ?? value }

    /// Quotes the text for a message. It is masked before it is cut, since a secret that is cut is no longer found.
    func quoted(_ text: String) -> String { Phrase.quoted(masked(text)) }

    /// Returns a variable of flowrun's own environment, byte for byte; nil if it is not set.
    package static func variable(_ name: String) -> [UInt8]? {
        getenv(name).map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
}

// MARK: - Reading

extension RunSecrets {
    /// The largest size in bytes: larger ones do not fit into a variable (MAX_ARG_STRLEN is 128 KiB).
    static let sizeLimit = 64 << 10

    private struct SecretError: Error {
        let message: String

        init(_ secret: Secret, _ problem: String) { message = "secret `\(secret.name)`: \(problem)" }
    }

    private static func value(
        of secret: Secret, folder: String?, variable: (String) -> [UInt8]?
    ) throws(SecretError) -> String {
        var bytes: [UInt8]
        let place: String
        switch secret.source {
        case .environment(let name):
            place = "the variable `\(name)`"
            guard let found = variable(name) else {
                throw SecretError(secret, "\(place) is not set; set it in the environment of flowrun")
            }
            bytes = found
        case .file(let path):
            place = "the file \(Phrase.quoted(path))"
            bytes = try file(path, folder: folder, for: secret)
            if bytes.last == 0x0A { bytes.removeLast(bytes.dropLast().last == 0x0D ? 2 : 1) }
        }
        guard bytes.count <= sizeLimit else {
            throw SecretError(
                secret, "\(place) has more than \(sizeLimit >> 10) KiB, too much for a variable of a step")
        }
        guard bytes.count >= SecretForms.minimum else {
            let found = bytes.isEmpty ? "is empty" : "has \(bytes.count.counted("byte"))"
            throw SecretError(
                secret,
                """
                \(place) \(found), but fewer than \(SecretForms.minimum) bytes cannot be hidden in a log; use a \
                longer one
                """
            )
        }
        guard !bytes.contains(0) else {
            throw SecretError(secret, "\(place) has a NUL character, which no variable can hold")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SecretError(secret, "\(place) is not UTF-8; encode it, for example as base64")
        }
        return text
    }

    private static func file(_ path: String, folder: String?, for secret: Secret) throws(SecretError) -> [UInt8] {
        let place = folder.map { path.hasPrefix("/") ? path : "\($0)/\(path)" } ?? path
        // Non-blocking, so that opening a FIFO without a writer returns at once.
        let descriptor = open(place, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw SecretError(secret, "cannot open the file \(Phrase.quoted(path)): \(words(errno))")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while bytes.count <= sizeLimit {
            var count = 0
            bytes += [UInt8](unsafeUninitializedCapacity: sizeLimit + 1) { buffer, filled in
                count = read(descriptor, buffer.baseAddress, buffer.count)
                filled = max(count, 0)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw SecretError(secret, "cannot read the file \(Phrase.quoted(path)): \(words(errno))")
            }
            if count == 0 { break }
        }
        return bytes
    }

    private static func words(_ error: Int32) -> String { String(cString: strerror(error)).lowercased() }
}

/// Printing secrets by accident prints their names.
extension RunSecrets: CustomStringConvertible, CustomReflectable {
    package var description: String { "RunSecrets(\(values.map(\.name).joined(separator: ", ")))" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension RunSecrets {
    func masked(_ words: StepStarted.Command) -> StepStarted.Command {
        guard mask != nil else { return words }
        return switch words {
        case .script(let script): .script(masked(script))
        case .arguments(let arguments): .arguments(arguments.map { masked($0) })
        }
    }
}
