internal import Glibc
internal import Syntax
package import Workflow

/// The secrets of one run: their values, who gets them, and the mask that keeps them out of everything that leaves.
///
/// A step that lists a secret gets it as an environment variable of its name; it never stands in an argv, since no
/// expression can name it. The variables that secrets are taken from are taken away from every step, so that only those
/// see a secret that list it.
package struct RunSecrets: Sendable {
    /// The secrets cannot be had: wrong usage (64), as for a missing parameter, because the caller's environment is
    /// what has to change.
    package struct ReadError: Error {
        /// One for each secret, in the order of the file.
        package let messages: [String]
    }

    /// Of a workflow without secrets; costs nothing.
    package static let none = RunSecrets()

    /// For one stream or one text; nil if there is nothing to hide.
    package private(set) var mask: SecretMask?
    /// Variables of flowrun's own environment that no step inherits.
    package private(set) var sources: [String] = []
    private var values: [(name: String, value: String)] = []
    /// Those that cannot be had, each with the reason.
    private var missing: [(name: String, message: String)] = []

    private init() {}

    /// Reads the secrets, relative paths from `folder`; nil means the current one. All that are set are hidden, whoever
    /// may see them; what is wrong with one is told by `demand`.
    package init(
        _ secrets: [Secret], folder: String?, variable: (String) -> [UInt8]? = RunSecrets.variable
    ) {
        for secret in secrets {
            do {
                values.append((secret.name, try Self.value(of: secret, folder: folder, variable: variable)))
            } catch {
                missing.append((secret.name, error.message))
            }
            if case .environment(let name) = secret.source { sources.append(name) }
        }
        mask = SecretMask(values.map(\.value))
    }

    /// Throws if one of these cannot be had.
    package func demand(_ isNeeded: (String) -> Bool) throws(ReadError) {
        let messages = missing.filter { isNeeded($0.name) }.map(\.message)
        guard messages.isEmpty else { throw ReadError(messages: messages) }
    }

    /// What a step gets that lists these, in their order. They stand over every `env` and over `--env`.
    package func environment(for uses: [SecretUse]) -> [(name: String, value: String)] {
        uses.compactMap { use in values.first { $0.name == use.name } }
    }

    /// The text as it may be logged.
    package func masked(_ text: String) -> String { mask?.mask(text) ?? text }

    /// The value as it may be logged.
    package func masked(_ value: Value) -> Value { mask?.mask(value) ?? value }

    /// The text in a message. Masked before it is cut, since nobody could find what is left of a secret then.
    func quoted(_ text: String) -> String { Phrase.quoted(masked(text)) }

    /// A variable of flowrun's own environment, byte for byte.
    package static func variable(_ name: String) -> [UInt8]? {
        getenv(name).map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
}

// MARK: - Reading

extension RunSecrets {
    /// Larger ones do not fit into a variable (MAX_ARG_STRLEN is 128 KiB), in bytes.
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
            let found = bytes.isEmpty ? "is empty" : "has \(Phrase.count(bytes.count, "byte"))"
            throw SecretError(
                secret,
                "\(place) \(found), but fewer than \(SecretForms.minimum) bytes cannot be hidden in a log; use a longer one"
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
        // Non-blocking, so that opening a fifo nobody writes to comes back at once.
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
