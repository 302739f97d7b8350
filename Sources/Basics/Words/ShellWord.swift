extension String {
    /// The text as a word that a POSIX shell takes literally: unchanged if it has no special characters, otherwise in
    /// single quotes.
    package var shellWord: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                byte >= 0x80 || (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10
                    || "_-./,:@%+".utf8.contains(byte)
            }
        guard !isPlain else { return self }
        return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
