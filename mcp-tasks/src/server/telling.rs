//! What a call tells before its answer: `notifications/progress` and `notifications/message` of one request.
//!
//! Both go to the request's own stream and nowhere else, only where the request asked for them, and never
//! after its answer or after it was cancelled.

use std::{
    mem,
    sync::{Arc, PoisonError},
};

use mcp_tasks_types::{
    Number, RawJson,
    v2026_07_28::{
        ClientCapabilities, LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParams,
        NotificationMetaObject, ProgressNotification, ProgressNotificationParams, ProgressToken,
        RequestMetaObject, meta_key,
    },
};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{Mutex, watch};

use super::outgoing::Outgoing;
use crate::{
    BoxFuture,
    clock::Clock,
    engine::{Caller, SharedCaller, Told},
    error::with_causes,
    record::{Progress, TraceContext},
};

/// How fast things may be told.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// How many may come one after the other.
    burst: u32,
    /// How long it takes until there may be one more.
    pause_ms: i64,
}

const PROGRESS: Rate = Rate { burst: 10, pause_ms: 100 };
const LOG: Rate = Rate { burst: 100, pause_ms: 10 };

/// What one request wants to be told, until it is answered.
pub(super) struct Telling {
    teller: Option<Arc<Teller>>,
}

impl Telling {
    /// What the request asks for; gives the rest of what it says of itself too.
    pub(super) fn of(
        meta: RequestMetaObject,
        outgoing: Option<&Outgoing>,
        clock: &Arc<dyn Clock>,
    ) -> (ClientCapabilities, Self) {
        let trace = trace_of(meta.traceparent, meta.tracestate, meta.baggage);
        let token = meta.progress_token.filter(|_| outgoing.is_some());
        let level = meta.log_level.filter(|_| outgoing.is_some());
        let of_interest = token.is_some() || level.is_some() || !trace.is_none();
        let teller = of_interest.then(|| {
            Arc::new(Teller {
                outgoing: std::sync::Mutex::new(outgoing.cloned()),
                token,
                level,
                trace,
                clock: Arc::clone(clock),
                over: watch::Sender::new(false),
                speech: Mutex::new(Speech {
                    progress: Pace::new(PROGRESS),
                    held: None,
                    log: Pace::new(LOG),
                    left_out: 0,
                }),
            })
        });
        (meta.client_capabilities, Self { teller })
    }

    /// The caller, as the body knows it.
    pub(super) fn caller(&self) -> Option<SharedCaller> {
        let teller = Arc::clone(self.teller.as_ref()?);
        Some(SharedCaller(teller))
    }

    /// Tells what was held back, and nothing from now on.
    pub(super) async fn finish(&self) {
        let Some(teller) = &self.teller else { return };
        // Waits for what is on its way. Whoever waits for the same sees that it is over.
        let mut speech = teller.speech.lock().await;
        if let Some((progress, message)) = mem::take(&mut speech.held) {
            teller.send_progress(&progress, message).await;
        }
        if speech.left_out > 0 && teller.wants_log(LoggingLevel::Warning) {
            let data = format!("{} messages were left out", speech.left_out);
            teller.send_log(LoggingLevel::Warning, None, &data.into()).await;
        }
        teller.end();
    }
}

/// The request was cancelled, or is answered.
impl Drop for Telling {
    fn drop(&mut self) {
        if let Some(teller) = &self.teller {
            teller.end();
        }
    }
}

struct Teller {
    /// Given back when it is over: a run that goes on must not keep a connection open.
    outgoing: std::sync::Mutex<Option<Outgoing>>,
    token: Option<ProgressToken>,
    level: Option<LoggingLevel>,
    trace: TraceContext,
    clock: Arc<dyn Clock>,
    over: watch::Sender<bool>,
    /// Held while something is sent, so that it comes in order.
    speech: Mutex<Speech>,
}

/// What is told, and what came too fast.
struct Speech {
    progress: Pace,
    /// The newest progress that came too fast.
    held: Option<(Progress, Option<String>)>,
    log: Pace,
    /// How many log messages came too fast.
    left_out: u64,
}

/// How much may be told.
struct Pace {
    rate: Rate,
    /// How many may come at once, when it was last counted.
    left: u32,
    since: i64,
}

impl Pace {
    fn new(rate: Rate) -> Self {
        Self { rate, left: rate.burst, since: 0 }
    }

    fn may_go(&mut self, now: i64) -> bool {
        // A clock that was set back gives nothing.
        let more = now.saturating_sub(self.since).max(0) / self.rate.pause_ms;
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        if more > 0 {
            self.left = self.left.saturating_add(more).min(self.rate.burst);
            self.since = now;
        }
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may
    }
}

impl Caller for Teller {
    fn trace(&self) -> &TraceContext {
        &self.trace
    }

    fn wants_progress(&self) -> bool {
        self.token.is_some() && !self.is_over()
    }

    fn wants_log(&self, level: LoggingLevel) -> bool {
        self.level.is_some_and(|least| least <= level) && !self.is_over()
    }

    fn tell(&self, told: Told) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut speech = self.speech.lock().await;
            if self.is_over() {
                return;
            }
            match told {
                Told::Progress { progress, message } => {
                    if speech.progress.may_go(self.clock.now_millis()) {
                        speech.held = None;
                        self.send_progress(&progress, message).await;
                    } else {
                        speech.held = Some((progress, message));
                    }
                }
                Told::Log { level, logger, data } => {
                    if speech.log.may_go(self.clock.now_millis()) {
                        self.send_log(level, logger, &data).await;
                    } else {
                        speech.left_out += 1;
                    }
                }
            }
        })
    }
}

impl Teller {
    fn end(&self) {
        self.over.send_replace(true);
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn is_over(&self) -> bool {
        *self.over.borrow()
    }

    /// The trace that the request is a part of goes on in what is sent for it.
    fn meta(&self) -> Option<NotificationMetaObject> {
        let TraceContext { traceparent, tracestate, baggage } = &self.trace;
        let mut meta = NotificationMetaObject::new();
        for (key, value) in [
            (meta_key::TRACEPARENT, traceparent),
            (meta_key::TRACESTATE, tracestate),
            (meta_key::BAGGAGE, baggage),
        ] {
            if let Some(value) = value.as_ref().and_then(|value| RawJson::new(value).ok()) {
                meta.extra.push(key, value);
            }
        }
        (!meta.extra.is_empty()).then_some(meta)
    }

    async fn send_progress(&self, progress: &Progress, message: Option<String>) {
        let (Some(token), Some(done)) = (&self.token, Number::from_f64(progress.progress)) else { return };
        let mut params = ProgressNotificationParams::new(token.clone(), done);
        params.total = progress.total.and_then(Number::from_f64);
        params.message = message;
        params.meta = self.meta();
        self.send(&ProgressNotification::new(params)).await;
    }

    async fn send_log(&self, level: LoggingLevel, logger: Option<String>, data: &Value) {
        let Ok(data) = RawJson::new(data) else { return };
        let mut params = LoggingMessageNotificationParams::new(level, data);
        params.logger = logger;
        params.meta = self.meta();
        self.send(&LoggingMessageNotification::new(params)).await;
    }

    async fn send(&self, message: &impl Serialize) {
        let outgoing = self.outgoing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(outgoing) = outgoing else { return };
        let text = match mcp_tasks_types::to_string(message) {
            Ok(text) => text,
            Err(error) => {
                tracing::error!(error = with_causes(&error), "a notification cannot be written");
                return;
            }
        };
        let mut over = self.over.subscribe();
        tokio::select! {
            biased;
            // The sender is in `self`; waiting cannot fail.
            _ = over.wait_for(|over| *over) => {}
            // If nobody takes it, nobody takes the answer either.
            _ = outgoing.send(text) => {}
        }
    }
}

/// The trace context as far as it is one. Of a trace that is malformed nothing is handed on, as W3C has it: what would
/// stand in the log then comes from strangers.
fn trace_of(
    traceparent: Option<String>,
    tracestate: Option<String>,
    baggage: Option<String>,
) -> TraceContext {
    let traceparent = traceparent.filter(|text| is_traceparent(text));
    let tracestate = tracestate.filter(|text| traceparent.is_some() && is_header_text(text));
    TraceContext { traceparent, tracestate, baggage: baggage.filter(|text| is_header_text(text)) }
}

/// The place in a trace that a request says it has, if it says so in a sound way.
pub(super) fn traceparent(meta: &RequestMetaObject) -> Option<&str> {
    meta.traceparent.as_deref().filter(|text| is_traceparent(text))
}

/// `version-trace-parent-flags` in small hexadecimal digits, with more behind it in versions to come.
fn is_traceparent(text: &str) -> bool {
    let is_hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_zero = |part: &str| part.bytes().all(|byte| byte == b'0');
    let parts: Vec<&str> = text.splitn(5, '-').collect();
    let [version, trace, parent, flags, more @ ..] = parts.as_slice() else { return false };
    let sound = is_hex(version, 2) && is_hex(trace, 32) && is_hex(parent, 16) && is_hex(flags, 2);
    let version_knows = *version != "ff" && (*version != "00" || more.is_empty());
    sound && version_knows && !is_zero(trace) && !is_zero(parent) && is_header_text(text)
}

/// What can stand in a header, and no longer than a header.
fn is_header_text(text: &str) -> bool {
    text.len() <= 8_192 && text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::{PROGRESS, Pace, Rate, trace_of};

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn parent_of(text: &str) -> Option<String> {
        trace_of(Some(text.to_owned()), None, None).traceparent
    }

    /// what has the form is handed on letter for letter, and nothing else is.
    #[test]
    fn trace_context_without_its_form_is_none() {
        let later = "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes";
        for text in [PARENT, later] {
            assert_eq!(parent_of(text).as_deref(), Some(text));
        }
        let capital = PARENT.to_uppercase();
        let longer = format!("{PARENT}-more");
        let no_trace = PARENT.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32));
        let no_parent = PARENT.replace("b7ad6b7169203331", &"0".repeat(16));
        let forbidden = PARENT.replacen("00", "ff", 1);
        for text in
            ["", "00", "x", &PARENT[..54], &capital, &longer, &no_trace, &no_parent, &forbidden, "00-\n"]
        {
            assert_eq!(parent_of(text), None, "{text}");
        }
        let state = |parent: &str, state: &str| {
            trace_of(Some(parent.to_owned()), Some(state.to_owned()), Some(state.to_owned()))
        };
        let whole = state(PARENT, "rojo=00f067aa0ba902b7");
        assert_eq!(whole.tracestate.as_deref(), Some("rojo=00f067aa0ba902b7"));
        assert_eq!(whole.baggage, whole.tracestate);
        let orphan = state("x", "a=b");
        assert_eq!((orphan.tracestate, orphan.baggage.as_deref()), (None, Some("a=b")));
        assert!(state(PARENT, "a=b\r\nX-Other: c").tracestate.is_none());
    }

    /// after a burst there is one for each pause.
    #[test]
    fn pace_lets_a_burst_through_and_then_one_after_the_other() {
        let mut pace = Pace::new(PROGRESS);
        let Rate { burst, pause_ms } = PROGRESS;
        let let_through = |pace: &mut Pace, now| (0..100).filter(|_| pace.may_go(now)).count();
        assert_eq!(let_through(&mut pace, 1_000_000), burst as usize);
        assert_eq!(let_through(&mut pace, 1_000_000 + pause_ms - 1), 0);
        assert_eq!(let_through(&mut pace, 1_000_000 + pause_ms), 1);
        assert_eq!(let_through(&mut pace, i64::MAX), burst as usize);
        assert_eq!(let_through(&mut pace, 0), 0);
    }
}
