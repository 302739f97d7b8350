// The words that the library shares with its scheduler, so that a program that uses one imports one module: outcomes,
// kinds of dependencies, and retry policies.
@_exported public import OperationScheduling
