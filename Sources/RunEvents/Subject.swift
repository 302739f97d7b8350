/// A step or group by its full id.
package enum Subject: Sendable, Hashable {
    case step(String)
    case group(String)
}
