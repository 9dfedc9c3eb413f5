//! What other processes tell, and comparing clocks with the database.
//!
//! Listening takes a connection of its own, since what is told comes over the one that asked for it. When it is lost it
//! is made again, and whoever listens here is told that changes were missed.

use std::sync::Arc;
use std::time::Duration;

use mcp_tasks_types::TaskId;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_postgres::AsyncMessage;

use super::session::{Connector, Failure, Session};
use super::statements::{Sql, Statements};
use super::text::{SEPARATOR, original};
use super::time::DatabaseClock;
use crate::error::with_causes;
use crate::store::{Change, ChangeFeed};

/// How often the clocks are compared. A connection that died without a word is found out by it as well.
const COMPARE_EVERY: Duration = Duration::from_secs(5);
/// How long the first try to connect again is put off, and how long the later ones are at most.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// What a listener needs.
pub(super) struct Listener {
    pub(super) connector: Arc<Connector>,
    pub(super) feed: ChangeFeed,
    pub(super) clock: Arc<DatabaseClock>,
}

/// A connection that listens.
pub(super) struct Ear {
    session: Session,
    messages: mpsc::UnboundedReceiver<AsyncMessage>,
}

impl Listener {
    /// Begins to listen: what is told from here on is heard.
    pub(super) async fn begin(&self) -> Result<Ear, Failure> {
        let (sender, messages) = mpsc::unbounded_channel();
        let session = Session::connect(&self.connector, Some(sender)).await?;
        session.execute(&self.connector.statements.listen()).await?;
        self.compare_clocks(&session).await?;
        Ok(Ear { session, messages })
    }

    /// Passes on what is told, for ever.
    pub(super) async fn listen(self, mut ear: Ear) {
        loop {
            let failure = self.hear(ear).await;
            tracing::warn!(
                error = failure.map(|failure| with_causes(&failure.into_error()).to_string()),
                "the connection on which others tell of changes was lost"
            );
            ear = self.begin_again().await;
            self.feed.send(Change::Resync);
        }
    }

    async fn begin_again(&self) -> Ear {
        let mut wait = BACK_OFF.0;
        loop {
            // The server may be starting; nothing tells when it is there.
            tokio::time::sleep(wait).await;
            match self.begin().await {
                Ok(ear) => return ear,
                Err(_) => wait = (wait * 2).min(BACK_OFF.1),
            }
        }
    }

    /// Passes on what this connection hears, until it is lost. Gives why, where that is known.
    async fn hear(&self, mut ear: Ear) -> Option<Failure> {
        let mut compare = interval(COMPARE_EVERY);
        compare.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // Before what is told, which may never end.
                biased;
                _ = compare.tick() => {
                    if let Err(failure) = self.compare_clocks(&ear.session).await {
                        return Some(failure);
                    }
                }
                message = ear.messages.recv() => match message {
                    Some(AsyncMessage::Notification(notification)) => {
                        for change in read(&self.connector.statements, notification.payload()) {
                            self.feed.send(change);
                        }
                    }
                    Some(_) => {}
                    None => return None,
                },
            }
        }
    }

    /// Finds out what time it is in the database.
    async fn compare_clocks(&self, session: &Session) -> Result<(), Failure> {
        let before = Instant::now();
        let rows = session.query(Sql::Now, &[]).await?;
        let after = Instant::now();
        if let Some(theirs) = rows.first().and_then(|row| row.try_get::<_, i64>(0).ok()) {
            self.clock.set(before, theirs, after);
        }
        Ok(())
    }
}

/// What is told, by somebody else.
fn read(statements: &Statements, payload: &str) -> impl Iterator<Item = Change> {
    let told = payload.split_once(' ').filter(|(origin, _)| *origin != statements.origin());
    // Our own was told here when it was written.
    let items = told.into_iter().flat_map(|(_, items)| items.split(SEPARATOR));
    items.filter_map(read_item)
}

fn read_item(item: &str) -> Option<Change> {
    let (what, id) = item.split_once(' ')?;
    let id = TaskId::new(original(id.to_owned()));
    match (what.get(..1)?, what.get(1..)?.parse().ok()?) {
        ("r", _) => Some(Change::Removed { id }),
        (letter @ ("c" | "w"), version) => Some(Change::Written { id, version, claimable: letter == "c" }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_tell_is_read_and_our_own_is_not() {
        let statements = Statements::new("s", "us");
        let written = |id: &str, claimable| Change::Written { id: id.into(), version: 12, claimable };
        let (one, two) = (written("a b", true), written("\u{1},", false));
        for (payload, wanted) in [
            ("they c12 a b", vec![one.clone()]),
            ("they w12 \u{1}1,", vec![two.clone()]),
            ("they r12 a b", vec![Change::Removed { id: "a b".into() }]),
            ("they c12 a b\u{1},w12 \u{1}1,", vec![one.clone(), two]),
            ("they x12 a b\u{1},c12 a b", vec![one]),
            ("us c12 a b\u{1},c12 c", vec![]),
            ("they cx a b", vec![]),
            ("they", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(read(&statements, payload).collect::<Vec<_>>(), wanted, "{payload}");
        }
    }
}
