internal import Glibc

/// An environment in the form that exec needs, built once and shared by many commands. It owns only the strings that
/// it adds to its base.
package final class EnvironmentBlock {
    private let base: EnvironmentBlock?
    // Of the same type as `entries`, so that a run has one type less to set up.
    private var owned: [UnsafeMutablePointer<CChar>?] = []
    /// Ends with nil.
    private var entries: [UnsafeMutablePointer<CChar>?]

    /// Takes the environment that flowrun itself was given.
    package init(inheriting source: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) {
        base = nil
        entries = []
        var next = source
        while let entry = next?.pointee {
            entries.append(entry)
            next = next?.advanced(by: 1)
        }
        entries.append(nil)
    }

    /// Applies changes to `base`, later ones winning; a nil value removes the variable. O(variables x changes).
    package init(_ base: EnvironmentBlock, changes: [(name: String, value: String?)]) {
        self.base = base
        entries = base.entries
        for (name, value) in changes {
            let index = Self.index(of: name, in: entries)
            guard let value else {
                if let index { entries.remove(at: index) }
                continue
            }
            guard let entry = Self.entry(name, value) else { continue }
            owned.append(entry)
            if let index { entries[index] = entry } else { entries.insert(entry, at: entries.count - 1) }
        }
    }

    /// Keeps only the named variables of `base`; names that are not set are ignored.
    package init(_ base: EnvironmentBlock, keeping names: [String]) {
        self.base = base
        entries = []
        for name in names {
            if let index = Self.index(of: name, in: base.entries) { entries.append(base.entries[index]) }
        }
        entries.append(nil)
    }

    deinit { owned.forEach { free($0) } }

    /// The value of a variable; nil if it is not set.
    package subscript(name: String) -> String? {
        guard let index = Self.index(of: name, in: entries), let entry = entries[index] else { return nil }
        return String(cString: entry + name.utf8.count + 1)
    }

    /// All variables, in the order in which a process gets them.
    package var variables: [(name: String, value: String)] { variables(of: entries) }

    private func variables(of entries: [UnsafeMutablePointer<CChar>?]) -> [(name: String, value: String)] {
        entries.compactMap { entry in
            guard let entry, let equals = strchr(entry, Int32(UInt8(ascii: "="))) else { return nil }
            let name = UnsafeRawBufferPointer(start: entry, count: equals - entry)
            return (String(decoding: name, as: UTF8.self), String(cString: equals + 1))
        }
    }

    /// The variables set on top of the block it began with, which is flowrun's own or a part of it.
    package var ownVariables: [(name: String, value: String)] {
        var own: [UnsafeMutablePointer<CChar>?] = []
        var next = self
        // The first change is the one that flowrun itself makes for every step.
        while let base = next.base, base.base != nil {
            own += next.owned
            next = base
        }
        guard !own.isEmpty else { return [] }
        return variables(of: entries.filter(own.contains))
    }

    /// The pointers for exec, nil at the end. Valid as long as the block lives.
    var pointers: [UnsafeMutablePointer<CChar>?] { entries }

    /// Returns `name=value` in newly allocated memory; nil if there is none left.
    private static func entry(_ name: String, _ value: String) -> UnsafeMutablePointer<CChar>? {
        var (name, value) = (name, value)
        return name.withUTF8 { name in
            value.withUTF8 { value in
                guard let memory = malloc(name.count + value.count + 2) else { return nil }
                let bytes = UnsafeMutableRawBufferPointer(start: memory, count: name.count + value.count + 2)
                bytes.copyBytes(from: name)
                bytes[name.count] = UInt8(ascii: "=")
                UnsafeMutableRawBufferPointer(rebasing: bytes[(name.count + 1)...]).copyBytes(from: value)
                bytes[bytes.count - 1] = 0
                return memory.assumingMemoryBound(to: CChar.self)
            }
        }
    }

    private static func index(of name: String, in entries: [UnsafeMutablePointer<CChar>?]) -> Int? {
        var name = name
        return name.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { name in
                guard let start = name.baseAddress, let first = name.first else { return nil }
                return entries.firstIndex { entry in
                    // Most differ in their first byte.
                    guard let entry, entry[0] == first else { return false }
                    return strncmp(entry, start, name.count) == 0 && entry[name.count] == CChar(UInt8(ascii: "="))
                }
            }
        }
    }
}
