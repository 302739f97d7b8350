internal import BasicContainers
internal import Glibc

/// An environment in the form that exec needs, built once and shared by many commands. It owns only the strings that
/// it adds to its base.
package final class EnvironmentBlock {
    private let base: EnvironmentBlock?
    private var owned = UniqueArray<CString>()
    private var entries = UniqueArray<CString>()

    /// Takes the environment that flowrun itself was given.
    package init(inheriting source: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) {
        base = nil
        var next = source
        while let entry = next?.pointee {
            entries.append(entry)
            next = next?.advanced(by: 1)
        }
    }

    /// Takes `base` with what `change` does to it, which alone may call `set` and `remove`.
    package init(_ base: EnvironmentBlock, _ change: (EnvironmentBlock) -> Void) {
        self.base = base
        entries = base.entries.clone()
        change(self)
    }

    /// Applies changes to `base`, later ones winning; a nil value removes the variable. O(variables x changes).
    package convenience init(_ base: EnvironmentBlock, changes: [(name: String, value: String?)]) {
        self.init(base) { block in
            for (name, value) in changes { if let value { block.set(name, value) } else { block.remove(name) } }
        }
    }

    /// Keeps only the named variables of `base`; names that are not set are ignored.
    package init(_ base: EnvironmentBlock, keeping names: [String]) {
        self.base = base
        for name in names { if let index = base.index(of: name) { entries.append(base.entries[index]) } }
    }

    deinit { for index in 0..<owned.count { free(owned[index]) } }

    /// Adds a variable, or replaces its value. Does nothing without memory for it.
    package func set(_ name: String, _ value: String) {
        guard let entry = Self.entry(name, value) else { return }
        owned.append(entry)
        if let index = index(of: name) { entries[index] = entry } else { entries.append(entry) }
    }

    /// Does nothing if the variable is not set.
    package func remove(_ name: String) {
        if let index = index(of: name) { entries.remove(at: index) }
    }

    /// The value of a variable; nil if it is not set.
    package subscript(name: String) -> String? {
        index(of: name).map { String(cString: entries[$0] + name.utf8.count + 1) }
    }

    /// All variables, in the order in which a process gets them.
    package var variables: [(name: String, value: String)] { variables { _ in true } }

    private func variables(where isWanted: (CString) -> Bool) -> [(name: String, value: String)] {
        var variables: [(name: String, value: String)] = []
        forEachEntry { entry in
            guard isWanted(entry), let equals = strchr(entry, Int32(UInt8(ascii: "="))) else { return }
            let name = UnsafeRawBufferPointer(start: entry, count: equals - entry)
            variables.append((String(decoding: name, as: UTF8.self), String(cString: equals + 1)))
        }
        return variables
    }

    /// The variables set on top of the block it began with, which is flowrun's own or a part of it.
    package var ownVariables: [(name: String, value: String)] {
        var own: Set<CString> = []
        var next = self
        // The first change is the one that flowrun itself makes for every step.
        while let base = next.base, base.base != nil {
            for index in 0..<next.owned.count { own.insert(next.owned[index]) }
            next = base
        }
        return own.isEmpty ? [] : variables(where: own.contains)
    }

    var count: Int { entries.count }

    /// Passes on each `name=value` for exec, in order. Valid as long as the block lives.
    func forEachEntry(_ body: (CString) -> Void) {
        for index in 0..<entries.count { body(entries[index]) }
    }

    /// Returns `name=value` in newly allocated memory; nil if there is none left.
    private static func entry(_ name: String, _ value: String) -> CString? {
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

    private func index(of name: String) -> Int? {
        var name = name
        return name.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { name in
                guard let start = name.baseAddress, let first = name.first else { return nil }
                return (0..<entries.count).first { index in
                    let entry = entries[index]
                    // Most differ in their first byte.
                    return entry[0] == first && strncmp(entry, start, name.count) == 0
                        && entry[name.count] == CChar(UInt8(ascii: "="))
                }
            }
        }
    }
}
