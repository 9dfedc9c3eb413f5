//! `subscriptions/listen`: what changes, told as it changes, until the client or the server ends it.
//!
//! A subscription lives as long as its request. Nothing of it is kept anywhere else, and ending it touches no task.
//! There is no replay: whoever listens again is told the present state first (S-25, S-26).

mod places;

use std::{collections::BTreeSet, pin::pin};

use mcp_tasks_types::{
    RawObject, TaskId,
    v2026_07_28::{
        CancelledNotification, CancelledNotificationParams, ClientCapabilities, NotificationMetaObject,
        NotificationParams, RequestId, SubscriptionFilter, SubscriptionNotificationMetaObject,
        SubscriptionsAcknowledgedNotification, SubscriptionsAcknowledgedNotificationParams,
        SubscriptionsListenRequestParams, SubscriptionsListenResult, SubscriptionsListenResultMetaObject,
        TaskIds, TaskStatusNotification, TaskStatusNotificationParams, ToolListChangedNotification,
    },
};
use serde::Serialize;

pub(super) use self::places::Places;
use super::{
    Inner, RequestContext, capability,
    envelope::Request,
    outgoing::Outgoing,
    params::typed,
    refusal::{Refusal, is_gone},
    tasks::snapshot,
};
use crate::{
    engine::Watch,
    error::with_causes,
    owner::Owner,
    record::{SharedRecord, TaskRecord},
};

/// How many tasks one subscription follows; the acknowledgement leaves out the rest.
const MAX_TASKS: usize = 1_000;

/// How many tasks one request has looked for, whether there are such or not.
const MAX_LOOKED_FOR: usize = 10_000;

/// How long a store that fails is left alone.
const RETRY_MS: u64 = 1_000;

/// One subscription: to whom it speaks, and as which.
struct Subscription<'a> {
    id: &'a RequestId,
    outgoing: &'a Outgoing,
}

/// What a subscription is to tell of. The rest of the request is not kept as long as it lasts.
pub(super) struct Wanted {
    tasks: Option<Vec<TaskId>>,
    tools: bool,
}

impl Wanted {
    /// Reads the parameters.
    pub(super) fn read(request: &Request<'_>, capabilities: &ClientCapabilities) -> Result<Self, Refusal> {
        let asked = typed::<SubscriptionsListenRequestParams>(request)?.notifications;
        // An empty list asks as well (C-23).
        if asked.task_ids.is_some() && !capability::has_tasks(capabilities) {
            return Err(Refusal::Capability(Box::new(capability::tasks())));
        }
        Ok(Self { tasks: asked.task_ids.map(|ids| ids.0), tools: asked.tools_list_changed == Some(true) })
    }
}

/// Why a subscription is over.
enum End {
    /// Nobody listens any more.
    Deaf,
    /// The server ends.
    Closing,
}

impl Inner {
    pub(super) async fn listen(
        &self,
        context: &RequestContext,
        id: &RequestId,
        wanted: Wanted,
    ) -> Result<RawObject, Refusal> {
        let Some(outgoing) = context.outgoing() else {
            return Err(Refusal::InvalidRequest("there is nothing here that carries a stream".to_owned()));
        };
        let Some(_place) = self.places.take(context.owner()) else {
            return Err(Refusal::Unserved("Too many subscriptions".to_owned()));
        };
        let mut tools = self.prepared.changes();
        // From here on no change is missed, also of what is acknowledged below.
        let mut accepted = SubscriptionFilter::new();
        let mut watch = None;
        if let Some(ids) = wanted.tasks {
            let ids = self.known(context.owner(), ids).await?;
            watch = Some(self.engine.watch_for_clients(context.owner().clone(), ids.clone()));
            accepted = accepted.with_task_ids(TaskIds(ids));
        }
        if wanted.tools {
            accepted = accepted.with_tools_list_changed(true);
        }

        let subscription = Subscription { id, outgoing };
        let mut too_old = pin!(async {
            match (self.max_subscription_ms, context.headers()) {
                // Who may listen was looked at when the request came; now it has to come again.
                (Some(limit_ms), Some(_)) => self.engine.pause(limit_ms).await,
                // A stream that all requests share is its client's as long as it is open.
                _ => std::future::pending().await,
            }
        });
        let end = if subscription.acknowledge(accepted).await? {
            loop {
                tokio::select! {
                    biased;
                    () = self.ending() => break End::Closing,
                    () = outgoing.ended() => break End::Closing,
                    () = &mut too_old => break End::Closing,
                    record = self.next_change(&mut watch) => {
                        if !subscription.tell(&record).await? {
                            break End::Deaf;
                        }
                    }
                    // The sender of the list is in `self`; it does not go away.
                    Ok(()) = tools.changed(), if wanted.tools => {
                        if !subscription.tell_tools().await? {
                            break End::Deaf;
                        }
                    }
                }
            }
        } else {
            End::Deaf
        };
        if matches!(end, End::Closing) && context.headers().is_none() {
            // Streams that many requests share are told that this one is over, before its result.
            let cancelled = CancelledNotificationParams::new(id.clone());
            subscription.send(&CancelledNotification::new(cancelled)).await?;
        }
        let result = SubscriptionsListenResult::new(SubscriptionsListenResultMetaObject::new(id.clone()));
        RawObject::new(&result).map_err(|error| Refusal::internal(&error))
    }

    async fn ending(&self) {
        // The sender is in `self`; waiting cannot fail.
        let _ = self.ending.subscribe().wait_for(|ending| *ending).await;
    }

    /// The next change of a watched task. When none can change any more the subscription goes on in silence: how long
    /// it lasts is the client's to say. A store that fails for a while is no reason to end it either.
    async fn next_change(&self, watch: &mut Option<Watch>) -> SharedRecord {
        while let Some(watching) = watch {
            match watching.next().await {
                Ok(Some(record)) => return record,
                Ok(None) => *watch = None,
                Err(error) => {
                    tracing::warn!(error = with_causes(&error), "a change could not be read, trying again");
                    self.engine.pause(RETRY_MS).await;
                }
            }
        }
        std::future::pending().await
    }

    /// Those of the tasks that this owner has, each once, in the order of the request and as many as are followed.
    /// Unknown and foreign ones are left out alike (S-31), and take no place away from others.
    async fn known(&self, owner: &Owner, mut ids: Vec<TaskId>) -> Result<Vec<TaskId>, Refusal> {
        let mut seen = BTreeSet::new();
        ids.retain(|id| seen.insert(id.clone()));
        if ids.len() > MAX_LOOKED_FOR {
            let what = format!("`taskIds` has {} different ids, {MAX_LOOKED_FOR} are the most", ids.len());
            return Err(Refusal::Params(what));
        }
        let mut known = Vec::new();
        for id in ids {
            if known.len() == MAX_TASKS {
                break;
            }
            match self.engine.get(owner, &id).await {
                Ok(_) => known.push(id),
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(known)
    }
}

impl Subscription<'_> {
    fn meta(&self) -> SubscriptionNotificationMetaObject {
        // The id with its type.
        SubscriptionNotificationMetaObject::new(self.id.clone())
    }

    /// The first message of all, with what was agreed and nothing else.
    async fn acknowledge(&self, accepted: SubscriptionFilter) -> Result<bool, Refusal> {
        let params = SubscriptionsAcknowledgedNotificationParams::new(self.meta(), accepted);
        self.send(&SubscriptionsAcknowledgedNotification::new(params)).await
    }

    /// What `tasks/get` would say now (C-84).
    async fn tell(&self, record: &TaskRecord) -> Result<bool, Refusal> {
        let snapshot = snapshot(record).map_err(|error| Refusal::internal(&error))?;
        let mut params = TaskStatusNotificationParams::new(
            self.meta(),
            snapshot.task_id,
            snapshot.created_at,
            snapshot.last_updated_at,
            snapshot.ttl_ms,
            snapshot.state,
        );
        params.status_message = snapshot.status_message;
        params.poll_interval_ms = snapshot.poll_interval_ms;
        self.send(&TaskStatusNotification::new(params)).await
    }

    async fn tell_tools(&self) -> Result<bool, Refusal> {
        let meta = NotificationMetaObject::new().with_subscription_id(self.id.clone());
        let params = NotificationParams::new().with_meta(meta);
        self.send(&ToolListChangedNotification::new().with_params(params)).await
    }

    async fn send(&self, message: &impl Serialize) -> Result<bool, Refusal> {
        let text = mcp_tasks_types::to_string(message).map_err(|error| Refusal::internal(&error))?;
        Ok(self.outgoing.send(text).await)
    }
}
