package import Processes

/// Asks people, one question at a time.
@EventLoopActor
package protocol Prompt: AnyObject {
    /// Calls `answer` once, after this call has returned; not at all if the question is withdrawn.
    func ask(_ question: String, answer: @escaping @EventLoopActor (Bool) -> Void)
    func withdraw()
}
