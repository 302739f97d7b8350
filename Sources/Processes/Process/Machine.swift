internal import CLinux

/// The resources that the machine has for processes.
package enum Machine {
    /// The number of cores this process may use, at least 1; fewer than the machine has if taskset or a container
    /// says so.
    package static var usableCores: Int { Int(clinux_usable_cores()) }
}
