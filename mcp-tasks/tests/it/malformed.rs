//! Random messages that are wrong in some way, the same ones in each run.

use serde_json::{Value, json};

use crate::server_harness::request;

/// Numbers that look random and begin with the same one each time (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn of_seed(seed: u64) -> Self {
        Self(seed | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below a limit, which is not zero.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    pub(crate) fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

const METHODS: [&str; 12] = [
    "tools/call",
    "tools/list",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
    "server/discover",
    "subscriptions/listen",
    "tasks/list",
    "initialize",
    "notifications/cancelled",
    "",
    "\u{0}\u{fffd}/get",
];

/// A message that could be right, but for the ids in it.
pub(crate) fn message(random: &mut Random) -> Value {
    let params = [
        json!({"name": "add", "arguments": {"left": 1, "right": 2}}),
        json!({"name": "report", "arguments": {"size": "small"}}),
        json!({"name": "echo", "arguments": {"text": "a"}}),
        json!({"taskId": "tsk_1"}),
        json!({"taskId": "tsk_1", "inputResponses": {"approve_outline": {"action": "accept", "content": {}}}}),
        json!({"notifications": {"taskIds": ["tsk_1"], "toolsListChanged": true}}),
        json!({}),
    ];
    let id = random.one_of(&[json!(1), json!("1"), json!(0), json!(i64::MAX)]);
    let method = random.one_of(&METHODS);
    request(id, method, random.one_of(&params))
}

/// A value of whatever kind, most of which fit nowhere.
fn any_value(random: &mut Random) -> Value {
    let numbers = ["1e400", "-0.0", "123456789012345678901234567890", "18446744073709551616", "1.5", "-7"];
    let number = random.one_of(&numbers);
    random.one_of(&[
        Value::Null,
        json!(true),
        serde_json::from_str(number).unwrap_or_else(|_| json!(number)),
        json!("\u{202e}\u{0}x"),
        json!([]),
        json!({}),
        json!([[{"a": [null]}]]),
        json!("x".repeat(10_000)),
    ])
}

/// Puts another value at some place.
fn replace_somewhere(random: &mut Random, value: &mut Value) {
    let goes_deeper = random.below(4) != 0;
    match value {
        Value::Object(members) if goes_deeper && !members.is_empty() => {
            let name = random.one_of(&members.keys().cloned().collect::<Vec<_>>());
            if random.below(8) == 0 {
                members.remove(&name);
            } else if let Some(member) = members.get_mut(&name) {
                replace_somewhere(random, member);
            }
        }
        Value::Array(items) if goes_deeper && !items.is_empty() => {
            let index = random.below(items.len());
            replace_somewhere(random, &mut items[index]);
        }
        value => *value = any_value(random),
    }
}

/// The bytes of a message with something wrong about it, on one line.
pub(crate) fn bytes(random: &mut Random) -> Vec<u8> {
    let mut message = message(random);
    let number = ["1e400", "-1e-400", "123456789012345678901234567890", "0x7", "00", "NaN", "1e", "-"];
    match random.below(6) {
        // Wrong types.
        0 | 1 => {
            for _ in 0..=random.below(3) {
                replace_somewhere(random, &mut message);
            }
            message.to_string().into_bytes()
        }
        // Bytes that are changed, lost or put in, as likely as not no text any more.
        2 => {
            let mut bytes = message.to_string().into_bytes();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                match random.below(3) {
                    0 => bytes[at] = u8::try_from(random.below(256)).unwrap(),
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, random.one_of(b"{}[]\",:\\\xff\xc0\xed\x00")),
                }
            }
            bytes.retain(|byte| *byte != b'\n');
            bytes.push(b' ');
            bytes
        }
        // Cut off.
        3 => {
            let mut bytes = message.to_string().into_bytes();
            bytes.truncate(random.below(bytes.len()));
            bytes
        }
        // Deep.
        4 => {
            let depth = 1 + random.below(50_000);
            message["params"]["deep"] = json!("DEEP");
            let (open, close) = random.one_of(&[("[", "]"), ("{\"a\":", "}")]);
            // Sometimes it is not even closed.
            let inner = if open == "[" { "" } else { "1" };
            let closed = if random.below(2) == 0 { close.repeat(depth) } else { String::new() };
            message.to_string().replace("\"DEEP\"", &(open.repeat(depth) + inner + &closed)).into_bytes()
        }
        // Numbers that are none, or that nothing holds.
        _ => {
            let place = random.one_of(&["id", "params", "method", "jsonrpc"]);
            message[place] = json!("NUMBER");
            message.to_string().replace("\"NUMBER\"", random.one_of(&number)).into_bytes()
        }
    }
}
