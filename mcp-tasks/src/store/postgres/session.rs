//! One connection to the server: how it is made and set up, its prepared statements, and what can go wrong with it.

use std::fmt::{self, Write as _};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OnceCell, mpsc};
use tokio::task::AbortHandle;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Row, Socket, Statement};

use super::statements::{COUNT, Sql, Statements};
use crate::store::{StoreError, StoreErrorKind};

/// How long an answer is waited for. A server that is gone without a word is found out by it.
const PATIENCE: Duration = Duration::from_secs(30);

/// What every connection begins with. Plans go by index whatever the statistics say: those of a table that has just
/// been filled are of an empty one, whose plan would read all of it. So one plan is as good for all parameters, and is
/// made once. What was committed is on disk, also where the server's settings would have it otherwise. The time limit
/// is shorter than our own, so that what was begun is mostly over when we give up; what waits behind it in the server
/// may still be done, as with every write whose answer is lost. Locks are waited for shortly: see `statements`.
const SETUP: &str = "SET statement_timeout = '20s'; SET lock_timeout = '100ms'; SET default_transaction_isolation = 'read committed'; \
     SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off; \
     SET jit = off; SET plan_cache_mode = force_generic_plan; \
     SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// The code of a lock that was not given in time.
const LOCKED: &str = "55P03";

/// How connections are made.
pub(super) struct Connector {
    pub(super) config: Config,
    pub(super) statements: Statements,
    #[cfg(feature = "postgres-tls")]
    pub(super) tls: super::tls::Tls,
}

/// What a statement came to when it came to nothing.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// The server or the connection said so.
    Postgres(Arc<tokio_postgres::Error>),
    /// There was no answer in time.
    TimedOut,
    /// The store was closed.
    Closed,
}

impl Failure {
    /// Whether the connection failed, so that nobody knows what became of the statement.
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Self::Postgres(err) => err.as_db_error().is_none_or(|err| err.code().code().starts_with("57P")),
            Self::TimedOut => true,
            Self::Closed => false,
        }
    }

    /// Whether it was not done since somebody else has locked what it needs.
    pub(super) fn is_locked(&self) -> bool {
        matches!(self, Self::Postgres(err) if err.code().is_some_and(|code| code.code() == LOCKED))
    }

    pub(super) fn into_error(self) -> StoreError {
        let (kind, message) = match &self {
            Self::Closed => return StoreError::new(StoreErrorKind::Unavailable, "the store is closed"),
            Self::TimedOut => (StoreErrorKind::Unavailable, "the database does not answer"),
            Self::Postgres(err) => match err.code().map(|code| code.code()) {
                None => (StoreErrorKind::Unavailable, "the database cannot be reached"),
                Some("XX001" | "XX002") => (StoreErrorKind::Corrupt, "the database is damaged"),
                Some(code) if code.starts_with("28") => {
                    (StoreErrorKind::Unavailable, "the database refuses us")
                }
                Some(code) if code.starts_with("57P") => {
                    (StoreErrorKind::Unavailable, "the database is starting or ending")
                }
                Some(LOCKED) => (StoreErrorKind::Unavailable, "somebody else has locked the rows"),
                // Values and limits: it would be the same with the next try.
                Some(code) if ["22", "23", "54"].iter().any(|class| code.starts_with(class)) => {
                    (StoreErrorKind::Refused, "the database cannot keep that")
                }
                Some(_) => (StoreErrorKind::Unavailable, "the database failed"),
            },
        };
        match self {
            Self::Postgres(err) => StoreError::new(kind, message).with_source(Causes(err)),
            Self::TimedOut | Self::Closed => StoreError::new(kind, message),
        }
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(err: tokio_postgres::Error) -> Self {
        Self::Postgres(Arc::new(err))
    }
}

/// The database's own error; it is shared by all who were in one statement.
struct Causes(Arc<tokio_postgres::Error>);

impl fmt::Display for Causes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(err) = self.0.as_db_error() else { return self.0.fmt(f) };
        // Not its details and hints, which have what is in the rows.
        write!(f, "{}: ", err.code().code())?;
        err.message()
            .chars()
            .try_for_each(|letter| f.write_char(if letter.is_control() { ' ' } else { letter }))
    }
}

impl fmt::Debug for Causes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Causes {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // What the server says is said.
        if self.0.as_db_error().is_some() { None } else { self.0.source() }
    }
}

/// A connection, which several callers use at once: statements go out as they come, and answers come in that order.
pub(super) struct Session {
    client: Client,
    statements: Statements,
    prepared: [OnceCell<Statement>; COUNT],
    /// It did not answer once.
    is_stuck: AtomicBool,
    /// What moves its bytes.
    driver: AbortHandle,
}

impl Session {
    /// Connects. What the server tells without being asked goes to `messages`.
    pub(super) async fn connect(
        connector: &Connector,
        messages: Option<mpsc::UnboundedSender<AsyncMessage>>,
    ) -> Result<Self, Failure> {
        let client = connect(connector, messages);
        let client = tokio::time::timeout(PATIENCE, client).await.map_err(|_| Failure::TimedOut)??;
        let (client, driver) = client;
        let session = Self {
            client,
            statements: connector.statements.clone(),
            prepared: std::array::from_fn(|_| OnceCell::new()),
            is_stuck: AtomicBool::new(false),
            driver,
        };
        session.execute(SETUP).await?;
        Ok(session)
    }

    pub(super) fn is_usable(&self) -> bool {
        !self.client.is_closed() && !self.is_stuck.load(Ordering::Relaxed)
    }

    /// Says one of the statements.
    pub(super) async fn query(&self, sql: Sql, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Failure> {
        let query = async {
            let prepare = || self.client.prepare(self.statements.text(sql));
            let statement = self.prepared[sql as usize].get_or_try_init(prepare).await?;
            self.client.query(statement, params).await
        };
        self.in_time(query).await
    }

    /// Says something else, without parameters.
    pub(super) async fn execute(&self, text: &str) -> Result<(), Failure> {
        self.in_time(self.client.batch_execute(text)).await
    }

    /// Asks something else, without preparing it.
    pub(super) async fn query_once(
        &self,
        text: &str,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Failure> {
        self.in_time(self.client.query(text, params)).await
    }

    async fn in_time<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Failure> {
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(answer) => answer.map_err(Failure::from),
            Err(_) => {
                self.is_stuck.store(true, Ordering::Relaxed);
                // What has not gone out yet never will.
                self.driver.abort();
                Err(Failure::TimedOut)
            }
        }
    }
}

#[cfg(not(feature = "postgres-tls"))]
async fn connect(
    connector: &Connector,
    messages: Option<mpsc::UnboundedSender<AsyncMessage>>,
) -> Result<(Client, AbortHandle), tokio_postgres::Error> {
    connect_with(&connector.config, NoTls, messages).await
}

#[cfg(feature = "postgres-tls")]
async fn connect(
    connector: &Connector,
    messages: Option<mpsc::UnboundedSender<AsyncMessage>>,
) -> Result<(Client, AbortHandle), tokio_postgres::Error> {
    match connector.config.get_ssl_mode() {
        tokio_postgres::config::SslMode::Disable => connect_with(&connector.config, NoTls, messages).await,
        _ => connect_with(&connector.config, connector.tls.clone(), messages).await,
    }
}

async fn connect_with<T>(
    config: &Config,
    tls: T,
    messages: Option<mpsc::UnboundedSender<AsyncMessage>>,
) -> Result<(Client, AbortHandle), tokio_postgres::Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = config.connect(tls).await?;
    let driver = tokio::spawn(drive(connection, messages));
    Ok((client, driver.abort_handle()))
}

/// Moves bytes until the client is dropped or the connection fails, of which its callers hear.
async fn drive<T: AsyncRead + AsyncWrite + Unpin>(
    mut connection: Connection<Socket, T>,
    messages: Option<mpsc::UnboundedSender<AsyncMessage>>,
) {
    while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
        match message {
            Ok(message) => {
                if let Some(messages) = &messages {
                    // Nobody listens any more: then nobody misses it.
                    let _ = messages.send(message);
                }
            }
            Err(_) => return,
        }
    }
}
