// Outcomes, kinds of dependencies, retry policies: the types that the library shares with its scheduler. The target of
// the scheduler is not a product, so programs cannot name it, and wrapping its types would only double them. The
// attribute is underscored, but it is the usual way to make one module of two targets, and does nothing else.
@_exported public import Scheduling
