//! What a seal holds against.

use mcp_tasks_types::v2026_07_28::method::TOOLS_CALL;

use super::*;

const NOW: i64 = 1_767_225_600_000;

fn states() -> States {
    States::with_key(&[7; MIN_KEY_BYTES]).unwrap()
}

fn arguments(text: &str) -> RawObject {
    RawObject::from_text(text).unwrap()
}

fn sample() -> State {
    let answers = [("name".to_owned(), RawJson::from_text(r#"{"n":1.50}"#).unwrap())];
    let continuation =
        Continuation::Before { nonce: "tsk_1".to_owned(), answers: answers.into_iter().collect() };
    State { continuation, expires_at: NOW + 1 }
}

/// What a client is told, if it is refused.
fn refusal(opened: Result<State, Refusal>) -> String {
    match opened {
        Err(Refusal::Params(what)) => what,
        other => panic!("{other:?}"),
    }
}

/// S-16: what was sealed comes back letter for letter, for arguments that mean the same.
#[test]
fn what_was_sealed_comes_back() {
    let owner = Owner::new("tenant", "alice");
    let kept =
        State { continuation: Continuation::Kept { id: "tsk_2".into(), version: 7 }, expires_at: NOW + 1 };
    for state in [sample(), kept] {
        let text =
            states().seal(&state, &Origin::new(&owner, TOOLS_CALL, "t", &arguments(r#"{"a":1,"b":2}"#)));
        let again = Origin::new(&owner, TOOLS_CALL, "t", &arguments(r#" {"b":2, "a":1} "#));
        assert_eq!(states().open(&text.unwrap(), &again, NOW).unwrap(), state);
    }
}

/// X-60, S-16: any letter that is another one, any piece that is missing or more, is refused.
#[test]
fn changed_and_cut_states_are_refused() {
    let owner = Owner::anonymous();
    let origin = Origin::new(&owner, TOOLS_CALL, "t", &RawObject::empty());
    let text = states().seal(&sample(), &origin).unwrap();
    let is_ours = |text: &str| states().open(text, &origin, NOW).is_ok();
    assert!(is_ours(&text));
    for place in 0..text.len() {
        for replacement in ["A", "Q", "-", "=", "\u{e9}", ""] {
            let changed = format!("{}{replacement}{}", &text[..place], &text[place + 1..]);
            assert!(changed == text || !is_ours(&changed), "{changed}");
        }
        assert!(!is_ours(&text[..place]) && !is_ours(&text[place + 1..]), "{place}");
        assert!(!is_ours(&format!("{}A{}", &text[..place], &text[place..])), "{place}");
    }
    let bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(!is_ours(&URL_SAFE_NO_PAD.encode(changed)), "{bit}");
    }
    for other in ["", "A", "forged", "{}", &text.repeat(2)] {
        let told = refusal(states().open(other, &origin, NOW));
        assert!(told.contains("not given out"), "{told}");
    }
}

/// X-61: a state is good for its owner, method, tool and arguments, under its key, and for its time.
#[test]
fn state_is_good_for_one_request_of_one_owner_for_a_while() {
    let owner = Owner::new("tenant", "alice");
    let empty = RawObject::empty();
    let origin = Origin::new(&owner, TOOLS_CALL, "t", &empty);
    let text = states().seal(&sample(), &origin).unwrap();
    assert!(states().open(&text, &origin, NOW).is_ok());
    let others = [Owner::new("tenant", "bob"), Owner::new("other", "alice"), Owner::new("tenanta", "lice")];
    for other in &others {
        let origin = Origin::new(other, TOOLS_CALL, "t", &empty);
        assert!(refusal(states().open(&text, &origin, NOW)).contains("not given out"), "{other:?}");
    }
    let more = arguments(r#"{"a":null}"#);
    for (method, name, arguments) in
        [("prompts/get", "t", &empty), (TOOLS_CALL, "u", &empty), (TOOLS_CALL, "t", &more)]
    {
        let origin = Origin::new(&owner, method, name, arguments);
        assert!(refusal(states().open(&text, &origin, NOW)).contains("not given out"), "{method} {name}");
    }
    assert!(refusal(states().open(&text, &origin, NOW + 1)).contains("expired"));
    let stranger = States::with_key(&[8; MIN_KEY_BYTES]).unwrap();
    assert!(refusal(stranger.open(&text, &origin, NOW)).contains("not given out"));
}

#[test]
fn short_keys_are_none() {
    assert!(States::with_key(&[7; MIN_KEY_BYTES - 1]).is_none());
    assert!(States::with_key(&[7; MIN_KEY_BYTES + 1]).is_some());
}
