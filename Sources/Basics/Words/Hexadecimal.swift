extension UInt64 {
    /// Its last `count` hexadecimal digits, 16 at most, in lower case, with zeros in front.
    /// `String(_:radix:)` is generic code, which costs a small run more than all that the run writes with it.
    package func hexadecimal(digits count: Int) -> String {
        String(unsafeUninitializedCapacity: count) { digits in
            for place in 0..<count {
                let digit = UInt8(truncatingIfNeeded: self >> UInt64(4 * (count - 1 - place))) & 15
                digits[place] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            }
            return count
        }
    }
}
