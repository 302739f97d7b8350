internal import Workflow

/// A command that another tool runs in a shell of its own.
struct ShellCommand {
    var text: String
    /// True if the tool goes on after its failure.
    var isTolerated = false
    /// True if the next commands are meant to see its changes to the shell.
    var isShared = false
    /// True if the tool's shell ends at the first failure inside of it, as with `-e`.
    var isStrict = false

    /// True if it gives a variable the output of a command.
    var isOfVariable: Bool { isShared && text.contains("=$(") }

    /// Joins commands that had a shell each to one script: the changes of a command to its shell do not affect the
    /// next, and a failure ends the script where it ended the tool.
    static func script(_ commands: [ShellCommand]) -> String {
        commands.enumerated().map { $1.joined(isLast: $0 == commands.count - 1) }.joined(separator: "\n")
    }

    private func joined(isLast: Bool) -> String {
        var text = text
        while text.last?.isWhitespace == true { text.removeLast() }
        let shape = ShellShape(text)
        let isLine = !text.contains("\n") && !text.contains("#") && !text.hasSuffix("\\")
        let inBrackets = isLine ? "(\(text))" : "(\n\(text)\n)"
        if isTolerated {
            guard shape.hasSeveral || shape.hasLists || !isLine || Self.changesShell(text) else {
                return "\(text) || true"
            }
            guard isStrict || Self.setsErrorExit(text), shape.hasSeveral else { return "\(inBrackets) || true" }
            // To the left of `||`, `-e` has no effect.
            guard isStrict else { return "set +e\n\(inBrackets)\nset -e" }
            return "set +e\n\(isLine ? "(set -e; \(text))" : "(\nset -e\n\(text)\n)")\nset -e"
        }
        if isShared { return text }
        // Without `-e`, a command goes on after a failure between semicolons.
        if !isStrict, shape.hasSeveral {
            guard Self.setsErrorExit(text) else { return "\(inBrackets) || exit" }
            return isLine ? "(set +e; \(text))" : "(\nset +e\n\(text)\n)"
        }
        // A failure to the left of `&&`, or behind `!`, does not end a script by itself.
        guard !isLast, shape.hidesFailure || Self.changesShell(text) else { return text }
        return inBrackets
    }

    /// True if a command may switch `-e` on, which has no effect to the left of `||`.
    private static func setsErrorExit(_ text: String) -> Bool {
        let words = text.split { $0 == " " || $0 == "\t" || isSeparator($0) }
        return text.contains("errexit")
            || zip(words, words.dropFirst()).contains { $0 == "set" && $1.hasPrefix("-") && $1.contains("e") }
    }

    /// True if a command may leave its shell in another folder, with other variables, or ended.
    private static func changesShell(_ text: String) -> Bool {
        var isStart = true
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\t" }) {
            for (index, part) in word.split(omittingEmptySubsequences: false, whereSeparator: isSeparator).enumerated()
            {
                if index > 0 { isStart = true }
                guard isStart, !part.isEmpty else { continue }
                if changing.contains(String(part)) || ShellWords.isAssignment(part) { return true }
                isStart = ShellWords.introducing.contains(String(part))
            }
        }
        return false
    }

    private static func isSeparator(_ character: Character) -> Bool { ";&|\n(){}".contains(character) }

    private static let changing: Set<String> = [
        "cd", "pushd", "popd", "export", "unset", "set", "exit", "exec", "umask", "trap", "shopt", "source", ".",
        "alias",
        "readonly", "declare", "local", "ulimit", "eval", "return", "shift", "read",
    ]
}

/// The signs of a shell between the commands of a text, outside of quotes and of `$(…)`.
struct ShellShape {
    /// True if there are several commands, of which one may fail without ending the text.
    private(set) var hasSeveral = false
    /// True if there is a list with `&&`, `||` or `|`.
    private(set) var hasLists = false
    /// True if a failure may leave `-e` without effect.
    private(set) var hidesFailure = false
    /// True if a process may go on when the command has ended.
    private(set) var leavesProcess = false

    init(_ text: String) {
        var isLoop = false
        var hasEnd = false
        var word = ""
        var isFirst = true
        var isAlone = true
        for (character, next, previous) in Self.outside(text) {
            guard character.isWhitespace || ";&|()".contains(character) else {
                word.append(character)
                continue
            }
            if !word.isEmpty {
                // What follows a `;` is a command of its own, unless it only goes on with an `if`.
                if hasEnd, !["then", "else", "elif", "fi", "}"].contains(word) { isAlone = false }
                if isFirst {
                    hidesFailure = hidesFailure || word == "!"
                    isLoop = isLoop || ["for", "while", "until", "case", "{"].contains(word)
                    isFirst = ShellWords.introducing.contains(word)
                }
                if word == "wait" || word == "kill" || word == "trap" { waits = true }
                hasEnd = false
                word = ""
            }
            switch character {
            case ";" where next != ";" && previous != ";", "\n": (hasEnd, isFirst) = (true, true)
            case "&" where next == "&":
                (hidesFailure, hasLists, isFirst) = (true, true, true)
            case "&" where previous != "&" && previous != ">" && previous != "<" && next != ">" && previous != "|":
                (leavesProcess, hasEnd, isFirst) = (true, true, true)
            case "|": (hasLists, isFirst) = (true, true)
            case ";", "&", "(", ")": isFirst = true
            default: break
            }
        }
        hasSeveral = !isAlone || isLoop && text.contains { ";\n".contains($0) }
        leavesProcess = leavesProcess && !waits
    }

    private var waits = false

    /// The characters outside of quotes, `$(…)` and comments, each with its neighbours, and a line end at the end.
    private static func outside(_ text: String) -> [(Character, Character?, Character?)] {
        var result: [Character] = []
        var quote: Character?
        var depth = 0
        var isEscaped = false
        var isComment = false
        var previous: Character = "\n"
        for character in text {
            defer { previous = character }
            if isEscaped {
                isEscaped = false
                if character != "\n", depth == 0 { result.append("x") }
                continue
            }
            if isComment {
                guard character == "\n" else { continue }
                isComment = false
            }
            if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil }
                if depth == 0 { result.append("x") }
            } else if "'\"`".contains(character) {
                quote = character
                if depth == 0 { result.append("x") }
            } else if character == "(", previous == "$" || depth > 0 {
                depth += 1
            } else if character == ")", depth > 0 {
                depth -= 1
            } else if character == "#", previous.isWhitespace || previous == ";" {
                isComment = true
            } else if depth == 0 {
                result.append(character)
            }
        }
        result.append("\n")
        return result.indices.map { index in
            (
                result[index], index + 1 < result.count ? result[index + 1] : nil,
                index > 0 ? result[index - 1] : nil
            )
        }
    }
}

/// Words with a meaning to a shell.
enum ShellWords {
    /// Words before the name of a command.
    static let introducing: Set<String> = [
        "then", "else", "elif", "do", "if", "while", "until", "!", "time", "{", "exec", "command",
    ]
    static let reserved: Set<String> = [
        "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "{", "}",
        "!", "[[", "]]", "function", "select", "time", "export", "local", "readonly", "declare",
    ]

    /// True for `NAME=…` and `NAME+=…`.
    static func isAssignment(_ word: Substring) -> Bool {
        guard let equals = word.firstIndex(of: "="), let first = word.first, !first.isNumber else { return false }
        let name = word[..<equals]
        return !name.isEmpty && (name.last == "+" ? name.dropLast() : name).allSatisfy(\.isVariableCharacter)
    }

    /// True for a variable that usual programs look for.
    static func areOfPrograms(_ name: String) -> Bool {
        let names: Set<String> = [
            "CC", "CXX", "CPP", "LD", "AR", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CI", "DEBUG", "EDITOR",
            "PAGER", "DATABASE_URL", "COLUMNS", "LINES", "TZ", "NO_COLOR", "FORCE_COLOR", "DESTDIR", "PREFIX",
            "VIRTUAL_ENV", "GOOS", "GOARCH", "GOARM", "GOAMD64", "GOFLAGS", "GOPATH", "GOBIN", "GOROOT", "GOPROXY",
            "GOCACHE", "GOMODCACHE", "GOPRIVATE", "GONOSUMDB", "GOSUMDB", "GOTOOLCHAIN", "GOEXPERIMENT", "GODEBUG",
            "GOMAXPROCS", "GOTESTSUM_FORMAT", "CLASSPATH", "NODE_ENV", "RUSTC", "SOURCE_DATE_EPOCH",
        ]
        let starts = [
            "CGO_", "CARGO_", "RUST_", "RUSTC_", "RUSTUP_", "RUSTFLAGS", "PG", "GIT_", "DOCKER_HOST", "DOCKER_BUILDKIT",
            "DOCKER_CONFIG", "DOCKER_DEFAULT", "DOCKER_CONTEXT", "COMPOSE_", "BUILDKIT_", "NPM_CONFIG", "npm_config",
            "PIP_", "UV_", "POETRY_", "JAVA_", "MAVEN_", "GRADLE_", "AWS_", "KUBECONFIG", "HELM_", "TF_", "GH_",
            "CMAKE_", "LC_", "XDG_", "SSH_", "GPG_", "ANSIBLE_", "VAULT_", "SENTRY_", "GOLANGCI_",
        ]
        return VariableName.isListenedTo(name) || names.contains(name) || starts.contains(where: name.hasPrefix)
    }

    /// True if a text ends inside of quotes.
    static func areQuotesOpen(_ text: Substring) -> Bool {
        var quote: Character?
        var isEscaped = false
        for character in text {
            if isEscaped {
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil }
            } else if character == "'" || character == "\"" {
                quote = character
            }
        }
        return quote != nil
    }

    /// True if no character of a text has a meaning to a shell, apart from blanks and the patterns of files.
    static func arePlain(_ text: String) -> Bool {
        text.allSatisfy { $0.isVariableCharacter || " -./:=+,@%*?".contains($0) || !$0.isASCII && !$0.isWhitespace }
    }

    /// The names that a script reads as `$NAME` or `${NAME…}`.
    static func names(readIn script: String) -> Set<String> {
        var names: Set<String> = []
        var rest = script[...]
        while let dollar = rest.firstIndex(of: "$") {
            rest = rest[rest.index(after: dollar)...]
            if rest.first == "{" { rest = rest.dropFirst() }
            if rest.first == "#" || rest.first == "!" { rest = rest.dropFirst() }
            let name = rest.prefix { $0.isVariableCharacter }
            if !name.isEmpty { names.insert(String(name)) }
        }
        return names
    }
}

/// A text as one word of a shell.
func shellWord(_ text: String) -> String {
    let isPlain = !text.isEmpty && text.allSatisfy { $0.isVariableCharacter || "-./:=@%+,".contains($0) }
    return isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
}

/// The program of a script's first line, as a command to which the script is appended.
enum Interpreter {
    /// nil if the line names no program that takes a script as an argument.
    static func command(ofFirstLine line: String) -> [String]? {
        guard line.hasPrefix("#!") else { return nil }
        var words = line.dropFirst(2).words
        if let first = words.first, first.hasSuffix("/env") {
            words.removeFirst()
            if words.first == "-S" { words.removeFirst() }
        }
        guard let program = words.first, let option = option(of: fileName(of: program)) else { return nil }
        return [words[0].hasPrefix("/") && isUsual(words[0]) ? fileName(of: program) : program] + words.dropFirst() + [
            option
        ]
    }

    /// The option before a script; nil for a program that takes none.
    static func option(of program: String) -> String? {
        switch program.prefix(while: { !$0.isNumber && $0 != "." }) {
        case "bash", "sh", "zsh", "dash", "ksh", "fish", "python", "nu": "-c"
        case "node", "ruby", "perl", "lua", "Rscript": "-e"
        case "php": "-r"
        default: nil
        }
    }

    /// True if a shell with these options ends at the first failure.
    static func stopsAtFailure(_ options: [String]) -> Bool {
        options.contains { $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.contains("e") } || options.contains("errexit")
    }

    private static func isUsual(_ path: String) -> Bool { path.hasPrefix("/bin/") || path.hasPrefix("/usr/bin/") }

    private static func fileName(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// True if the program is a shell, which reads `$NAME`.
    static func isShell(_ program: String) -> Bool {
        ["bash", "sh", "zsh", "dash", "ksh"].contains(fileName(of: program))
    }
}
