internal import YAMLSyntax

/// A value that is a mapping with words of its own: one step below the keys of a place.
enum FieldPlace: String {
    case retry = "`retry`"
    case parameter = "a parameter"
    case secret = "a secret"
    case output = "an output"
    case dotenvFile = "an entry of `dotenv`"

    var words: [String] {
        switch self {
        case .retry: WorkflowKeys.retry
        case .parameter: WorkflowKeys.parameter
        case .secret: WorkflowKeys.secret
        case .output: WorkflowKeys.output
        case .dotenvFile: WorkflowKeys.dotenvFile
        }
    }
}

/// The entries of such a mapping by their words, misspelt and foreign ones under the word they mean.
struct FieldReader {
    private var entries: [(word: String, entry: MappingReader.Entry)] = []

    func take(_ word: String) -> MappingReader.Entry? { entries.first { $0.word == word }?.entry }

    /// The first entry of a word counts.
    mutating func add(_ entry: MappingReader.Entry, as word: String) { entries.append((word, entry)) }
}
