/// Knows where the output of steps is kept.
package protocol OutputPlaces: AnyObject {
    /// The path of the file that has all that the last attempt of a step that has ended wrote, as it is shown to people; nil
    /// where that was too short for a file of its own or too long to be kept whole, or is not kept.
    func file(ofStep step: String) -> String?
}
