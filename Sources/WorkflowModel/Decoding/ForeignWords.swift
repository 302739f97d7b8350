/// Words that other tools use for what flowrun calls otherwise.
enum ForeignWords {
    enum Meaning {
        /// The flowrun key for the same thing, written the same way.
        case key(WorkflowKey)
        /// The flowrun key whose value is a duration, and the unit of the foreign bare number.
        case duration(WorkflowKey, unit: String)
        /// What to write instead.
        case advice(String)
    }

    /// What a foreign word means at a place; nil for a word that is simply unknown.
    static func meaning(of word: String, in place: KeyPlace) -> Meaning? {
        let isStep = place == .step
        switch word {
        case "desc", "summary": return .key(.description)
        case "inputs", "vars", "arguments", "variables", "parameters": return .key(.params)
        case "environment": return .key(.env)
        case "env_file", "env-file": return .key(.dotenv)
        case "jobs", "tasks", "dag": return .key(.steps)
        case "deps", "depends", "depends_on", "depends-on", "dependsOn", "dependencies", "require", "requires":
            return .key(.needs)
        case "when", "rules", "runIf", "run_if", "only": return .key(.if)
        case "cmd", "cmds", "command", "commands", "script", "exec": return .key(.run)
        case "call", "template", "includes", "include": return .key(.uses)
        case "dir", "cwd", "working_dir", "working-dir", "workdir": return .key(.workingDirectory)
        case "timeout-minutes", "timeout_minutes", "timeoutMinutes": return .duration(.timeout, unit: "m")
        case "timeoutSec", "timeout_sec", "timeoutSeconds", "timeout-seconds", "activeDeadlineSeconds":
            return .duration(.timeout, unit: "s")
        case "signal_on_stop", "signalOnStop", "shutdown": return .key(.killSignal)
        case "retries", "retryStrategy", "retry_policy", "retryPolicy": return .key(.retry)
        case "allow_failure", "allowFailure", "allow-failure", "ignore_error", "ignore_errors", "ignore-error":
            return .key(.continueOnError)
        case "strategy", "parallel": return isStep || place == .group ? .key(.matrix) : nil
        case "withItems", "withParam", "with_items", "with-items", "for", "across", "foreach", "loop":
            return .key(.forEach)
        case "parallelism", "max_in_flight", "limit", "concurrent": return .key(.maxParallel)
        case "type", "do", "piped":
            return isStep ? nil : .advice("write `order: sequence` and put the steps under `steps`")
        case "resources", "queue": return .key(place == .top ? .pools : .pool)
        case "concurrency", "resource_group", "serial_groups": return .key(.mutex)
        case "output": return .key(.outputs)
        case "ensure", "onExit", "after_script", "after-script", "defer": return .key(.finally)
        case "errors", "on_failure", "onFailure": return .key(.onFailure)
        case "os": return .key(.platforms)
        case "silent": return .key(.log)
        case "id" where place == .step || place == .group:
            return .advice("remove it: the key the step stands under is its id")
        case "on", "triggers", "schedule": return .advice("remove it: flowrun runs when it is called, from cron or CI")
        case "runs-on", "image", "container": return .advice("remove it: steps run where flowrun runs")
        default: return nil
        }
    }
}
