-- One row a task. The record is JSON without what has a column or table of its own.
CREATE TABLE tasks (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    -- When something has to happen by itself; NULL is never.
    due_at INTEGER,
    live INTEGER NOT NULL,
    version INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    lease_worker TEXT,
    -- The smallest integer where there is no lease.
    lease_until INTEGER NOT NULL,
    record TEXT NOT NULL,
    -- Nobody has to work on it.
    parked INTEGER NOT NULL,
    -- The call that is made once.
    same_call TEXT
) STRICT;

CREATE INDEX tasks_by_due ON tasks (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX tasks_by_lease ON tasks (lease_until, created_at, id) WHERE live = 1 AND parked = 0;
CREATE INDEX tasks_by_worker ON tasks (lease_worker) WHERE lease_worker IS NOT NULL;
CREATE INDEX tasks_by_owner ON tasks (tenant, principal, created_at, id);
CREATE UNIQUE INDEX tasks_by_call ON tasks (same_call) WHERE same_call IS NOT NULL;
CREATE INDEX tasks_live ON tasks (tenant, principal) WHERE live = 1;
CREATE INDEX tasks_by_age ON tasks (created_at, id);

-- Apart from the task, so that a change of status does not rewrite them.
CREATE TABLE params (
    task TEXT NOT NULL PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    value TEXT NOT NULL
) STRICT;

-- In the order of their row ids.
CREATE TABLE steps (
    task TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (task, name)
) STRICT;
