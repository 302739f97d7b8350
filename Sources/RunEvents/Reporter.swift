/// Turns the events of one run into bytes somewhere. Called in the order of `sequence`, never concurrently; never calls
/// back into the run.
package protocol Reporter: AnyObject {
    func report(_ event: RunEvent)
}
