package import Syntax

/// A step or a group as the file declares it: one row of `Workflow.nodes`.
package struct WorkflowNode: Sendable {
    package enum Body: Sendable {
        /// `run: text`, handed to the shell byte for byte.
        case script(Script)
        /// `run: [list]`, run without a shell.
        case arguments([Template])
        /// `steps:`; the members are the rows after this one.
        case group
        /// Only `needs:`. No process: it succeeds when its needs allow it.
        case milestone
    }

    /// Steps that run after the body of their enclosing group: a group row of its own named by its key, after all
    /// members, `on-failure` before `finally`.
    package enum Hook: UInt8, Sendable, Hashable {
        /// Only after a failure or timeout.
        case onFailure
        /// In any case.
        case finally
    }

    /// The key in the file, unique among its siblings; empty for the workflow itself.
    package var id: String
    /// The place of the key.
    package var range: SourceRange
    /// The enclosing group; the workflow's is itself.
    package var parent: NodeIndex
    /// One past the last row inside this node.
    package var subtreeEnd: UInt32
    /// The range of its own entries in `Workflow.needs`.
    package var needs: Range<UInt32>
    package var body: Body
    /// nil except for the block of a hook itself.
    package var hook: Hook?
    /// True for a group whose body is written elsewhere.
    package var isUse = false
    /// The less common keys; nil if there are none, which keeps a plain step small.
    package var settings: Settings?

    package init(
        id: String, range: SourceRange, parent: NodeIndex, subtreeEnd: UInt32, needs: Range<UInt32> = 0..<0, body: Body,
        hook: Hook? = nil, settings: Settings? = nil
    ) {
        self.id = id
        self.range = range
        self.parent = parent
        self.subtreeEnd = subtreeEnd
        self.needs = needs
        self.body = body
        self.hook = hook
        self.settings = settings
    }

    /// True if the inside sees no names outside.
    package var isClosed: Bool { isUse || hook != nil }

    package var isGroup: Bool {
        if case .group = body { true } else { false }
    }

    /// True if it runs a process.
    package var hasCommand: Bool {
        switch body {
        case .script, .arguments: true
        case .group, .milestone: false
        }
    }
}

/// One entry of `needs`; 24 bytes, because a large workflow has more of them than steps.
package struct Need: Sendable, Hashable {
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        /// List form: a success, a tolerated failure or a skip by condition.
        case ok
        case success
        case failure
        /// Any outcome.
        case done

        package var word: String {
            switch self {
            case .ok: "ok"
            case .success: "success"
            case .failure: "failure"
            case .done: "done"
            }
        }
    }

    package let name: String
    private let start: UInt32
    /// The length of the range, and the kind in the highest two bits: a file is at most 64 MiB long.
    private let lengthAndKind: UInt32

    package init(name: String, kind: Kind = .ok, range: SourceRange) {
        self.name = name
        start = range.start
        lengthAndKind = (range.end - range.start) & Self.lengthMask | UInt32(kind.rawValue) << 30
    }

    private static let lengthMask: UInt32 = 1 << 30 - 1

    package var kind: Kind { Kind(rawValue: UInt8(lengthAndKind >> 30)) ?? .done }

    /// The place of the name.
    package var range: SourceRange { SourceRange(start: start, end: start + lengthAndKind & Self.lengthMask) }
}

/// A full id, such as `build[x86_64].compile`.
enum StepPath {
    /// The ids in it, without instances.
    static func ids(_ name: String) -> [String] {
        var ids = [""]
        var isInstance = false
        for character in name {
            switch character {
            case "[": isInstance = true
            case "]": isInstance = false
            case "." where !isInstance: ids.append("")
            default: if !isInstance { ids[ids.count - 1].append(character) }
            }
        }
        return ids
    }
}
