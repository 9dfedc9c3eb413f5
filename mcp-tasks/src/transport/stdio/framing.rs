//! One message a line: cutting a stream of bytes into lines of bounded length.

/// A line of input, without its line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Message(Vec<u8>),
    /// Longer than the limit; its bytes were not kept.
    TooLong,
}

/// Collects bytes until a line is complete.
#[derive(Debug)]
pub(super) struct Framing {
    partial: Vec<u8>,
    limit: usize,
    /// The current line is beyond the limit and is skipped to its end.
    skips: bool,
}

impl Framing {
    pub(super) fn new(limit: usize) -> Self {
        Self { partial: Vec::new(), limit, skips: false }
    }

    /// Takes the next bytes and gives the lines that they complete. Blank lines are no messages.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.keep(&bytes[..end]);
            lines.extend(self.take());
            bytes = &bytes[end + 1..];
        }
        self.keep(bytes);
        lines
    }

    /// The end of the input: what is left is a line, even without a line break.
    pub(super) fn finish(mut self) -> Option<Line> {
        self.take()
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.skips {
            return;
        }
        if self.partial.len() + bytes.len() > self.limit {
            self.partial = Vec::new();
            self.skips = true;
            return;
        }
        self.partial.extend_from_slice(bytes);
    }

    fn take(&mut self) -> Option<Line> {
        let line = std::mem::take(&mut self.partial);
        if std::mem::take(&mut self.skips) {
            return Some(Line::TooLong);
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        Some(Line::Message(line))
    }
}

#[cfg(test)]
mod tests {
    use super::{Framing, Line};

    fn message(text: &str) -> Line {
        Line::Message(text.as_bytes().to_vec())
    }

    /// X-122
    #[test]
    fn lines_are_the_same_however_the_bytes_arrive() {
        let input = b"{\"a\":1}\n\n  \r\n{\"b\":2}\r\n{\"c\":3}";
        let expected = [message("{\"a\":1}"), message("{\"b\":2}\r"), message("{\"c\":3}")];
        for size in 1..=input.len() {
            let mut framing = Framing::new(100);
            let mut lines: Vec<Line> = input.chunks(size).flat_map(|chunk| framing.push(chunk)).collect();
            lines.extend(framing.finish());
            assert_eq!(lines, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn a_line_beyond_the_limit_is_skipped_and_the_next_one_is_read() {
        for size in 1..=12 {
            let mut framing = Framing::new(3);
            let mut lines: Vec<Line> =
                b"abcd\nabc\nabcdef".chunks(size).flat_map(|chunk| framing.push(chunk)).collect();
            lines.extend(framing.finish());
            assert_eq!(lines, [Line::TooLong, message("abc"), Line::TooLong]);
        }
    }
}
