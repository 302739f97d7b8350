internal import CLinux

/// What the machine has for processes.
package enum Machine {
    /// The cores that this process may use, at least 1; fewer than the machine has where taskset or a container says
    /// so.
    package static var usableCores: Int { Int(clinux_usable_cores()) }
}
