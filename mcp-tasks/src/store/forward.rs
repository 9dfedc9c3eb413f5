//! Passing the verbs of a store on.

/// Writes the methods of a [`Store`](crate::Store) that pass on, unchanged, to another store: for one that stands
/// around it and changes the others.
///
/// First comes where the other store is, told from a reference to this one; then the names of the methods.
/// `properties` stands for those that say what the store is like: `clock_ahead_ms`, `reads_may_lag`, `is_shared`, and
/// whatever is added to them.
///
/// ```
/// use mcp_tasks::{SharedRecord, Store, StoreError, TaskRecord, forward_store};
///
/// /// Says which tasks are created.
/// struct Loud<S>(S);
///
/// impl<S: Store> Store for Loud<S> {
///     async fn insert(&self, record: TaskRecord) -> Result<SharedRecord, StoreError> {
///         println!("{}", record.id);
///         self.0.insert(record).await
///     }
///
///     forward_store! {
///         |loud| &loud.0;
///         load, replace, append_step, remove, claim, renew, due, find_call, count_live, list, changes,
///         properties, close,
///     }
/// }
/// ```
#[macro_export]
macro_rules! forward_store {
    (|$this:ident| $inner:expr; $($verb:ident),+ $(,)?) => {
        $($crate::forward_store!(@$verb $this, $inner);)+
    };
    (@insert $this:ident, $inner:expr) => {
        async fn insert(
            &self,
            record: $crate::TaskRecord,
        ) -> ::core::result::Result<$crate::SharedRecord, $crate::StoreError> {
            let $this = self;
            $crate::Store::insert($inner, record).await
        }
    };
    (@load $this:ident, $inner:expr) => {
        async fn load(
            &self,
            id: &$crate::types::TaskId,
            parts: $crate::store::Parts,
        ) -> ::core::result::Result<::core::option::Option<$crate::SharedRecord>, $crate::StoreError> {
            let $this = self;
            $crate::Store::load($inner, id, parts).await
        }
    };
    (@replace $this:ident, $inner:expr) => {
        async fn replace(
            &self,
            record: $crate::TaskRecord,
            expected_version: u64,
        ) -> ::core::result::Result<$crate::SharedRecord, $crate::StoreError> {
            let $this = self;
            $crate::Store::replace($inner, record, expected_version).await
        }
    };
    (@append_step $this:ident, $inner:expr) => {
        async fn append_step(
            &self,
            id: &$crate::types::TaskId,
            token: u64,
            step: $crate::record::StepRecord,
        ) -> ::core::result::Result<(), $crate::StoreError> {
            let $this = self;
            $crate::Store::append_step($inner, id, token, step).await
        }
    };
    (@remove $this:ident, $inner:expr) => {
        async fn remove(
            &self,
            id: &$crate::types::TaskId,
            expected_version: u64,
        ) -> ::core::result::Result<(), $crate::StoreError> {
            let $this = self;
            $crate::Store::remove($inner, id, expected_version).await
        }
    };
    (@claim $this:ident, $inner:expr) => {
        async fn claim(
            &self,
            claim: $crate::store::Claim,
        ) -> ::core::result::Result<::std::vec::Vec<$crate::SharedRecord>, $crate::StoreError> {
            let $this = self;
            $crate::Store::claim($inner, claim).await
        }
    };
    (@renew $this:ident, $inner:expr) => {
        async fn renew(
            &self,
            worker: &str,
            ids: &[$crate::types::TaskId],
            until: &$crate::types::Timestamp,
        ) -> ::core::result::Result<u64, $crate::StoreError> {
            let $this = self;
            $crate::Store::renew($inner, worker, ids, until).await
        }
    };
    (@due $this:ident, $inner:expr) => {
        async fn due(
            &self,
            now: &$crate::types::Timestamp,
            limit: usize,
        ) -> ::core::result::Result<$crate::store::Due, $crate::StoreError> {
            let $this = self;
            $crate::Store::due($inner, now, limit).await
        }
    };
    (@find_call $this:ident, $inner:expr) => {
        async fn find_call(
            &self,
            same_call: &str,
        ) -> ::core::result::Result<::core::option::Option<$crate::SharedRecord>, $crate::StoreError> {
            let $this = self;
            $crate::Store::find_call($inner, same_call).await
        }
    };
    (@count_live $this:ident, $inner:expr) => {
        async fn count_live(
            &self,
            owner: ::core::option::Option<&$crate::Owner>,
            at_most: usize,
        ) -> ::core::result::Result<usize, $crate::StoreError> {
            let $this = self;
            $crate::Store::count_live($inner, owner, at_most).await
        }
    };
    (@list $this:ident, $inner:expr) => {
        async fn list(
            &self,
            owner: ::core::option::Option<&$crate::Owner>,
            after: ::core::option::Option<&$crate::store::Cursor>,
            limit: usize,
        ) -> ::core::result::Result<$crate::store::Page, $crate::StoreError> {
            let $this = self;
            $crate::Store::list($inner, owner, after, limit).await
        }
    };
    (@changes $this:ident, $inner:expr) => {
        fn changes(&self) -> $crate::store::Changes {
            let $this = self;
            $crate::Store::changes($inner)
        }
    };
    (@clock_ahead_ms $this:ident, $inner:expr) => {
        fn clock_ahead_ms(&self) -> i64 {
            let $this = self;
            $crate::Store::clock_ahead_ms($inner)
        }
    };
    (@reads_may_lag $this:ident, $inner:expr) => {
        fn reads_may_lag(&self) -> bool {
            let $this = self;
            $crate::Store::reads_may_lag($inner)
        }
    };
    (@is_shared $this:ident, $inner:expr) => {
        fn is_shared(&self) -> bool {
            let $this = self;
            $crate::Store::is_shared($inner)
        }
    };
    (@properties $this:ident, $inner:expr) => {
        $crate::forward_store!(@clock_ahead_ms $this, $inner);
        $crate::forward_store!(@reads_may_lag $this, $inner);
        $crate::forward_store!(@is_shared $this, $inner);
    };
    (@close $this:ident, $inner:expr) => {
        async fn close(&self) {
            let $this = self;
            $crate::Store::close($inner).await;
        }
    };
}
