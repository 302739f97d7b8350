extension Duration {
    /// In whole microseconds, rounded toward zero; at most what an integer holds.
    ///
    /// Ten to the twelfth is 2^12 * 5^12, and what is left of up to ten hours after the shift is divided as 64 bits, in
    /// a tenth of the time that 128 take. `components` makes three divisions of 128 bits.
    package var wholeMicroseconds: Int {
        let shifted = attoseconds.magnitude >> 12
        let magnitude =
            if let short = UInt64(exactly: shifted) {
                Int(clamping: short / 244_140_625)
            } else {
                Int(clamping: shifted / 244_140_625)
            }
        return self < .zero ? -magnitude : magnitude
    }
}
