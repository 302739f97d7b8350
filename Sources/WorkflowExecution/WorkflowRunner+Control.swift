extension WorkflowRunner {
    func pauseHasChanged(_ isPaused: Bool) {}
}
