// Outcomes, kinds of dependencies, retry policies: the types that the library shares with its scheduler. The
// scheduler's target is no product, so programs cannot import it, and wrapping its types would only double them. The
// attribute is underscored, but the standard way to make one module of two targets, and has no other effect.
@_exported public import OperationScheduling
