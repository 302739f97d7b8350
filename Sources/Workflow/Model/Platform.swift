/// An operating system or processor that `platforms` may name.
package enum Platform: String, Sendable, Hashable, CaseIterable {
    case linux, macos, windows, freebsd
    case x64 = "x86_64"
    case arm64, riscv64

    package var isProcessor: Bool {
        switch self {
        case .x64, .arm64, .riscv64: true
        case .linux, .macos, .windows, .freebsd: false
        }
    }

    /// The platforms of this machine: its operating system and its processor, if they have a name here.
    package static let current: [Platform] = {
        var platforms: [Platform] = []
        #if os(Linux)
            platforms.append(.linux)
        #elseif os(macOS)
            platforms.append(.macos)
        #elseif os(Windows)
            platforms.append(.windows)
        #elseif os(FreeBSD)
            platforms.append(.freebsd)
        #endif
        #if arch(x86_64)
            platforms.append(.x64)
        #elseif arch(arm64)
            platforms.append(.arm64)
        #elseif arch(riscv64)
            platforms.append(.riscv64)
        #endif
        return platforms
    }()
}

extension [Platform] {
    /// True if a step of these `platforms` runs on a machine: on one of the operating systems, if any is named, and
    /// on one of the processors, if any is named.
    package func allow(_ machine: [Platform] = Platform.current) -> Bool {
        [true, false].allSatisfy { isProcessor in
            let named = filter { $0.isProcessor == isProcessor }
            return named.isEmpty || named.contains(where: machine.contains)
        }
    }
}
