internal import Syntax

/// Words of other tools for keys of flowrun.
enum ForeignWords {
    enum Meaning {
        /// The flowrun key for the same thing, written the same way.
        case key(WorkflowKey)
        /// The flowrun key for it, and the value to write.
        case setting(WorkflowKey, String)
        /// The flowrun key whose value is a duration, and the unit of the foreign bare number.
        case duration(WorkflowKey, unit: String)
        /// A number of attempts after the first; `retry` counts all attempts.
        case retries
        /// The keys below the word belong to the place itself.
        case wrapper
        /// An instruction, if no key matches.
        case advice(String)
    }

    /// The meaning of a foreign word with its value at a place; nil for a word that is simply unknown.
    static func meaning(of word: String, _ value: YAMLNode, in place: KeyPlace) -> Meaning? {
        switch word {
        case "when" where value.isText("manual"): return .setting(.manual, "true")
        case "when", "rules", "runIf", "run_if", "condition":
            if let condition = condition(forEnd: value) { return .setting(.if, condition) }
        case "only":
            return .advice(
                "write a condition: `if: EXPRESSION`, over what `params` declares or a variable such as `env.CI`")
        case "parallel" where value.type == .int && place == .top: return .key(.maxParallel)
        case "parallel" where value.type == .int && (place == .step || place == .group):
            return .advice(
                "write `for-each` with an item for each copy; or `max-parallel: \(value.text)` on a group or a "
                    + "fan-out, to limit how many run at once")
        case "parallel" where value.type == .bool:
            return .advice(
                "remove it: what does not need each other runs at the same time, and the members of a group one by one "
                    + "with `order: sequence`")
        case "strategy" where value.kind == .mapping && place != .top: return .wrapper
        case "requires" where isListOfConditions(value): return .key(.require)
        case "requires" where value.kind == .mapping:
            return .advice("declare what it takes under `params` at the top of the file, with `required: true`")
        default: break
        }
        return meaning(of: word, in: place)
    }

    /// The condition that other tools write as the outcome of the previous steps.
    private static func condition(forEnd value: YAMLNode) -> String? {
        guard value.kind == .scalar else { return nil }
        return switch value.text.lowercased() {
        case "always": "always()"
        case "success", "on_success", "on-success", "onsuccess", "succeeded": "success()"
        case "failure", "on_failure", "on-failure", "onfailure", "failed": "failure()"
        case "cancelled", "canceled": "cancelled()"
        case "never": "false"
        default: nil
        }
    }

    /// `{ if: …, message: … }`, or a list of such.
    private static func isListOfConditions(_ value: YAMLNode) -> Bool {
        let first = value.kind == .sequence ? value.elements.first { _ in true } : value
        guard let first, first.kind == .mapping else { return false }
        return first.entries.contains { key, _ in
            key.isText("if") || meaning(of: key.text, in: FieldPlace.requirement) != nil
        }
    }

    /// The meaning of a word whose value does not matter.
    static func meaning(of word: String, in place: KeyPlace) -> Meaning? {
        let isStep = place == .step
        switch word {
        case "desc", "summary": return .key(.description)
        case "inputs", "arguments", "parameters": return .key(.params)
        case "variables", "let", "locals", "globals": return .key(.vars)
        case "environment": return .key(.env)
        case "env_file", "env-file": return .key(.dotenv)
        case "secret": return .key(.secrets)
        case "jobs", "tasks", "dag": return .key(.steps)
        case "deps", "depends", "depends_on", "depends-on", "dependsOn", "dependencies", "requires":
            return .key(.needs)
        case "when", "rules", "runIf", "run_if", "only", "condition": return .key(.if)
        case "assert", "asserts", "precondition", "preconditions", "requirements": return .key(.require)
        case "prompt", "confirmation", "ask": return .key(.confirm)
        case "cmd", "cmds", "command", "commands", "script", "exec": return .key(.run)
        case "extends" where place != .top:
            return .advice("write what they share under `templates`, and a group with `uses: NAME` in place of each")
        case "call", "template", "includes", "include", "extends", "import", "imports", "use":
            return place == .top
                ? .advice("write a group for each file under `steps`: `ID: { uses: FILE }`") : .key(.uses)
        case "dir", "cwd", "working_dir", "working-dir", "workdir": return .key(.workingDirectory)
        case "input" where isStep: return .key(.stdin)
        case "tty" where isStep: return .key(.interactive)
        case "timeout-minutes", "timeout_minutes", "timeoutMinutes": return .duration(.timeout, unit: "m")
        case "timeoutSec", "timeout_sec", "timeoutSeconds", "timeout-seconds", "activeDeadlineSeconds":
            return .duration(.timeout, unit: "s")
        case "signal_on_stop", "signalOnStop", "shutdown": return .key(.killSignal)
        case "retries", "max-retries", "max_retries", "maxRetries": return .retries
        case "retryStrategy", "retry_policy", "retryPolicy", "retry-policy": return .key(.retry)
        case "allow_failure", "allowFailure", "allow-failure", "ignore_error", "ignore_errors", "ignore-error",
            "continue_on", "continueOn":
            return .key(.continueOnError)
        case "strategy", "parallel": return isStep || place == .group ? .key(.matrix) : nil
        case "withItems", "withParam", "with_items", "with-items", "for", "across", "foreach", "loop":
            return .key(.forEach)
        case "parallelism", "max_in_flight", "limit", "concurrent": return .key(.maxParallel)
        case "type", "do", "piped":
            return isStep ? nil : .advice("write `order: sequence` and put the steps under `steps`")
        case "resources", "queue", "semaphore", "semaphores": return .key(place == .top ? .pools : .pool)
        case "concurrency", "resource_group", "resource-group", "serial_groups", "lock", "locks": return .key(.mutex)
        case "output": return .key(.outputs)
        case "ensure", "onExit", "on_exit", "after_script", "after-script", "defer": return .key(.finally)
        case "errors", "on_failure", "onFailure", "on_error", "on-error": return .key(.onFailure)
        case "handler_on", "handlerOn", "hooks":
            return .advice("put steps that always run under `finally`, those for a failure under `on-failure`")
        case "os": return .key(.platforms)
        case "silent", "quiet": return .setting(.log, "quiet")
        case "hidden", "private": return .key(.internal)
        case "alias": return .key(.aliases)
        case "default-goal", "default_goal", "defaultGoal": return .key(.default)
        case "id" where place == .step || place == .group:
            return .advice("remove it: the step's key is its id")
        case "on", "triggers", "schedule": return .advice("remove it: flowrun runs when it is called, from cron or CI")
        case "runs-on", "image", "container": return .advice("remove it: steps run where flowrun runs")
        default: return nil
        }
    }

    enum FieldMeaning {
        /// The word for the same thing at this place.
        case word(String)
        /// An instruction, if no word matches.
        case advice(String)
    }

    /// The meaning of a foreign word in a mapping below a key; nil for a word that is simply unknown.
    static func meaning(of word: String, in place: FieldPlace) -> FieldMeaning? {
        switch place {
        case .retry: retryMeaning(of: word)
        case .parameter: parameterMeaning(of: word)
        case .secret:
            switch word {
            case "environment", "variable", "var", "key", "name": .word("env")
            case "path": .word("file")
            default: nil
            }
        case .sharedValue: sharedValueMeaning(of: word)
        case .requirement:
            switch word {
            case "condition", "test", "when", "assert": .word("if")
            case "sh", "cmd", "command", "exec", "script": .word("run")
            case "msg", "text", "error", "reason": .word("message")
            default: nil
            }
        case .output: word == "source" ? .word("from") : nil
        case .dotenvFile: nil
        }
    }

    private static func retryMeaning(of word: String) -> FieldMeaning? {
        switch word {
        case "limit", "max", "count", "times", "max-attempts", "max_attempts", "maxAttempts": .word("attempts")
        case "retries", "max-retries", "max_retries": .advice("write `attempts`, which counts the first one, too")
        case "interval", "interval_sec", "wait", "initial-delay", "initial_delay", "sleep": .word("delay")
        case "factor", "multiplier", "rate", "exponential": .word("backoff")
        case "max-interval", "max_interval", "max_interval_sec", "maxInterval", "max_delay", "cap": .word("max-delay")
        case "exit-code", "exit_code", "exit-codes", "exit_codes", "exitCodes", "on", "if", "retryPolicy": .word("when")
        case "max-duration", "maxDuration", "max_duration", "total-timeout", "within": .word("deadline")
        case "timeout":
            .advice("write `timeout` beside `retry` for one attempt, or `deadline` here for all of them together")
        default: nil
        }
    }

    private static func sharedValueMeaning(of word: String) -> FieldMeaning? {
        switch word {
        case "sh", "cmd", "command", "exec", "script": .word("run")
        case "default", "literal", "text": .word("value")
        case "ref", "map", "expr", "expression": .advice("write the value as an expression: `NAME: \"${{ … }}\"`")
        case "env": .advice("set it in the script, or under `env` beside `vars`, which the command sees")
        case "working-directory", "dir": .advice("remove it: the command runs where the steps beside it run")
        default: nil
        }
    }

    private static func parameterMeaning(of word: String) -> FieldMeaning? {
        switch word {
        case "options", "choices", "enum", "allowed", "one-of", "oneOf": .word("values")
        case "desc", "summary", "help": .word("description")
        case "value", "def": .word("default")
        case "regex", "regexp", "match", "format": .word("pattern")
        case "environment", "variable", "var", "env-var", "env_var": .word("env")
        case "optional": .advice("remove it: only a parameter with `required: true` must be given")
        default: nil
        }
    }
}
