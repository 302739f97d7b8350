internal import Basics
internal import Glibc
internal import Planning
internal import Syntax
internal import Workflow

/// The files that the workflow names as input, which must not be overwritten.
struct InputFiles {
    private struct Identity: Hashable {
        let device: dev_t
        let file: ino_t

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, file) = (status.st_dev, status.st_ino)
        }
    }

    /// The description of each file by identity, so that links do not matter.
    private var words: [Identity: String] = [:]

    /// `folder` is the base of relative paths in the workflow; nil for the current folder.
    init(of plan: Plan, folder: String?) {
        let workflow = plan.workflow
        for file in workflow.file.all.reversed() {
            add(file.name, file.start == 0 ? "the workflow file" : "the workflow file \(Phrase.quoted(file.name))")
        }
        let place = { (path: String) in path.hasPrefix("/") ? path : "\(folder ?? ".")/\(path)" }
        for secret in workflow.secrets {
            if case .file(let path) = secret.source { add(place(path), "the file of the secret `\(secret.name)`") }
        }
        for index in workflow.nodes.indices {
            let node = NodeIndex(index)
            let inside = workflow.use(of: node)?.settings?.dotenv ?? []
            for file in (workflow.settings(of: node)?.dotenv ?? []) + inside {
                add(place(file.path), "the dotenv file \(Phrase.quoted(file.path))")
            }
        }
    }

    private mutating func add(_ path: String, _ words: String) {
        if let identity = Identity(path) { self.words[identity] = words }
    }

    /// Describes the input file that writing to a path would change; nil if it is none of these files.
    func words(of path: String) -> String? { Identity(path).flatMap { words[$0] } }
}
