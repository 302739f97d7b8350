internal import Syntax

/// The actions that are common, and what takes their place on this machine.
enum GitHubAction {
    enum Replacement {
        /// Nothing has to run: the reason.
        case nothing(String)
        /// The script, with the variables that it reads.
        case script(String)
        /// The reason why the step has to be filled in.
        case unfinished(String)
    }

    /// A tool that an action installs; here it has to be there.
    private struct Tool {
        let name: String
        let command: String
        /// The keys of `with` that name its version.
        let keys: [String]
    }

    private static let tools: [String: Tool] = {
        let list: [([String], String, String, [String])] = [
            (["actions/setup-python"], "Python", "python3 --version", ["python-version"]),
            (["actions/setup-node"], "Node", "node --version", ["node-version"]),
            (["actions/setup-go"], "Go", "go version", ["go-version"]),
            (["actions/setup-java"], "Java", "java -version 2>&1", ["java-version"]),
            (["actions/setup-dotnet"], ".NET", "dotnet --version", ["dotnet-version"]),
            (["ruby/setup-ruby"], "Ruby", "ruby --version", ["ruby-version"]),
            (["shivammathur/setup-php"], "PHP", "php --version", ["php-version"]),
            (["denoland/setup-deno"], "Deno", "deno --version", ["deno-version"]),
            (["oven-sh/setup-bun"], "Bun", "bun --version", ["bun-version"]),
            (["pnpm/action-setup"], "pnpm", "pnpm --version", ["version"]),
            (["astral-sh/setup-uv"], "uv", "uv --version", ["version"]),
            (["hashicorp/setup-terraform"], "Terraform", "terraform version", ["terraform_version"]),
            (["azure/setup-kubectl"], "kubectl", "kubectl version --client", ["version"]),
            (["azure/setup-helm"], "Helm", "helm version --short", ["version"]),
            (["docker/setup-buildx-action"], "Buildx", "docker buildx version", []),
            (["arduino/setup-protoc"], "protoc", "protoc --version", ["version"]),
            (["swift-actions/setup-swift"], "Swift", "swift --version", ["swift-version"]),
            (
                [
                    "dtolnay/rust-toolchain", "actions-rs/toolchain", "actions-rust-lang/setup-rust-toolchain",
                    "hecrj/setup-rust-action",
                ], "Rust", "rustc --version", ["toolchain", "rust-version"]
            ),
            (
                ["gradle/actions/setup-gradle", "gradle/gradle-build-action"], "Gradle",
                "if [ -x ./gradlew ]; then ./gradlew --version; else gradle --version; fi", ["gradle-version"]
            ),
        ]
        return Dictionary(
            list.flatMap { names, name, command, keys in
                names.map { ($0, Tool(name: name, command: command, keys: keys)) }
            }, uniquingKeysWith: { first, _ in first })
    }()

    /// Returns what takes the place of an action. `value` makes the text of an input for the inside of double quotes,
    /// where it may read a variable; `outputs` are those that other steps read.
    static func replacement(
        for action: String, _ with: YAMLNode?, outputs: [String],
        _ value: (String) throws(GitHubProblem) -> String
    ) throws(GitHubProblem) -> Replacement {
        let parts = action.split(separator: "@", maxSplits: 1).map(String.init)
        let name = parts.first ?? action
        let inputs = Dictionary(
            with.map { Array($0.entries) }?.map { ($0.key.text, $0.value.text) } ?? [],
            uniquingKeysWith: { first, _ in first })
        if let tool = tools[name] {
            guard outputs.isEmpty else { return .unfinished("flowrun runs no actions, write its outputs") }
            return try version(of: tool, inputs, tag: name == "dtolnay/rust-toolchain" ? parts.last : nil, value)
        }
        switch name {
        case "actions/checkout":
            for key in ["repository", "ref", "path"] where inputs[key] != nil {
                return .unfinished("it has `\(key)`, and flowrun checks nothing out")
            }
            return outputs.isEmpty
                ? .nothing("the job works in a copy of the tree as it is")
                : .unfinished("flowrun runs no actions, write its outputs")
        case "actions/cache", "actions/cache/restore", "Swatinem/rust-cache":
            // As in the first run on GitHub, where nothing was kept.
            let lines = outputs.map {
                "echo '\(GitHubExpression.variableName($0))=\($0 == "cache-hit" ? "false" : "")' >> \"$FLOWRUN_OUTPUT\""
            }
            let reason = "each job begins without what it would keep"
            return lines.isEmpty ? .nothing(reason) : .script(lines.joined(separator: "\n"))
        case "actions/cache/save": return .nothing("nothing is kept for the next job")
        case "actions/upload-artifact": return try upload(inputs, outputs, value)
        case "actions/download-artifact": return try download(inputs, outputs, value)
        default: return .unfinished("flowrun runs no actions, write the commands")
        }
    }

    // MARK: - Tools

    private static func version(
        of tool: Tool, _ inputs: [String: String], tag: String?, _ value: (String) throws(GitHubProblem) -> String
    ) throws(GitHubProblem) -> Replacement {
        var wanted = tool.keys.compactMap { inputs[$0] }.first
        // A tag such as `1.75`; one such as `v4` or a commit is that of the action.
        if wanted == nil, let tag, tag.first?.isNumber == true, tag.contains(".") { wanted = tag }
        guard let wanted else { return .nothing("steps use what is installed") }
        let isComputed = wanted.contains("${{")
        let plain = wanted.hasPrefix("v") ? String(wanted.dropFirst()) : wanted
        let isVersion = plain.first?.isNumber == true && plain.allSatisfy { $0.isNumber || $0 == "." || $0 == "x" }
        guard isComputed || isVersion else {
            return .nothing("steps use what is installed, which should be \(tool.name) \(wanted)")
        }
        let text = isComputed ? try value(wanted) : plain
        return .script(
            """
            wanted="\(text)"
            version=$(\(tool.command) | grep -oE '[0-9]+([.][0-9]+)*' | head -n 1)
            case $version. in
            "${wanted%.x}".*) ;;
            *) echo "needs \(tool.name) $wanted, here is ${version:-none}" >&2; exit 1 ;;
            esac
            """)
    }

    // MARK: - Artifacts

    private static let folder = "$FLOWRUN_TEMP/artifacts"

    private static func upload(
        _ inputs: [String: String], _ outputs: [String], _ value: (String) throws(GitHubProblem) -> String
    ) throws(GitHubProblem) -> Replacement {
        let known: Set<String> = [
            "name", "path", "retention-days", "if-no-files-found", "compression-level", "overwrite",
        ]
        guard outputs.isEmpty, inputs.keys.allSatisfy(known.contains) else {
            return .unfinished("it does more than to hand files on")
        }
        let path = inputs["path"]?.trimmed ?? ""
        guard !path.isEmpty, !path.contains(where: { "*?![~\n".contains($0) }) else {
            return .unfinished("the files are more than one path")
        }
        let (name, place) = (try value(inputs["name"] ?? "artifact"), try value(path))
        let missing = inputs["if-no-files-found"] == "error" ? "exit 1" : "echo 'no files found' >&2"
        return .script(
            """
            artifact="\(folder)/\(name)"
            mkdir -p "$artifact"
            if [ -d "\(place)" ]; then
              cp -R "\(place)/." "$artifact"
            elif [ -e "\(place)" ]; then
              cp "\(place)" "$artifact"
            else
              \(missing)
            fi
            """)
    }

    private static func download(
        _ inputs: [String: String], _ outputs: [String], _ value: (String) throws(GitHubProblem) -> String
    ) throws(GitHubProblem) -> Replacement {
        guard outputs.isEmpty, inputs.keys.allSatisfy({ $0 == "name" || $0 == "path" }) else {
            return .unfinished("it does more than to take one artifact or all of them")
        }
        let place = try value(inputs["path"]?.trimmed ?? ".")
        guard !place.contains("~"), !place.contains("\n") else { return .unfinished("the folder is computed") }
        guard let name = inputs["name"] else {
            return .script("mkdir -p \"\(place)\"\ncp -R \"\(folder)/.\" \"\(place)\"")
        }
        return .script("mkdir -p \"\(place)\"\ncp -R \"\(folder)/\(try value(name))/.\" \"\(place)\"")
    }
}
