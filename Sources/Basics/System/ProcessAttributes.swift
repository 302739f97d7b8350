/// The ways in which the processes of a step differ from those of others, as its keys say. The file's model makes them,
/// and whatever starts, watches or bounds a process reads them here.
package struct ProcessAttributes: Sendable, Hashable {
    /// True if processes that outlive the first one are left alone, and may outlive flowrun.
    package var isDetached = false
    /// True if the step has the terminal for itself.
    package var isInteractive = false

    /// No key says anything.
    package init() {}
}

extension KeyedHash {
    /// Takes all attributes in: they are part of what a step does.
    package mutating func append(_ attributes: ProcessAttributes) {
        append(attributes.isInteractive ? 1 : 0)
        append(attributes.isDetached ? 1 : 0)
    }
}
