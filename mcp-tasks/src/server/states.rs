//! `requestState`: what a client brings back so that its call goes on, sealed so that nobody can change it.
//!
//! It is good for one owner, one method, one tool with the same arguments, and a while; these are under the seal
//! without being in the text. It is not secret: what a client could read in it is its own.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use mcp_tasks_types::{JsonError, Map, RawJson, RawObject, TaskId};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::Sha256;

use super::refusal::Refusal;
use crate::{digest, owner::Owner};

/// How many bytes a key has at least: as many as the digest, so that guessing the one is no easier than the other.
pub(super) const MIN_KEY_BYTES: usize = 32;

/// The form of what is sealed. It is sealed as well, so that text of another form is never read as this one.
const FORM: u8 = 1;
const MAC_BYTES: usize = 32;

/// What belongs to a call from one request to the next, longer than a request and shorter than a task (S-41).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Continuation {
    /// Its body runs, and the store has the rest under this id.
    Kept {
        id: TaskId,
        /// How far the record was, so that no two rounds have one state.
        version: u64,
    },
    /// Its body does not run yet, and nothing is kept of it but this.
    Before {
        /// What makes it count once.
        nonce: String,
        /// What was answered so far, by key.
        answers: Map<RawJson>,
    },
}

/// A continuation, and until when it is good, in milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) continuation: Continuation,
    pub(super) expires_at: i64,
}

/// The request that a state is good for.
#[derive(Debug)]
pub(super) struct Origin<'a> {
    owner: &'a Owner,
    method: &'a str,
    /// Digest of what is called with which arguments.
    call: String,
}

impl<'a> Origin<'a> {
    pub(super) fn new(owner: &'a Owner, method: &'a str, name: &str, arguments: &RawObject) -> Self {
        let arguments = digest::of_json_text(arguments.as_str());
        Self { owner, method, call: digest::of_value(&json!([name, arguments])) }
    }
}

/// Seals states, and opens those that it sealed.
pub(super) struct States {
    mac: Hmac<Sha256>,
}

impl std::fmt::Debug for States {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("States").finish_non_exhaustive()
    }
}

impl States {
    /// With this key; nothing if it is too short.
    pub(super) fn with_key(key: &[u8]) -> Option<Self> {
        if key.len() < MIN_KEY_BYTES {
            return None;
        }
        // Any length of key is taken.
        Hmac::new_from_slice(key).ok().map(|mac| Self { mac })
    }

    pub(super) fn seal(&self, state: &State, origin: &Origin<'_>) -> Result<String, JsonError> {
        let payload = mcp_tasks_types::to_string(state)?;
        let mac = self.mac_of(payload.as_bytes(), origin).finalize().into_bytes();
        let mut bytes = vec![FORM];
        bytes.extend_from_slice(&mac);
        bytes.extend_from_slice(payload.as_bytes());
        Ok(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Opens what a client brought back. Whatever is wrong with it is told alike, but for its age.
    pub(super) fn open(&self, text: &str, origin: &Origin<'_>, now_millis: i64) -> Result<State, Refusal> {
        let state = self.opened(text, origin).ok_or_else(|| {
            let what = "`requestState` was not given out by this server for this caller, tool and arguments";
            Refusal::Params(what.to_owned())
        })?;
        if state.expires_at <= now_millis {
            return Err(Refusal::Params("`requestState` has expired: call again without it".to_owned()));
        }
        Ok(state)
    }

    fn opened(&self, text: &str, origin: &Origin<'_>) -> Option<State> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (form, sealed) = bytes.split_first()?;
        let (mac, payload) = sealed.split_at_checked(MAC_BYTES)?;
        if *form != FORM {
            return None;
        }
        // In a time that does not tell how much of it is right.
        self.mac_of(payload, origin).verify_slice(mac).ok()?;
        serde_json::from_slice(payload).ok()
    }

    fn mac_of(&self, payload: &[u8], origin: &Origin<'_>) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        let Origin { owner, method, call } = origin;
        let parts = [owner.tenant(), owner.principal(), method, call].map(str::as_bytes);
        mac.update(b"mcp-tasks requestState");
        mac.update(&[FORM]);
        for part in parts.into_iter().chain([payload]) {
            // With its length, so that what ends one part cannot begin another.
            mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}

#[cfg(test)]
mod tests;
