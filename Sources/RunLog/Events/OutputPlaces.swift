package import Basics

/// Knows where the output of steps is kept.
package protocol OutputPlaces: AnyObject {
    /// The path of the file that has all that the last attempt of a step that has ended wrote, as it is shown to people; nil
    /// where that was too short for a file of its own or too long to be kept whole, or is not kept.
    func file(ofStep step: String) -> String?

    /// Where the bytes of the event that came last can be read again; nil where that was no output, or its bytes are in no
    /// file.
    var lastPlace: OutputPlace? { get }
}

/// Bytes in a file, as many as the event that they belong to has.
package struct OutputPlace {
    package let file: any OutputSource
    package let offset: Int

    package init(file: any OutputSource, offset: Int) {
        self.file = file
        self.offset = offset
    }
}

/// A file that has output of steps. It can be read as long as somebody has this value, even if its name is gone.
package protocol OutputSource: AnyObject {
    /// Fills the buffer with what stands at an offset. Returns how much there is, less only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, from offset: Int) throws(SystemError) -> Int
}
