//! Numbers and texts one after another in bytes.

/// The part of a stream that is malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not that of an event stream of .NET")]
pub struct Malformed(pub &'static str);

impl Malformed {
    /// The bytes end before the value.
    pub const TOO_SHORT: Self = Self("a value that ends too soon");
}

/// A position in a slice of bytes.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub const fn position(&self) -> usize {
        self.at
    }

    pub const fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let taken =
            self.at.checked_add(count).and_then(|end| self.bytes.get(self.at..end)).ok_or(Malformed::TOO_SHORT)?;
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed::TOO_SHORT)
    }

    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.array().map(u8::from_le_bytes)
    }

    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn f64(&mut self) -> Result<f64, Malformed> {
        self.array().map(f64::from_le_bytes)
    }

    /// A number in groups of seven bits, the lowest first.
    pub fn varint(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Malformed("a number"))
    }

    /// UTF-16 with a zero at its end.
    pub fn text(&mut self) -> Result<String, Malformed> {
        let mut units = Vec::new();
        loop {
            match self.u16()? {
                0 => return Ok(String::from_utf16_lossy(&units)),
                unit => units.push(unit),
            }
        }
    }
}
