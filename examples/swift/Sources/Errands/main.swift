try await runErrands { print($0) }
